"""What is outside of the simulated process: clients that send readings, a FHIR server, and who stops it and breaks things.

Each answers at once to what has happened, and all that they choose is from the generator of the seed."""
import errno
import json
import signal

from model import Gate

#: Types of sockets.
STREAM, DATAGRAM = 1, 2
SECOND = 1_000_000_000
MILLISECOND = 1_000_000


class Sender:
    """Sends to one source."""

    defect = None
    #: How many times as long as usual it waits, so that readings flow while settings change.
    pace = 1
    #: Whether the process has taken a connection of it in this life.
    was_taken = False

    def __init__(self, path, model, random):
        self.path, self.model, self.random = path, model, random
        #: Shut while the source is paused, as far as is known.
        self.gate = Gate("sourcePaused")
        self.waiting = []
        self.quota = 0

    @property
    def source(self):
        """The source that it sends to, as settings name it."""
        return {self.kind: self.path}

    @property
    def name(self):
        return f"{self.kind} {self.path}"

    def begin_life(self, quota):
        """`quota` lines may be sent for the first time before it is done for this life."""
        self.quota, self.was_taken = quota, False

    def written(self, line):
        return b"[]" if line.retracts and self.defect == "unsent-retractions" else line.payload


class Client(Sender):
    """Sends lines of JSON to a Unix stream socket, and again what was not acknowledged. One that is `credulous` is a defect:
    it takes what it has sent for durable."""

    kind = "unix"

    def __init__(self, path, model, random, credulous=False):
        super().__init__(path, model, random)
        self.credulous = credulous
        #: Whether settings lack its source, as far as is known.
        self.is_gone = False
        self.under_way = []
        self.buffer = b""
        self.is_connected = self.must_leave = False

    def begin_life(self, quota):
        super().begin_life(quota)
        self.is_connected, self.is_gone = False, False

    @property
    def is_done(self):
        return self.quota == 0 and not self.under_way

    def answer(self, event, payload):
        if event == "received":
            self.take(payload)
        elif event == "sent" and self.credulous:
            self.settle(len(self.under_way))
        elif event == "connected":
            self.is_connected, self.must_leave, self.buffer, self.heard = True, False, b"", 0
            self.was_taken = True
            if self.is_gone:
                self.model.wrong.append(f"{self.name} is gone, and takes a client")
            # What was under way is sent again, before anything else.
            lines, self.under_way = self.under_way, []
            return self.greet(lines)
        elif event in ("failed", "closed", "left"):
            self.is_connected = False
        if not self.is_connected:
            return self.connect(event)
        if self.must_leave:
            return "close",
        if self.is_done:
            return ("wait", 200 * MILLISECOND) if self.waiting else ("wait", SECOND)
        if event != "sent" and self.random.random() < 0.05:
            return "close",
        if event == "sent" or self.random.random() < 0.4:
            return "wait", int(self.random.expovariate(1 / 30) * MILLISECOND * self.pace)
        count = min(self.quota, self.random.choice((1, 1, 3, 10, 30)))
        lines, self.waiting = self.waiting[:count], self.waiting[count:]
        self.quota -= len(lines)
        return self.send(lines) if lines else ("wait", 50 * MILLISECOND)

    def connect(self, event):
        if event in ("begun", "waited") and not (self.is_done and event == "waited"):
            return "connect", STREAM, self.path.encode()
        return "wait", int(self.random.uniform(1, 200)) * MILLISECOND

    def greet(self, lines):
        return self.send(lines, b'{"kymo":"ack"}\n')

    def send(self, lines, head=b""):
        return "send", 0, head + self.text_of(lines)

    def text_of(self, lines):
        """The bytes of lines that are sent, perhaps again."""
        # A line may come twice in any case.
        again = [line for line in lines if self.random.random() < 0.05]
        for line in lines + again:
            self.model.sent(line)
            line.held = self.gate.version if self.gate.is_open is False else None
            line.is_late = self.is_gone
        self.under_way += lines + again
        return b"".join(self.written(line) + b"\n" for line in lines + again)

    def take(self, payload):
        self.buffer += payload
        *lines, self.buffer = self.buffer.split(b"\n")
        for line in lines:
            count = json.loads(line)["ack"]
            if not self.credulous:
                self.settle(count - self.heard)
            self.heard = count

    def settle(self, count):
        """Notes that the first `count` lines that are under way are durable."""
        for sent in self.under_way[:count]:
            if sent.is_late and self.is_gone:
                self.model.wrong.append(f"{self.name} is gone, and has taken {sent.payload!r}")
            # An end of the process puts aside what comes by connections that it has not read yet.
            if sent.held is not None and sent.held == self.gate.version:
                sent.put_aside.add(self.gate.reason)
                sent.is_taken_while_paused = True
            self.model.acknowledged(sent)
        del self.under_way[:count]


