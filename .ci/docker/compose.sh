#!/usr/bin/env bash
# Adds Compose v2 and buildx to the docker command where it lacks them, from Debian 13's packages.
# Debian 12 has Compose 1 only; each plugin is one file, which needs nothing else of Debian 13.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=.ci/docker/debian.sh
. "$here/debian.sh"

plugins="${DOCKER_CONFIG:-$HOME/.docker}/cli-plugins"
suite=trixie

say() { printf 'docker compose: %s\n' "$*" >&2; }

missing=()
docker compose version --short 2>/dev/null | grep -q '^v\{0,1\}[2-9]' || missing+=(docker-compose)
docker buildx version >/dev/null 2>&1 || missing+=(docker-buildx)
if [ ${#missing[@]} -gt 0 ]; then
    say "adding ${missing[*]} of Debian $suite"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    chmod 755 "$work" # apt's own user reads it
    APT_CONFIG=$(apt_of_suite "$work" "$suite")
    export APT_CONFIG
    apt-get update -qq
    mkdir -p "$plugins" "$work/files"
    for package in "${missing[@]}"; do
        (cd "$work/files" && apt-get download -qq "$package")
        dpkg-deb --fsys-tarfile "$work/files/$package"_*.deb |
            tar -xf - -C "$work" "./usr/libexec/docker/cli-plugins/$package"
        install -m 755 "$work/usr/libexec/docker/cli-plugins/$package" "$plugins/$package"
    done
fi
say "$(docker compose version --short), buildx $(docker buildx version | cut -d' ' -f2)"
