#!/bin/sh
# overload.sh [--short|--long]: more than the pipeline can take. Over UDP, at 0.5, 1, 2 and 5 times what it takes, every datagram
# that was sent is accepted, rejected or counted as dropped by the kernel, to the last one; and memory stays flat.
# Exact whatever the machine and its load. 5 s each; --long: a minute each. KYMO: the binary, built here when not given.
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
exec python3 "$here/overload/measure.py" "$KYMO" "$here/workload" "$@"
