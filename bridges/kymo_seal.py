#!/usr/bin/env python3
"""Sealed datagrams for kymo: see docs/sealed-datagrams.md. Needs nothing but Python 3.9 and the system's libcrypto.

    K1 | key id 4 | sequence 8 | payload, encrypted by AES-128-GCM | tag 16

As a program, it sends each line of standard input as a sealed datagram:

    kymo_seal.py --new --key pump-3.key --sequence pump-3.sequence 192.0.2.1 5686

with `--new` the first time that a key is used, and never again.

A sequence number must never be used twice with one key, also not after a restart: whoever sees two datagrams of one number
can read both, and forge others. `Sequence` keeps it.
"""

import argparse
import ctypes
import ctypes.util
import errno
import fcntl
import os
import re
import socket
import stat
import sys
import threading

#: What is added to a payload.
EXTRA_BYTES = 30
#: Longest payload: a UDP datagram over IPv4 has at most 65,507 bytes.
PAYLOAD_BYTES = 65_507 - EXTRA_BYTES
#: No sequence number is this high, or higher.
SEQUENCES = 1 << 64
#: Numbers that are reserved in the file at a time.
STEP = 256
_GET_TAG = 0x10


def _crypto():
    library = ctypes.CDLL(ctypes.util.find_library("crypto") or "libcrypto.so.3", use_errno=True)
    pointer, integer, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
    for name, result, arguments in [
            ("EVP_CIPHER_CTX_new", pointer, []),
            ("EVP_CIPHER_CTX_free", None, [pointer]),
            ("EVP_aes_128_gcm", pointer, []),
            ("EVP_EncryptInit_ex", integer, [pointer, pointer, pointer, text, text]),
            ("EVP_EncryptUpdate", integer, [pointer, pointer, ctypes.POINTER(integer), text, integer]),
            ("EVP_EncryptFinal_ex", integer, [pointer, pointer, ctypes.POINTER(integer)]),
            ("EVP_CIPHER_CTX_ctrl", integer, [pointer, integer, integer, pointer])]:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_LIBRARY = _crypto()


def seal(key_id, key, sequence, payload):
    """The datagram of a payload, bytes, by a key of 16 bytes and its id, a number; both numbers are big-endian in it."""
    if not 0 <= key_id < 1 << 32:
        raise ValueError("a key id has 32 bits")
    if len(key) != 16:
        raise ValueError("a key has 16 bytes")
    if not 0 <= sequence < SEQUENCES:
        raise ValueError("a sequence number has 64 bits: the key is used up")
    if len(payload) > PAYLOAD_BYTES:
        raise ValueError(f"a payload has at most {PAYLOAD_BYTES} bytes")
    nonce = key_id.to_bytes(4, "big") + sequence.to_bytes(8, "big")
    head = b"K1" + nonce
    return head + _encrypt(bytes(key), nonce, head, bytes(payload))


def _encrypt(key, nonce, extra, payload):
    context = _LIBRARY.EVP_CIPHER_CTX_new()
    if not context:
        raise MemoryError("libcrypto has no memory")
    try:
        size, sealed, tag = ctypes.c_int(), ctypes.create_string_buffer(len(payload) + 16), ctypes.create_string_buffer(16)

        def check(done):
            if done != 1:
                raise OSError("libcrypto cannot encrypt by AES-128-GCM")

        check(_LIBRARY.EVP_EncryptInit_ex(context, _LIBRARY.EVP_aes_128_gcm(), None, key, nonce))
        check(_LIBRARY.EVP_EncryptUpdate(context, None, size, extra, len(extra)))
        if payload:
            check(_LIBRARY.EVP_EncryptUpdate(context, sealed, size, payload, len(payload)))
        check(_LIBRARY.EVP_EncryptFinal_ex(context, tag, size))
        check(_LIBRARY.EVP_CIPHER_CTX_ctrl(context, _GET_TAG, 16, tag))
        return sealed.raw[:len(payload)] + tag.raw
    finally:
        _LIBRARY.EVP_CIPHER_CTX_free(context)


def _write_bound(file, bound, size):
    """Writes a bound in one piece. Of a new file, for which `size` is 0, what was written in part is cut off. Over a lower
    bound that is there, it is none that is lower still: nothing comes again."""
    if os.pwrite(file, b"%020d\n" % bound, 0) != 21:
        os.ftruncate(file, size)
        raise OSError(errno.EIO, "the sequence file was written in part")
    os.fsync(file)


