# shellcheck shell=bash
# Sourced by compose.sh and base_images.sh: where this machine gets Debian from.
# The addresses are taken from apt itself, so that a mirror or a proxy set up there serves here too.

DEBIAN_KEYRING="${DEBIAN_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}"

debian_mirror() { # the first address of a suite of Debian proper (not -security, not a third party)
    local mirror
    # shellcheck disable=SC2016  # apt's own variables
    mirror=$(apt-get indextargets --format '$(ORIGIN)|$(SITE)|$(REPO_URI)' |
        awk -F'|' '$1 == "Debian" && $3 !~ /security/ { print $3; exit }')
    [ -n "$mirror" ] || {
        echo "this machine's apt names no Debian mirror: run apt-get update" >&2
        return 1
    }
    printf '%s\n' "${mirror%/}"
}

apt_of_suite() { # apt_of_suite FOLDER SUITE: an apt.conf in FOLDER for SUITE alone; prints its path
    local folder=$1 suite=$2
    mkdir -p "$folder"/{lists/partial,cache/archives/partial}
    printf 'deb [signed-by=%s] %s %s main\n' "$DEBIAN_KEYRING" "$(debian_mirror)" "$suite" \
        >"$folder/sources.list"
    cat >"$folder/apt.conf" <<CONF
Dir::Etc::SourceList "$folder/sources.list";
Dir::Etc::SourceParts "-";
Dir::State::Lists "$folder/lists";
Dir::Cache "$folder/cache";
Acquire::Languages "none";
APT::Sandbox::User "root";
CONF
    printf '%s\n' "$folder/apt.conf"
}