class TCPClient(Client):
    """The same by a port of the network."""

    kind = "tcp"

    def __init__(self, port, *arguments, **options):
        super().__init__(f":{port}", *arguments, **options)

    @property
    def source(self):
        return {self.kind: f"127.0.0.1{self.path}"}

    @property
    def name(self):
        return f"{self.kind} 127.0.0.1{self.path}"


class HTTPClient(TCPClient):
    """Sends lines in requests, and again where the answer is not 200, or does not come."""

    kind = "http"

    def greet(self, lines):
        self.requests = []
        return self.send(lines) if lines else ("wait", MILLISECOND)

    def send(self, lines, head=b""):
        before = len(self.under_way)
        body = self.text_of(lines)
        self.requests.append(len(self.under_way) - before)
        head = (f"POST /v1/ingest HTTP/1.1\r\nHost: kymo\r\nContent-Type: application/x-ndjson\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode()
        return "send", 0, head + body

    def take(self, payload):
        self.buffer += payload
        while b"\r\n\r\n" in self.buffer and not self.must_leave:
            head, _, rest = self.buffer.partition(b"\r\n\r\n")
            fields = dict(line.lower().split(": ", 1) for line in head.decode().split("\r\n")[1:])
            size = int(fields.get("content-length", 0))
            if len(rest) < size:
                return
            self.buffer = rest[size:]
            if not head.startswith(b"HTTP/1.1 200"):
                self.must_leave = True
            elif not self.credulous:
                self.settle(self.requests.pop(0))


class Datagrams(Sender):
    """Sends datagrams, of which nothing is ever heard."""

    kind = "unixgram"

    def __init__(self, path, model, random):
        super().__init__(path, model, random)
        self.sent = []

    @property
    def is_done(self):
        return self.quota == 0

    def begin_pause(self):
        for line in self.sent:
            line.put_aside.add(self.gate.reason)

    def answer(self, event, _):
        if event in ("begun", "failed", "closed") or self.random.random() < 0.1:
            return ("wait", 100 * MILLISECOND) if event == "failed" else ("connect", DATAGRAM, self.path.encode())
        if event != "waited":
            return "wait", int(self.random.expovariate(1 / 40) * MILLISECOND * self.pace)
        if self.is_done:
            return "wait", SECOND
        count = min(self.quota, self.random.choice((1, 1, 4)))
        lines, self.waiting = self.waiting[:count], self.waiting[count:]
        self.quota -= count
        for line in lines:
            self.model.sent(line)
            # Those that wait in the socket are put aside, too.
            if self.gate.version:
                line.put_aside.add(self.gate.reason)
        self.sent += lines
        return "send", 0, b"\n".join(self.written(line) for line in lines)


class Director:
    """Breaks the disk and the clock for a while, and ends the process when the clients are done, or earlier."""

    def __init__(self, clients, random):
        self.clients, self.random = clients, random

    def begin_life(self, is_last, breaks_disk, steps_clock):
        self.is_last, self.breaks_disk, self.steps_clock = is_last, breaks_disk, steps_clock
        self.rounds, self.step, self.has_ended, self.is_broken = 0, 0, False, False
        self.has_broken = False
        self.patience = 100_000 if is_last else self.random.randrange(20, 2_000)

    def answer(self, event, _):
        self.rounds += 1
        if self.has_ended:
            return "end",
        if self.rounds % 2:
            return "wait", int(self.random.uniform(1, 100)) * MILLISECOND
        if self.is_broken:
            if self.random.random() < 0.3:
                self.is_broken = False
                return "disk", 0
            return "wait", 0
        if all(client.is_done for client in self.clients) or self.rounds > self.patience:
            self.has_ended = True
            return "signal", int(signal.SIGTERM)
        if self.breaks_disk and self.random.random() < 0.05:
            self.is_broken = self.has_broken = True
            return "disk", self.random.choice((errno.ENOSPC, errno.ENOSPC, errno.EIO))
        if self.steps_clock and self.random.random() < 0.02:
            return "clock", int(self.random.uniform(-5, 5) * SECOND)
        return "wait", 0
