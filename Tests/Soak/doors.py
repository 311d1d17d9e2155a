"""The senders of a soak, one for each door: each sends at its rate until it is told to stop, and knows what has arrived.

A sender whose door acknowledges sends what was not acknowledged again, until it is, through restarts of the other side."""
import collections
import http.client
import json
import socket
import ssl
import threading
import time

from readings import Beds, Lines, Messages, Tally

TICK = 0.05
#: How long an answer may take; then what it is about is sent again.
ANSWER_SECONDS = 40
MOST_BEHIND = 1.0


class Refused(OSError):
    """Nothing was taken of what was sent."""


class Sender(threading.Thread):
    """Sends `rate` readings a second, in a batch for each tick."""
    maker = Lines
    #: Whether each arrival is known.
    is_acknowledged = True

    def __init__(self, door, place, rate, beds, seed):
        super().__init__(daemon=True, name=door)
        self.door, self.place, self.rate = door, place, rate
        self.beds = Beds(door, beds, seed)
        self.lines, self.tally = self.maker(self.beds), Tally()
        self.connection = None
        self.held, self.idle, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.wants_new_connection = threading.Event()
        self.reconnects = 0
        self.faults = []

    def run(self):
        due, last = 0.0, time.monotonic()
        while not self.ended.is_set():
            if self.held.is_set():
                self.idle.set()
                time.sleep(TICK)
                last = time.monotonic()
                continue
            self.idle.clear()
            now = time.monotonic()
            due = min(due + (now - last) * self.rate, self.rate * MOST_BEHIND)
            last = now
            batch = []
            while due >= self.lines.readings:
                batch.append(self.lines.next())
                due -= batch[-1].count
            if batch:
                self.bring(batch)
            time.sleep(max(0, TICK - (time.monotonic() - now)))
        self.close()

    def bring(self, batch):
        """Delivers all of `batch`, however often it takes."""
        if self.wants_new_connection.is_set():
            self.wants_new_connection.clear()
            self.close()
        is_first = True
        while batch and not self.ended.is_set():
            sent = False
            try:
                if self.connection is None:
                    self.connection = self.connect()
                    self.reconnects += 1
                sent = True
                batch = self.deliver(batch, is_first)
            except Refused:
                sent = False
            except (OSError, http.client.HTTPException):
                pass
            if batch:
                self.close()
                if sent:
                    self.tally.note_again(batch)
                is_first = False
                time.sleep(0.2)

    def arrived(self, items):
        for item in items:
            self.tally.note(item)

    def connect(self):
        raise NotImplementedError

    def deliver(self, batch, is_first):
        """Sends `batch`; what has not arrived."""
        raise NotImplementedError

    def close(self):
        if self.connection is not None:
            try:
                self.connection.close()
            except OSError:
                pass
            self.connection = None


def tcp(place):
    connection = socket.create_connection(place, ANSWER_SECONDS)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


class LineSender(Sender):
    """Lines with acknowledgements, over TCP."""

    def connect(self):
        connection = self.opened()
        connection.sendall(b'{"kymo":"ack"}\n')
        self.sent, self.heard = 0, b""
        return connection

    def opened(self):
        return tcp(self.place)

    def deliver(self, batch, is_first):
        durable = before = self.sent
        try:
            self.connection.sendall(b"".join(item.data + b"\n" for item in batch))
            self.sent += len(batch)
            while durable < self.sent:
                part = self.connection.recv(65_536)
                if not part:
                    break
                *answers, self.heard = (self.heard + part).split(b"\n")
                durable = max([durable] + [json.loads(answer)["ack"] for answer in answers])
        except OSError:
            pass  # What was acknowledged stays so.
        self.arrived(batch[:durable - before])
        return batch[durable - before:]


