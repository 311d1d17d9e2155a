"""Who changes settings while readings flow, and pauses and resumes types and sources."""
import json
import signal

import parts
from world import MILLISECOND, SECOND, STREAM

#: Longer than equal entries of the log are folded.
BETWEEN_RELOADS = 12 * SECOND
#: By then each lane has begun another batch.
UNTIL_FOLLOWED = 2 * SECOND


class Attendant:
    """Does what its script says, one deed after the other. One that is `deaf` is a defect: what it says that it has changed,
    it has not asked for."""

    def __init__(self, plan, folder, senders, model, deaf=None):
        self.parts, self.folder, self.senders, self.model, self.deaf = plan, folder, senders, model, deaf
        self.random = plan.random
        self.is_done = True

    @property
    def is_needed(self):
        return self.parts.has("reloads") or self.parts.has("pauses")

    def begin_life(self, settings, is_last, director):
        self.settings, self.is_last, self.director = settings, is_last, director
        self.is_done = False
        self.script = self.live()
        next(self.script)

    def answer(self, event, payload):
        return self.script.send((event, payload))

    def live(self):
        yield
        yield from self.wait(0, 2 * SECOND)
        for _ in range(self.random.randrange(5)):
            yield from self.random.choice(self.deeds())()
            yield from self.wait(0, 5 * SECOND)
        while self.is_last and self.is_anything_shut:
            yield from self.restore()
        self.is_done = True
        while True:
            yield "wait", SECOND

    def deeds(self):
        found = []
        if self.parts.has("reloads"):
            found += [self.change_nothing_of_readings, self.be_refused, self.exchange_a_source]
            found += [self.exchange_a_sink] if "sinks" in self.settings else []
            found += [self.exchange_rules] if self.parts.has("rules") else []
            found += [self.exchange_mappings] if self.parts.has("mappings") else []
        if self.parts.has("pauses"):
            found += [self.pause_a_type, self.pause_a_source]
        return found

    def wait(self, least, most):
        yield "wait", int(self.random.uniform(least, most))

    # What is asked by the socket of commands.

    def ask(self, request):
        """The answer; None when there is none, or it says that nothing was done."""
        event, _ = yield "connect", STREAM, f"{self.folder}/data/control.sock".encode()
        if event != "connected":
            yield "wait", 50 * MILLISECOND
            return None
        event, payload = yield "send", 0, json.dumps({"letters": []} | request).encode() + b"\n"
        text = b""
        while event not in ("closed", "failed") and b"\n" not in text:
            event, payload = yield "wait", SECOND
            text += payload if event == "received" else b""
        yield "close",
        answer = json.loads(text.partition(b"\n")[0]) if b"\n" in text else {"error": "no answer"}
        return None if "error" in answer else answer

    def pause(self, gate, name, kind, is_pause):
        """Pauses or resumes, and notes in `gate` when it is sure."""
        gate.begin_change()
        if self.deaf == "pauses":
            return gate.end_change(not is_pause)
        answer = yield from self.ask({"command": "pause" if is_pause else "resume",
                                      "pause": {"names": [name], "kind": kind}})
        if answer and all(one["isInEffect"] for one in answer["pauses"]):
            gate.end_change(not is_pause)

    def pause_a_type(self):
        gate = self.parts.gates["pauses"]
        yield from self.pause(gate, parts.PAUSED_TYPE, "type", gate.is_open is not False)

    def pause_a_source(self):
        sender = self.random.choice(self.senders)
        yield from self.pause_sender(sender, sender.gate.is_open is not False)

    def pause_sender(self, sender, is_pause):
        if sender.kind == "unixgram":
            sender.begin_pause()
        yield from self.pause(sender.gate, sender.name, "source", is_pause)

    # What is read again.

    def reload(self, text=None, expects="taken"):
        """Has the settings read again; whether that is known to have been done."""
        if self.deaf == "reloads":
            return True
        yield "wait", BETWEEN_RELOADS
        (self.folder / "kymo.json").write_text(text or json.dumps(self.settings))
        # Before it listens a signal may have no taker yet.
        while (yield from self.ask({"command": "status"})) is None:
            pass
        begin = len(self.log)
        yield "signal", int(signal.SIGHUP)
        for _ in range(600):
            yield "wait", 100 * MILLISECOND
            news = self.log[begin:]
            if self.director.has_ended:
                return False
            found = "taken" if "loaded the mappings" in news else "refused" if "stay in use" in news else None
            if found is None:
                continue
            if found != expects and not self.director.has_broken:
                self.model.wrong.append(f"a reload was {found}, not {expects}: {news[-1_000:]}")
            if found != "taken":
                return False
            yield "wait", UNTIL_FOLLOWED
            return True
        # An end that was begun leaves no time for it.
        self.model.wrong.append(f"nothing became of a reload in a minute: {self.log[begin:][-1_000:]}")
        return False

    @property
    def log(self):
        return (self.folder / "errors").read_text(errors="replace")

    def change_nothing_of_readings(self):
        choose = self.random.choice
        self.settings["store"] = {"commitInterval": choose(("0s", "1ms", "50ms"))}
        self.settings["output"] |= {"rotateBytes": choose(("2KiB", "1MiB")), "rotateIdle": choose(("1s", "1h"))}
        self.settings["limits"] |= {"windows": choose((100_000, 200_000)), "depth": choose((8, 64))}
        yield from self.reload()

    def be_refused(self):
        wrong = self.random.choice((
            json.dumps(self.settings | {"window": "7s"}), json.dumps(self.settings)[:-1],
            json.dumps(self.settings | {"shards": 7, "maxFuture": "1h"}),
            json.dumps(self.settings | {"mappings": ["no-such-mapping"]}),
            json.dumps(self.settings | {"sources": [{"unix": f"{self.folder}/missing/s"}]})))
        yield from self.reload(wrong, expects="refused")

    def exchange_a_source(self):
        """Takes one away, and gives it back."""
        gone = self.random.choice(self.senders)
        sources = self.settings["sources"]
        self.settings["sources"] = [one for one in sources if one != gone.source]
        gone.is_gone = yield from self.reload()
        yield from self.wait(0, 20 * SECOND)
        gone.is_gone = False
        self.settings["sources"] = sources
        yield from self.reload()

    def exchange_a_sink(self):
        other = parts.other_sink(self.folder)
        sinks = [one for one in self.settings["sinks"] if one != other]
        self.settings["sinks"] = sinks + ([other] if sinks == self.settings["sinks"] else [])
        yield from self.reload()

    def exchange_rules(self):
        gate = self.parts.gates["rules"]
        is_open = gate.is_open is False
        gate.begin_change()
        if self.deaf != "reloads":
            parts.write_rules(self.folder, is_open)
        if (yield from self.reload()):
            gate.end_change(is_open)

    def exchange_mappings(self):
        gate = self.parts.gates["mappings"]
        is_open = gate.is_open is False
        gate.begin_change()
        self.settings["mappings"] = ["reading"] + ([f"{self.folder}/wrist"] if is_open else [])
        if (yield from self.reload()):
            gate.end_change(is_open)

    # In the last life everything passes in the end.

    @property
    def is_anything_shut(self):
        return any(gate.is_open is not True for gate in self.own_gates())

    def own_gates(self):
        names = {"pauses"} if self.parts.has("pauses") else set()
        names |= {"rules", "mappings"} & self.parts.names if self.parts.has("reloads") else set()
        return [self.parts.gates[name] for name in sorted(names)] + [sender.gate for sender in self.senders]

    def restore(self):
        gates = self.parts.gates
        if gates["pauses"].is_open is not True:
            yield from self.pause(gates["pauses"], parts.PAUSED_TYPE, "type", False)
        for sender in self.senders:
            if sender.gate.is_open is not True:
                yield from self.pause_sender(sender, False)
        for name, exchange in (("rules", self.exchange_rules), ("mappings", self.exchange_mappings)):
            if gates[name].is_open is not True and self.parts.has(name) and self.parts.has("reloads"):
                gates[name].is_open = False
                yield from exchange()
