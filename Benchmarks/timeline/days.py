"""A store with one day of many patients: five types at 1 Hz, 432,000 readings of each patient."""
import json
import os
import sqlite3
import subprocess
import sys

SECONDS = 86_400
#: In the day of UTC that begins at this time, in seconds since 1970.
START = 1_767_225_600
TYPES = [("heartRate", "/min", 60), ("respiratoryRate", "/min", 12), ("oxygenSaturation", "%", 95),
         ("steps", "{steps}", 1), ("activeEnergyBurned", "kcal", 1)]


def write_day(kymo, folder):
    """One patient's day, by the pipeline."""
    command = [kymo, "run", "--stdin", "--data", f"{folder}/data", "--out", f"{folder}/out"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        times = [f"2026-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z" for second in range(SECONDS)]
        for second, time in enumerate(times):
            lines = [json.dumps({"deviceId": "dev-0", "patientId": "p-0", "type": name, "timestamp": time,
                                 "value": value + second % 7, "unit": unit}) for name, unit, value in TYPES]
            process.stdin.write(("\n".join(lines) + "\n").encode())
        process.stdin.close()
        error = process.stderr.read().decode()
    if process.returncode != 0:
        sys.exit(f"kymo run failed: {error}")


def copy_day(folder, patients):
    """The rows of the other patients, which have the same readings under other names; prints what the store has."""
    data = f"{folder}/data"
    database = sqlite3.connect(f"{data}/kymo.sqlite")
    series = database.execute("SELECT number, key, type, device, patient FROM series").fetchall()
    columns = [row[1] for row in database.execute("PRAGMA table_info(window)") if row[1] not in ("number", "series")]
    listed = ", ".join(f'"{name}"' for name in columns)
    following = max(row[0] for row in series) + 1
    for patient in range(1, patients):
        for number, key, kind, _, _ in series:
            database.execute("INSERT INTO series (number, key, type, device, patient) VALUES (?, ?, ?, ?, ?)",
                             (following, key + patient.to_bytes(4, "big"), kind, f"dev-{patient}", f"p-{patient}"))
            database.execute(f"INSERT INTO window (series, {listed}) SELECT ?, {listed} FROM window WHERE series = ?",
                             (following, number))
            following += 1
        database.commit()
    windows, readings = database.execute("SELECT count(*), sum(readings) FROM window").fetchone()
    database.close()
    size = sum(os.path.getsize(f"{data}/{name}") for name in os.listdir(data)) / 1e6
    print(f"store: {readings:,} readings in {windows:,} windows, {size:,.0f} MB", flush=True)
