#!/bin/sh
# parquet.sh [READINGS]: what 'kymo export --format parquet' makes of heart rates at 1 Hz of 100 devices, READINGS in all
# (default 1000000; 100000000 takes an hour and 5 GB).
#   - bytes per reading: 4 at most
#   - readings per second, beside pyarrow writing the same tables from memory
#   - peak memory: 128 MiB at most, however many readings there are
# Receive times are those of standard input, which come in batches; what those of a live stream take is measured by
# ParquetFolderTests. KYMO: the binary, built here when not given. KYMO_PYTHON: a Python interpreter with pyarrow.
set -eu
. "$(dirname "$0")/begin.sh"
"$python" -c "import pyarrow" 2> /dev/null || skip "KYMO_PYTHON has no pyarrow"
need_kymo
make_folder
"$python" "$here/parquet/measure.py" "$KYMO" "$folder" "${1:-1000000}"
