#!/bin/sh
# operations.sh [--short] [hung] [scrape]: what a run costs its operator when something around it is wrong or large, all parts or
# those that are named; fails above what is promised.
#   hung: a FHIR server, a database and brokers accept each connection and never answer, while entries wait for them
#   - nothing comes:                                              5 % of a processor
#   - 1,000 readings a second, against a server that answers:     5 % of a processor more
#   scrape: metrics of so many sources that they have almost 5,000 series, and of twice as many
#   - series, in the second case:                                 5,000, and those that are left out are counted
#   - bytes of an answer:                                         1 MiB
#   - a scrape, the median of 51 without load:                    10 ms
# Needs a minute. KYMO: the binary, built here when not given. KYMO_SCRAPE: the longest scrape that passes, in ms (10).
set -eu
. "$(dirname "$0")/begin.sh"
need_kymo
make_folder
"$python" "$here/operations/measure.py" "$KYMO" "$folder" "${KYMO_SCRAPE:-10}" "$@"
