"""measure.py FOLDER KYMO WORKLOAD SECONDS ASSOCIATIONS: called by dtls.sh, which has built `send` into FOLDER.

Each kind of source gets the same readings, one in a datagram, by one sender, at ever higher rates until some are lost: one of
three tries must lose nothing, since time slices that other processes get are not what is measured. The kinds take turns at
each rate. CPU is that of all threads of kymo."""
import json
import os
import re
import subprocess
import sys
import time

import readings
from running import cpu_seconds, free_port, listening, number

FOLDER, KYMO, WORKLOAD, SECONDS, ASSOCIATIONS = sys.argv[1:4] + [float(sys.argv[4]), int(sys.argv[5])]
SIZE = 200
RATES = [int(20_000 * 1.4 ** step) for step in range(12)]
KEY = "000102030405060708090a0b0c0d0e0f"
with open(f"{FOLDER}/psk.keys", "w") as file:
    file.write(f"pump-1:{KEY}\n")
os.chmod(f"{FOLDER}/psk.keys", 0o600)
#: How many keys take turns, by kind.
SEALED = {"sealed": 1, "sealed by 1,000 keys": 1_000}
KINDS = {"plain": {}, "dtls": {"pskFile": f"{FOLDER}/psk.keys"}}
for name, keys in SEALED.items():
    path = f"{FOLDER}/sealed-{keys}.keys"
    with open(path, "w") as file:
        file.writelines(f"{key:08x}:{KEY[:24]}{key:08x}\n" for key in range(1, keys + 1))
    os.chmod(path, 0o600)
    KINDS[name] = {"sealedKeyFile": path}


def start(**settings):
    """kymo with one source of `settings`, and its port."""
    port = free_port()
    source = {"udp": f"127.0.0.1:{port}", "mappings": f"{WORKLOAD}/", **settings}
    with open(f"{FOLDER}/kymo.json", "w") as file:
        json.dump({"sources": [source], "lanes": 1, "window": "5m", "lateness": "30s"}, file)
    subprocess.run(["rm", "-rf", f"{FOLDER}/out"], check=True)
    process = subprocess.Popen([KYMO, "run", "--ephemeral", "--config", f"{FOLDER}/kymo.json", "--out", f"{FOLDER}/out"],
                               stderr=subprocess.PIPE, text=True)
    if not listening(process):
        sys.exit("dtls: kymo did not start")
    time.sleep(0.2)
    return process, port


def resident(process):
    """KiB of memory of a process."""
    with open(f"/proc/{process.pid}/status") as status:
        return number(r"VmRSS:\s+(\d+)", status.read())


def association_memory():
    """KiB for each association, of ASSOCIATIONS with pre-shared keys that have sent something and are silent now."""
    process, port = start(associations=ASSOCIATIONS, associationsPerPeer=ASSOCIATIONS, handshakeRate=100_000, **KINDS["dtls"])
    before = resident(process)
    holder = subprocess.Popen([f"{FOLDER}/send", "hold", str(ASSOCIATIONS), str(port), "pump-1", KEY],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if "held" not in holder.stdout.readline():
        sys.exit("dtls: there are fewer associations")
    time.sleep(1)
    after = resident(process)
    holder.communicate()
    process.terminate()
    process.communicate(timeout=120)
    return (after - before) / ASSOCIATIONS


def attempt(kind, rate):
    """Sends for SECONDS at `rate`: datagrams a second, those lost, and nanoseconds of CPU for each that was accepted."""
    process, port = start(**KINDS[kind])
    before = cpu_seconds(process)
    form, key = ("sealed", str(SEALED[kind])) if kind in SEALED else (kind, "pump-1")
    text = subprocess.run([f"{FOLDER}/send", form, f"{FOLDER}/single", str(SIZE), str(port), str(rate), key, KEY],
                          capture_output=True, text=True, check=True).stdout
    time.sleep(0.3)
    used = cpu_seconds(process) - before
    process.terminate()
    summary = process.communicate(timeout=120)[1]
    if process.returncode != 0:
        sys.exit(f"dtls: kymo failed:\n{summary}")
    sent = re.search(r"sent (\d+) in ([\d.]+) s", text)
    accepted = number(r"accepted (\d+)", summary)
    return int(sent[1]) / float(sent[2]), int(sent[1]) - accepted, used * 1e9 / max(accepted, 1)


print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
if ASSOCIATIONS > 0:
    print(f"{association_memory():.1f} KiB per association, of {ASSOCIATIONS:,}", flush=True)
if SECONDS == 0:
    sys.exit(0)
best, open_kinds = {}, set(KINDS)
for rate in RATES:
    readings.write(f"{FOLDER}/single", "ndjson", int(rate * SECONDS), 1, SIZE, SIZE)
    for kind in [kind for kind in KINDS if kind in open_kinds]:
        for _ in range(3):
            real, lost, each = attempt(kind, rate)
            if lost == 0:
                break
        # What the sender does not reach is no rate of kymo.
        if lost > 0 or real < 0.9 * rate:
            open_kinds.discard(kind)
        if lost == 0 and real > best.get(kind, (0, 0))[0]:
            best[kind] = (real, each)
for kind in KINDS:
    real, each = best.get(kind, (0, 0))
    share = f", {real / best['plain'][0]:.2f} of plain" if kind != "plain" and "plain" in best else ""
    print(f"{kind:20} {real:10,.0f} datagrams/s without loss{share}; {each:,.0f} ns of CPU each", flush=True)
sys.exit(0 if len(best) == len(KINDS) else 1)
