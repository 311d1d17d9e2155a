#!/usr/bin/env python3
"""measure.py KYMO FOLDER: bytes per reading of the output, each beside what the project promises."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KYMO, FOLDER = sys.argv[1:3]


def path(name):
    return os.path.join(FOLDER, name)


def readings(devices, seconds):
    name = path(f"{devices}x{seconds}.ndjson")
    with open(name, "wb") as out:
        subprocess.run([sys.executable, os.path.join(HERE, "heart_rate.py"), str(devices), str(seconds)], stdout=out,
                       check=True)
    return name


def run(lines, name, settings):
    """Bytes of all files that a run over `lines` writes."""
    with open(path(name + ".yaml"), "w", encoding="utf-8") as file:
        file.write(settings.replace("OUT", path(name)))
    with open(lines, "rb") as stdin:
        subprocess.run([KYMO, "run", "--stdin", "--ephemeral", "--config", path(name + ".yaml")], stdin=stdin,
                       stderr=subprocess.DEVNULL, check=True)
    files = [os.path.join(path(name), entry) for entry in sorted(os.listdir(path(name)))]
    return files, sum(os.path.getsize(entry) for entry in files)


def dictionary():
    """How many times smaller single Observations get, and their bytes with and without."""
    with open(path("mix.ndjson"), "wb") as out:
        subprocess.run([KYMO, "simulate", "--devices", "400", "--duration", "60s", "--start", "2026-03-01T00:00:00Z",
                        "--speed", "max", "--stdout"], stdout=out, stderr=subprocess.DEVNULL, check=True)
    files, _ = run(path("mix.ndjson"), "mix", "{window: 1s, output: {to: OUT, format: ndjson}}")
    done = subprocess.run([KYMO, "dictionary", files[0], "--out", FOLDER], capture_output=True, text=True, check=True)
    found = re.search(r"(\d+) bytes each with zstd, (\d+) with the dictionary, ([\d.]+) times smaller", done.stderr)
    return float(found[3]), found[1], found[2]


def main():
    failed = False

    def line(text, value, sign, target):
        nonlocal failed
        holds = value <= target if sign == "at most" else value >= target
        failed = failed or not holds
        print(f"{text:64} {value:6.3f}  {sign} {target}{'' if holds else '  MISSED'}")

    one, many = readings(1, 3600), readings(100, 3600)
    _, size = run(one, "one", "{window: 1h, output: {to: OUT, format: ndjson}}")
    line("JSON, 1 h of 1 Hz heart rate in one Observation, bytes a reading", size / 3600, "at most", 3.6)
    _, size = run(many, "many", "{window: 1h, output: {to: OUT, compression: zstd}}")
    line("zstd, bundles of 100 such Observations, bytes a reading", size / 360_000, "at most", 0.65)
    times, plain, small = dictionary()
    line(f"dictionary, single Observations ({plain} B to {small} B), times smaller", times, "at least", 5)
    sys.exit(1 if failed else 0)


main()
