"""mqtt.py KYMO FOLDER LEAST: messages per second that `kymo run --mqtt` has on disk and acknowledged as a share of those
that mosquitto_sub takes, at QoS 1, from the same broker.

Each subscribes, leaves, and comes back when all messages wait in the broker; a round is from its start, that of the
process included, until it has taken all of them. Rounds of both follow each other, and the best of each counts. Both
may have as many messages unacknowledged as the other."""
import datetime
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

from running import cpu_seconds, free_port

KYMO, FOLDER, LEAST = sys.argv[1:]
ROUNDS, MESSAGES, DEVICES, AHEAD = 3, 200_000, 50, 2_048
START = datetime.datetime(2026, 3, 1, 8)
PORT, ADMIN = free_port(socket.SOCK_STREAM), free_port(socket.SOCK_STREAM)


def message(index):
    """A publication of QoS 1: one reading a second of each device."""
    moment = (START + datetime.timedelta(seconds=index // DEVICES)).isoformat()
    device = f"watch-{index % DEVICES}"
    payload = f'{{"deviceId":"{device}","type":"heartRate","timestamp":"{moment}Z","value":{60 + index % 40},"unit":"/min"}}'
    topic = f"ward/{device}/vitals".encode()
    body = len(topic).to_bytes(2, "big") + topic + (index % 65_535 + 1).to_bytes(2, "big") + payload.encode()
    return bytes([0x32, len(body) & 0x7F | 0x80, len(body) >> 7]) + body


def publish():
    """Publishes all messages, and returns when the broker has acknowledged them."""
    with socket.create_connection(("127.0.0.1", PORT)) as publisher:
        publisher.sendall(b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x00\x00\x01p")
        heard = 0
        for first in range(0, MESSAGES, 1_000):
            publisher.sendall(b"".join(message(index) for index in range(first, first + 1_000)))
            while heard < 4 + 4 * (first + 1_000):
                heard += len(publisher.recv(65_536)) or sys.exit("the broker has ended the connection")


def wait_for(condition, what, process=None):
    end = time.monotonic() + 120
    while not condition():
        if time.monotonic() > end or process and process.poll() is not None:
            sys.exit(f"waited for {what}")
        time.sleep(0.01)


def subscriber(count):
    return subprocess.Popen(
        ["mosquitto_sub", "-V", "5", "-p", str(PORT), "-t", "ward/+/vitals", "-q", "1", "-c", "-i", "sub", "-x", "3600",
         "-D", "connect", "receive-maximum", str(AHEAD), "-C", str(count)], stdout=subprocess.DEVNULL)


def measure_subscriber():
    """Seconds until mosquitto_sub has taken all messages."""
    first = subscriber(1)
    time.sleep(0.5)
    first.terminate()
    first.wait()
    publish()
    start = time.perf_counter()
    if subscriber(MESSAGES).wait(300):
        sys.exit("mosquitto_sub failed")
    return time.perf_counter() - start


def run():
    return subprocess.Popen(
        [KYMO, "run", "--mqtt", f"mqtt://127.0.0.1:{PORT}/ward/+/vitals", "--data", f"{FOLDER}/data", "--out",
         f"{FOLDER}/out", "--admin", f"127.0.0.1:{ADMIN}"], stderr=open(f"{FOLDER}/log", "w"))


def accepted():
    """Readings that kymo has in windows. All but the last ones, at most AHEAD, are on disk by then: no more come before
    they are acknowledged."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{ADMIN}/metrics", timeout=5) as answer:
            lines = answer.read().decode().splitlines()
    except OSError:
        return 0
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines
               if line.startswith("kymo_readings_total") and 'result="accepted"' in line)


def said(text):
    with open(f"{FOLDER}/log") as file:
        return text in file.read()


def measure_kymo():
    """Seconds until kymo has."""
    for name in ("out", "data"):
        shutil.rmtree(f"{FOLDER}/{name}", ignore_errors=True)
    first = run()
    wait_for(lambda: said(": connected"), "a connection", first)
    first.terminate()
    first.wait()
    publish()
    start = time.perf_counter()
    process = run()
    wait_for(lambda: accepted() >= MESSAGES, "all messages", process)
    seconds, cpu = time.perf_counter() - start, cpu_seconds(process)
    process.terminate()
    if process.wait(60):
        sys.exit("kymo failed")
    print(f"kymo: {cpu:.2f} s of CPU")
    return seconds


with open(f"{FOLDER}/mosquitto.conf", "w") as file:
    file.write(f"listener {PORT} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\nmax_inflight_messages 0\n"
               "user root\n")


def measured(measure):
    """What `measure` gives, with a broker that knows no session."""
    broker = subprocess.Popen(["/usr/sbin/mosquitto", "-c", f"{FOLDER}/mosquitto.conf"], stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: not socket.socket().connect_ex(("127.0.0.1", PORT)), "the broker", broker)
        return measure()
    finally:
        broker.terminate()
        broker.wait()


results = {measure_subscriber: [], measure_kymo: []}
for _ in range(ROUNDS):
    for measure in results:
        results[measure].append(measured(measure))
rates = {measure.__name__.removeprefix("measure_"): MESSAGES / min(seconds) for measure, seconds in results.items()}
for name, rate in rates.items():
    print(f"{name:10} {rate:10,.0f} messages/s")
share = rates["kymo"] / rates["subscriber"]
print(f"kymo / mosquitto_sub {share:.2f} (at least {LEAST})")
sys.exit(share < float(LEAST))
