"""measure.py KYMO SLACK [--short]: called by latency.sh.

Sender, pipeline and reader share the machine, and so does the rate that it bears: the highest at which everything comes
out and 99 of 100 readings take less than 20 ms."""
import os
import re
import socket
import subprocess
import sys

KYMO, SLACK = sys.argv[1], float(sys.argv[2])
SHORT = "--short" in sys.argv[3:]
DEVICES = 500
HIGHEST = 400_000
BEARABLE_US = 20_000


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(rate, seconds, devices=DEVICES, window=None):
    """What `kymo simulate --latency` prints of `rate` readings a second."""
    address = f"127.0.0.1:{free_port()}"
    windows = ["--window", window, "--lateness", "0s"] if window else []
    pipeline = subprocess.Popen(
        [KYMO, "run", "--ephemeral", "--udp", address, "--format", "ndjson", *windows], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env={**os.environ, "KYMO_OUTPUT_MAX_AGE": "0s"})
    try:
        return subprocess.run(
            [KYMO, "simulate", "--latency", "--udp", address, "--devices", str(devices), "--rate",
             str(rate / devices), "--duration", f"{seconds}s", *(windows[:2])],
            stdin=pipeline.stdout, capture_output=True, text=True, check=True, timeout=120).stdout
    except subprocess.CalledProcessError as error:
        sys.exit(f"latency: {error.stderr}")
    finally:
        pipeline.kill()
        pipeline.wait()


def figures(text, name):
    """p50, p90, p99, p99.9 and maximum in microseconds."""
    return [float(word) for word in re.search(rf"^{name} (.*)$", text, re.MULTILINE)[1].split()]


def bears(rate):
    text = run(rate, 1)
    counted = re.search(r"^(\d+) readings, one every \d+ ns; (\d+) came out", text)
    return counted[1] == counted[2] and figures(text, "latency")[2] < BEARABLE_US


def bearable_rate():
    low, high = 0.0, float(HIGHEST)
    while low == 0 or high / low > 1.2:
        middle = high / 2 if low == 0 else (low * high) ** 0.5
        if bears(middle):
            low = middle
        else:
            high = middle
        if high < 1_000:
            sys.exit("latency: not even 1,000 readings a second come out in time")
    return low


def check(name, value, most):
    print(f"{name:58} {value:9.1f} us, at most {most:g}{'' if value <= most else '  EXCEEDED'}")
    return value <= most


print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
rate = bearable_rate()
print(f"instance mode: {rate:,.0f} readings/s are borne; half of them:")
# The best of three: a time slice that another process gets is not what is measured here.
instance = None
for _ in range(3):
    text = run(rate / 2, 3 if SHORT else 10)
    print(text, end="")
    measured = figures(text, "latency")
    instance = min(instance or measured, measured, key=lambda figure: figure[2])
    if instance[0] <= 150 * SLACK and instance[2] <= 1_000 * SLACK:
        break
print("windows of 1 s, 1,000 devices with 10 readings/s each, which close one after the other:")
text = run(10_000, 3 if SHORT else 10, devices=1_000, window="1s")
print(text, end="")
windows = figures(text, "latency")
good = [check("datagram to standard output at half load, p50", instance[0], 150 * SLACK),
        check("datagram to standard output at half load, p99", instance[2], 1_000 * SLACK),
        check("closing reading to standard output, p99", windows[2], 5_000 * SLACK)]
sys.exit(0 if all(good) else 1)
