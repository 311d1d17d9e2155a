"""What the tests of the bridges share: the folders of bridges and fakes, a kymo of Python, and waiting."""

import json
import os
import pathlib
import socket
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
BRIDGES = HERE.parent.parent / "bridges"
sys.path[:0] = [str(BRIDGES), str(HERE / "fakes")]


def wait_until(condition, seconds=20):
    """Waits until `condition` holds; a test that waits in vain fails."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            told = getattr(sys.stderr, "getvalue", str)()
            raise AssertionError(f"what was waited for did not happen; standard error has: {told}")
        time.sleep(0.005)


class FakeKymo:
    """The other side of the socket, as docs/durability.md says; it may take lines without acknowledging them."""

    def __init__(self, path, acknowledges=True, answer=None):
        self.lines, self.requests = [], 0
        self._acknowledges, self._answer = acknowledges, answer
        if os.path.exists(path):
            os.unlink(path)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._connection = None
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                self._connection, _ = self._listener.accept()
                self._converse(self._connection)
            except OSError:
                return

    def _converse(self, connection):
        count, acknowledged = 0, False
        with connection, connection.makefile() as lines:
            for line in lines:
                if line == '{"kymo":"ack"}\n':
                    acknowledged = True
                    self.requests += 1
                    if self._answer:
                        connection.sendall(self._answer)
                        return
                    continue
                count += 1
                self.lines.append(json.loads(line))
                if acknowledged and self._acknowledges:
                    connection.sendall(b'{"ack":%d}\n' % count)

    def close(self):
        """Goes away, as a process that is killed."""
        for each in [self._listener, self._connection]:
            if each:
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                each.close()
