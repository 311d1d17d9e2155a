#!/bin/sh
# postgres.sh [READINGS]: how fast a sink stores heart rates of 100 devices at 1 Hz in PostgreSQL (default 200000), beside the
# same rows written by psql with one INSERT each: committed one by one, and all in one transaction.
#
# The server is Debian's postgresql-15 with its usual settings, in a folder of its own, on a Unix socket. KYMO: the binary, built
# here when not given. KYMO_PYTHON: a Python interpreter.
set -eu
. "$(dirname "$0")/begin.sh"
[ -x /usr/lib/postgresql/15/bin/initdb ] || skip "the package postgresql-15 is not installed"
need_kymo
make_folder
"$python" "$here/postgres/measure.py" "$KYMO" "$folder" "${1:-200000}"
