"""measure.py KYMO PROBE FOLDER PATIENTS: the time of a timeline in a large store; called by timeline.sh.

The exit status is 1 where an answer takes longer than is promised."""
import json
import os
import sqlite3
import subprocess
import sys

KYMO, PROBE, FOLDER, PATIENTS = sys.argv[1:4] + [int(sys.argv[4])]
START_MS = 1_767_225_600_000
SECONDS = 86_400
TYPES = [("heartRate", "/min", 60), ("respiratoryRate", "/min", 12), ("oxygenSaturation", "%", 95),
         ("steps", "{steps}", 1), ("activeEnergyBurned", "kcal", 1)]
MOST = 500
DATA = f"{FOLDER}/data"


def write_day():
    """One patient's day, by the pipeline."""
    command = [KYMO, "run", "--stdin", "--data", DATA, "--out", f"{FOLDER}/out"]
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


def copy_day():
    """The rows of the other patients, which have the same readings under other names."""
    database = sqlite3.connect(f"{DATA}/kymo.sqlite")
    series = database.execute("SELECT number, key, type, device, patient FROM series").fetchall()
    columns = [row[1] for row in database.execute("PRAGMA table_info(window)") if row[1] not in ("number", "series")]
    listed = ", ".join(f'"{name}"' for name in columns)
    following = max(row[0] for row in series) + 1
    for patient in range(1, PATIENTS):
        for number, key, kind, _, _ in series:
            database.execute("INSERT INTO series (number, key, type, device, patient) VALUES (?, ?, ?, ?, ?)",
                             (following, key + patient.to_bytes(4, "big"), kind, f"dev-{patient}", f"p-{patient}"))
            database.execute(f"INSERT INTO window (series, {listed}) SELECT ?, {listed} FROM window WHERE series = ?",
                             (following, number))
            following += 1
        database.commit()
    count = database.execute("SELECT count(*), sum(readings) FROM window").fetchone()
    database.close()
    return count


def main():
    write_day()
    windows, readings = copy_day()
    size = sum(os.path.getsize(f"{DATA}/{name}") for name in os.listdir(DATA)) / 1e6
    print(f"store: {readings:,} readings in {windows:,} windows, {size:,.0f} MB")
    failed = False
    for bucket in ("1min", "1h"):
        answer = subprocess.run([PROBE, DATA, "p-0", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", bucket, "5"],
                                check=True, capture_output=True, text=True).stdout.split()
        first, best = float(answer[1]), float(answer[2])
        verdict = "" if max(first, best) <= MOST else "  EXCEEDED"
        failed = failed or bool(verdict)
        print(f"{int(answer[0]):,} readings in buckets of {bucket}: first {first:.0f} ms, best {best:.0f} ms "
              f"(promised {MOST}){verdict}")
    sys.exit(1 if failed else 0)


main()
