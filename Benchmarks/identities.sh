#!/bin/sh
# identities.sh: what it costs that each bundle brings its Patients and Devices as conditional creates
# (docs/decisions/0052-device-and-patient-in-each-bundle.md): bytes of bundles of 1, 10 and 100 entries with them, with
# conditional references in their place, and with literal ones; and the time that the strict server takes for them.
# KYMO: the binary, built here when not given. KYMO_SHARED: has the server. KYMO_PYTHON: a Python with aiohttp.
set -eu
. "$(dirname "$0")/begin.sh"
need_shared fhir/fhir_server_stub.py
need_kymo
make_folder
"$python" "$here/identities/measure.py" "$KYMO" "$shared/fhir/fhir_server_stub.py" "$folder"
