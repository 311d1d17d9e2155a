#!/bin/sh
# import.sh: time and memory of `kymo import apple` on a generated export.zip, whose export.xml has KYMO_IMPORT_BYTES (2 GB).
#
# KYMO_PYTHON: a Python interpreter. KYMO: the binary, built here when not given. KYMO_IMPORT_MEMORY: the most MiB that
# pass (64).
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
make_folder
"$python" "$here/import/measure.py" "$KYMO" "$folder" "${KYMO_IMPORT_BYTES:-2000000000}" "${KYMO_IMPORT_MEMORY:-64}"
