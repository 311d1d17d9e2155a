"""measure.py KYMO MAPPING [--short|--long]: called by overload.sh.

The sender hands the kernel many datagrams at a time (UDP_SEGMENT), so that it can send several times what any receiver
takes. One in a hundred is no JSON."""
import os
import socket
import subprocess
import sys
import time

from running import free_port, listening, number, peak_memory

KYMO, MAPPING = sys.argv[1:3]
SHORT = "--short" in sys.argv[3:]
SECONDS = 0.5 if SHORT else 60 if "--long" in sys.argv[3:] else 5
FACTORS = (0.5, 1, 2, 5)
UDP_SEGMENT = 103
SIZE = 200
TOGETHER = 40
# A turn is what is kept of what is sent: in the next one the same datagrams have other times.
TURN = 1_000_000
START_MS = 1_767_225_000_000
DEVICES = 1_000
# Windows of 10 s of event time, a millisecond for each reading: they close all the time, and few are kept.
ARGUMENTS = ["--window", "10s", "--lateness", "1s", "--idle", "1s"]
ENVIRONMENT = {"KYMO_LIMITS_ARCHIVE_BYTES": "4MiB"}
MEMORY_MIB = 16


def line(number):
    """A datagram of SIZE bytes: reading `number`, or every hundredth time something else."""
    if number % 100 == 99:
        return b"x" * SIZE
    text = (f'{{"device":"dev-{number % DEVICES:05d}","ts":{START_MS + number},"type":"heart-rate",'
            f'"value":{60 + number % 90},"unit":"bpm","note":"')
    return (text + "x" * (SIZE - len(text) - 2) + '"}').encode()


class Sender:
    """Sends the datagrams from `first` on at some rate."""

    def __init__(self, port):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", port))
        self.together = TOGETHER
        try:
            self.socket.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, SIZE)
        except OSError:
            self.together = 1

    def send(self, groups, rate):
        """Sends all of `groups`, as an iterator gives them, each of which has `together` datagrams; rate 0 is as fast as
        possible. Returns how many were sent and the seconds that it took."""
        begun = time.monotonic()
        count = 0
        for index, group in enumerate(groups):
            if rate:
                ahead = begun + index * self.together / rate - time.monotonic()
                if ahead > 0:
                    time.sleep(ahead)
            while True:
                try:
                    self.socket.send(group)
                    break
                except OSError:
                    time.sleep(0.0001)
            count += self.together
        return count, time.monotonic() - begun


def prepared(count, together):
    """The groups of a turn, or of fewer datagrams."""
    lines = [line(number) for number in range(min(count, TURN))]
    return [b"".join(lines[first:first + together]) for first in range(0, len(lines) - together + 1, together)]


def groups(ready, count, together):
    """So many datagrams: `ready`, turn after turn. What is the same in all times of a turn counts the turns."""
    first = START_MS // TURN
    for number in range(count // together):
        turn, index = divmod(number, len(ready))
        group = ready[index]
        yield group.replace(b'"ts":%d' % first, b'"ts":%d' % (first + turn)) if turn else group


def overloaded(count, rate):
    """Sends about `count` datagrams to a pipeline of its own. Returns those sent, the seconds, the summary, peak MiB."""
    port = free_port()
    process = subprocess.Popen(
        [KYMO, "run", "--ephemeral", "--udp", f"127.0.0.1:{port}", "--mapping", MAPPING, "--format", "ndjson", *ARGUMENTS],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, **ENVIRONMENT})
    if not listening(process):
        sys.exit("overload: kymo did not start")
    sender = Sender(port)
    ready = prepared(count, sender.together)
    sent, seconds = sender.send(groups(ready, count, sender.together), rate)
    time.sleep(0.2)
    peak = peak_memory(process)
    process.terminate()
    summary = process.communicate(timeout=120)[1]
    if process.returncode != 0:
        sys.exit(f"overload: kymo failed:\n{summary}")
    return sent, seconds, summary, peak


def main():
    sent, seconds, summary, _ = overloaded(400_000 if SHORT else 2_000_000, 0)
    capacity = number(r"received (\d+)", summary) / seconds
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; "
          f"of {sent / seconds:,.0f} datagrams/s that are sent, kymo takes {capacity:,.0f}/s")
    good = True
    peaks = []
    print(f"{'times':>5} {'sent':>10} {'a second':>10} {'accepted':>10} {'rejected':>9} {'dropped':>10} {'peak MiB':>9}")
    for factor in FACTORS:
        sent, seconds, summary, peak = overloaded(int(capacity * factor * SECONDS), capacity * factor)
        accepted = sum(number(rf"{word} (\d+)", summary) for word in ("accepted", "duplicate", "conflict"))
        rejected, dropped = number(r"rejected (\d+)", summary), number(r"kernel-dropped (\d+)", summary)
        exact = sent == accepted + rejected + dropped
        good = good and exact and accepted > 0 and rejected > 0
        peaks.append(peak)
        print(f"{factor:5g} {sent:10,} {sent / seconds:10,.0f} {accepted:10,} {rejected:9,} {dropped:10,} {peak:9.1f}"
              f"{'' if exact else f'  {sent - accepted - rejected - dropped} ARE MISSING'}")
    flat = max(peaks) - peaks[0] <= MEMORY_MIB
    print(f"memory grows by {max(peaks) - peaks[0]:.1f} MiB, at most {MEMORY_MIB}{'' if flat else '  EXCEEDED'}")
    sys.exit(0 if good and flat else 1)


if __name__ == "__main__":
    main()
