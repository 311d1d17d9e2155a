#!/bin/sh
# hostile.sh: what one good client gets on disk per second by HTTP, without TLS and with it, by lines over TCP and by MLLP,
# while 1,000 connections beside it are silent, slow, broken or wrong, as a share of what it gets alone, in turn.
#
# KYMO_PYTHON: a Python interpreter. KYMO: the binary, built here when not given. KYMO_HOSTILE: the least share that
# passes (0.9).
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
make_folder
"$python" "$here/doors/hostile.py" "$KYMO" "$folder" "${KYMO_HOSTILE:-0.9}"
