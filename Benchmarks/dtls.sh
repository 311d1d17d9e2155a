#!/bin/sh
# dtls.sh: memory per DTLS association; and datagrams per second without loss, and CPU for each, of `kymo run --udp` plain,
# with DTLS, and sealed by one key and by a thousand, the same readings in turns.
#
# For people, on idle cores: it prints, and fails when a kind takes nothing without loss. KYMO: the binary, built here when
# not given. KYMO_DTLS_SECONDS: length of each run (1). KYMO_DTLS_ASSOCIATIONS: how many are held at once (10000); with 0
# seconds, nothing but their memory is measured.
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
make_folder
cc -O2 -Wall -I"$here/../bridges" -o "$folder/send" "$here/dtls/send.c" "$here/../bridges/kymo_seal.c" -lssl -lcrypto
PYTHONPATH="$here/datagrams:$PYTHONPATH" "$python" "$here/dtls/measure.py" "$folder" "$KYMO" "$here/workload" \
    "${KYMO_DTLS_SECONDS:-1}" "${KYMO_DTLS_ASSOCIATIONS:-10000}"
