"""kymo and RabbitMQ with its MQTT plugin (Debian's rabbitmq-server): what is published at QoS 1 arrives once, whichever
side is killed.

KYMO_BINARY: the binary. KYMO_KILLS: how often each side is killed (10). All listens on 127.0.0.1 alone."""
import glob
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

KYMO = os.path.abspath(os.environ.get("KYMO_BINARY", ".build/release/kymo"))
KILLS = int(os.environ.get("KYMO_KILLS", "10"))
SERVER = sorted(glob.glob("/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server"))
SECONDS = 90


def free_ports(count):
    """Ports that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def until(what, condition, seconds=SECONDS):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {what() if callable(what) else what}")
        time.sleep(0.05)


def reading(number, device="watch-1"):
    minute, second = divmod(number, 60)
    hour, minute = divmod(minute, 60)
    return (f'{{"deviceId":"{device}","type":"heartRate","timestamp":"2026-03-01T{8 + hour:02d}:{minute:02d}:{second:02d}Z",'
            f'"value":{60 + number % 40},"unit":"/min"}}')


class Broker:
    """A node of RabbitMQ with a folder of its own, which its messages outlive it in."""

    def __init__(self, folder):
        self.port, names, node, distribution = free_ports(4)
        self.folder = folder
        for name in ("mnesia", "log"):
            os.makedirs(f"{folder}/{name}")
        with open(f"{folder}/rabbitmq.conf", "w") as file:
            file.write(
                f"listeners.tcp = none\nmqtt.listeners.tcp.1 = 127.0.0.1:{self.port}\nmqtt.allow_anonymous = true\n"
                "mqtt.subscription_ttl = 604800000\nmqtt.prefetch = 2000\n")
        with open(f"{folder}/enabled_plugins", "w") as file:
            file.write("[rabbitmq_mqtt].\n")
        self.environment = os.environ | {
            "HOME": folder, "ERL_EPMD_ADDRESS": "127.0.0.1", "ERL_EPMD_PORT": str(names),
            "RABBITMQ_NODENAME": f"kymo{self.port}@localhost", "RABBITMQ_CONFIG_FILE": f"{folder}/rabbitmq.conf",
            "RABBITMQ_MNESIA_BASE": f"{folder}/mnesia", "RABBITMQ_LOG_BASE": f"{folder}/log",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/enabled_plugins", "RABBITMQ_PID_FILE": f"{folder}/pid",
            "RABBITMQ_NODE_PORT": str(node), "RABBITMQ_DIST_PORT": str(distribution),
            "RABBITMQ_SERVER_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        }
        self.start()

    def start(self):
        # A group of its own, whose processes are ended together by its id.
        self.process = subprocess.Popen(
            [SERVER[-1]], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        until("RabbitMQ", self.listens)

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        except OSError:
            return False

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        until("the end of RabbitMQ", lambda: not self.listens())

    def close(self):
        """Ends it for good, and the service by which its nodes find each other, which outlives them."""
        self.kill()
        epmd = glob.glob("/usr/lib/erlang/erts-*/bin/epmd")[-1]
        until("the end of epmd", lambda: subprocess.run(
            [epmd, "-port", self.environment["ERL_EPMD_PORT"], "-kill"], env=self.environment,
            capture_output=True).returncode == 0)

    def publish(self, lines):
        """Publishes `lines`, each until it is acknowledged."""
        done = subprocess.run(
            ["mosquitto_pub", "-V", "mqttv311", "-h", "127.0.0.1", "-p", str(self.port), "-t", "ward/1", "-q", "1", "-l"],
            input="".join(line + "\n" for line in lines), text=True, capture_output=True, timeout=SECONDS)
        if done.returncode:
            raise AssertionError(done.stderr)


@unittest.skipUnless(SERVER and shutil.which("mosquitto_pub"), "needs the packages rabbitmq-server and mosquitto-clients")
class RabbitMQTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.broker = Broker(f"{self.folder}/broker")
        self.addCleanup(self.broker.close)
        with open(f"{self.folder}/kymo.yaml", "w") as file:
            file.write(
                f"sources:\n  - mqtt: mqtt://127.0.0.1:{self.broker.port}\n    topics: ward/+\n    mqttVersion: 3.1.1\n"
                f"    clientId: kymo\n    name: rabbit\ndata: {self.folder}/data\n")
        self.run_kymo()
        self.addCleanup(lambda: self.process.poll() is None and (self.process.kill(), self.process.wait()))

    def run_kymo(self):
        with open(f"{self.folder}/log", "a+") as log:
            self.process = subprocess.Popen(
                [KYMO, "run", "--config", f"{self.folder}/kymo.yaml", "--out", f"{self.folder}/out"], stderr=log)
            before = self.said(": connected")
        until(lambda: self.text, lambda: self.said(": connected") > before)

    @property
    def text(self):
        with open(f"{self.folder}/log") as file:
            return file.read()

    def said(self, words):
        return self.text.count(words)

    def ends_with(self, count):
        """Waits until all has come that was published, ends kymo, and looks for each of `count` readings, once."""
        # It comes last, and no mapping reads it.
        self.broker.publish(['{"the":"end"}'])
        until(lambda: f"the last message: {self.text[-2_000:]}", lambda: "noTemplate" in self.asked("dead", "list"))
        self.process.terminate()
        self.assertEqual(self.process.wait(SECONDS), 0, self.text)
        self.assertEqual(len(self.asked("query", "--readings").splitlines()), count)

    def asked(self, *command):
        """What kymo says of its data."""
        return subprocess.run(
            [KYMO, *command, "--data", f"{self.folder}/data"], capture_output=True, text=True, check=True).stdout

    def test_every_reading_arrives(self):
        self.broker.publish([reading(number) for number in range(3_000)])
        self.ends_with(3_000)

    def test_either_side_is_killed(self):
        chosen, count = random.Random(20261127), 0
        for number in range(2 * KILLS):
            lines = [reading(count + index) for index in range(60)]
            publisher = subprocess.Popen(
                ["mosquitto_pub", "-V", "mqttv311", "-h", "127.0.0.1", "-p", str(self.broker.port), "-t", "ward/1", "-q", "1",
                 "-l"], stdin=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL)
            publisher.stdin.write("".join(line + "\n" for line in lines))
            publisher.stdin.flush()
            time.sleep(chosen.random() * 0.2)
            if number % 2:
                self.broker.kill()
                publisher.kill()
                self.broker.start()
            else:
                self.process.kill()
                self.process.wait()
            publisher.stdin.close()
            publisher.wait(SECONDS)
            # What was not acknowledged is sent again.
            self.broker.publish(lines)
            count += len(lines)
            if not number % 2:
                self.run_kymo()
        self.ends_with(count)


if __name__ == "__main__":
    unittest.main()
