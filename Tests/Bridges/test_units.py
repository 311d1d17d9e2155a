"""The systemd units start the bridges with arguments that these take."""

import configparser
import re
import shutil
import subprocess
import unittest

from bridge_testing import BRIDGES
import bleak_bridge
import serial_bridge

PARSERS = {"bleak_bridge.py": bleak_bridge.parse, "serial_bridge.py": serial_bridge.parse}


class UnitTests(unittest.TestCase):
    def units(self):
        found = sorted(BRIDGES.glob("*.service"))
        self.assertEqual(len(found), 2)
        for path in found:
            unit = configparser.ConfigParser(interpolation=None, strict=False)
            unit.optionxform = str
            unit.read(path)
            yield path, unit

    def test_arguments(self):
        for path, unit in self.units():
            # The second line of the unit says what its environment holds.
            name, value = re.match(r".*: (\w+)=(.*)", path.read_text().splitlines()[1]).groups()
            command = unit["Service"]["ExecStart"].replace(f"${name}", value.replace("…", "x")).split()
            script = next(word for word in command if word.endswith(".py")).rpartition("/")[2]
            options = PARSERS[script](command[2:])
            self.assertEqual(options.socket, "/run/kymo/devices.sock")

    def test_hardening(self):
        for _, unit in self.units():
            self.assertEqual(unit["Service"]["User"], "kymo")
            self.assertEqual((unit["Service"]["NoNewPrivileges"], unit["Service"]["ProtectSystem"]), ("yes", "strict"))
            self.assertEqual(unit["Service"]["Restart"], "always")

    @unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd-analyze")
    def test_what_systemd_says(self):
        for path, _ in self.units():
            done = subprocess.run(
                ["systemd-analyze", "verify", "--man=no", str(path)], capture_output=True, text=True, timeout=60)
            # What is not installed here is no fault of the unit.
            told = [line for line in done.stderr.splitlines()
                    if path.name in line and "is not executable" not in line and "Failed to create" not in line]
            self.assertEqual(told, [], done.stderr)


if __name__ == "__main__":
    unittest.main()
