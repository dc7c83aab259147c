#!/usr/bin/env bash
# Stand-ins for the base images, for machines that reach a Debian mirror but no image registry.
#   base_images.sh           pull each image; build a stand-in where that fails
#   base_images.sh --offline build stand-ins without asking a registry
# A stand-in has the official image's tag, entrypoint, user and paths, so that compose.yaml and the
# Dockerfiles are tested as they are. It carries the label below and is never pushed anywhere.
# Made in 2 to 5 minutes, then kept as images; a label holds the hash of each one's recipe.
# shellcheck disable=SC2016  # the hooks are expanded by mmdebstrap's shell, not by this one
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=.ci/docker/debian.sh
. "$here/debian.sh"

label=portfolio-bot.stand-in
pull_seconds=600 # where no registry can be reached it fails within seconds (no name, refused)

say() { printf 'base images: %s\n' "$*" >&2; }

tag_of() { # tag_of NAME: the tag that compose.yaml or a Dockerfile asks for, said once and there
    local tag
    tag=$(grep -hoE "(image:|FROM) +(docker.io/)?$1:[^ @]+" "$root/compose.yaml" \
        "$root"/services/*/Dockerfile "$root/models/Dockerfile" | awk '{ print $2 }' | sort -u)
    if [ -z "$tag" ] || [ "$(wc -l <<<"$tag")" != 1 ]; then
        say "expected one tag of $1, found: ${tag:-none}"
        return 1
    fi
    printf '%s\n' "$tag"
}

label_of() { # empty for an official image, an error where there is none
    docker image inspect --format "{{ index .Config.Labels \"$label\" }}" "$1" 2>/dev/null
}

pulled() { # pulled TAG: is it there, or to be had?
    if [ "$offline" = --offline ]; then return 1; fi
    timeout "$pull_seconds" docker pull --quiet "$1" >/dev/null 2>&1
}

needs() { # needs COMMAND PACKAGE
    command -v "$1" >/dev/null && return
    say "installing $2"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$2" >&2
}

debootstrap_tar() { # debootstrap_tar SUITE PACKAGES: a minimal Debian on stdout
    local suite=$1 packages=$2
    # Check-Valid-Until: the Release file of a snapshot or a slow mirror of unstable may have expired.
    # essential + ca-certificates, no recommends: what the slim images have as well.
    mmdebstrap --quiet --variant=essential --mode=root --keyring="$DEBIAN_KEYRING" \
        --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='APT::Install-Recommends "false"' \
        --include="$packages" --dpkgopt='path-exclude=/usr/share/doc/*' \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        "${hooks[@]}" "$suite" - "deb [signed-by=$DEBIAN_KEYRING] $(debian_mirror) $suite main"
}

build() { # build TAG SUITE PACKAGES CHANGES...: Dockerfile instructions for `docker import`
    local tag=$1 suite=$2 packages=$3 stamp change changes=()
    shift 3
    stamp=$(printf '%s\n' "$suite" "$packages" "$@" "${hooks[@]}" | sha256sum | cut -c1-16)
    if [ "$(label_of "$tag")" = "$stamp" ]; then
        say "$tag: stand-in, as before"
        return
    fi
    needs mmdebstrap mmdebstrap
    for change in "LABEL $label=$stamp" "$@"; do changes+=(--change "$change"); done
    say "building a stand-in for $tag from Debian $suite ($packages)"
    debootstrap_tar "$suite" "$packages" | docker import "${changes[@]}" - "$tag" >/dev/null
}

python_image() {
    # `python` and `pip` as the official image has them; Debian marks its Python as its own, hence the
    # removal of EXTERNALLY-MANAGED. libstdc++6 is in every Debian with apt, and numpy needs it.
    hooks=(--customize-hook='rm -f "$1"/usr/lib/python3*/EXTERNALLY-MANAGED')
    build "$1" trixie python3,libstdc++6,python3-venv,python3-pip,python-is-python3,ca-certificates \
        "ENV PYTHONDONTWRITEBYTECODE=1" 'CMD ["python3"]'
}

llama_image() {
    hooks=(--customize-hook='mkdir -p "$1/app" && ln -s /usr/bin/llama-server "$1/app/llama-server"')
    build "$1" unstable llama.cpp-tools,curl,ca-certificates \
        "WORKDIR /app" "ENV LLAMA_ARG_HOST=0.0.0.0" 'ENTRYPOINT ["/app/llama-server"]' \
        'HEALTHCHECK CMD [ "curl", "-f", "http://localhost:8080/health" ]'
}

redis_image() {
    # uid 999 as in the official image; Debian's package takes the next free one.
    hooks=(--customize-hook='chroot "$1" usermod -u 999 redis && mkdir -p "$1/data"'
        --customize-hook='chroot "$1" chown 999 /data')
    build "$1" unstable redis-server,redis-tools "WORKDIR /data" "VOLUME /data" \
        'CMD ["redis-server"]'
}

caddy_image() {
    hooks=(--customize-hook='mkdir -p "$1"/config/caddy "$1"/data/caddy "$1"/etc/caddy "$1"/srv'
        --customize-hook='chroot "$1" sh -c "command -v setcap >/dev/null && setcap cap_net_bind_service=+ep /usr/bin/caddy"')
    build "$1" unstable caddy,wget,ca-certificates,libcap2-bin \
        "ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data" "WORKDIR /srv" \
        'CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]'
}

offline=${1:-}
hooks=()
while read -r name builder; do
    tag=$(tag_of "$name")
    if made=$(label_of "$tag") && [ -z "$made" ]; then
        say "$tag: official, there"
    elif pulled "$tag"; then
        say "$tag: official, pulled"
    else
        "$builder" "$tag"
    fi
done <<'LIST'
python python_image
ghcr.io/ggml-org/llama.cpp llama_image
redis redis_image
caddy caddy_image
LIST
