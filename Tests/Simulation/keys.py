"""The keys of an encrypted store: they are changed between lives, and others open nothing."""
import hashlib
import json
import os

import process
from world import SECOND


class Idle:
    """Lets a command end by itself."""

    def answer(self, *_):
        return "wait", SECOND


class Keys:
    """With the defect `right-key`, what should be a wrong key is the right one."""

    def __init__(self, simulation, defect):
        self.simulation, self.random, self.defect = simulation, simulation.parts.random, defect
        self.number = 0
        self.write()

    @property
    def path(self):
        return f"{self.simulation.folder}/key{self.number}"

    def write(self):
        file = open(self.path, "wb", opener=private)
        with file:
            file.write(self.random.randbytes(32))

    def change(self, is_last):
        """What is wrong with another key, and with what follows a change of keys."""
        if not (self.simulation.folder / "data" / "kymo.sqlite").exists():
            return []
        wrong = self.try_another() if self.random.random() < 0.3 else []
        if not wrong and not is_last and self.random.random() < 0.5:
            wrong = self.rotate()
        return wrong

    def try_another(self):
        folder = self.simulation.folder
        before = self.contents()
        settings = dict(self.simulation.settings)
        own = self.number
        if self.defect != "right-key":
            self.number = 1_000
            self.write()
        choices = [{"keyFile": self.path}, None] if self.defect != "right-key" else [{"keyFile": self.path}]
        settings["encryption"] = self.random.choice(choices)
        self.number = own
        if settings["encryption"] is None:
            del settings["encryption"]
        (folder / "wrong.json").write_text(json.dumps(settings))
        life = self.simulation.process(["run", "--config", f"{folder}/wrong.json"], Stop())
        if life.status != 78:
            return [f"a start with another key ended with status {life.status}: {life.errors[-1_000:]}"]
        return [] if self.contents() == before else ["a start with another key has changed something"]

    def contents(self):
        data = self.simulation.folder / "data"
        return {path: hashlib.sha256(path.read_bytes()).digest() for path in data.rglob("*") if path.is_file()}

    def rotate(self):
        """Changes the keys, perhaps again after a crash."""
        former = self.path
        self.number += 1
        self.write()
        arguments = ["keys", "rotate", "--data", f"{self.simulation.folder}/data", "--key-file", former]
        kind = self.random.randrange(3)
        arguments += ["--all"] if kind else []
        arguments += ["--new-key-file", self.path] if kind < 2 else []
        if kind == 2:
            self.number -= 1
        for attempt in range(3):
            crash = self.random.randrange(10, 600) if attempt < 2 and self.random.random() < 0.6 else None
            life = self.simulation.process(arguments, Idle(), crash=crash, cuts_power=self.random.random() < 0.5)
            if life.status == 0:
                return []
            if life.status != process.ENDED_BY_CRASH:
                return [f"keys rotate ended with status {life.status} ({life.how}): {life.errors[-1_000:]}"]
        return ["keys rotate came to no end"]


class Stop(Idle):
    """Ends what should not have started."""

    def __init__(self):
        self.has_waited = False

    def answer(self, *_):
        self.has_waited = not self.has_waited
        return ("wait", 10 * SECOND) if self.has_waited else ("signal", 15)


def private(path, flags):
    return os.open(path, flags, 0o600)
