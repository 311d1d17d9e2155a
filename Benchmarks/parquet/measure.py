"""measure.py KYMO FOLDER READINGS: size, speed and memory of an export as Parquet; called by parquet.sh.

The exit status is 1 where one of them is beyond what is promised."""
import os
import pathlib
import random
import subprocess
import sys
import time

import pyarrow
import pyarrow.parquet

KYMO, FOLDER, READINGS = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
DEVICES = 100
MOST_BYTES = 4
MOST_MEMORY = 128
START = 1_767_225_600
DATA = str(FOLDER / "data")
DELTAS = ["time", "received", "reading"]


def lines():
    """A random walk of each device, second by second; as bytes, a second at a time."""
    walk = random.Random(1)
    rates = [60 + number % 30 for number in range(DEVICES)]
    heads = [f'{{"deviceId":"watch-{number}","patientId":"p-{number}","type":"heartRate","timestamp":"' for number in range(DEVICES)]
    for second in range(READINGS // DEVICES):
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(START + second))
        for number in range(DEVICES):
            rates[number] = min(180, max(45, rates[number] + walk.choice((-1, 0, 0, 0, 1))))
        yield "".join(f'{head}{stamp}","value":{rate},"unit":"/min"}}\n' for head, rate in zip(heads, rates)).encode()


def fill():
    """Brings the readings into a store."""
    command = [KYMO, "run", "--stdin", "--data", DATA, "--out", str(FOLDER / "out")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            for chunk in lines():
                process.stdin.write(chunk)
            process.stdin.close()
        except BrokenPipeError:
            pass
        error = process.stderr.read().decode()
    if process.returncode != 0:
        sys.exit(f"kymo run failed: {error}")


def export():
    """Seconds and MiB of the export."""
    began = time.monotonic()
    process = subprocess.Popen([KYMO, "export", "--format", "parquet", "--data", DATA, "--out", str(FOLDER / "table")])
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit("kymo export failed")
    return time.monotonic() - began, usage.ru_maxrss / 1024


def rival(parts):
    """Seconds and bytes of pyarrow, which has each table in memory before the clock begins."""
    seconds, size = 0, 0
    for part in parts:
        table = pyarrow.parquet.read_table(part, partitioning=None)
        others = [name for name in table.schema.names if name not in DELTAS]
        began = time.monotonic()
        pyarrow.parquet.write_table(
            table, FOLDER / "rival", compression="zstd", compression_level=3, use_dictionary=others,
            row_group_size=262_144, column_encoding={name: "DELTA_BINARY_PACKED" for name in DELTAS})
        seconds += time.monotonic() - began
        size += (FOLDER / "rival").stat().st_size
    return seconds, size


def main():
    fill()
    seconds, memory = export()
    parts = sorted((FOLDER / "table").glob("**/*.parquet"))
    rows = sum(pyarrow.parquet.ParquetFile(part).metadata.num_rows for part in parts)
    size = sum(part.stat().st_size for part in parts)
    other, other_size = rival(parts)
    print(f"parquet: {rows:,} readings; files: {len(parts)}")
    print(f"bytes per reading: {size / rows:.3f} ({MOST_BYTES} at most); by pyarrow {other_size / rows:.3f}")
    print(f"readings per second: {rows / seconds:,.0f} from the store; by pyarrow {rows / other:,.0f} from memory")
    print(f"peak memory: {memory:.0f} MiB ({MOST_MEMORY} at most)")
    return rows != READINGS // DEVICES * DEVICES or size > MOST_BYTES * rows or memory > MOST_MEMORY


if __name__ == "__main__":
    sys.exit(main())
