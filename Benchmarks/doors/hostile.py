"""hostile.py KYMO FOLDER LEAST: what one good client of `kymo run --http` gets on disk per second, without TLS and with
it, while CROWD connections beside it are hostile, as a share of what it gets alone.

Rounds with and without them follow each other, so that a busy neighbour hits both; the best of each counts. They come from
many addresses of this machine, as the limit of one host would keep most of them out, and are a fifth each: silent; a
header that never ends, a byte a second; half a body, and a byte a second of the rest; half a handshake of TLS; noise.
Whoever is cut comes again. They take part of the machine, too: what kymo loses is less than what is printed. CPU is that
of kymo beside them, as a multiple of that without, for the same readings."""
import datetime
import multiprocessing
import os
import random
import resource
import selectors
import socket
import ssl
import subprocess
import sys
import time

from drive import measured

KYMO, FOLDER, LEAST = sys.argv[1:]
ROUNDS, CROWD, PER_HOST, BATCHES, BATCH = 5, 1_000, 25, 3_000, 100
START = datetime.datetime(2026, 3, 1, 8)
POST = b"POST /v1/ingest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"


def body(batch):
    """The readings of a batch: one a second of each of ten devices."""
    made = []
    for index in range(batch * BATCH, (batch + 1) * BATCH):
        moment = (START + datetime.timedelta(seconds=index // 10)).isoformat()
        made.append(
            f'{{"deviceId":"watch-{index % 10}","patientId":"patient","type":"heartRate","timestamp":"{moment}Z",'
            f'"value":{60 + index % 40},"unit":"/min"}}\n')
    return "".join(made).encode()


REQUESTS = b"".join(POST + b"Content-Length: %d\r\n\r\n%s" % (len(text), text) for text in map(body, range(BATCHES)))


def place(address):
    host, port = address.rsplit(" ", 1)[1].rsplit(":", 1)
    return host, int(port)


class Good:
    """Posts all batches, each of which must be answered with 200."""

    def __init__(self, address, context):
        connection = socket.create_connection(place(address))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = context.wrap_socket(connection) if context else connection
        self.rest, self.answers, self.heard = memoryview(REQUESTS), 0, b""

    def take(self, part):
        *answers, self.heard = (self.heard + part).split(b'"rejected":[]}\n')
        for answer in answers:
            if b"HTTP/1.1 200 " not in answer:
                sys.exit(f"not 200: {answer!r}")
        self.answers += len(answers)

    @property
    def done(self):
        return self.answers == BATCHES


FIRST = [
    b"",
    b"POST /v1/ingest HTTP/1.1\r\nX",
    POST + b"Content-Length: 8000000\r\n\r\n{\"deviceId\":\"half",
    b"\x16\x03\x01\x02\x00\x01\x00",
    None,
]


def connected(number, target):
    """Hostile connection `number`, which has sent what it begins with."""
    connection = socket.socket()
    connection.bind((f"127.0.1.{number // PER_HOST + 1}", 0))
    connection.connect(target)
    connection.setblocking(False)
    first = FIRST[number % len(FIRST)]
    connection.send(random.randbytes(1_000) if first is None else first)
    return connection


def crowd(target, ready, alive):
    """Opens all of them, says so, and keeps them open until this process is ended; says in `alive` how many there were
    at least, once a second."""
    waits = selectors.DefaultSelector()
    for number in range(CROWD):
        waits.register(connected(number, target), selectors.EVENT_READ, number)
    ready.set()
    due, gone = time.monotonic() + 1, []
    while True:
        for key, _ in waits.select(timeout=0.1):
            try:
                part = key.fileobj.recv(65_536)
            except OSError:
                part = b""
            if not part:
                waits.unregister(key.fileobj)
                key.fileobj.close()
                gone.append(key.data)
        if time.monotonic() < due:
            continue
        due += 1
        for key in list(waits.get_map().values()):
            if key.data % len(FIRST) in (1, 2):
                try:
                    key.fileobj.send(b"x")
                except OSError:
                    pass  # It is read, and comes again.
        waiting, gone = gone, []
        for number in waiting:
            try:
                waits.register(connected(number, target), selectors.EVENT_READ, number)
            except OSError:
                gone.append(number)  # It was cut at once, and comes again.
        alive.value = min(alive.value, len(waits.get_map()))


def seconds(settings, context, isHostile):
    """How long the good client takes until all it has is on disk, and CPU seconds of kymo meanwhile."""
    processes, alive = [], multiprocessing.Value("i", CROWD)

    def clients(address):
        if isHostile:
            ready = multiprocessing.Event()
            process = multiprocessing.Process(target=crowd, args=(place(address), ready, alive), daemon=True)
            process.start()
            processes.append(process)
            if not ready.wait(60):
                sys.exit("the hostile connections are not open after 60 s")
        return [Good(address, context)]

    try:
        result = measured(KYMO, FOLDER, f'http: "127.0.0.1:0", connections: 2000{settings}', clients)
        if any(not process.is_alive() for process in processes) or alive.value < CROWD // 2:
            sys.exit(f"the crowd was {alive.value} connections at times: nothing was measured")
        return result
    finally:
        for process in processes:
            process.kill()
            process.join()


# Here and in kymo, which gets the same limit.
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4_096)), hard))
subprocess.run(
    ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
     "/CN=localhost", "-keyout", f"{FOLDER}/c.key", "-out", f"{FOLDER}/c.pem"], check=True, capture_output=True)
os.chmod(f"{FOLDER}/c.key", 0o600)
# Whose certificate it is, tests look at.
CONTEXT = ssl.create_default_context()
CONTEXT.check_hostname, CONTEXT.verify_mode = False, ssl.CERT_NONE
DOORS = {
    "http": ("", None),
    "tls": (f", certificateFile: {FOLDER}/c.pem, certificateKeyFile: {FOLDER}/c.key", CONTEXT),
}
fails = False
for name, (settings, context) in DOORS.items():
    times = {False: [], True: []}
    for _ in range(ROUNDS):
        for isHostile in times:
            times[isHostile].append(seconds(settings, context, isHostile))
    alone, beside = min(times[False])[0], min(times[True])[0]
    cost = min(cpu for _, cpu in times[True]) / min(cpu for _, cpu in times[False])
    total = BATCHES * BATCH
    print(f"{name:4} alone {total / alone:10,.0f} durable readings/s, beside {CROWD:,} hostile {total / beside:10,.0f}, "
          f"share {alone / beside:.2f} (at least {LEAST}), CPU {cost:.2f}", flush=True)
    fails = fails or alone / beside < float(LEAST)
sys.exit(fails)
