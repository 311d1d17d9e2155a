"""Clients of the doors of `kymo run` as drive.py takes them, and what they send: each has a socket, `rest`, which is
what it has not sent, and `done`, which is whether all of it is acknowledged."""
import datetime
import os
import socket
import ssl
import subprocess
import sys

START = datetime.datetime(2026, 3, 1, 8)
BATCH = 100


def batch(number, device, patient):
    """A batch of BATCH readings as lines: one a second of each of ten devices, whose names begin with `device`."""
    made = []
    for index in range(number * BATCH, (number + 1) * BATCH):
        moment = (START + datetime.timedelta(seconds=index // 10)).isoformat()
        made.append(
            f'{{"deviceId":"{device}{index % 10}","patientId":"{patient}","type":"heartRate",'
            f'"timestamp":"{moment}Z","value":{60 + index % 40},"unit":"/min"}}\n')
    return "".join(made).encode()


def post(path):
    """The beginning of a request that posts lines."""
    return f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n".encode()


def posts(path, bodies):
    """A request for each of the bodies."""
    return b"".join(post(path) + b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies)


def place(address):
    """Host and port of an address as kymo says it, such as `tcp 127.0.0.1:5000`."""
    host, port = address.rsplit(" ", 1)[1].rsplit(":", 1)
    return host, int(port)


def connected(address, context=None):
    """A connection over TCP, with TLS where there is a context."""
    connection = socket.create_connection(place(address))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return context.wrap_socket(connection) if context else connection


def connected_to_socket(path):
    """A connection to a Unix stream socket."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    return connection


def trusting(folder):
    """Makes a certificate in `folder`: the settings of a source that has it, and a context for its clients, which look
    at no certificate. What is measured is the cost of TLS; whose certificate it is, tests look at."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-keyout", f"{folder}/c.key", "-out", f"{folder}/c.pem"],
        check=True, capture_output=True)
    os.chmod(f"{folder}/c.key", 0o600)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return f"certificateFile: {folder}/c.pem, certificateKeyFile: {folder}/c.key", context


class Lines:
    """Asks for acknowledgements, and sends `lines`, which have `count` readings."""

    def __init__(self, connection, lines, count):
        self.socket, self.rest = connection, memoryview(b'{"kymo":"ack"}\n' + lines)
        self.last, self.heard = b'{"ack":%d}\n' % count, b""

    def take(self, part):
        self.heard = (self.heard + part)[-64:]

    @property
    def done(self):
        return self.last in self.heard


class Answered:
    """Sends `rest`, which gets `count` answers. Each of them ends with `end`, and has `good` in it."""
    name = end = good = None

    def __init__(self, connection, rest, count):
        self.socket, self.rest = connection, memoryview(rest)
        self.missing, self.heard = count, b""

    def take(self, part):
        *answers, self.heard = (self.heard + part).split(self.end)
        for answer in answers:
            if self.good not in answer:
                sys.exit(f"not {self.name}: {answer!r}")
        self.missing -= len(answers)

    @property
    def done(self):
        return self.missing == 0


class Posts(Answered):
    """Posts bodies, each of which must be taken as a whole. Where its readings are counted, more follows `end`: it stays in
    `heard`, and is the beginning of the next answer then."""
    name, end, good = "200", b'"rejected":[]', b"HTTP/1.1 200 "


class Messages(Answered):
    """Sends messages by MLLP."""
    name, end, good = "AA", b"\x1c\r", b"\rMSA|AA|"
