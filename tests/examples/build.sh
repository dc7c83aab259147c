#!/bin/sh
# Installs and builds the examples as their owners do, with the Node and npm of the package.json beside this
# file: Astro 7 wants Node 22.12, Debian 12 has 18, whose npm leaves out the binaries that need more.
# Only the npm registry is asked, and no package runs a script.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export ASTRO_TELEMETRY_DISABLED=1 NEXT_TELEMETRY_DISABLED=1

install() {
    npm ci --ignore-scripts --no-audit --no-fund --loglevel error
}
cd "$here"
install

npm() {
    node "$here/node_modules/npm/bin/npm-cli.js" "$@"
}
for folder in "$here"/node_modules/node-linux-*/bin; do
    PATH="$folder:$PATH"
done
for name in astro next; do
    cd "$here/../../examples/$name"
    install
    npm run --silent build
done
