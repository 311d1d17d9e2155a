#!/usr/bin/env python3
"""udp.py FOLDER KYMO MAPPING SECONDS SHARE: called by udp.sh, which has built netprobe and udpsend into FOLDER."""
import os
import random
import re
import signal
import subprocess
import sys
import time

from running import free_port, number

PAYLOAD = 200
CEILING = 600_000
STEPS = 6
START_MS = 1_767_225_600_000


def bare_run(netprobe, rate, seconds):
    """What a receiver in C got of what was sent at `rate` (0: as fast as possible): sent, received, packets per second."""
    port = str(free_port())
    receiver = subprocess.Popen([netprobe, "recv", "udp", port, str(seconds)], stdout=subprocess.PIPE, text=True)
    time.sleep(0.1)
    sender = subprocess.run([netprobe, "send", "udp", port, str(seconds), str(PAYLOAD), str(rate)],
                            capture_output=True, text=True)
    received = receiver.communicate()[0]
    sent = re.search(r"sent pkts (\d+) in ([\d.]+)s", sender.stdout)
    got = re.search(r"recv pkts (\d+)", received)
    return int(sent[1]), int(got[1]) if got else 0, int(sent[1]) / float(sent[2])


def lossless_limit(netprobe, seconds):
    """The highest rate, to within 1/64 of the fastest sender's, at which nothing was lost."""
    sent, got, fastest = bare_run(netprobe, 0, seconds)
    if sent == got:
        return fastest
    low, high = 0.0, min(fastest, CEILING)
    for _ in range(STEPS):
        middle = (low + high) / 2
        sent, got, real = bare_run(netprobe, middle, seconds)
        if sent == got:
            low = min(middle, real)
        else:
            high = middle
    return low


def write_workload(path, count):
    """Lines like the workload's, of PAYLOAD bytes, one reading each; 1,000 devices, in order of time."""
    random.seed(20_260_101)
    kinds = (("heart-rate", 48, 170, "bpm"), ("steps", 0, 40, "steps"), ("glucose", 60, 220, "mg/dL"))
    with open(path, "w") as file:
        for index in range(count):
            kind, low, high, unit = random.choices(kinds, (75, 15, 10))[0]
            # No two readings share an instant, so that every one of them must be accepted.
            line = (f'{{"device":"dev-{index % 1000:05d}","ts":{START_MS + index},"type":"{kind}",'
                    f'"value":{random.randrange(low, high)},"unit":"{unit}","seq":{index // 1000},"note":"')
            file.write(line + "x" * (PAYLOAD - len(line) - 2) + '"}\n')


def our_run(folder, kymo, mapping, rate, seconds):
    """The summary of `kymo run` and what was sent to it at `rate`."""
    port = str(free_port())
    workload = os.path.join(folder, "workload.ndjson")
    count = int(rate * seconds)
    write_workload(workload, count)
    process = subprocess.Popen(
        [kymo, "run", "--ephemeral", "--udp", f"127.0.0.1:{port}", "--mapping", mapping, "--window", "5m", "--lateness", "30s",
         "--out", os.path.join(folder, "out")], stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    sender = subprocess.run([os.path.join(folder, "udpsend"), workload, port, str(int(rate))],
                            capture_output=True, text=True)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    summary = process.communicate(timeout=60)[1]
    if process.returncode != 0:
        sys.exit(f"udp: kymo failed:\n{summary}")
    return int(re.search(r'"sent":(\d+)', sender.stdout)[1]), summary


def main():
    folder, kymo, mapping = sys.argv[1:4]
    seconds, share = float(sys.argv[4]), int(sys.argv[5])
    limit = lossless_limit(os.path.join(folder, "netprobe"), seconds)
    rate = limit * share / 100
    print(f"netprobe receives {limit:,.0f} packets/s of {PAYLOAD} bytes without loss; sending {rate:,.0f}/s to kymo")
    sent, summary = our_run(folder, kymo, mapping, rate, seconds)
    print(summary.strip())
    received, accepted, dropped = (
        number(rf"{word} (\d+)", summary, missing=-1) for word in ("received", "accepted", "kernel-dropped"))
    print(f"sent {sent}, received {received}, accepted {accepted}, dropped by the kernel {dropped}")
    sys.exit(0 if sent == received == accepted and dropped == 0 else 1)


if __name__ == "__main__":
    main()
