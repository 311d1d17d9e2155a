#!/bin/sh
# bytes.sh: how many bytes a reading takes in the output, and fails when that is above what the project promises:
#   - JSON, an hour of heart rates at 1 Hz of one device in one Observation: 3.6
#   - zstd, bundles of the hours of 100 devices:                             0.65
#   - zstd with the trained dictionary, single Observations one by one:      at least 5 times smaller than without
# The readings are made by bytes/heart_rate.py. KYMO: the binary, built here when not given. PYTHON: 3.9 or later.
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
make_folder
"${PYTHON:-python3}" "$here/bytes/measure.py" "$KYMO" "$folder"
