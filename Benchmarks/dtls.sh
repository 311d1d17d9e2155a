#!/bin/sh
# dtls.sh: datagrams a second without loss, and CPU for each, of `kymo run --udp` with DTLS beside those without, the same
# readings in turns.
#
# For people, on idle cores: it prints, and fails when a kind takes nothing without loss. KYMO: the binary, built here when
# not given. KYMO_DTLS_SECONDS: length of each run (1).
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
make_folder
cc -O2 -Wall -o "$folder/send" "$here/dtls/send.c" -lssl -lcrypto
PYTHONPATH="$here/datagrams:$PYTHONPATH" "$python" "$here/dtls/measure.py" "$folder" "$KYMO" "$here/workload" \
    "${KYMO_DTLS_SECONDS:-1}"
