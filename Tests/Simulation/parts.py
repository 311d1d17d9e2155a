"""What a seed adds to its world: other sources, readings that are taken back, rules, a second mapping, pauses, reloads of
settings, encryption."""
import json
import random
import time
import zlib
from pathlib import Path

import world
from model import Gate, Line

PARTS = ("tcp", "http", "retractions", "mappings", "rules", "pauses", "reloads", "sinks", "encryption", "writes")
PORTS = {"tcp": 5001, "http": 5002}
#: The type that pauses are of, and that of the second mapping.
PAUSED_TYPE, WRIST_TYPE = "oxygenSaturation", "wristRate"
#: A device whose readings a rule rejects.
RULED = "ruled"


class Parts:
    """Which parts a seed has, and what they choose. A third of the seeds has none."""

    def __init__(self, seed, names=None):
        self.random = random.Random(f"parts of {seed}")
        chance = self.random.random
        if names is None:
            names = [] if chance() < 0.33 else [name for name in PARTS if chance() < 0.35]
        self.names = set(names)
        self.gates = {"rules": Gate("rejectedByRule"), "mappings": Gate("noTemplate"), "pauses": Gate("typePaused")}
        # A list of rules that is never read again rejects all the time.
        self.gates["rules"].is_open = self.has("reloads")
        # A name that is nothing else in any file.
        self.prefix = "bed-in-clear-" if self.has("encryption") else "d"
        self.pace = self.random.choice((1, 30, 100)) if self.names & {"reloads", "pauses"} else 1
        #: Places of readings with an id, which can be taken back by it.
        self.named = []

    def has(self, name):
        return name in self.names

    def clients(self, model, chooses, defect):
        """Clients beside those of Unix sockets."""
        return [kind(PORTS[kind.kind], model, chooses, credulous=defect == f"early-{kind.kind}")
                for kind in (world.TCPClient, world.HTTPClient) if self.has(kind.kind)]

    def line(self, now):
        """One of the lines of the parts, or None for one of the others."""
        second = now - 5 * self.random.randrange(240)
        device = f"{self.prefix}{self.random.randrange(4)}"
        if self.has("retractions") and self.random.random() < 0.35:
            return self.retraction(now) if self.random.random() < 0.3 else self.named_reading(device + "i", second)
        if self.has("mappings") and self.random.random() < 0.2:
            value = value_of(device, second, WRIST_TYPE)
            payload = json.dumps({"watch": device, "at": stamp_of(second), "pulse": value}).encode()
            gate = self.gates["mappings"] if self.has("reloads") else None
            return Line(device, second, value, payload, kind=WRIST_TYPE, gate=gate)
        if self.has("rules") and self.random.random() < 0.2:
            return reading(RULED, second, gate=self.gates["rules"])
        if self.has("pauses") and self.random.random() < 0.2:
            return reading(device, second, kind=PAUSED_TYPE, unit="%", gate=self.gates["pauses"])
        return None

    def named_reading(self, device, second):
        self.named.append((device, second))
        return reading(device, second, id=f"{device}/{second}")

    def retraction(self, now):
        """Of a reading that has been planned, or perhaps of one that never comes."""
        if self.named and self.random.random() < 0.8:
            device, second = self.random.choice(self.named)
        else:
            device, second = f"{self.prefix}0i", now - 5 * self.random.randrange(240)
        payload = {"deviceId": device, "deleted": "heartRate", "id": f"{device}/{second}"}
        return Line(device, second, 0, json.dumps(payload).encode(), retracts=True)

    def add_to(self, settings, folder, key, defect=None):
        """Adds to the settings of a life, and writes the files that they name."""
        if self.has("mappings"):
            write_wrist(folder)
            settings["mappings"] = ["reading"] + ([f"{folder}/wrist"] if defect != "unmapped" else [])
        if self.has("sinks") and "server" in settings:
            output, server = settings["output"], settings.pop("server")
            to = output.pop("to")
            settings["sinks"] = ([{"to": to}] if to != "none" else []) + [
                {"server" if name == "url" else name: value for name, value in server.items()}]
            if self.random.random() < 0.5:
                settings["sinks"].append(other_sink(folder))
        if self.has("rules"):
            write_rules(folder, self.gates["rules"].is_open)
            if defect != "unruled":
                settings["rules"] = f"{folder}/rules.yaml"
        if self.has("encryption") and defect != "in-clear":
            settings["encryption"] = {"keyFile": key}
            # Each file is decrypted by itself in the end.
            settings["output"] |= {"rotateBytes": "1MiB", "rotateIdle": "1h"}

    def begin_life(self):
        """What a start decides anew: rules are those of the file, and all mappings are there."""
        for name in ("rules", "mappings"):
            gate = self.gates[name]
            is_open = name != "rules" or gate.is_open is not False
            gate.begin_change()
            gate.end_change(is_open)


def reading(device, second, kind="heartRate", unit="/min", gate=None, **members):
    # The same place always has the same value, so that a line of it is a repetition.
    value = value_of(device, second, kind)
    content = {"deviceId": device, "type": kind, "timestamp": stamp_of(second), "value": value, "unit": unit}
    return Line(device, second, value, json.dumps(content | members).encode(), kind=kind, gate=gate)


def value_of(device, second, kind):
    return 50 + zlib.crc32(f"{device} {second} {kind}".encode()) % 50


def stamp_of(second):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))


def other_sink(folder):
    """One that comes and goes."""
    return {"to": f"{folder}/other", "name": "other"}


def write_rules(folder, is_open):
    devices = ["nobody"] if is_open else ["nobody", RULED]
    rules = {"rules": [{"name": "kept-out", "then": "reject", "devices": devices}]}
    (Path(folder) / "rules.yaml").write_text(json.dumps(rules) + "\n")


def write_wrist(folder):
    """A mapping of another shape and type."""
    place = Path(folder) / "wrist"
    place.mkdir(exist_ok=True)
    device = {"typeName": WRIST_TYPE, "typeMatchExpression": "$..[?(@pulse)]", "deviceIdExpression": "$.watch",
              "timestampExpression": "$.at",
              "values": [{"valueName": "rate", "valueExpression": "$.pulse", "required": True}]}
    value = {"valueType": "Statistics", "valueName": "rate", "unit": "beats/min", "code": "/min", "aggregate": "mean",
             "components": ["minimum", "maximum", "count"],
             "series": {"codes": [{"system": "https://simulation.example", "code": "rate"}], "period": "auto",
                        "collision": "latest"}}
    fhir = {"typeName": WRIST_TYPE, "codes": [{"system": "http://loinc.org", "code": "8867-4"}], "text": "Rate",
            "value": value}
    for name, kind, inner, template in (("device", "CollectionContent", "JsonPathContent", device),
                                        ("fhir", "CollectionFhir", "CodeValueFhir", fhir)):
        content = {"templateType": kind, "template": [{"templateType": inner, "template": template}]}
        (place / f"{name}.json").write_text(json.dumps(content))
