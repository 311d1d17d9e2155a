"""measure.py KYMO FOLDER BYTES MOST: `kymo import apple` of an export.zip whose export.xml has BYTES, into files and a
store: how long it takes, and the most memory that it has at once, which may be MOST MiB.

The export is that of years of a watch: a heart rate every few seconds, steps and energy by the minute, a saturation by the
hour, in the form that the Health app writes, and as long ago as that takes. It is generated here, and compressed as the app
does it."""
import datetime
import os
import random
import re
import shutil
import subprocess
import sys
import time
import zipfile

KYMO, FOLDER, BYTES, MOST = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
BEGINNING = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE HealthData [
<!ELEMENT HealthData (ExportDate,Me,(Record|Correlation|Workout)*)>
]>
<HealthData locale="en_DE">
 <ExportDate value="2026-08-03 23:59:00 +0200"/>
 <Me HKCharacteristicTypeIdentifierDateOfBirth="1990-01-01"/>
"""
START = datetime.datetime(2018, 1, 1)
# Type, unit, its least and greatest value, every how many records.
TYPES = [("HeartRate", "count/min", 48, 140), ("StepCount", "count", 1, 160), ("ActiveEnergyBurned", "kcal", 1, 20),
         ("OxygenSaturation", "%", 0.92, 1.0)]


def record(kind, unit, value, time_, end):
    return (f' <Record type="HKQuantityTypeIdentifier{kind}" sourceName="Synthetic Watch" sourceVersion="9.2" '
            f'device="&lt;&lt;HKDevice: 0x281e5d130&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch, '
            f'hardware:Watch6,2, software:9.2&gt;" unit="{unit}" creationDate="{end} +0100" startDate="{time_} +0100" '
            f'endDate="{end} +0100" value="{value}"/>\n')


def records(chosen):
    """One record after the other, as seconds go by."""
    second = 0
    while True:
        second += chosen.randrange(4, 12)
        kind, unit, least, most = TYPES[0 if chosen.random() < 0.9 else chosen.randrange(1, len(TYPES))]
        value = chosen.randint(least, most) if isinstance(least, int) else round(chosen.uniform(least, most), 2)
        time_ = START + datetime.timedelta(seconds=second)
        end = time_ + datetime.timedelta(seconds=60 if kind in ("StepCount", "ActiveEnergyBurned") else 0)
        yield record(kind, unit, value, time_, end)


def generate(path):
    """Writes the archive; how many records it has."""
    count, written, part = 0, 0, []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("apple_health_export/export.xml", "w", force_zip64=True) as file:
            file.write(BEGINNING.encode())
            for text in records(random.Random(1)):
                part.append(text)
                count, written = count + 1, written + len(text)
                if len(part) == 10_000:
                    file.write("".join(part).encode())
                    part = []
                    if written >= BYTES:
                        break
            file.write(b"</HealthData>\n")
    return count


path = f"{FOLDER}/export.zip"
count = generate(path)
shutil.rmtree(f"{FOLDER}/data", ignore_errors=True)
start = time.monotonic()
with open(f"{FOLDER}/error", "w") as errors:
    run = subprocess.Popen(
        [KYMO, "import", "apple", path, "--patient", "p-1", "--data", f"{FOLDER}/data", "--out", f"{FOLDER}/out"],
        stderr=errors)
    _, status, used = os.wait4(run.pid, 0)
seconds, text = time.monotonic() - start, open(f"{FOLDER}/error").read()
accepted = re.search(r"accepted (\d+)", text)
if status or not accepted or int(accepted[1]) < count * 0.9:
    sys.exit(f"status {status}, {count} records: {text[-2_000:]}")
peak = used.ru_maxrss / 1_024
print(f"import: {BYTES / 1e9:.1f} GB of XML in {os.path.getsize(path) / 1e6:,.0f} MB of ZIP, "
      f"{count:,} records in {seconds:.0f} s ({BYTES / seconds / 1e6:.0f} MB/s, {count / seconds:,.0f} records/s), CPU {used.ru_utime + used.ru_stime:.0f} s, "
      f"peak memory {peak:.0f} MiB (at most {MOST})")
sys.exit(peak > MOST)
