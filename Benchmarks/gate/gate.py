#!/usr/bin/env python3
"""gate.py FOLDER THRESHOLDS [--update]: instructions and allocations per reading of each stage, against thresholds.
FOLDER holds the programs that take readings through them.

Instructions are counted by callgrind between two marks, for two numbers of readings; the difference of the two runs
leaves nothing but the readings. No clock is involved, so the result does not depend on the machine or its load.
"""
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

TOLERANCE = 0.05
# Half of this stage is the comparison of documents with known shapes: a tenth more of that must show.
TOLERANCES = {"map": 0.03}
# Growth of tables by doubling is not per reading; anything that is would be at least 1 per some hundred readings.
ALLOCATIONS = 0.001
READINGS = (10_000, 30_000)
OBSERVATIONS = (1_000, 3_000)
# Of six readings each.
MESSAGES = (6_000, 18_000)
# A day of two devices, and two: what the second takes more is a day with the end of its windows.
DAYS = (48_000, 96_000)
# Stage: numbers to run with, what one of them is.
STAGES = {
    "decode": (READINGS, "reading"),
    "map": (READINGS, "reading"),
    # The same without the fast path.
    "general": (READINGS, "reading"),
    # The same, ten at a time in arrays.
    "arrays": (READINGS, "reading"),
    "ring": (READINGS, "reading"),
    "window": (READINGS, "reading"),
    "fhir": (OBSERVATIONS, "Observation"),
    # The same bundles in C.
    "twin": (OBSERVATIONS, "Observation"),
    # Entries of such Observations put together as lines of NDJSON.
    "ndjson": (OBSERVATIONS, "Observation"),
    "endtoend": (READINGS, "reading"),
    # One message of 200 bytes, mapped in different ways.
    "templates": (READINGS, "reading"),
    "template": (READINGS, "reading"),
    "jmespath": (READINGS, "reading"),
    "jsonpath": (READINGS, "reading"),
    "compatible": (READINGS, "reading"),
    # Heart rates as Bluetooth packets, and the same as lines of JSON.
    "packets": (READINGS, "reading"),
    "lines": (READINGS, "reading"),
    # Messages of HL7 v2 of a monitor, mapped.
    "hl7": (MESSAGES, "reading"),
    # From line to bundle with 10 devices, and with 1,000; windows of a minute, and of a day.
    "few": (READINGS, "reading"),
    # The same with a rule about one device.
    "ruled": (READINGS, "reading"),
    "many": (READINGS, "reading"),
    "short": (DAYS, "reading"),
    "long": (DAYS, "reading"),
}
# Of doors, what is not the readings' own work: requests of a hundred readings, and messages with their acknowledgement.
DOORS = {
    "http": (READINGS, "reading"),
    "mllp": ((2_000, 6_000), "message"),
}
STAGES |= DOORS
# Allocations that a stage may make per reading or message.
ALLOCATING = {"hl7": 2.3, "http": 0.08, "mllp": 22}
# How many times the instructions of the second stage the first may take, and what that means.
RATIOS = {
    ("fhir", "twin"): (1.1, "Observations encoded as entries, then assembled, against the same bytes written at once in C"),
    ("templates", "template"): (1.5, "all templates of healthkit-on-fhir against the one that matches"),
    ("arrays", "map"): (1.2, "readings in arrays of ten against lines, scan and map"),
    ("jmespath", "jsonpath"): (5.0, "a template in JMESPath against the same in JSONPath"),
    ("many", "few"): (1.3, "readings of 1,000 series against 10, line to bundle"),
    ("long", "short"): (1.3, "windows of 24 hours against 1 minute"),
    ("packets", "lines"): (1.0, "a Bluetooth packet of 2A37 against the same reading in JSON"),
}
# How many instructions more than the second stage the first may take, and what that means.
DIFFERENCES = {
    ("ruled", "few"): (100, "readings with one rule about a device against none"),
}
# The C library picks memcpy and its like by processor; without these features every x86-64 picks the same ones.
FEATURES = (
    "AVX,AVX2,AVX_Fast_Unaligned_Load,AVX512F,AVX512VL,AVX512BW,BMI2,ERMS,FSRM,RTM,SSSE3,SSE4_1,SSE4_2,MOVBE,LZCNT,"
    "POPCNT")
