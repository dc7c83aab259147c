#!/bin/sh
# What could stop `docker compose up`: one line each, with the cure. Part of `make doctor`.
# Exit code 1 when something would; no Docker at all is no fault, `make demo` needs none.
set -eu
cd "$(dirname "$0")/.."
failed=0

line() { # line ok|warn|FAIL TEXT
    printf '%-5s %s\n' "$1" "$2"
    [ "$1" != FAIL ] || failed=1
}

if ! command -v docker >/dev/null; then
    line ok "docker: not here; only \`docker compose up\` needs it"
    exit 0
fi
if ! engine=$(docker version --format '{{.Server.Version}}' 2>/dev/null); then
    line FAIL "docker: no engine answers: start it (systemctl start docker), or join the group docker"
    exit 1
fi
if [ "${engine%%.*}" -ge 20 ]; then
    line ok "docker engine $engine"
else
    line FAIL "docker engine $engine is older than 20.10: update it"
fi

if compose=$(docker compose version --short 2>/dev/null); then
    compose=${compose#v}
    # compose.doors.yaml needs names made of variables; older than 2.26 was not tried.
    if [ "$(printf '2.26\n%s\n' "$compose" | sort -V | head -n 1)" = 2.26 ]; then
        line ok "docker compose $compose"
    else
        line FAIL "docker compose $compose is older than 2.26: update docker-compose-plugin"
    fi
else
    line FAIL "docker compose: not here: install docker-compose-plugin (Debian 13: docker-compose)"
    exit 1
fi
# Compose itself says what is wrong in compose.yaml or .env.
if problem=$(docker compose config --quiet 2>&1); then
    line ok "compose.yaml and .env can be read"
else
    line FAIL "$problem"
    exit 1
fi

sum=$(docker compose config --format json | tr ',{}' '\n' |
    sed -n 's/^ *"mem_limit": *"\([0-9]*\)".*/\1/p' | awk '{ sum += $1 } END { printf "%d", sum / 1000000 }')
memory=$(docker info --format '{{.MemTotal}}' | awk '{ printf "%d", $1 / 1000000 }')
if [ "$memory" -ge "$sum" ]; then
    line ok "memory $memory MB, limits together $sum MB"
else
    line warn "memory $memory MB, limits together $sum MB: take a smaller block of .env.example"
fi

cpus=$(docker info --format '{{.NCPU}}')
if [ "$cpus" -ge 2 ]; then
    line ok "$cpus CPUs"
else
    line FAIL "$cpus CPU, two are the default: CPUS=1.0 and THREADS=1 in .env"
fi

# What models, images and index take, with room for the parts of a download.
folder=$(docker info --format '{{.DockerRootDir}}')
while [ ! -d "$folder" ]; do folder=$(dirname "$folder"); done # the engine's machine may be another
free=$(df -Pm "$folder" | awk 'NR == 2 { print $4 }')
if [ "$free" -ge 8000 ]; then
    line ok "$free MB free in $folder"
else
    line warn "$free MB free in $folder, the first start may take 8000: docker builder prune"
fi

if [ -n "$(docker compose ps --quiet gateway 2>/dev/null)" ]; then
    line ok "the gateway runs"
else
    for port in $(docker compose config --format json | tr ',{}' '\n' |
        sed -n 's/^ *"published": *"\([0-9]*\)".*/\1/p'); do
        code=0
        curl -s -o /dev/null -m 2 "http://127.0.0.1:$port/" || code=$?
        if [ "$code" != 7 ]; then # 7: refused, so free; anything else: somebody is there
            case $port in
            80 | 443) line FAIL "port $port is taken: stop the web server that holds it (ss -ltnp)" ;;
            *) line FAIL "port $port is taken: PUBLISH=127.0.0.1:8081 in .env, or stop what holds it" ;;
            esac
        else
            line ok "port $port is free"
        fi
    done
fi
exit "$failed"
