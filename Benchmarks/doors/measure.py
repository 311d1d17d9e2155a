"""measure.py KYMO FOLDER LEAST LEAST_TLS: readings per second of `kymo run --http` as a share of those of `kymo run
--unix`, and of `tcp` with TLS as a share of those without.

All get the same readings over CLIENTS connections, and a round ends when all of them are acknowledged, so on disk.
Rounds follow each other, so that a busy neighbour hits all; the best of each counts. Clients send ahead as far as the
kernel and kymo let them, since each answer waits for a commit. CPU time is that of kymo, from the first reading to the
last answer; the clients take the rest of the machine, and for TLS they encrypt."""
import datetime
import os
import re
import socket
import ssl
import subprocess
import sys

from drive import measured

KYMO, FOLDER, LEAST, LEAST_TLS = sys.argv[1:]
ROUNDS, CLIENTS, BATCHES, BATCH = 5, 16, 250, 100
START = datetime.datetime(2026, 3, 1, 8)


def lines(client, batch):
    """The readings of a batch: one a second of each of ten devices."""
    made = []
    for index in range(batch * BATCH, (batch + 1) * BATCH):
        moment = (START + datetime.timedelta(seconds=index // 10)).isoformat()
        made.append(
            f'{{"deviceId":"watch-{client}-{index % 10}","patientId":"patient-{client}","type":"heartRate",'
            f'"timestamp":"{moment}Z","value":{60 + index % 40},"unit":"/min"}}\n')
    return "".join(made).encode()


BODIES = [[lines(client, batch) for batch in range(BATCHES)] for client in range(CLIENTS)]


class Unix:
    """Asks for acknowledgements, and sends all lines."""
    source = f"unix: {FOLDER}/k.sock"

    def __init__(self, client, address):
        self.socket = self.connected(address)
        self.rest = memoryview(b'{"kymo":"ack"}\n' + b"".join(BODIES[client]))
        self.heard = b""

    def connected(self, address):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(f"{FOLDER}/k.sock")
        return connection

    def take(self, part):
        self.heard = (self.heard + part)[-64:]

    @property
    def done(self):
        acknowledged = re.findall(rb'\{"ack":(\d+)\}\n', self.heard)
        return bool(acknowledged) and int(acknowledged[-1]) == BATCHES * BATCH


class TCP(Unix):
    """The same over TCP."""
    source = 'tcp: "127.0.0.1:0"'

    def connected(self, address):
        host, port = address.rsplit(" ", 1)[1].rsplit(":", 1)
        connection = socket.create_connection((host, int(port)))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


class TLS(TCP):
    """The same by TLS."""
    source = f'tcp: "127.0.0.1:0", certificateFile: {FOLDER}/c.pem, certificateKeyFile: {FOLDER}/c.key'

    def connected(self, address):
        return CONTEXT.wrap_socket(super().connected(address))


class HTTP(TCP):
    """Posts bodies of a batch each."""
    source = 'http: "127.0.0.1:0"'

    def __init__(self, client, address):
        self.socket = self.connected(address)
        self.rest = memoryview(b"".join(
            b"POST /v1/ingest/reading HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in BODIES[client]))
        self.answers, self.heard = 0, b""

    def take(self, part):
        self.heard += part
        *answers, self.heard = self.heard.split(b'"rejected":[]}\n')
        for answer in answers:
            if b"HTTP/1.1 200 " not in answer:
                sys.exit(f"not 200: {answer!r}")
        self.answers += len(answers)

    @property
    def done(self):
        return self.answers == BATCHES


# What is measured is the cost of TLS; whose certificate it is, tests look at.
CONTEXT = ssl.create_default_context()
CONTEXT.check_hostname, CONTEXT.verify_mode = False, ssl.CERT_NONE


def certificate():
    """Makes the server's."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-keyout", f"{FOLDER}/c.key", "-out", f"{FOLDER}/c.pem"],
        check=True, capture_output=True)
    os.chmod(f"{FOLDER}/c.key", 0o600)


certificate()
TOTAL = CLIENTS * BATCHES * BATCH
results = {Unix: [], HTTP: [], TCP: [], TLS: []}
for _ in range(ROUNDS):
    for door in results:
        results[door].append(measured(
            KYMO, FOLDER, door.source, lambda address: [door(client, address) for client in range(CLIENTS)]))
best = {door: [min(column) for column in zip(*rounds)] for door, rounds in results.items()}
for door, (seconds, cpu) in best.items():
    print(f"{door.__name__:5} {TOTAL / seconds:12,.0f} durable readings/s, {cpu:.2f} s of CPU")
fails = False
for door, plain, least in ((HTTP, Unix, LEAST), (TLS, TCP, LEAST_TLS)):
    share, cost = best[plain][0] / best[door][0], best[door][1] / max(best[plain][1], 0.01)
    print(f"{door.__name__} / {plain.__name__} throughput {share:.2f} (at least {least}), CPU {cost:.2f}")
    fails = fails or share < float(least)
sys.exit(fails)
