"""What must be true of what was sent, whatever has happened in between."""
import collections
import datetime
import json


class Line:
    """What a client sends: a reading, or something that is none, with the reason for which it must be rejected."""

    def __init__(self, device, second, value, payload, reason=None):
        self.device, self.second, self.value = device, second, value
        self.payload, self.reason = payload, reason
        self.is_sent = self.is_acknowledged = False


class Model:
    """Lines that may have arrived, and those that must have."""

    def __init__(self, window):
        self.window = window
        self.lines = []

    def sent(self, line):
        if not line.is_sent:
            line.is_sent = True
            self.lines.append(line)

    def acknowledged(self, line):
        line.is_acknowledged = True

    def windows(self, is_certain):
        """The readings of each window that must, or may, be in it."""
        found = collections.defaultdict(dict)
        for line in self.lines:
            if line.reason is None and (line.is_acknowledged or not is_certain):
                found[line.device, line.second - line.second % self.window][line.second] = line.value
        return found

    def differences(self, place, observations):
        """What is wrong with the latest versions of Observations, by identifier, that are in `place`."""
        wrong, shown = [], {}
        certain, possible = self.windows(True), self.windows(False)
        for name, observation in observations.items():
            device, start = name.split(".")[1], seconds(name.split(".")[3])
            shown[device, start] = readings_of(observation)
        for key in certain.keys() | shown.keys():
            found = shown.get(key, {})
            missing = {time: value for time, value in certain.get(key, {}).items() if found.get(time) != value}
            foreign = {time: value for time, value in found.items() if possible.get(key, {}).get(time) != value}
            if missing:
                wrong.append(f"{place}: {key} lacks {missing}")
            if foreign:
                wrong.append(f"{place}: {key} has {foreign}, which were not sent")
        return wrong

    def letter_differences(self, letters):
        """What is wrong with the dead letters, as pairs of reason and bytes."""
        wrong = []
        known = {line.payload: line.reason for line in self.lines if line.reason}
        found = set(letters)
        for reason, payload in found:
            if known.get(payload) != reason:
                wrong.append(f"letters: {payload!r} is rejected as {reason}, and not as {known.get(payload)}")
        for line in self.lines:
            if line.reason and line.is_acknowledged and (line.reason, line.payload) not in found:
                wrong.append(f"letters: {line.payload!r} is missing")
        return wrong

    def ledger_differences(self, ledger):
        """What is wrong with the balance of the ledger."""
        balance = ledger["balance"]
        ends = ("accepted", "duplicate", "conflict", "retractions", "open", "onTheWay", "lost")
        total = sum(balance[name] for name in ends) + sum(balance["rejected"].values())
        wrong = [] if balance["received"] == total else [f"ledger: received {balance['received']}, counted {total}"]
        wrong += [f"ledger: {name} {balance[name]}" for name in ("open", "conflict", "lost") if balance[name]]
        least, most = (sum(map(len, self.windows(is_certain).values())) for is_certain in (True, False))
        if not least <= balance["accepted"] <= most:
            wrong.append(f"ledger: accepted {balance['accepted']}, not {least} to {most}")
        return wrong


def seconds(compact):
    """`20260301080000Z` in seconds since the epoch."""
    moment = datetime.datetime.strptime(compact, "%Y%m%d%H%M%SZ")
    return int(moment.replace(tzinfo=datetime.timezone.utc).timestamp())


def readings_of(observation):
    """The values of an Observation by their second."""
    period = observation.get("effectivePeriod") or {"start": observation["effectiveDateTime"]}
    start = int(datetime.datetime.fromisoformat(period["start"].replace("Z", "+00:00")).timestamp())
    for component in observation.get("component", ()):
        if data := component.get("valueSampledData"):
            step = data["period"] / 1_000
            return {int(start + place * step): int(text)
                    for place, text in enumerate(data["data"].split()) if text != "E"}
    return {start: observation["valueQuantity"]["value"]}


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
