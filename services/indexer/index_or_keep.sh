#!/bin/sh
# Runs the indexer, and counts a failure as success while an older index is in service.
# `docker compose up` starts the bot only after this job has succeeded: a page with a mistake in it must
# not keep the bot from starting with the index of yesterday. `make reindex` runs chat-bot-index itself
# and shows its exit code.
set -eu
folder=${PORTFOLIO_BOT__RAG__INDEX_PATH:?}

chat-bot-index "$@" &
job=$!
# sh does not pass signals on; without this `docker stop` would wait 10 s and then kill.
trap 'kill -TERM "$job" 2>/dev/null' TERM INT
code=0
wait "$job" || code=$?
if [ "$code" -gt 128 ]; then # a signal: of this shell, or of the job
    wait "$job" 2>/dev/null || true
    exit "$code"
fi
if [ "$code" -ne 0 ] && [ -s "$folder/current.json" ]; then
    echo "WARNING: the indexer ended with code $code (above); the index in service is kept" >&2
    exit 0
fi
exit "$code"