TUNABLES = "glibc.cpu.hwcaps=" + ",".join("-" + feature for feature in FEATURES.split(","))


def environment(**extra):
    # Swift seeds its hash tables at random otherwise; lazy binding would cost where a function is called first.
    fixed = {"SWIFT_DETERMINISTIC_HASHING": "1", "LD_BIND_NOW": "1", "GLIBC_TUNABLES": TUNABLES}
    return {"PATH": os.environ["PATH"], **fixed, **extra}


def run(command, **extra):
    done = subprocess.run(command, env=environment(**extra), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"gate: {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def instructions(probe, stage, count):
    output = run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                  "--toggle-collect=kymograph_measured", probe, stage, str(count)])
    return int(re.search(r"Collected : (\d+)", output)[1])


def allocations(probe, library, stage, count):
    output = run([probe, stage, str(count)], LD_PRELOAD=library)
    counted = int(re.search(r"allocations (-?\d+)", output)[1])
    if counted < 0:
        sys.exit("gate: the allocation counter was not loaded")
    return counted


def per_item(measure, counts):
    return (measure(counts[1]) - measure(counts[0])) / (counts[1] - counts[0])


def measure_stage(probes, library, stage):
    counts, probe = STAGES[stage][0], probes["DoorProbe" if stage in DOORS else "StageProbe"]
    return stage, (per_item(lambda count: instructions(probe, stage, count), counts),
                   per_item(lambda count: allocations(probe, library, stage, count), counts))


def measure_all(probes, library):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(lambda stage: measure_stage(probes, library, stage), STAGES))


def verdict(stage, instructions, allocations, threshold):
    """Words for the table, and whether the stage passes."""
    tolerance = TOLERANCES.get(stage, TOLERANCE)
    if threshold is None:
        return "NO THRESHOLD (--update writes it)", False
    change = instructions / threshold - 1
    words = [f"{change:+.1%}"]
    if change > tolerance:
        words.append("SLOWER")
    if change < -tolerance:
        words.append("faster: tighten with --update")
    allocates = allocations > ALLOCATING.get(stage, ALLOCATIONS)
    if allocates:
        words.append("ALLOCATES")
    return ", ".join(words), change <= tolerance and not allocates


def report(measured, thresholds):
    passed = True
    print(f"{'stage':10} {'instructions':>13} {'threshold':>10} {'allocations':>12}")
    for stage, (instructions, allocations) in measured.items():
        threshold = thresholds.get(stage)
        word, good = verdict(stage, instructions, allocations, threshold)
        passed = passed and good
        shown = "-" if threshold is None else f"{threshold:.1f}"
        print(f"{stage:10} {instructions:13.1f} {shown:>10} {allocations:12.5f}  per {STAGES[stage][1]}: {word}")
    for (first, second), (most, meaning) in RATIOS.items():
        ratio = measured[first][0] / measured[second][0]
        passed = passed and ratio <= most
        print(f"{first} / {second}: {ratio:.2f}, at most {most:.1f}{'' if ratio <= most else ' EXCEEDED'} ({meaning})")
    for (first, second), (most, meaning) in DIFFERENCES.items():
        more = measured[first][0] - measured[second][0]
        passed = passed and more <= most
        print(f"{first} - {second}: {more:.1f}, at most {most}{'' if more <= most else ' EXCEEDED'} ({meaning})")
    return passed


def main():
    built, path = sys.argv[1:3]
    machine = platform.machine()
    thresholds = json.load(open(path)) if os.path.exists(path) else {}
    with tempfile.TemporaryDirectory() as folder:
        # Debian's valgrind 3.19 cannot read the debug information that Swift 6 writes.
        probes = {name: shutil.copy(os.path.join(built, name), folder) for name in ("StageProbe", "DoorProbe")}
        for probe in probes.values():
            run(["strip", "--strip-debug", probe])
        library = os.path.join(folder, "liballocations.so")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "allocations.c")
        run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source])
        measured = measure_all(probes, library)
    if "--update" in sys.argv[3:]:
        thresholds[machine] = {stage: round(values[0], 1) for stage, values in measured.items()}
        with open(path, "w") as file:
            file.write(json.dumps(thresholds, indent=2) + "\n")
    sys.exit(0 if report(measured, thresholds.get(machine, {})) else 1)


if __name__ == "__main__":
    main()
