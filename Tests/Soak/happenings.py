"""What is done at each event of the schedule. Each function gets the soak and the event, and says what it did."""
import secrets
import time

from instance import WINDOW
from schedule import STEPS


def settings(soak, event):
    """A reload with other settings."""
    chosen = soak.instance.settings
    chosen.level = ["info", "debug", "warning"][event.number % 3]
    chosen.max_future = ["5m", "10m"][event.number // 3 % 2]
    chosen.rotate = ["1MiB", "512KiB"][event.number // 6 % 2]
    chosen.idle_limit = ["10m", "1h"][event.number // 12 % 2]
    chosen.types = [None, ["*Rate", "oxygenSaturation"]][event.number // 24 % 2]
    soak.must_take(True)
    return f"log level {chosen.level}, maxFuture {chosen.max_future}, rotateBytes {chosen.rotate}, types {chosen.types}"


def guest(soak, event):
    """A source comes by a reload, is sent to, and goes by another one. Its name is one of three."""
    soak.instance.settings.guest = f"guest-{event.number % 3}"
    soak.must_take(True)
    time.sleep(event.seconds)
    soak.instance.settings.guest = None
    soak.must_take(True)
    return f"source guest-{event.number % 3} came and went"


def mapping(soak, event):
    """A file of a mapping changes; it is loaded without a signal."""
    path = soak.instance.folder / "ward/fhir.json"
    text = path.read_text()
    changed = text.replace("Heart rate of the ward", "Heart rate") if "of the ward" in text else text.replace(
        '"Heart rate"', '"Heart rate of the ward"')
    if changed == text:
        raise RuntimeError("the mapping has no text to change")
    before = soak.instance.reloads()
    soak.instance.replace("ward/fhir.json", changed)
    if not soak.instance.verdict(before):
        soak.fault("a changed mapping was not taken")
    return "a mapping changed"


def refused(soak, event):
    """A reload that must be refused: of a file with an error, or with a setting that needs a restart."""
    if event.number % 2:
        soak.instance.settings.error = "windw: 1m\n"
    else:
        soak.instance.settings.window = "3m"
    soak.must_take(False)
    soak.instance.settings.error, soak.instance.settings.window = "", WINDOW
    soak.must_take(True)
    return "a wrong configuration was refused, and the former one taken again"


def server(soak, event):
    """The FHIR server fails for a while."""
    fault = soak.server.FAULTS[event.number % len(soak.server.FAULTS)]
    soak.server.fail(fault)
    time.sleep(event.seconds)
    soak.server.mend()
    return f"the FHIR server: {fault} for {event.seconds:.0f} s"


def clock(soak, event):
    """The wall clock of the instance steps, and steps back."""
    if not soak.instance.clock.is_available:
        return "no step of the clock: there is no compiler"
    step = STEPS[event.number % len(STEPS)]
    soak.instance.clock.step(step)
    time.sleep(event.seconds)
    soak.instance.clock.step(0)
    return f"the clock stepped by {step:+d} s, and back after {event.seconds:.0f} s"


def certificate(soak, event):
    """The certificate of the TLS source is replaced, and its client connects again."""
    soak.instance.make_certificate()
    soak.doors["tls"].wants_new_connection.set()
    return "a new certificate"


def token(soak, event):
    """The token of the HTTP source is replaced."""
    new = secrets.token_hex(16)
    soak.instance.make_token(new)
    soak.doors["http"].token = new
    return "a new token"


def devices(soak, event):
    """Some devices of each door go at once, and others come."""
    for door in soak.doors.values():
        for _ in range(3):
            door.beds.replace()
    return "new devices"


def restart(soak, event):
    """SIGTERM and another start, while datagrams are held."""
    with soak.datagrams_held():
        soak.instance.stop()
        soak.begin_life()
    return "SIGTERM and a start"


def kill(soak, event):
    """SIGKILL and another start, while all send."""
    with soak.datagrams_unsure():
        soak.instance.kill()
        soak.begin_life()
    return "SIGKILL and a start"


def key(soak, event):
    """The key of the store is changed, between two runs."""
    with soak.datagrams_held():
        soak.instance.stop()
        soak.instance.rotate_key(is_whole=event.number % 3 == 0)
        soak.begin_life()
    return f"the key was changed{', and all data keys' if event.number % 3 == 0 else ''}"


ALL = {function.__name__: function for function in (
    settings, guest, mapping, refused, server, clock, certificate, token, devices, restart, kill, key)}
