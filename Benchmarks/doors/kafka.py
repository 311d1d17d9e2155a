"""kafka.py KYMO FOLDER BROKERS LEAST: what `kymo run --kafka` takes from a topic and has on disk.

Each record has a hundred readings, one a second of one device. What is measured is from the start of the processes until
the group has the positions behind all records. BROKERS is the program that runs the cluster; LEAST is the least that
two instances on two processors do, as a multiple of one: readings per second of the busier processor."""
import datetime
import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from running import cpu_seconds

KYMO, FOLDER, BROKERS, LEAST = sys.argv[1], Path(sys.argv[2]), sys.argv[3], float(sys.argv[4])
PARTITIONS, RECORDS, READINGS, ROUNDS = 64, 380, 100, 3
TOTAL = PARTITIONS * RECORDS * READINGS
START = datetime.datetime(2026, 3, 1, 8)


def record(partition, number):
    """A hundred seconds of one device, of which a partition has ten."""
    device, block = f"watch-{partition}-{number % 10}", number // 10
    lines = []
    for second in range(block * READINGS, (block + 1) * READINGS):
        moment = (START + datetime.timedelta(seconds=second)).isoformat()
        lines.append(
            f'{{"deviceId":"{device}","type":"heartRate","timestamp":"{moment}Z","value":{60 + second % 40},"unit":"/min"}}')
    return json.dumps({"partition": partition, "value": "\n".join(lines)})


class Cluster:
    """The brokers, with all records."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, BROKERS, "--partitions", str(PARTITIONS), "--brokers", "1"], stdout=subprocess.PIPE, text=True)
        port = self.process.stdout.readline().split()[-1]
        self.url = f"http://127.0.0.1:{port}"
        self.brokers = self.get("/brokers")
        for partition in range(PARTITIONS):
            body = "\n".join(record(partition, number) for number in range(RECORDS)) + "\n"
            urllib.request.urlopen(self.url + "/records", body.encode(), timeout=120).close()

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return answer.read().decode()

    def positions(self, group):
        return [int(line) for line in self.get(f"/positions?group={group}").split()]


def run(cluster, name, parts, properties=""):
    """Readings per second, and per second of the busiest processor, of instances that have `parts` each."""
    configurations = []
    for number, partitions in enumerate(parts):
        folder = FOLDER / f"{name}-{number}"
        folder.mkdir()
        (folder / "kafka.properties").touch(0o600)
        (folder / "kafka.properties").write_text(f"security.protocol=plaintext\n{properties}")
        (folder / "kymo.yaml").write_text(
            f"sources: [{{kafka: 'kafka://{cluster.brokers}/readings', group: {name}, partitions: '{partitions}', "
            f"propertiesFile: {folder}/kafka.properties}}]\n"
            f"sinks: [{{to: {folder}/out}}]\ndata: {folder}/data\nwindow: 1m\n")
        configurations.append(folder / "kymo.yaml")
    began = time.monotonic()
    processes = [
        subprocess.Popen(["taskset", "-c", str(number), KYMO, "run", "--config", str(path)], stderr=subprocess.PIPE, text=True)
        for number, path in enumerate(configurations)]
    while cluster.positions(name) != [RECORDS] * PARTITIONS:
        if time.monotonic() - began > 120 or any(process.poll() is not None for process in processes):
            sys.exit(f"kafka.sh: {name} has {cluster.positions(name)}")
        time.sleep(0.05)
    seconds = time.monotonic() - began
    cpu = max(cpu_seconds(process) for process in processes)
    for process in processes:
        process.terminate()
        if process.wait(60):
            sys.exit(process.stderr.read())
    return TOTAL / seconds, TOTAL / cpu


def consume(cluster, name):
    """The same of librdkafka alone."""
    consumer = Consumer({
        "bootstrap.servers": cluster.brokers, "group.id": name, "enable.auto.commit": False, "check.crcs": True})
    began, before = time.monotonic(), time.process_time()
    consumer.assign([TopicPartition("readings", number, 0) for number in range(PARTITIONS)])
    left = PARTITIONS * RECORDS
    while left:
        left -= len(consumer.consume(1_000, timeout=1))
    result = TOTAL / (time.monotonic() - began), TOTAL / (time.process_time() - before)
    consumer.close()
    return result


def main():
    cluster = Cluster()
    half = PARTITIONS // 2
    ways = {
        "librdkafka": lambda name: consume(cluster, name),
        "one": lambda name: run(cluster, name, [f"0-{PARTITIONS - 1}"]),
        "one, ahead": lambda name: run(
            cluster, name, [f"0-{PARTITIONS - 1}"], "queued.max.messages.kbytes=262144\n"),
        "two": lambda name: run(cluster, name, [f"0-{half - 1}", f"{half}-{PARTITIONS - 1}"]),
    }
    best = {name: (0.0, 0.0) for name in ways}
    try:
        for number in range(ROUNDS):
            for name, way in ways.items():
                found = way(f"{name.replace(', ', '-')}-{number}")
                best[name] = tuple(max(pair) for pair in zip(best[name], found))
    finally:
        cluster.process.terminate()
        cluster.process.wait()
    print(f"{TOTAL:,} readings in {PARTITIONS * RECORDS:,} records; the best of {ROUNDS} rounds")
    print(f"{'':12}{'readings/s':>14}{'per CPU-s of the busier':>26}")
    for name, (by_clock, by_cpu) in best.items():
        print(f"{name:12}{by_clock:14,.0f}{by_cpu:26,.0f}")
    ratio = best["two"][1] / best["one"][1]
    print(f"two / one, by the processor: {ratio:.2f} (at least {LEAST})")
    if ratio < LEAST:
        sys.exit(1)


main()
