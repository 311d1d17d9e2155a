#!/bin/sh
# gate.sh [--update]: fails when a stage takes more than 5 % more instructions per reading than committed, or allocates.
# Needs valgrind. KYMO_SCRATCH names another build folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
scratch=${KYMO_SCRATCH:-$root/.build/benchmarks}
KYMO_BENCHMARKS=1 swift build --package-path "$root" --scratch-path "$scratch" -c release --product StageProbe >&2
KYMO_BENCHMARKS=1 swift build --package-path "$root" --scratch-path "$scratch" -c release --product DoorProbe >&2
exec python3 "$here/gate/gate.py" "$scratch/release" "$here/Thresholds/instructions.json" "$@"
