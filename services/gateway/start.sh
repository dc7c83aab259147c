#!/bin/sh
# Says where to look, then becomes Caddy. The gateway starts last, when the bot is healthy: so this is
# the line that people wait for.
set -eu
echo "portfolio-bot is ready: ${READY_AT:-http://127.0.0.1:8080}"
exec caddy run --config /etc/caddy/Caddyfile --adapter caddyfile
