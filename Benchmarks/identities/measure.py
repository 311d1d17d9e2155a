"""measure.py KYMO SERVER FOLDER: bytes and time of bundles with Patients and Devices, and without.

Readings are heart rates at 1 Hz, of one device alone or of 100 devices, in windows of a minute; each Observation has the
series. A bundle comes in three forms: as kymo writes it (`create`: conditional creates), with conditional references in
their place (`reference`: `Patient?identifier=…`), and with literal ones (`literal`: `Patient/ID`), which are the least
that can be. The server is timed for `create` and `literal`, in turns: it does not resolve conditional references.
"""
import gzip
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import time

from running import free_port

ENTRIES = (1, 10, 100)
ROUNDS = 5


def readings(devices, windows):
    for window in range(windows):
        device, minute = window % devices, window // devices
        for second in range(60):
            yield json.dumps({
                "deviceId": f"watch-{device}", "patientId": f"p-{device:04}", "type": "heartRate",
                "timestamp": f"2026-03-01T{8 + minute // 60:02}:{minute % 60:02}:{second:02}Z",
                "value": 60 + (second * 7 + window) % 40, "unit": "/min"})


def bundles(kymo, folder, devices, entries):
    """The bundles of 100 windows, or of 10 where each has one entry, as kymo writes them."""
    windows = 10 if entries == 1 else 100
    output = os.path.join(folder, f"{devices}-{entries}")
    config = os.path.join(folder, "kymo.yaml")
    with open(config, "w") as file:
        # Patients and Devices count as entries of a bundle, too.
        file.write(f"output: {{maxEntries: {entries + 2 * min(devices, entries)}}}\n")
    subprocess.run(
        [kymo, "run", "--stdin", "--config", config, "--window", "1m", "--out", output, "--ephemeral"],
        input="\n".join(readings(devices, windows)).encode(), check=True, stderr=subprocess.DEVNULL)
    found = []
    for name in sorted(os.listdir(output)):
        with open(os.path.join(output, name)) as file:
            found += [json.loads(line) for line in file]
    return found


def without(bundle, reference):
    """The bundle without its conditional creates; `reference` gives what stands in their place."""
    places = {}
    rest = []
    for entry in bundle["entry"]:
        if "ifNoneExist" in entry["request"]:
            places[entry["fullUrl"]] = reference(entry)
        else:
            rest.append(entry)
    text = json.dumps({**bundle, "entry": rest}, separators=(",", ":"))
    for place, other in places.items():
        text = text.replace(place, other)
    return text


def conditional(entry):
    return f"{entry['resource']['resourceType']}?{entry['request']['ifNoneExist']}"


def literal(entry):
    # As long as ids that servers give.
    return f"{entry['resource']['resourceType']}/{'0' * 36}"


def observations(bundle):
    return sum("ifNoneExist" not in entry["request"] for entry in bundle["entry"])


def wait_until_ready(port):
    for _ in range(200):
        try:
            with socket.create_connection(("127.0.0.1", port)):
                return
        except OSError:
            time.sleep(0.05)
    sys.exit("identities: the server does not answer")


def post(port, text):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    begin = time.perf_counter()
    connection.request("POST", "/fhir", text, {"Content-Type": "application/fhir+json", "Prefer": "return=minimal"})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        sys.exit(f"identities: the server answers {answer.status}: {body[:300]}")
    return time.perf_counter() - begin


def times(server, forms):
    """Milliseconds for an Observation in each form, the median of rounds in turns."""
    port = free_port(socket.SOCK_STREAM)
    process = subprocess.Popen([sys.executable, "-B", server, "--port", str(port)], stdout=subprocess.DEVNULL)
    try:
        wait_until_ready(port)
        taken = {name: [] for name in forms}
        for turn in range(ROUNDS + 1):
            for name, (texts, count) in forms.items():
                spent = sum(post(port, text) for text in texts)
                # The first round makes the Patients and Devices.
                if turn > 0:
                    taken[name].append(spent / count * 1000)
        return {name: statistics.median(all) for name, all in taken.items()}
    finally:
        process.kill()


def main():
    kymo, server, folder = sys.argv[1:4]
    print(f"{'devices':>7} {'entries':>7} {'create':>8} {'reference':>9} {'literal':>8}   bytes an Observation")
    print(f"{'':15} {'create':>8} {'reference':>9} {'literal':>8}   the same, gzip")
    print(f"{'':15} {'create':>8} {'':9} {'literal':>8}   ms an Observation at the strict server")
    for devices in (1, 100):
        for entries in ENTRIES:
            if entries == 1 and devices == 100:
                continue
            made = bundles(kymo, folder, devices, entries)
            count = sum(observations(bundle) for bundle in made)
            forms = {
                "create": [json.dumps(bundle, separators=(",", ":")) for bundle in made],
                "reference": [without(bundle, conditional) for bundle in made],
                "literal": [without(bundle, literal) for bundle in made],
            }
            sizes = {name: sum(len(text.encode()) for text in texts) / count for name, texts in forms.items()}
            small = {name: sum(len(gzip.compress(text.encode())) for text in texts) / count
                     for name, texts in forms.items()}
            spent = times(server, {name: (forms[name], count) for name in ("create", "literal")})
            print(f"{devices:7} {count / len(made):7.0f} "
                  + f"{sizes['create']:8.0f} {sizes['reference']:9.0f} {sizes['literal']:8.0f}")
            print(f"{'':15} {small['create']:8.0f} {small['reference']:9.0f} {small['literal']:8.0f}")
            print(f"{'':15} {spent['create']:8.2f} {'':9} {spent['literal']:8.2f}")


main()