class UnixSender(LineSender):
    """Lines with acknowledgements, over the Unix socket `place`; it may come and go."""

    def opened(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(ANSWER_SECONDS)
        connection.connect(self.place)
        return connection


class TLSSender(LineSender):
    """The same over TLS. Whose certificate it is, tests look at."""

    def opened(self):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(tcp(self.place))


class MessageSender(Sender):
    """Messages of HL7 v2 by MLLP."""
    maker = Messages

    def connect(self):
        self.heard = b""
        return tcp(self.place)

    def deliver(self, batch, is_first):
        taken = 0
        try:
            self.connection.sendall(b"".join(item.data for item in batch))
            while taken < len(batch):
                part = self.connection.recv(65_536)
                if not part:
                    break
                *answers, self.heard = (self.heard + part).split(b"\x1c\r")
                for answer in answers:
                    wanted = b"\rMSA|AE|" if batch[taken].reason else b"\rMSA|AA|"
                    if wanted not in answer:
                        self.faults.append(f"{self.door}: not {wanted[1:]!r} but {answer[:300]!r}")
                    taken += 1
        except OSError:
            pass  # What was acknowledged stays so.
        self.arrived(batch[:taken])
        return batch[taken:]


class PostSender(Sender):
    """Posts of NDJSON with a token; keeps how long each took that was answered at the first attempt."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.token = ""
        self.seconds = []

    def connect(self):
        connection = http.client.HTTPConnection(*self.place, timeout=ANSWER_SECONDS)
        connection.connect()
        return connection

    def deliver(self, batch, is_first):
        begun = time.monotonic()
        self.connection.request(
            "POST", "/v1/ingest", b"".join(item.data + b"\n" for item in batch),
            {"Content-Type": "application/x-ndjson", "Authorization": f"Bearer {self.token}"})
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status == 401:
            raise Refused("another token is wanted")
        if answer.status != 200:
            return batch
        if is_first:
            self.seconds.append(time.monotonic() - begun)
            self.judge(batch, json.loads(body))
        self.arrived(batch)
        return []

    def judge(self, batch, told):
        """Compares the answer's counts with what was sent: at a first attempt they are the same."""
        expected = {
            "received": len(batch), "rejectedCount": sum(1 for item in batch if item.reason),
            "accepted": sum(1 for item in batch if not item.reason and not item.is_resent),
            "duplicate": sum(1 for item in batch if item.is_resent), "conflict": 0, "rejectedLater": 0,
        }
        found = {name: told.get(name, value) for name, value in expected.items()}
        if found != expected:
            self.faults.append(f"{self.door}: the answer says {found}, and {expected} was sent")

    def taken_seconds(self):
        """How long posts took since this was asked last."""
        taken, self.seconds = self.seconds, []
        return taken


class BrokerSender(Sender):
    """Publishes to an MQTT broker at QoS 1. The broker has acknowledged what has arrived there; kymo takes it from there."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.recent = collections.deque(maxlen=200)

    def kymo_ended(self):
        """What the broker has sent in the last seconds, and kymo may not have acknowledged, comes again."""
        begin = time.monotonic() - 5
        with self.tally.lock:
            self.tally.again += sum(count for moment, count in self.recent if moment > begin)

    def connect(self):
        connection = tcp(self.place)
        connection.sendall(b"\x10\x10\x00\x04MQTT\x04\x02\x00\x00\x00\x04soak")
        if len(connection.recv(4)) < 4:
            raise OSError("the broker has ended the connection")
        self.number = 0
        return connection

    def deliver(self, batch, is_first):
        packets = []
        for item in batch:
            self.number = self.number % 65_535 + 1
            body = b"\x00\x0bward/vitals" + self.number.to_bytes(2, "big") + item.data
            packets.append(bytes([0x32, len(body) & 0x7F | 0x80, len(body) >> 7]) + body)
        self.connection.sendall(b"".join(packets))
        heard = 0
        while heard < 4 * len(batch):
            part = self.connection.recv(4 * len(batch) - heard)
            if not part:
                return batch
            heard += len(part)
        self.arrived(batch)
        self.recent.append((time.monotonic(), sum(item.count for item in batch)))
        return []


class DatagramSender(Sender):
    """Datagrams. While `is_unsure` is set, the process ends or is away, and what is sent may be lost."""
    is_acknowledged = False

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.is_unsure = threading.Event()

    def connect(self):
        connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        return connection

    def deliver(self, batch, is_first):
        for item in batch:
            self.connection.sendto(item.data, self.place)
            self.tally.note(item)
            if self.is_unsure.is_set():
                with self.tally.lock:
                    self.tally.unsure += item.count
        return []
