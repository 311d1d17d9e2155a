#!/bin/sh
# bytes.sh: how many bytes a reading takes in the output, and fails when that is above what the project promises:
#   - JSON, an hour of heart rates at 1 Hz of one device in one Observation: 3.6
#   - zstd, bundles of the hours of 100 devices:                             0.65
#   - zstd with the trained dictionary, single Observations one by one:      at least 5 times smaller than without
# The readings are made by bytes/heart_rate.py. KYMO: the binary, built here when not given. PYTHON: 3.9 or later.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
python=${PYTHON:-python3}
if [ -z "${KYMO:-}" ]; then
    swift build --package-path "$root" -c release --product kymo --static-swift-stdlib >&2
    KYMO=$(swift build --package-path "$root" -c release --show-bin-path)/kymo
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
exec "$python" "$here/bytes/measure.py" "$KYMO" "$folder"
