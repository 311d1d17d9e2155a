"""What the senders of a soak send: readings of devices that come and go, near the present, and what is not right."""
import collections
import json
import random
import threading
import time
from typing import NamedTuple

#: How late a late reading is.
LATE_SECONDS = 180
#: Of what is sent: late readings, readings that have come before, and payloads that are no readings.
LATE, RESENT, BAD = 0.001, 0.01, 0.004
FAR_FUTURE = "2099-01-01T00:00:00Z"


class Item(NamedTuple):
    """Something that is sent: its bytes, the device of its readings and their number, and the reason for which it is
    rejected; for one that has come before, `is_resent`."""
    data: bytes
    device: str
    count: int = 1
    reason: str | None = None
    is_resent: bool = False


class Tally:
    """What a door's sender knows. `again` counts what it has sent more than once, since it did not hear what became of it,
    and `unsure` what it has sent without acknowledgement while the process ended or was away."""

    def __init__(self):
        self.lock = threading.Lock()
        self.good = self.resent = self.again = self.unsure = 0
        self.bad = collections.Counter()
        self.devices = collections.Counter()

    def note(self, item):
        """Notes that `item` has arrived; or, where nothing is acknowledged, that it was sent."""
        with self.lock:
            if item.reason:
                self.bad[item.reason] += item.count
            elif item.is_resent:
                self.resent += item.count
            else:
                self.good += item.count
                self.devices[item.device] += item.count

    def note_again(self, items):
        with self.lock:
            self.again += sum(item.count for item in items)

    def seen(self):
        """All of it, as it is now."""
        with self.lock:
            return {"good": self.good, "resent": self.resent, "again": self.again, "unsure": self.unsure,
                    "bad": dict(self.bad)}


class Beds:
    """The devices of a door: always as many, each of which is replaced by a new one now and then."""

    def __init__(self, door, count, seed):
        self.door, self.random = door, random.Random(f"{seed} {door}")
        self.number = 0
        self.devices = [self._new() for _ in range(count)]
        self.turn = 0

    def _new(self):
        self.number += 1
        return f"{self.door}-{self.number}"

    def replace(self):
        """One device goes, and a new one comes."""
        self.devices[self.random.randrange(len(self.devices))] = self._new()

    def next(self):
        self.turn = (self.turn + 1) % len(self.devices)
        return self.devices[self.turn]


class Lines:
    """Makes lines of the mapping `reading`."""

    def __init__(self, beds):
        self.beds, self.random = beds, beds.random
        self.recent = collections.deque(maxlen=256)
        self.number = 0
        self.last = {}

    def next(self):
        """A new item. No two have one device and time, other than what is resent: late ones are between milliseconds."""
        self.number += 1
        chance = self.random.random()
        if chance < BAD:
            return self.bad()
        if chance < BAD + RESENT and len(self.recent) > 128:
            return self.recent[self.random.randrange(64)]._replace(is_resent=True)
        is_late = chance > 1 - LATE
        device = self.beds.next()
        item = Item(self.data(device, time.time() - (LATE_SECONDS if is_late else 0), is_late), device, self.readings)
        self.recent.append(item)
        return item

    readings = 1

    def data(self, device, moment, is_late):
        milliseconds = max(int(moment * 1_000), self.last.get((device, is_late), 0) + 1)
        if len(self.last) > 8 * len(self.beds.devices):
            self.last.clear()
        self.last[device, is_late] = milliseconds
        return self.line(device, self.stamp(milliseconds, is_late))

    def stamp(self, milliseconds, is_late):
        text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(milliseconds // 1000))
        return f"{text}.{milliseconds % 1000:03d}{f'{1 + self.number % 999:03d}' if is_late else ''}Z"

    def line(self, device, stamp):
        return json.dumps({"deviceId": device, "type": "heartRate", "timestamp": stamp, "value": 60 + self.number % 40,
                           "unit": "/min"}).encode()

    def bad(self):
        """A payload that is no reading: no JSON, of no template, or of the far future."""
        kind = self.number % 3
        if kind == 0:
            return Item(b"no JSON, number %d" % self.number, "", reason="invalidJSON")
        if kind == 1:
            return Item(json.dumps({"note": self.number}).encode(), "", reason="noTemplate")
        return Item(self.line(self.beds.next(), FAR_FUTURE), "", reason="clockAhead")


class Messages(Lines):
    """Makes messages of HL7 v2 for the mapping `pcd-01`, with three results each."""
    readings = 3
    RESULTS = [
        ("147842^MDC_ECG_HEART_RATE^MDC", "264864^MDC_DIM_BEAT_PER_MIN^MDC"),
        ("150456^MDC_PULS_OXIM_SAT_O2^MDC", "262688^MDC_DIM_PERCENT^MDC"),
        ("151562^MDC_RESP_RATE^MDC", "264928^MDC_DIM_RESP_PER_MIN^MDC"),
    ]
    UNKNOWN = [("999999^MDC_UNKNOWN^MDC", "262688^MDC_DIM_PERCENT^MDC")]

    def stamp(self, milliseconds, is_late):
        text = time.strftime("%Y%m%d%H%M%S", time.gmtime(milliseconds // 1000))
        return f"{text}.{milliseconds % 1000:03d}{1 + self.number % 9 if is_late else 0}+0000"

    def line(self, device, stamp, results=None):
        lines = [
            f"MSH|^~\\&|GATEWAY^0009FBFFFE000001^EUI-64|WARD|KYMO|HOSPITAL|{stamp}||ORU^R01^ORU_R01|{self.number}|P|2.6",
            f"PID|||patient-{device}^^^Hospital^MR||Test^Synthetic", "PV1||I|ICU^^Bed 7",
            f"OBR|1||1^GATEWAY|69965^MDC_DEV_MON_PHYSIO_MULTI_PARAM_MDS^MDC|||{stamp}",
            f"OBX|1||69965^MDC_DEV_MON_PHYSIO_MULTI_PARAM_MDS^MDC|1.0.0.0|||||||X|||||||{device}^^{device}^EUI-64",
        ]
        for index, (code, unit) in enumerate(results or self.RESULTS, 1):
            lines.append(f"OBX|{index + 1}|NM|{code}|1.{index}.1.1|{60 + self.number % 40}|{unit}|||||R")
        return b"\x0b" + "\r".join(lines).encode() + b"\r\x1c\r"

    def bad(self):
        """A message whose only result is of no template."""
        return Item(self.line(self.beds.next(), self.stamp(int(time.time() * 1_000), False), self.UNKNOWN), "", reason="noTemplate")
