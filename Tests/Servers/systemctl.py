#!/usr/bin/env python3
"""Stands for systemctl in tests: runs the commands of one unit as systemd would, without its sandbox.

    systemctl.py UNIT_FILE STATE_FOLDER start|stop|restart|reload|is-active|enable NAME

A start waits for READY=1 and leaves the process running; its id is in STATE_FOLDER/pid, its messages are in
STATE_FOLDER/journal. A failed ExecReload ends a reload, as in systemd.
"""

import os
import pathlib
import shlex
import signal
import socket
import subprocess
import sys
import time

LONGEST = 60


def commands(unit, key):
    """The values of a key, in their order."""
    lines = pathlib.Path(unit).read_text(encoding="utf-8").splitlines()
    return [line.split("=", 1)[1] for line in lines if line.startswith(f"{key}=")]


class Service:
    def __init__(self, unit, state):
        self._unit, self._state = unit, pathlib.Path(state)
        self._state.mkdir(exist_ok=True)
        self._pid_file = self._state / "pid"

    @property
    def pid(self):
        """The main process, 0 when none runs."""
        try:
            pid = int(self._pid_file.read_text())
            os.kill(pid, 0)
        except (OSError, ValueError):
            return 0
        return pid

    def start(self):
        if self.pid:
            return 0
        path = self._state / "notify"
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notices:
            notices.bind(str(path))
            notices.settimeout(0.2)
            with open(self._state / "journal", "ab") as journal:
                process = subprocess.Popen(
                    shlex.split(commands(self._unit, "ExecStart")[0]), env=os.environ | {"NOTIFY_SOCKET": str(path)},
                    stdin=subprocess.DEVNULL, stdout=journal, stderr=journal)
            self._pid_file.write_text(str(process.pid))
            return 0 if self._is_ready(process, notices) else 1

    @staticmethod
    def _is_ready(process, notices):
        end = time.monotonic() + LONGEST
        while process.poll() is None and time.monotonic() < end:
            try:
                if b"READY=1" in notices.recv(4096).split(b"\n"):
                    return True
            except TimeoutError:
                pass
        return False

    def stop(self):
        if pid := self.pid:
            os.kill(pid, signal.SIGTERM)
            end = time.monotonic() + LONGEST
            while self.pid and time.monotonic() < end:
                time.sleep(0.01)
        return 1 if self.pid else 0

    def restart(self):
        return self.stop() or self.start()

    def reload(self):
        for command in commands(self._unit, "ExecReload"):
            words = shlex.split(command.replace("$MAINPID", str(self.pid)))
            with open(self._state / "journal", "ab") as journal:
                done = subprocess.run(
                    words, stdin=subprocess.DEVNULL, stdout=journal, stderr=journal, check=False)
            if done.returncode:
                print('Job for kymo.service failed.\nSee "systemctl status kymo.service" for details.', file=sys.stderr)
                return 1
        return 0

    def is_active(self):
        print("active" if self.pid else "inactive")
        return 0 if self.pid else 3

    def enable(self):
        return 0


if __name__ == "__main__":
    service = Service(*sys.argv[1:3])
    sys.exit(getattr(service, sys.argv[3].replace("-", "_"))())
