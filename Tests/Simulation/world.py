"""What is outside of the simulated process: clients that send readings, a FHIR server, and who stops it and breaks things.

Each answers at once to what has happened, and all that they choose is from the generator of the seed."""
import errno
import json
import signal

SECOND = 1_000_000_000
MILLISECOND = 1_000_000


class Client:
    """Sends lines of JSON to a Unix stream socket, and again what was not acknowledged. One that is `credulous` is a defect:
    it takes what it has sent for durable."""

    def __init__(self, path, model, random, credulous=False):
        self.path, self.model, self.random, self.credulous = path, model, random, credulous
        self.waiting = []
        self.under_way = []
        self.buffer = b""
        self.quota = 0
        self.is_connected = False

    def begin_life(self, quota):
        """`quota` lines may be sent for the first time before it is done for this life."""
        self.quota, self.is_connected = quota, False

    @property
    def is_done(self):
        return self.quota == 0 and not self.under_way

    def answer(self, event, payload):
        if event == "received":
            self.take(payload)
        elif event == "sent" and self.credulous:
            self.settle(len(self.under_way))
        elif event == "connected":
            self.is_connected, self.buffer, self.heard = True, b"", 0
            # What was under way is sent again, before anything else.
            lines, self.under_way = self.under_way, []
            return self.send(lines, b'{"kymo":"ack"}\n')
        elif event in ("failed", "closed", "left"):
            self.is_connected = False
        if not self.is_connected:
            return self.connect(event)
        if self.is_done:
            return ("wait", 200 * MILLISECOND) if self.waiting else ("wait", SECOND)
        if event != "sent" and self.random.random() < 0.05:
            return "close",
        if event == "sent" or self.random.random() < 0.4:
            return "wait", int(self.random.expovariate(1 / 30) * MILLISECOND)
        count = min(self.quota, self.random.choice((1, 1, 3, 10, 30)))
        lines, self.waiting = self.waiting[:count], self.waiting[count:]
        self.quota -= len(lines)
        return self.send(lines) if lines else ("wait", 50 * MILLISECOND)

    def connect(self, event):
        if event in ("begun", "waited") and not (self.is_done and event == "waited"):
            return "connect", 1, self.path.encode()
        return "wait", int(self.random.uniform(1, 200)) * MILLISECOND

    def send(self, lines, head=b""):
        # A line may come twice in any case.
        again = [line for line in lines if self.random.random() < 0.05]
        for line in lines:
            self.model.sent(line)
        self.under_way += lines + again
        return "send", 0, head + b"".join(line.payload + b"\n" for line in lines + again)

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
            self.model.acknowledged(sent)
        del self.under_way[:count]


class Datagrams:
    """Sends datagrams, of which nothing is ever heard."""

    def __init__(self, path, model, random):
        self.path, self.model, self.random = path, model, random
        self.waiting = []
        self.quota = 0

    def begin_life(self, quota):
        self.quota = quota

    @property
    def is_done(self):
        return self.quota == 0

    def answer(self, event, _):
        if event in ("begun", "failed", "closed") or self.random.random() < 0.1:
            return ("wait", 100 * MILLISECOND) if event == "failed" else ("connect", 2, self.path.encode())
        if event != "waited":
            return "wait", int(self.random.expovariate(1 / 40) * MILLISECOND)
        if self.is_done:
            return "wait", SECOND
        count = min(self.quota, self.random.choice((1, 1, 4)))
        lines, self.waiting = self.waiting[:count], self.waiting[count:]
        self.quota -= count
        for line in lines:
            self.model.sent(line)
        return "send", 0, b"\n".join(line.payload for line in lines)


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
