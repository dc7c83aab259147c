#!/bin/sh
# Make or refresh the virtual environment: make_venv.sh FOLDER runtime|dev STAMP
# STAMP is written last, so that an interrupted run is done again.
set -eu
venv=$1 kind=$2 stamp=$3

fail() {
    echo "error: $1" >&2
    exit 1
}

if ! "$venv/bin/python" -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python=$(sh "$(dirname "$0")/find_python.sh")
    "$python" -c 'import ensurepip, venv' 2>/dev/null || fail "$python can't make virtual \
environments: sudo apt-get install $(basename "$python")-venv"
    "$python" -m venv "$venv" || fail "no virtual environment in $venv: is the disk full?"
fi

echo "installing the Python packages of requirements/$kind.txt into $venv (about a minute)" >&2
"$venv/bin/python" -m pip install -qq --no-input --require-hashes -r "requirements/$kind.txt" ||
    fail "the packages could not be installed (above): without a network, try again with one"
"$venv/bin/python" -m pip install -qq --no-input --no-deps --no-build-isolation \
    -e packages/corpus -e services/indexer -e services/bot ||
    fail "the packages of this repository could not be installed (above)"
touch "$stamp"
