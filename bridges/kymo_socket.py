"""The way to kymo that the bridges share: frames, a bounded queue, and a Unix socket that may come and go."""

import argparse
import collections
import datetime
import itertools
import json
import random
import re
import select
import socket
import sys
import threading
import time

#: Seconds between two attempts: the first pause, and the longest one. Each is twice the one before.
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 30.0
#: Frames that are written at once.
BATCH = 500


def say(text):
    """Tells the operator; the journal adds the time."""
    print(text, file=sys.stderr, flush=True)


class Backoff:
    """Pauses that grow, with jitter, so that many bridges do not come back in one moment."""

    def __init__(self):
        self.reset()

    def reset(self):
        self._pause = FIRST_PAUSE

    def next(self):
        pause = self._pause
        self._pause = min(2 * pause, LONGEST_PAUSE)
        return pause * random.uniform(0.5, 1)


def utc_offset(text):
    """The value of --utc-offset: `auto`, `unknown`, or minutes from `+01:00`."""
    if text in ("auto", "unknown"):
        return text
    match = re.fullmatch(r"([+-])(\d\d):([0-5]\d)", text)
    if not match or int(match[2]) > 14:
        raise argparse.ArgumentTypeError(f"'{text}' is none of auto, unknown, and an offset such as +01:00")
    return int(match[1] + "1") * (60 * int(match[2]) + int(match[3]))


def time_text(moment, offset):
    """A moment in ISO 8601, with the offset of the device's clock, which is `auto`, `unknown` or minutes.

    `Z` says nothing about device clocks. A machine whose zone is UTC is taken for a server that knows no zone.
    """
    if offset == "unknown" or offset == "auto" and time.tzname[0] == "UTC":
        text = moment.astimezone(datetime.timezone.utc).replace(tzinfo=None).isoformat(timespec="microseconds")
        return text + "Z"
    zone = None if offset == "auto" else datetime.timezone(datetime.timedelta(minutes=offset))
    return moment.astimezone(zone).isoformat(timespec="microseconds")


class ArrivalClock:
    """Times of arrival, no two alike: to kymo, two packets of one device with one time are in conflict."""

    def __init__(self, read=lambda: datetime.datetime.now(datetime.timezone.utc)):
        self._read, self._last = read, None

    def now(self):
        """This moment, or a microsecond after the last one that was told."""
        moment = self._read()
        # A clock that was set back by more is believed.
        if self._last and datetime.timedelta(0) <= self._last - moment < datetime.timedelta(seconds=1):
            moment = self._last + datetime.timedelta(microseconds=1)
        self._last = moment
        return moment


