#!/bin/sh
# resent.sh: CPU of readings that come again, as phones push whole days again, beside that of fresh ones, and memory.
# `kymo run --stdin --data`, 200,000 readings each, the second time with the first time's data directory:
#   - windows of five readings, all in the archive:               twice the CPU of fresh ones at most
#   - the same, with one reading in a hundred new:                twice
#   - the same within one run, with 64 KiB of memory for closed windows: twice
#   - windows of a day, in the archive, and open:                 twice
# KYMO: the binary, built here when not given.
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
make_folder
"$python" "$here/resent/measure.py" "$KYMO" "$folder" "$here/workload"
