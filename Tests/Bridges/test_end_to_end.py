"""From a device to Observations of the real binary, which KYMO_BINARY names."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from bridge_testing import BRIDGES, wait_until
import bleak
import kymo_socket
import test_bleak_bridge
import uart_stream

KYMO = os.environ.get("KYMO_BINARY")


@unittest.skipUnless(KYMO, "KYMO_BINARY names no kymo")
class EndToEndTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.socket = os.path.join(self.folder, "kymo.sock")
        self.enterContext(contextlib.redirect_stderr(io.StringIO()))
        self.enterContext(mock.patch.object(kymo_socket, "FIRST_PAUSE", 0.01))

    def kymo(self, *mappings):
        """Starts kymo, which writes one Observation a line at its end; without names for a strap and its battery."""
        names = [f"--mapping={name}" for name in mappings or ["heart-rate-strap", "bluetooth-battery"]]
        process = subprocess.Popen(
            [os.path.abspath(KYMO), "run", "--unix", self.socket, *names,
             "--data", os.path.join(self.folder, "data"), "--idle", "0s"],
            env={"PATH": os.environ["PATH"], "KYMO_OUTPUT_FORMAT": "ndjson"},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def end(self, process):
        """Ends kymo; its Observations by code, as the last of each identity, and what it says."""
        process.send_signal(signal.SIGTERM)
        output, told = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, told)
        found = {}
        for line in output.splitlines():
            resource = json.loads(line)
            if resource["resourceType"] == "Observation":
                found.setdefault(resource["code"]["coding"][0]["code"], {})[resource["id"]] = resource
        return {code: list(each.values()) for code, each in found.items()}, told

    def status(self):
        """What kymo says of itself."""
        command = [KYMO, "status", "--data", os.path.join(self.folder, "data")]
        return subprocess.run(command, capture_output=True, text=True).stdout

    def readings(self, observations):
        """How many heart rates the windows hold."""
        # A window of one reading states no count.
        parts = [part for each in observations["8867-4"] for part in each.get("component", [{"valueInteger": 1}])]
        return sum(part.get("valueInteger", 0) for part in parts)

    def test_a_strap_through_restarts_of_kymo(self):
        strap = bleak.FakeDevice([bleak.Characteristic("2A37", "notify"), bleak.Characteristic("2A19", "notify")])
        bleak.DEVICES[test_bleak_bridge.STRAP] = strap
        sink = kymo_socket.KymoSocket(self.socket)
        sink.start()
        self.addCleanup(sink.finish, 0)
        case = test_bleak_bridge.BleakBridgeTests()
        case.sink = sink
        case.bridge(f"{test_bleak_bridge.STRAP}=strap-1")
        self.addCleanup(case.doCleanups)
        self.assertTrue(strap.ready.wait(20))

        def notify(rates):
            for rate in rates:
                strap.notify("2A37", bytes([0x16, rate, 0x11, 0x04]))

        notify(range(60, 70))
        wait_until(lambda: len(sink) == 10)
        process = self.kymo()
        wait_until(lambda: len(sink) == 0)
        process.kill()
        process.communicate()
        notify(range(70, 80))
        strap.notify("2A19", b"\x50")
        wait_until(lambda: len(sink) == 11)
        process = self.kymo()
        wait_until(lambda: len(sink) == 0)
        observations, told = self.end(process)
        self.assertEqual(self.readings(observations), 20, told)
        self.assertIn("strap-1", json.dumps(observations["8867-4"]))
        self.assertEqual(observations["67996"][0]["valueQuantity"]["value"], 80)
        self.assertIn("147240", observations)

    def board(self, uart):
        """A board with a UART service, whose bridge writes to the socket; what it sends comes in pieces of 20 bytes."""
        board = bleak.FakeDevice([bleak.Characteristic(uart_stream.TRANSMIT, "notify")])
        bleak.DEVICES[test_bleak_bridge.STRAP] = board
        case = test_bleak_bridge.BleakBridgeTests()
        case.sink = kymo_socket.KymoSocket(self.socket)
        case.sink.start()
        self.addCleanup(case.sink.finish, 0)
        case.bridge(f"{test_bleak_bridge.STRAP}=board-1", arguments=["--uart", uart])
        self.addCleanup(case.doCleanups)
        self.assertTrue(board.ready.wait(20))

        def send(stream):
            for start in range(0, len(stream), 20):
                board.notify(uart_stream.TRANSMIT, stream[start:start + 20])

        return send

    def test_lines_of_a_board(self):
        process = self.kymo("reading")
        send = self.board("json")
        for rate in range(60, 70):
            send(b'{"deviceId":"board-1","type":"heartRate","timestamp":"2026-03-01T08:00:%dZ",' % (rate - 50)
                 + b'"value":%d,"unit":"/min"}\r\n' % rate)
        send(b"noise of 30 bytes, and no object\n")
        wait_until(lambda: "received 11 =" in self.status())
        observations, told = self.end(process)
        self.assertEqual(self.readings(observations), 10, told)
        self.assertIn("rejected 1", told)

    def test_packets_of_a_board(self):
        process = self.kymo("binary-patch")
        send = self.board("cobs")
        # 36.70 degrees and 16 breaths, as the catalogue's example; then a code that leads past the end.
        send(b"\x09\xa5\x5a\x01\x0e\x56\x10\x8e\x02\0")
        send(b"\x05\xa5\0")
        wait_until(lambda: "received 3 =" in self.status())
        observations, told = self.end(process)
        self.assertIn("invalidBridgeFrame 1", told)
        self.assertEqual(observations["8310-5"][0]["valueQuantity"]["value"], 36.70)
        self.assertEqual(observations["9279-1"][0]["device"]["identifier"]["value"], "board-1")

    def test_frames_that_come_twice_change_nothing(self):
        process = self.kymo()
        for _ in range(2):
            sink = kymo_socket.KymoSocket(self.socket)
            sink.start()
            for second in range(10):
                sink.put({"device": "strap-1", "characteristic": "2A37", "time": f"2026-03-01T08:00:0{second}+01:00",
                          "sequence": second, "value": f"00{60 + second:x}"})
            self.assertEqual(sink.finish(20), 0)
        observations, told = self.end(process)
        self.assertEqual(self.readings(observations), 10, told)
        self.assertIn("accepted 10 + duplicate 10", told)

    def test_the_example_of_the_guide(self):
        guide = (BRIDGES.parent / "docs" / "bluetooth.md").read_text().split("### Without a strap")[1].split("## ")[0]
        script = "\n".join(line[4:] for line in guide.splitlines() if line.startswith("    "))
        self.assertIn("kymo run", script)
        os.symlink(os.path.abspath(KYMO), os.path.join(self.folder, "kymo"))
        done = subprocess.run(
            ["bash", "-c", script], env={"PATH": f"{self.folder}:{os.environ['PATH']}", "XDG_STATE_HOME": self.folder},
            capture_output=True, text=True, timeout=60)
        bundle = json.loads(done.stdout.splitlines()[0])
        found = [entry["resource"] for entry in bundle["entry"]]
        rates = [each["valueQuantity"]["value"] for each in found if each.get("code", {}).get("text") == "Heart rate"]
        self.assertEqual(rates, [60], done.stderr)

    def test_the_serial_bridge_as_a_command(self):
        device, line = os.openpty()
        process = self.kymo()
        bridge = subprocess.Popen(
            [sys.executable, "-B", str(BRIDGES / "serial_bridge.py"), "--socket", self.socket, "--line",
             os.ttyname(line), "--device", "strap-1", "--characteristic", "2A37"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(bridge.kill)
        told = bridge.stderr.readline()
        while ": open" not in told:
            told = bridge.stderr.readline()
        os.write(device, b"\r\n003c\r\n00 3d\r\nnoise\r\n")
        wait_until(lambda: "received 3 =" in self.status())
        bridge.send_signal(signal.SIGTERM)
        _, told = bridge.communicate(timeout=20)
        self.assertEqual(bridge.returncode, 0, told)
        observations, told = self.end(process)
        # Lines that come in one read have times of their own.
        self.assertEqual(self.readings(observations), 2, told)
        self.assertIn("invalidBridgeFrame 1", told)
        os.close(device)
        os.close(line)


if __name__ == "__main__":
    unittest.main()
