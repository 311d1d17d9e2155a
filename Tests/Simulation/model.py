"""What must be true of what was sent, whatever has happened in between."""
import collections
import datetime
import json

HEART_RATE = "heartRate"


class Gate:
    """What lets readings pass or not, and is changed while they flow: a rule, a mapping, a pause. `is_open` is None while
    nobody can tell. `reason` is that of dead letters of what does not pass."""

    def __init__(self, reason):
        self.reason, self.is_open, self.version = reason, True, 0

    def begin_change(self):
        """From here on it may be either."""
        self.is_open, self.version = None, self.version + 1

    def end_change(self, is_open):
        self.is_open = is_open

    @property
    def sides(self):
        """What may become of a line that comes now."""
        return {True, False} if self.is_open is None else {self.is_open}


class Line:
    """What a client sends: a reading, a retraction of one, or something that is none, with the reason for which it must be
    rejected. A reading may have a gate to pass; one of the same type, device and second is the same reading."""

    def __init__(self, device, second, value, payload, reason=None, kind=HEART_RATE, gate=None, retracts=False):
        self.device, self.second, self.value = device, second, value
        self.payload, self.reason, self.kind, self.gate = payload, reason, kind, gate
        self.retracts = retracts
        self.is_sent = self.is_acknowledged = False
        self.count, self.version, self.sides, self.held, self.is_late = 0, 0, set(), None, False
        #: Reasons for which the source may have put it aside.
        self.put_aside = set()
        #: It is acknowledged, and was all the same not to be read: it must have been put aside.
        self.is_taken_while_paused = False
        self.is_replayed = False

    @property
    def is_reading(self):
        return self.reason is None and not self.retracts

    @property
    def place(self):
        return self.kind, self.device, self.second

    @property
    def may_pass(self):
        return self.must_pass or self.is_reading and (
            self.gate is None or not self.is_acknowledged or True in self.sides)

    @property
    def must_pass(self):
        if not self.is_reading:
            return False
        if self.is_replayed and (self.gate is None or self.gate.is_open):
            return True
        if not self.is_acknowledged or self.is_taken_while_paused:
            return False
        return self.gate is None or self.sides == {True}

    @property
    def reasons(self):
        """Why it may be a dead letter."""
        found = {self.reason} if self.reason else set()
        if self.gate and (False in self.sides or not self.is_acknowledged or self.count > 1):
            found.add(self.gate.reason)
        return found | self.put_aside


