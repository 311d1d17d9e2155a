"""hostile.py KYMO FOLDER LEAST: what one good client gets on disk per second by HTTP, without TLS and with it, by lines over
TCP and by MLLP, while CROWD connections beside it are hostile, as a share of what it gets alone.

Rounds with and without them follow each other, so that a busy neighbour hits both; the best of each counts. They come from
many addresses of this machine, as the limit of one host would keep most of them out, and are a fifth each: silent; two
first halves of what the door takes (a header and a body; two lines; two messages), and a byte a second of the rest; half a
handshake of TLS; noise.
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


BODIES = [body(batch) for batch in range(BATCHES)]


def place(address):
    host, port = address.rsplit(" ", 1)[1].rsplit(":", 1)
    return host, int(port)


class Client:
    """The good one."""
    total = BATCHES * BATCH

    def __init__(self, address, context):
        connection = socket.create_connection(place(address))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = context.wrap_socket(connection) if context else connection
        self.rest, self.answers, self.heard = memoryview(self.sends()), 0, b""


class Posting(Client):
    """Posts all batches, each of which must be answered with 200."""
    halves = [b"POST /v1/ingest HTTP/1.1\r\nX", POST + b"Content-Length: 8000000\r\n\r\n{\"deviceId\":\"half"]

    def sends(self):
        return b"".join(POST + b"Content-Length: %d\r\n\r\n%s" % (len(text), text) for text in BODIES)

    def take(self, part):
        *answers, self.heard = (self.heard + part).split(b'"rejected":[]}\n')
        for answer in answers:
            if b"HTTP/1.1 200 " not in answer:
                sys.exit(f"not 200: {answer!r}")
        self.answers += len(answers)

    @property
    def done(self):
        return self.answers == BATCHES


class Lines(Client):
    """Sends lines, all of which must be acknowledged."""
    halves = [b'{"deviceId":"half', b'{"kymo":']

    def sends(self):
        return b'{"kymo":"ack"}\n' + b"".join(BODIES)

    def take(self, part):
        self.heard = (self.heard + part)[-64:]

    @property
    def done(self):
        return f'{{"ack":{self.total}}}\n'.encode() in self.heard


class Messages(Client):
    """Sends messages of one result, each of which must be acknowledged with AA."""
    halves = [b"\x0bMSH|^~", b"\x0bMSH|^~\\&|A|B|C|D|20260301||ORU^R01|1|P|2.6\r"]
    total = 40_000

    def sends(self):
        made = []
        for number in range(self.total):
            moment = (START + datetime.timedelta(seconds=number // 10)).strftime("%Y%m%d%H%M%S+0000")
            made.append("\r".join([
                f"\x0bMSH|^~\\&|GATEWAY|WARD|KYMO|HOSPITAL|{moment}||ORU^R01^ORU_R01|{number}|P|2.6", "PID|||p-1^^^H^MR",
                f"OBR|1|||69965^MDC_DEV_MON_PHYSIO_MULTI_PARAM_MDS^MDC|||{moment}",
                f"OBX|1||69965^MDC_DEV_MON_PHYSIO_MULTI_PARAM_MDS^MDC|1.0.0.0|||||||X|||||||monitor-{number % 10}",
                f"OBX|2|NM|147842^MDC_ECG_HEART_RATE^MDC|1.1.1.1|{60 + number % 40}|264864^MDC_DIM_BEAT_PER_MIN^MDC|||||R",
            ]) + "\r\x1c\r")
        return "".join(made).encode()

    def take(self, part):
        *answers, self.heard = (self.heard + part).split(b"\x1c\r")
        for answer in answers:
            if b"MSA|AA|" not in answer:
                sys.exit(f"not AA: {answer!r}")
        self.answers += len(answers)

    @property
    def done(self):
        return self.answers == self.total


def connected(number, target, halves):
    """Hostile connection `number`, which has sent what it begins with."""
    connection = socket.socket()
    connection.bind((f"127.0.1.{number // PER_HOST + 1}", 0))
    connection.connect(target)
    connection.setblocking(False)
    first = [b"", *halves, b"\x16\x03\x01\x02\x00\x01\x00", None][number % 5]
    connection.send(random.randbytes(1_000) if first is None else first)
    return connection


def crowd(target, halves, ready, alive):
    """Opens all of them, says so, and keeps them open until this process is ended; says in `alive` how many there were
    at least, once a second."""
    waits = selectors.DefaultSelector()
    for number in range(CROWD):
        waits.register(connected(number, target, halves), selectors.EVENT_READ, number)
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
            if key.data % 5 in (1, 2):
                try:
                    key.fileobj.send(b"x")
                except OSError:
                    pass  # It is read, and comes again.
        waiting, gone = gone, []
        for number in waiting:
            try:
                waits.register(connected(number, target, halves), selectors.EVENT_READ, number)
            except OSError:
                gone.append(number)  # It was cut at once, and comes again.
        alive.value = min(alive.value, len(waits.get_map()))


def seconds(client, source, context, isHostile):
    """How long the good client takes until all it has is on disk, and CPU seconds of kymo meanwhile."""
    processes, alive = [], multiprocessing.Value("i", CROWD)

    def clients(address):
        if isHostile:
            ready = multiprocessing.Event()
            process = multiprocessing.Process(target=crowd, args=(place(address), client.halves, ready, alive), daemon=True)
            process.start()
            processes.append(process)
            if not ready.wait(60):
                sys.exit("the hostile connections are not open after 60 s")
        return [client(address, context)]

    try:
        result = measured(KYMO, FOLDER, f'{source}, connections: 2000', clients)
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
TLS = f"certificateFile: {FOLDER}/c.pem, certificateKeyFile: {FOLDER}/c.key"
DOORS = {
    "http": (Posting, 'http: "127.0.0.1:0"', None),
    "tls": (Posting, f'http: "127.0.0.1:0", {TLS}', CONTEXT),
    "tcp": (Lines, 'tcp: "127.0.0.1:0"', None),
    "mllp": (Messages, 'mllp: "127.0.0.1:0", mappings: pcd-01', None),
}
fails = False
for name, (client, source, context) in DOORS.items():
    times = {False: [], True: []}
    for _ in range(ROUNDS):
        for isHostile in times:
            times[isHostile].append(seconds(client, source, context, isHostile))
    alone, beside = min(times[False])[0], min(times[True])[0]
    cost = min(cpu for _, cpu in times[True]) / min(cpu for _, cpu in times[False])
    print(f"{name:4} alone {client.total / alone:10,.0f} durable a second, "
          f"beside {CROWD:,} hostile {client.total / beside:10,.0f}, share {alone / beside:.2f} (at least {LEAST}), CPU {cost:.2f}", flush=True)
    fails = fails or alone / beside < float(LEAST)
sys.exit(fails)
