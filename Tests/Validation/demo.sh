#!/bin/bash
# Shows the main job: simulated devices send to a UDP and a Unix socket, kymo writes bundles, a validator reads them.
set -euo pipefail
kymo=$1
python=${KYMO_PYTHON:-python3}
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$(mktemp -d)
running=""
cleanup() {
    [ -z "$running" ] || kill "$running" 2>/dev/null || true
    rm -rf "$out"
}
trap cleanup EXIT

echo "== kymo listens on UDP and on a Unix socket, with 5-minute windows"
"$kymo" run --udp 127.0.0.1:5757 --unix "$out/kymo.sock" --lateness 30s --out "$out/bundles" --data "$out/data" \
    --dead-letter "$out/dead.ndjson" 2>"$out/log" &
running=$!
for _ in $(seq 50); do [ -S "$out/kymo.sock" ] && break; sleep 0.1; done
cat "$out/log"

echo
echo "== eight devices send half an hour of heart rate, steps, glucose and blood pressure; some twice, some late"
"$kymo" simulate --devices 4 --duration 30m --speed max --seed 7 --duplicates 0.02 --late 0.05 --unix "$out/kymo.sock"
"$kymo" simulate --devices 4 --first-device 5 --duration 30m --speed 1000 --seed 8 --duplicates 0.02 --udp 127.0.0.1:5757
echo '{"deviceId":"strap-1","type":"heartRate","timestamp":"2024-05-01T10:00:00Z","value":null,"unit":"/min"}' |
    "$python" -c 'import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(sys.stdin.buffer.read())' "$out/kymo.sock"
sleep 1

echo
echo "== a signal to stop: what is there is delivered, and every reading is accounted for"
kill -TERM "$running"
wait "$running"
running=""
grep -v listening "$out/log"

echo
echo "== the one reading without a value is kept with its reason"
cat "$out/dead.ndjson"

echo
echo "== the first window of a heart rate, with its series"
"$python" - "$out"/bundles/*.ndjson <<'PY'
import json, sys
resources = (entry["resource"] for path in sys.argv[1:] for line in open(path) for entry in json.loads(line)["entry"])
observation = next(r for r in resources if r.get("code", {}).get("text") == "Heart rate" and "effectivePeriod" in r)
text = json.dumps(observation, indent=1)
print("\n".join(line[:150] for line in text.split("\n")))
PY

echo
echo "== validation"
"$python" "$root/Tests/Validation/check_model.py" "$out"/bundles/*.ndjson
if [ -f "${KYMO_SHARED:-}/fhir/validate_bundle.py" ]; then
    for file in "$out"/bundles/*.ndjson; do
        "$python" "$KYMO_SHARED/fhir/validate_bundle.py" --no-schema "$file" | tail -1
    done
fi

echo
echo "== the same without a socket or a file: kymo demo"
"$kymo" demo