def _sync_folder(path):
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class Sequence:
    """The sequence numbers of one key, in a file that no other process can use at the same time. For any thread of the
    process that has opened it, and for no process that it forks.

    They are reserved there STEP at a time, before they are used: a start goes on behind those that were reserved, and kymo
    takes numbers that leave some out.
    """

    @classmethod
    def create(cls, path, step=STEP):
        """Makes the file, once for each key. Never in the place of one that was lost: its numbers would come again."""
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            raise FileExistsError(
                errno.EEXIST, "there is a sequence file already: leave --new out, or name another file for a new key",
                path) from None
        try:
            _write_bound(file, 0, 0)
            _sync_folder(path)
        except BaseException:
            # It has given no number.
            os.unlink(path)
            raise
        finally:
            os.close(file)
        return cls(path, step)

    def __init__(self, path, step=STEP):
        if step < 1:
            raise ValueError("a step is 1 or more")
        self.path, self._step = path, step
        self._lock, self._process = threading.Lock(), os.getpid()
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            raise FileNotFoundError(
                errno.ENOENT, "there is no sequence file: make one with --new (Sequence.create) for a key that was never "
                "used, and give the device a new key if its file was lost", path) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            text = os.pread(self._file, 32, 0)
            if not text:
                raise ValueError(f"{path} is empty, and its sequence numbers are lost: give the device a new key, remove the "
                                 "file and make one with --new")
            self._next = self._bound = int(text) if re.fullmatch(rb"[0-9]{20}\n", text) else SEQUENCES
            if self._bound >= SEQUENCES:
                raise ValueError(f"{path} does not hold a sequence number: give the device a new key, and make a new file "
                                 "with --new")
            _sync_folder(path)
        except BaseException:
            os.close(self._file)
            raise

    def next(self):
        """The next number: to be used for one datagram alone."""
        if os.getpid() != self._process:
            raise RuntimeError(f"{self.path} is of the process that has forked this one: use another file and another key")
        with self._lock:
            if self._next == self._bound:
                bound = min(self._bound + self._step, SEQUENCES - 1)
                if bound == self._bound:
                    raise ValueError(f"{self.path} has reached the last sequence number: the key is used up")
                _write_bound(self._file, bound, 21)
                self._bound = bound
            self._next += 1
            return self._next - 1

    def close(self):
        os.close(self._file)


def read_key(path):
    """The key of a file with a line `key id:key`, and perhaps `:name`, which nobody else may read: its id and its bytes."""
    with open(path, encoding="utf-8") as file:
        if os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ValueError(f"{path} can be read or changed by others; run 'chmod 600' on it")
        lines = [line.rstrip("\r\n") for line in file if line.strip() and not line.startswith("#")]
    match = re.fullmatch(r"([0-9A-Fa-f]{8}):([0-9A-Fa-f]{32})(:.*)?", lines[0]) if len(lines) == 1 else None
    if not match:
        raise ValueError(f"{path} does not hold one line 'key id:key' or 'key id:key:name'")
    return int(match[1], 16), bytes.fromhex(match[2])


class SendError(OSError):
    """A datagram that was not sent."""


class SealedSocket:
    """Sends payloads to one address, each sealed by one key."""

    def __init__(self, host, port, key_path, sequence_path, step=STEP, new=False):
        self._key_id, self._key = read_key(key_path)
        self._sequence = Sequence.create(sequence_path, step) if new else Sequence(sequence_path, step)
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        self._socket = socket.socket(family, kind, protocol)
        self._socket.connect(address)

    def send(self, payload):
        """Sends a payload. SendError when the system does not take it; any other error is none of the network."""
        try:
            self._send(payload)
        except SendError as failure:
            if failure.errno != errno.ECONNREFUSED:
                raise
            # That was the answer to a datagram before this one, and this one has not left. Its number is used all the same.
            self._send(payload)

    def _send(self, payload):
        datagram = seal(self._key_id, self._key, self._sequence.next(), payload)
        try:
            self._socket.send(datagram)
        except OSError as error:
            raise SendError(*error.args) from error

    def close(self):
        self._socket.close()
        self._sequence.close()


def parse(arguments):
    parser = argparse.ArgumentParser(description="Sends each line of standard input to kymo as a sealed datagram.")
    parser.add_argument("--key", required=True, metavar="FILE", help="a line 'key id:key', which nobody else may read")
    parser.add_argument("--sequence", required=True, metavar="FILE", help="where the sequence number is kept")
    parser.add_argument("--new", action="store_true", help="make the file of the sequence number: only for a key that is new")
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    return parser.parse_args(arguments)


def send_lines(sender, lines):
    """Sends each line; whether all were sent. One that cannot be is told, and the next one is tried."""
    are_sent = True
    for number, line in enumerate(lines, 1):
        payload = line.rstrip(b"\r\n")
        if not payload.strip():
            continue
        if len(payload) > PAYLOAD_BYTES:
            error = f"it has {len(payload)} bytes, and a payload has at most {PAYLOAD_BYTES}"
        else:
            try:
                sender.send(payload)
                continue
            except SendError as failure:
                error = failure
        print(f"kymo_seal: line {number} is not sent: {error}", file=sys.stderr, flush=True)
        are_sent = False
    return are_sent


def main():
    options = parse(sys.argv[1:])
    try:
        sender = SealedSocket(options.host, options.port, options.key, options.sequence, new=options.new)
        are_sent = send_lines(sender, sys.stdin.buffer)
        sender.close()
    except BlockingIOError:
        sys.exit(f"kymo_seal: another process uses {options.sequence}")
    except (OSError, ValueError) as error:
        sys.exit(f"kymo_seal: {error}")
    sys.exit(0 if are_sent else 1)


if __name__ == "__main__":
    main()
