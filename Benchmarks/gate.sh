#!/bin/sh
# gate.sh [--update]: fails when a stage takes more than 5 % more instructions per reading than committed, or allocates.
# Needs valgrind, and what `make probes` has built.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
exec python3 "$here/gate/gate.py" "$root/.build/release" "$here/Thresholds/instructions.json" "$@"
