#!/bin/sh
# gate.sh [--update]: fails when a stage takes more than 5 % more instructions per reading than committed, or allocates.
# Needs valgrind, and what `make probes` has built.
set -eu
. "$(dirname "$0")/begin.sh"
exec python3 "$here/gate/gate.py" "$root/.build/release" "$here/Thresholds/instructions.json" "$@"
