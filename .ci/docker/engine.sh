#!/usr/bin/env bash
# Makes sure that a Docker engine answers: uses the running one, else starts Debian's dockerd by hand.
#   engine.sh        start; says what it uses          engine.sh stop   stop the engine it started
# Its images stay in $XDG_CACHE_HOME/portfolio-bot/docker, so that the next run is quick.
set -euo pipefail

cache="${XDG_CACHE_HOME:-$HOME/.cache}/portfolio-bot"
data="$cache/docker"
log="$cache/dockerd.log"
run_dir=/run/portfolio-bot-docker
pid_file="$run_dir/dockerd.pid"
wait_seconds=60

say() { printf 'docker engine: %s\n' "$*" >&2; }
fail() {
    say "$*"
    exit 1
}

engine_version() { # empty where no engine answers; a lone client prints an error instead
    docker version --format '{{.Server.Version}}' 2>/dev/null || true
}

stop() {
    [ -s "$pid_file" ] || fail "none was started by this script"
    local pid
    pid=$(cat "$pid_file")
    kill -TERM "$pid" 2>/dev/null || fail "process $pid has ended already"
    for _ in $(seq "$wait_seconds"); do
        kill -0 "$pid" 2>/dev/null || {
            say "stopped; images stay in $data"
            return
        }
        sleep 1
    done
    fail "process $pid does not end: $log"
}

start() {
    local version
    version=$(engine_version)
    if [ -n "$version" ]; then
        say "$version answers"
        return
    fi
    [ "$(id -u)" = 0 ] || fail "none answers, and only root can start one: sudo $0"
    if ! command -v dockerd >/dev/null || ! command -v iptables >/dev/null; then
        say "installing Debian's docker.io"
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq >&2
        # The engine finds iptables by PATH; docker.io only recommends the rest (git, xz, AppArmor).
        apt-get install -qq -y --no-install-recommends docker.io iptables >&2
    fi
    mkdir -p "$data" "$run_dir"
    # Not `service docker start`: the init script wants cgroup mounts of its own, and leaves no choice
    # of the folder. 0 < stdin: a terminal that closes must not take the engine with it.
    setsid dockerd --data-root "$data" --exec-root "$run_dir/exec" --pidfile "$pid_file" \
        --log-level warn >"$log" 2>&1 </dev/null &
    for _ in $(seq "$wait_seconds"); do
        version=$(engine_version)
        [ -z "$version" ] || break
        sleep 1
    done
    [ -n "$version" ] || fail "does not answer after $wait_seconds s: $(tail -n 3 "$log")"
    say "$version started (process $(cat "$pid_file"), images in $data, log $log)"
}

case "${1:-start}" in
start) start ;;
stop) stop ;;
*) fail "unknown argument $1: start or stop" ;;
esac
