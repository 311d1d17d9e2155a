"""A store with one day of many patients: five types at 1 Hz, 432,000 readings of each patient."""
import json
import os
import shutil
import subprocess
import sys

SECONDS = 86_400
#: In the day of UTC that begins at this time, in seconds since 1970.
START = 1_767_225_600
TYPES = [("heartRate", "/min", 60), ("respiratoryRate", "/min", 12), ("oxygenSaturation", "%", 95),
         ("steps", "{steps}", 1), ("activeEnergyBurned", "kcal", 1)]


def write_days(kymo, folder, patients):
    """A day of each patient, by the pipeline: pages of another writer would be taken for damaged. Each has the same readings
    under another name. Prints what the store has."""
    times = [f"2026-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z" for second in range(SECONDS)]
    day = "".join(
        json.dumps({"deviceId": "dev-0", "patientId": "p-0", "type": name, "timestamp": time,
                    "value": value + second % 7, "unit": unit}) + "\n"
        for second, time in enumerate(times) for name, unit, value in TYPES).encode()
    command = [kymo, "run", "--stdin", "--data", f"{folder}/data", "--out", f"{folder}/out"]
    with open(f"{folder}/days.log", "w+") as log, subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log) as process:
        for patient in range(patients):
            own = day.replace(b'"dev-0"', b'"dev-%d"' % patient).replace(b'"p-0"', b'"p-%d"' % patient)
            process.stdin.write(own)
        process.stdin.close()
        process.wait()
        log.seek(0)
        error = log.read()
    if process.returncode != 0:
        sys.exit(f"kymo run failed: {error}")
    shutil.rmtree(f"{folder}/out")
    counted = subprocess.run([kymo, "query", "--count", "--data", f"{folder}/data"], stdout=subprocess.PIPE, check=True)
    count = json.loads(counted.stdout)
    data = f"{folder}/data"
    size = sum(os.path.getsize(f"{data}/{name}") for name in os.listdir(data)) / 1e6
    print(f"store: {count['readings']:,} readings in {count['windows']:,} windows, {size:,.0f} MB", flush=True)
