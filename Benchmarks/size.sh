#!/bin/sh
# size.sh: what the release binary consists of, and fails when it is larger, stripped, than the project promises: 40 MB.
# Sizes are those of the linker's map, which `make build` writes beside the binary. They depend on the compiler alone, not
# on the machine's speed.
# KYMO: the binary with its symbols. KYMO_STRIPPED, KYMO_MAP: what `make build` made of it. PYTHON: 3.9 or later.
set -eu
. "$(dirname "$0")/begin.sh"
exec "${PYTHON:-python3}" "$here/size/contents.py" \
    "${KYMO:-$root/.build/release/kymo}" "${KYMO_STRIPPED:-$root/.build/install/kymo}" "${KYMO_MAP:-$root/.build/kymo.map}"