class KymoSocket(threading.Thread):
    """Writes frames to kymo's socket, and keeps each until kymo says that it is on the disk.

    Frames that were not acknowledged are sent again after a break; kymo knows them by device, time and values.
    Without acknowledgements a frame is done with when the kernel has taken it.
    """

    def __init__(self, path, capacity=100_000, acknowledged=True):
        super().__init__(name="kymo-socket", daemon=True)
        self.path, self.capacity, self.acknowledged = path, capacity, acknowledged
        #: Frames that found the queue full.
        self.dropped = 0
        self._frames = collections.deque()
        self._changed = threading.Condition()
        self._ending = threading.Event()
        self._wake_read, self._wake_write = socket.socketpair()
        self._wake_read.setblocking(False)
        self._wake_write.setblocking(False)
        self._backoff = Backoff()
        self._failure = None

    def __len__(self):
        return len(self._frames)

    def put(self, frame):
        """Queues a frame, from any thread; the newest is dropped when the queue is full."""
        line = json.dumps(frame, separators=(",", ":")).encode() + b"\n"
        with self._changed:
            full = len(self._frames) >= self.capacity
            if full:
                self.dropped += 1
            else:
                self._frames.append(line)
            dropped = self.dropped
        # Powers of two: an outage of days must not fill the journal.
        if full and dropped & (dropped - 1) == 0:
            say(f"the queue of {self.capacity} frames is full: {dropped} dropped so far")
        self._wake()

    def finish(self, seconds):
        """Gives kymo some seconds for what waits, then stops; how many frames were lost by that and before."""
        with self._changed:
            self._changed.wait_for(lambda: not self._frames, seconds)
        self._ending.set()
        self._wake()
        self.join()
        self._wake_read.close()
        self._wake_write.close()
        lost = len(self._frames) + self.dropped
        if lost:
            say(f"{len(self._frames)} frames were not taken by {self.path}, {self.dropped} were dropped before")
        return lost

    def run(self):
        while not self._ending.is_set():
            try:
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.settimeout(5)
                    connection.connect(self.path)
                    self._converse(connection)
            except OSError as error:
                self._failed(error)
            self._ending.wait(self._backoff.next())

    def _failed(self, error):
        text = f"{self.path}: {error.strerror or error}"
        if text != self._failure:
            say(f"{text}; {len(self._frames)} frames wait, trying again")
        self._failure = text

    def _succeeded(self):
        if self._failure:
            say(f"{self.path}: kymo takes frames again")
        self._failure = None
        self._backoff.reset()

    def _wake(self):
        try:
            self._wake_write.send(b"x")
        except OSError:
            pass  # It has enough to wake up for, or has ended.

    def _converse(self, connection):
        """Sends and listens until the connection breaks (an OSError) or the bridge ends."""
        connection.setblocking(False)
        unsent = b'{"kymo":"ack"}\n' if self.acknowledged else b""
        sent, confirmed, heard = 0, 0, b""
        batch = 0
        while not self._ending.is_set():
            if not unsent:
                if not self.acknowledged and batch:
                    self._forget(batch)
                    sent = 0
                with self._changed:
                    lines = list(itertools.islice(self._frames, sent, sent + BATCH))
                unsent, batch = b"".join(lines), len(lines)
                sent += batch
            waiting = [connection, self._wake_read]
            readable, writable, _ = select.select(waiting, [connection] if unsent else [], [])
            if self._wake_read in readable:
                self._wake_read.recv(4096)
            if connection in readable:
                *answers, heard = (heard + self._receive(connection)).split(b"\n")
                for answer in answers:
                    count = self._acknowledgement(answer) - confirmed
                    if not 0 <= count <= sent:
                        raise ConnectionAbortedError(f"{answer} acknowledges what was not sent")
                    self._forget(count)
                    sent, confirmed = sent - count, confirmed + count
            if connection in writable:
                unsent = unsent[connection.send(unsent):]

    def _receive(self, connection):
        received = connection.recv(4096)
        if not received:
            raise ConnectionResetError("kymo closed the connection")
        return received

    def _acknowledgement(self, line):
        try:
            answer = json.loads(line)
            if "error" in answer:
                raise ConnectionAbortedError(f"{answer['error']} (--no-ack does without acknowledgements)")
            return int(answer["ack"])
        except (ValueError, LookupError, TypeError):
            raise ConnectionAbortedError(f"{line} is no acknowledgement; is kymo there?") from None

    def _forget(self, count):
        """Takes away what is done with."""
        with self._changed:
            for _ in range(count):
                self._frames.popleft()
            self._changed.notify_all()
        self._succeeded()


def add_arguments(parser):
    """The arguments that all bridges have."""
    parser.add_argument("--socket", required=True, metavar="PATH", help="kymo's Unix socket (kymo run --unix PATH)")
    parser.add_argument(
        "--queue", type=positive, default=100_000, metavar="N",
        help="frames that are kept while kymo is away; more are dropped, counted and told (default: 100000)")
    parser.add_argument(
        "--no-ack", action="store_true", help="for a kymo that keeps nothing on disk: do not ask for acknowledgements")
    parser.add_argument(
        "--utc-offset", type=utc_offset, default="auto", metavar="±HH:MM",
        help="offset of the clocks in devices; auto: as the device says, else this machine's zone; unknown")


def positive(text):
    """A number of 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of 1 or more")
    return int(text)