class Model:
    """Lines that may have arrived, and those that must have."""

    def __init__(self, window):
        self.window = window
        self.lines = []
        #: What was seen to be wrong while it ran.
        self.wrong = []

    def sent(self, line):
        """It is sent, perhaps again."""
        if not line.is_sent:
            line.is_sent = True
            self.lines.append(line)
        line.count += 1
        if line.gate:
            line.sides |= line.gate.sides
            line.version = line.gate.version

    def acknowledged(self, line):
        line.is_acknowledged = True
        if line.gate and line.gate.version != line.version:
            line.sides |= {True, False}

    def retracted(self, is_certain):
        """Places whose reading must, or may, have been taken back."""
        return {line.place for line in self.lines if line.retracts and (line.is_acknowledged or not is_certain)}

    def places(self, is_certain):
        """The readings that must, or may, be in an Observation, with their values."""
        gone = self.retracted(not is_certain)
        return {line.place: line.value for line in self.lines
                if (line.must_pass if is_certain else line.may_pass) and line.place not in gone}

    def windows(self, is_certain):
        """The readings of each window that must, or may, be in it."""
        found = collections.defaultdict(dict)
        for (kind, device, second), value in self.places(is_certain).items():
            found[kind, device, second - second % self.window][second] = value
        return found

    def differences(self, place, observations):
        """What is wrong with the latest versions of Observations, by identifier, that are in `place`."""
        wrong, shown = [], {}
        certain, possible = self.windows(True), self.windows(False)
        for name, observation in observations.items():
            _, device, kind, start, *_ = name.split(".")
            shown[kind, device, seconds(start)] = readings_of(observation)
        for key in certain.keys() | shown.keys():
            found = shown.get(key, {})
            missing = {time: value for time, value in certain.get(key, {}).items() if found.get(time) != value}
            foreign = {time: value for time, value in found.items() if possible.get(key, {}).get(time) != value}
            if missing:
                wrong.append(f"{place}: {key} lacks {missing}")
            if foreign:
                wrong.append(f"{place}: {key} has {foreign}, which were not sent, or do not pass, or were taken back")
        return wrong

    def strangers(self, place, observations):
        """Readings in `observations` that nobody has sent, or that never pass: of a sink that lacks what came while it was
        not there."""
        sent = {(*line.place, line.value) for line in self.lines if line.may_pass}
        return [f"{place}: {one} was not sent" for observation in observations
                for one in sorted(set(places_of(observation)) - sent)]

    def letter_differences(self, letters, observations=()):
        """What is wrong with the dead letters, as objects of `kymo dead list`: each is of a line that may be one for its
        reason, and what was acknowledged is a letter or in one of `observations`."""
        wrong, rejected, taken_back = [], set(), set()
        known = collections.defaultdict(set)
        for line in self.lines:
            known[line.payload] |= line.reasons
        for letter in letters:
            reason = letter["reason"]
            if letter["kind"] == "measurement" or reason in ("retracted", "unknownRetraction"):
                place = self.place_of(letter)
                if place is None or place not in self.retracted(False) or reason not in (
                        "retracted", "unknownRetraction"):
                    wrong.append(f"letters: {letter['payload']!r} is rejected as {reason}")
                if reason == "retracted":
                    taken_back.add(place)
                continue
            for payload in letter["payload"].split(b"\n") if reason == "sourcePaused" else [letter["payload"]]:
                rejected.add(payload)
                if reason not in known[payload]:
                    wrong.append(f"letters: {payload!r} is rejected as {reason}, and not as {known[payload]}")
        shown = {one[:3] for observation in observations for one in places_of(observation)}
        return wrong + self.missing_letters(rejected, taken_back, shown)

    def replayed(self, payloads):
        """What was put aside is taken."""
        found = {line for payload in payloads for line in payload.split(b"\n")}
        for line in self.lines:
            line.is_replayed = line.is_replayed or line.payload in found

    def replay_differences(self, payloads):
        """What is wrong with payloads that were not taken: some line of each must be one that is rejected."""
        kept_out = {line.payload for line in self.lines
                    if not line.is_reading or line.place in self.retracted(False) or line.gate and not line.gate.is_open}
        return [f"replay: {payload!r} was not taken" for payload in payloads if not kept_out & set(payload.split(b"\n"))]

    def missing_letters(self, rejected, taken_back, shown):
        wrong = []
        gone = self.retracted(True)
        for line in self.lines:
            if not line.is_acknowledged:
                continue
            if line.is_taken_while_paused:
                if line.payload not in rejected and not line.is_replayed:
                    wrong.append(f"letters: {line.payload!r} was taken while its source was paused, and not put aside")
                continue
            is_settled = line.payload in rejected or (not line.reason and line.place in shown)
            if line.reason and line.payload not in rejected:
                wrong.append(f"letters: {line.payload!r} is missing")
            elif line.gate and line.sides == {False} and not line.is_replayed and line.payload not in rejected:
                wrong.append(f"letters: {line.payload!r} is missing, which does not pass")
            elif line.gate and not is_settled:
                wrong.append(f"letters: {line.payload!r} is neither a letter nor in an Observation")
            elif line.is_reading and line.place in gone and line.place not in taken_back:
                wrong.append(f"letters: {line.payload!r} was taken back, and is no letter")
        return wrong

    def place_of(self, letter):
        """Which reading the letter of one, or of a retraction, is about."""
        content = json.loads(letter["payload"])
        if "OccurrenceTimeUtc" in content:
            second = datetime.datetime.fromisoformat(content["OccurrenceTimeUtc"].replace("Z", "+00:00")).timestamp()
            return content["Type"], content["DeviceId"], int(second)
        if "ReadingId" in content:
            return content["Retracts"], content["DeviceId"], int(content["ReadingId"].rpartition("/")[2])
        return next((line.place for line in self.lines if line.payload == letter["payload"]), None)

    def ledger_differences(self, ledger):
        """What is wrong with the balance of the ledger."""
        balance = ledger["balance"]
        ends = ("accepted", "duplicate", "conflict", "retractions", "open", "onTheWay", "lost")
        total = sum(balance[name] for name in ends) + sum(balance["rejected"].values())
        wrong = [] if balance["received"] == total else [f"ledger: received {balance['received']}, counted {total}"]
        wrong += [f"ledger: {name} {balance[name]}" for name in ("open", "conflict", "lost") if balance[name]]
        least, most = (len(self.places(is_certain)) for is_certain in (True, False))
        if not least <= balance["accepted"] <= most:
            wrong.append(f"ledger: accepted {balance['accepted']}, not {least} to {most}")
        return wrong


def seconds(compact):
    """`20260301080000Z` in seconds since the epoch."""
    moment = datetime.datetime.strptime(compact, "%Y%m%d%H%M%SZ")
    return int(moment.replace(tzinfo=datetime.timezone.utc).timestamp())


def readings_of(observation):
    """The values of an Observation by their second."""
    if observation.get("status") == "entered-in-error":
        return {}
    period = observation.get("effectivePeriod") or {"start": observation["effectiveDateTime"]}
    start = int(datetime.datetime.fromisoformat(period["start"].replace("Z", "+00:00")).timestamp())
    for component in observation.get("component", ()):
        if data := component.get("valueSampledData"):
            step = data["period"] / 1_000
            return {int(start + place * step): int(text)
                    for place, text in enumerate(data["data"].split()) if text != "E"}
    return {start: observation["valueQuantity"]["value"]}


def places_of(observation):
    """Its readings: type, device, second, value."""
    _, device, kind, *_ = name_of(observation).split(".")
    return [(kind, device, second, value) for second, value in readings_of(observation).items()]


def observations_in(bundle):
    for entry in bundle["entry"]:
        if entry["resource"]["resourceType"] == "Observation":
            yield entry["resource"]


def name_of(observation):
    return observation["identifier"][0]["value"]


def latest_in(texts):
    """The latest version of each Observation in files of bundles or of NDJSON."""
    found = {}
    for text in texts:
        for line in text.splitlines():
            resource = json.loads(line)
            for one in observations_in(resource) if resource["resourceType"] == "Bundle" else [resource]:
                if one["resourceType"] == "Observation":
                    found[name_of(one)] = one
    return found
