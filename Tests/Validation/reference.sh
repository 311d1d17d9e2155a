#!/bin/bash
# Builds the reference of the library from what a debug build has left: the symbols that are public, and the landing page.
# A warning, such as a link to what is not public, is an error.
#
# usage: reference.sh SCRATCH-PATH OUTPUT
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=$1 build=$1/debug output=$2
symbols=$(mktemp -d)
trap 'rm -rf "$symbols"' EXIT

# Where the modules of C code are described (those of this package, those of others, and those that the build has
# written), and the headers of this package, which include one another.
modules() {
    find Sources "$scratch"/checkouts/*/Sources -maxdepth 3 -name module.modulemap -printf '-I\n%h\n'
    find Sources -maxdepth 2 -name include -printf '-I\n%p\n'
    find "$build"/*.build -maxdepth 1 -name module.modulemap -printf '-I\n%h\n'
}
mapfile -t includes < <(modules)
target=$(swift -print-target-info | sed -n 's/.*"unversionedTriple": *"\([^"]*\)".*/\1/p')

swift symbolgraph-extract -module-name Kymograph -target "$target" -minimum-access-level public \
    -experimental-allowed-reexported-modules=KymographCore -skip-synthesized-members -skip-inherited-docs \
    -I "$build/Modules" "${includes[@]}" -output-dir "$symbols"
docc convert Sources/Kymograph/Documentation.docc --additional-symbol-graph-dir "$symbols" \
    --fallback-display-name Kymograph --fallback-bundle-identifier kymograph.Kymograph \
    --output-dir "$output" --warnings-as-errors
