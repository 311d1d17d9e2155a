"""What happens to the instance of a soak and around it, by a seed: changes of settings, failures of the FHIR server, steps of
the clock, replaced files; and ends of the process, in the first fifth and the last tenth of the run alone, so that memory and
descriptors are those of one process for most of it."""
import random
from typing import NamedTuple

CHANGES = ["settings", "guest", "mapping", "refused", "server", "clock", "certificate", "token", "devices"]
ENDS = ["restart", "kill", "key"]
ENDS_BEFORE, ENDS_AFTER = 0.2, 0.9
#: Steps of the clock, in seconds: backwards by less than `maxFuture`, forwards by less than the archive keeps.
STEPS = [1, -1, 30, -30, 120, -120, -240, 1_800]
#: An event lasts for at most this long, and so does what follows it.
MOST_SECONDS = 120


class Event(NamedTuple):
    """At `moment`, in seconds from the beginning, for `seconds`; `number` decides what is left open."""
    moment: float
    kind: str
    seconds: float
    number: int


def marks(hours):
    """Seconds of the marks: every hour, and at least six."""
    count = max(6, int(hours))
    return [hours * 3_600 * (index + 1) / count for index in range(count)]


def events(hours, seed):
    """All events in their order. Each is over before the next one begins, and the last one well before the mark."""
    chance = random.Random(f"soak {seed}")
    planned, waiting, ends = [], [], []
    begin, total = 0.0, hours * 3_600
    for mark in marks(hours):
        interval = mark - begin
        slots = max(4, int(interval / 300))
        length = 0.7 * interval / slots
        for slot in range(slots):
            moment = begin + (0.05 + 0.7 * slot / slots) * interval
            may_end = not ENDS_BEFORE * total < moment < ENDS_AFTER * total
            if may_end and slot % 2:
                ends = ends or chance.sample(ENDS, len(ENDS))
                kind = ends.pop()
            else:
                waiting = waiting or chance.sample(CHANGES, len(CHANGES))
                kind = waiting.pop()
            planned.append(Event(moment, kind, min(MOST_SECONDS, 0.5 * length), chance.randrange(1 << 30)))
        begin = mark
    return planned
