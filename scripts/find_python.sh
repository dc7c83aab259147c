#!/bin/sh
# Print the Python to use: $PYTHON, or the first of 3.13, 3.12, 3.11 and python3 that is >= 3.11,
# one that can make virtual environments before one that can't.
set -eu

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

fallback=
for candidate in ${PYTHON:-python3.13 python3.12 python3.11 python3}; do
    new_enough "$candidate" || continue
    if "$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        echo "$candidate"
        exit 0
    fi
    fallback=${fallback:-$candidate}
done

if [ -n "$fallback" ]; then
    echo "$fallback"
    exit 0
fi
found=$(python3 --version 2>&1 || echo 'no Python')
echo "error: Python 3.11 or newer is needed, found ${found}: sudo apt-get install python3.11" \
    "python3.11-venv, or name one: make demo PYTHON=/path/to/python3" >&2
exit 1
