"""The encoders of sealed datagrams in Python and C give the same bytes, those of AES-GCM by its definition, and keep their
sequence numbers over restarts."""

import errno
import io
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

from bridge_testing import BRIDGES
import kymo_seal

KEY = bytes(range(16))
KEY_ID, SEQUENCE = 0x1A2B3C4D, 0x0102030405060708
#: Computed by AESGCM of the package cryptography 50.0.2.
VECTORS = {
    b'{"device":"pump-3-1","pulse":61}':
        "4b311a2b3c4d01020304050607087c310335450b6133b2ed9ef59beb15e8c2929c7a6660a94dd263bc12a1017577987c9bafb27b9382372bdf4acbe08066",
    b"": "4b311a2b3c4d0102030405060708183d51181ffb19682445df68a0f23a03",
}


class ReferenceGCM:
    """AES-128-GCM by FIPS 197 and NIST SP 800-38D, with nonces of 12 bytes: slow, and independent of OpenSSL."""

    def __init__(self, key):
        self._sbox = self._make_sbox()
        self._round_keys = self._expand(key)
        self._hash_key = int.from_bytes(self._block(bytes(16)), "big")

    @staticmethod
    def _times(one, other):
        product = 0
        while other:
            if other & 1:
                product ^= one
            one = one << 1 ^ (0x11B if one & 0x80 else 0)
            other >>= 1
        return product

    def _make_sbox(self):
        inverses = [0] + [next(y for y in range(256) if self._times(x, y) == 1) for x in range(1, 256)]

        def rotated(byte, count):
            return (byte << count | byte >> (8 - count)) & 0xFF
        return [b ^ rotated(b, 1) ^ rotated(b, 2) ^ rotated(b, 3) ^ rotated(b, 4) ^ 0x63 for b in inverses]

    def _expand(self, key):
        words, constant = [key[place:place + 4] for place in range(0, 16, 4)], 1
        for number in range(4, 44):
            word = words[-1]
            if number % 4 == 0:
                word = bytes(self._sbox[byte] for byte in word[1:] + word[:1])
                word = bytes([word[0] ^ constant]) + word[1:]
                constant = self._times(constant, 2)
            words.append(bytes(a ^ b for a, b in zip(words[-4], word)))
        return [b"".join(words[place:place + 4]) for place in range(0, 44, 4)]

    def _block(self, block):
        state = bytes(a ^ b for a, b in zip(block, self._round_keys[0]))
        for number in range(1, 11):
            state = [self._sbox[byte] for byte in state]
            state = [state[(place + 4 * (place % 4)) % 16] for place in range(16)]
            if number < 10:
                mixed = []
                for column in range(0, 16, 4):
                    c = state[column:column + 4]
                    mixed += [self._times(c[i], 2) ^ self._times(c[(i + 1) % 4], 3) ^ c[(i + 2) % 4] ^ c[(i + 3) % 4]
                              for i in range(4)]
                state = mixed
            state = bytes(a ^ b for a, b in zip(state, self._round_keys[number]))
        return bytes(state)

    def _multiply(self, one, other):
        product = 0
        for bit in range(127, -1, -1):
            if other >> bit & 1:
                product ^= one
            one = one >> 1 ^ (0xE1 << 120 if one & 1 else 0)
        return product

    def _hash(self, extra, text):
        def padded(data):
            return data + bytes(-len(data) % 16)
        data = padded(extra) + padded(text) + (8 * len(extra)).to_bytes(8, "big") + (8 * len(text)).to_bytes(8, "big")
        digest = 0
        for place in range(0, len(data), 16):
            digest = self._multiply(digest ^ int.from_bytes(data[place:place + 16], "big"), self._hash_key)
        return digest.to_bytes(16, "big")

    def encrypt(self, nonce, text, extra):
        stream = b"".join(
            self._block(nonce + counter.to_bytes(4, "big")) for counter in range(2, 2 + (len(text) + 15) // 16))
        sealed = bytes(a ^ b for a, b in zip(text, stream))
        mask = self._block(nonce + (1).to_bytes(4, "big"))
        return sealed + bytes(a ^ b for a, b in zip(self._hash(extra, sealed), mask))


def datagram(key_id, key, sequence, payload):
    """A sealed datagram by the reference."""
    nonce = key_id.to_bytes(4, "big") + sequence.to_bytes(8, "big")
    return b"K1" + nonce + ReferenceGCM(key).encrypt(nonce, payload, b"K1" + nonce)


PROGRAM = r"""
#define _DEFAULT_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kymo_seal.h"

/* seal ID SEQUENCE: the key and the payload from standard input, the datagram to standard output.
   numbers FILE STEP COUNT: COUNT numbers of the file, one in a line.
   create FILE: makes it. full FILE: makes it where nothing can be written beyond 10 bytes.
   fork FILE: numbers of the file for a child, and for itself. */
static int other(char **texts) {
    struct kymo_sequence sequence;
    struct rlimit limit = {10, 10};
    uint64_t number;
    int code, status = 0;
    if (!strcmp(texts[1], "fork")) {
        code = kymo_sequence_open(&sequence, texts[2], 8);
        pid_t child = code ? 0 : fork();
        if (!code && child == 0) _exit(kymo_sequence_next(&sequence, &number) == -EPERM ? 0 : 1);
        if (!code) code = waitpid(child, &status, 0) == child && status == 0 ? kymo_sequence_next(&sequence, &number) : -EDOM;
    } else {
        signal(SIGXFSZ, SIG_IGN);
        if (!strcmp(texts[1], "full")) setrlimit(RLIMIT_FSIZE, &limit);
        code = kymo_sequence_create(texts[2]);
    }
    if (code) fprintf(stderr, "%s\n", strerror(-code));
    return code ? 1 : 0;
}

int main(int count, char **texts) {
    static uint8_t in[70000], out[70000];
    if (count == 4 && !strcmp(texts[1], "place")) {
        size_t size = fread(in, 1, sizeof in, stdin);
        memcpy(out + 14, in + 16, size - 16);
        int length = kymo_seal_datagram((uint32_t)strtoul(texts[2], 0, 10), in, strtoull(texts[3], 0, 10), out + 14,
                                        size - 16, out, sizeof out);
        return length < 0 || fwrite(out, 1, (size_t)length, stdout) != (size_t)length;
    }
    if (count == 4 && !strcmp(texts[1], "seal")) {
        size_t size = fread(in, 1, sizeof in, stdin);
        int length = kymo_seal_datagram((uint32_t)strtoul(texts[2], 0, 10), in, strtoull(texts[3], 0, 10), in + 16,
                                        size - 16, out, sizeof out);
        if (length < 0) return 1;
        fwrite(out, 1, (size_t)length, stdout);
        return kymo_seal_datagram(1, in, 1, in, 1, out, 30) == -1 ? 0 : 2;
    }
    if (count == 3) return other(texts);
    struct kymo_sequence sequence;
    int code = kymo_sequence_open(&sequence, texts[2], strtoull(texts[3], 0, 10));
    for (int left = atoi(texts[4]); !code && left > 0; left--) {
        uint64_t number;
        code = kymo_sequence_next(&sequence, &number);
        if (!code) printf("%" PRIu64 "\n", number);
    }
    if (code) fprintf(stderr, "%s\n", strerror(-code));
    return code ? 1 : 0;
}
"""


class EncoderTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        (cls.path / "program.c").write_text(PROGRAM)
        subprocess.run(
            ["cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", f"-I{BRIDGES}", "-o",
             cls.path / "program", cls.path / "program.c", BRIDGES / "kymo_seal.c", "-lcrypto"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def by_c(self, key_id, key, sequence, payload):
        return subprocess.run([self.path / "program", "seal", str(key_id), str(sequence)], input=key + payload,
                              capture_output=True, check=True).stdout

    def numbers(self, name, step, count):
        done = subprocess.run([self.path / "program", "numbers", self.path / name, str(step), str(count)],
                              capture_output=True, text=True, check=False)
        return [int(line) for line in done.stdout.split()], done.stderr.strip()

    def other(self, command, name):
        """What the program says."""
        done = subprocess.run([self.path / "program", command, self.path / name], capture_output=True, text=True, check=False)
        return done.stderr.strip()

    def test_reference(self):
        # Test case 4 of "The Galois/Counter Mode of Operation (GCM)", McGrew and Viega.
        reference = ReferenceGCM(bytes.fromhex("feffe9928665731c6d6a8f9467308308"))
        sealed = reference.encrypt(
            bytes.fromhex("cafebabefacedbaddecaf888"),
            bytes.fromhex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
                          "b16aedf5aa0de657ba637b39"),
            bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2"))
        self.assertEqual(
            sealed.hex(),
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac97"
            "3d58e0915bc94fbc3221a5db94fae95ae7121a47")

    def test_vectors(self):
        for payload, text in VECTORS.items():
            for encode in (datagram, kymo_seal.seal, self.by_c):
                self.assertEqual(encode(KEY_ID, KEY, SEQUENCE, payload).hex(), text, encode)

    def test_random_payloads(self):
        chance = random.Random(int(os.environ.get("KYMO_SEED", "26")))
        for _ in range(20):
            key, key_id, sequence = chance.randbytes(16), chance.randrange(1 << 32), chance.randrange(1 << 64)
            payload = chance.randbytes(chance.choice([0, 1, 15, 16, 17, 200, chance.randrange(1000)]))
            expected = datagram(key_id, key, sequence, payload)
            self.assertEqual(kymo_seal.seal(key_id, key, sequence, payload), expected)
            self.assertEqual(self.by_c(key_id, key, sequence, payload), expected)

    def test_limits(self):
        longest = bytes(kymo_seal.PAYLOAD_BYTES)
        self.assertEqual(len(kymo_seal.seal(1, KEY, 1, longest)), 65_507)
        self.assertEqual(len(self.by_c(1, KEY, 1, longest)), 65_507)
        with self.assertRaises(subprocess.CalledProcessError):
            self.by_c(1, KEY, 1, longest + b"x")
        for wrong in [(1 << 32, KEY, 1, b""), (1, KEY[1:], 1, b""), (1, KEY, 1 << 64, b""), (1, KEY, 1, longest + b"x")]:
            with self.assertRaises(ValueError):
                kymo_seal.seal(*wrong)

    def test_numbers_outlast_restarts(self):
        """No number comes twice, by whichever encoder, and however it ends."""
        seen = []
        kymo_seal.Sequence.create(self.path / "both").close()
        for turn in range(4):
            numbers, _ = self.numbers("both", 8, 3)
            seen += numbers
            file = kymo_seal.Sequence(self.path / "both", step=5)
            seen += [file.next() for _ in range(7)]
            with self.assertRaises(BlockingIOError):
                kymo_seal.Sequence(self.path / "both")
            self.assertIn("unavailable", self.numbers("both", 8, 1)[1])
            # As after SIGKILL: nothing is written at the end.
            os.close(file._file)
        self.assertEqual(len(seen), 40)
        self.assertEqual(seen, sorted(set(seen)))
        self.assertEqual((self.path / "both").stat().st_mode & 0o777, 0o600)

    def test_files_are_made_once(self):
        """A file that is missing or empty is none to begin again with, and one that is there is not made anew."""
        with self.assertRaisesRegex(FileNotFoundError, "--new"):
            kymo_seal.Sequence(self.path / "none")
        self.assertEqual(self.numbers("none", 8, 1), ([], "No such file or directory"))
        self.assertFalse((self.path / "none").exists())
        (self.path / "empty").write_bytes(b"")
        with self.assertRaisesRegex(ValueError, "give the device a new key"):
            kymo_seal.Sequence(self.path / "empty")
        self.assertEqual(self.numbers("empty", 8, 1), ([], "Invalid argument"))
        for name in ("empty", "by-c"):
            self.assertEqual(self.other("create", name), "File exists" if name == "empty" else "")
            with self.assertRaisesRegex(FileExistsError, "already"):
                kymo_seal.Sequence.create(self.path / name)
        self.assertEqual((self.path / "by-c").read_bytes(), b"%020d\n" % 0)
        self.assertEqual((self.path / "by-c").stat().st_mode & 0o777, 0o600)
        file = kymo_seal.Sequence.create(self.path / "by-python")
        self.assertEqual((self.path / "by-python").read_bytes(), b"%020d\n" % 0)
        self.assertEqual(file.next(), 0)
        file.close()
        self.assertEqual(self.other("create", "by-python"), "File exists")
        self.assertEqual(self.numbers("by-c", 8, 2), ([0, 1], ""))

    def test_what_was_written_in_part(self):
        """Of a new file nothing is left; in the place of a bound there is none that is lower."""
        self.assertEqual(self.other("full", "full"), "Input/output error")
        self.assertFalse((self.path / "full").exists())
        write = os.pwrite
        with unittest.mock.patch("os.pwrite", lambda file, text, place: write(file, text[:10], place)):
            with self.assertRaisesRegex(OSError, "in part"):
                kymo_seal.Sequence.create(self.path / "part")
        self.assertFalse((self.path / "part").exists())
        for cut in range(21):
            path = self.path / f"part-{cut}"
            path.write_bytes(b"%020d\n" % 199)
            file = kymo_seal.Sequence(path, step=7)
            with unittest.mock.patch("os.pwrite", lambda file, text, place, cut=cut: write(file, text[:cut], place)):
                with self.assertRaisesRegex(OSError, "in part"):
                    file.next()
            file.close()
            file = kymo_seal.Sequence(path)
            self.assertGreaterEqual(file.next(), 199)
            file.close()

    def test_threads_and_forks(self):
        file = kymo_seal.Sequence.create(self.path / "threads", step=3)
        seen = []
        threads = [threading.Thread(target=lambda: seen.extend([file.next() for _ in range(500)])) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(seen), list(range(2_000)))
        child = os.fork()
        if child == 0:
            code = 1
            try:
                file.next()
            except RuntimeError:
                code = 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0), (child, 0))
        self.assertEqual(file.next(), 2_000)
        file.close()
        self.other("create", "forks")
        self.assertEqual(self.other("fork", "forks"), "")

    def test_in_place(self):
        """The payload may begin where it is encrypted."""
        self.assertEqual(
            subprocess.run([self.path / "program", "place", str(KEY_ID), str(SEQUENCE)], input=KEY + b"in place",
                           capture_output=True, check=True).stdout, datagram(KEY_ID, KEY, SEQUENCE, b"in place"))

    def test_last_numbers(self):
        for name, text in [("short", b"12\n"), ("text", b"0000000000000000000x\n"), ("beyond", b"18446744073709551616\n"),
                           ("more", b"00000000000000000001\n\n")]:
            (self.path / name).write_bytes(text)
            with self.assertRaises(ValueError):
                kymo_seal.Sequence(self.path / name)
            self.assertEqual(self.numbers(name, 1, 1), ([], "Invalid argument"))
        last = (1 << 64) - 1
        for name in ("python", "c"):
            (self.path / name).write_bytes(b"%020d\n" % (last - 2))
        self.assertEqual(self.numbers("c", 256, 3), ([last - 2, last - 1], "Numerical result out of range"))
        file = kymo_seal.Sequence(self.path / "python")
        self.assertEqual([file.next(), file.next()], [last - 2, last - 1])
        with self.assertRaisesRegex(ValueError, "used up"):
            file.next()
        file.close()

    def test_program(self):
        """Each line is a datagram, and a second start goes on with other numbers."""
        key = self.path / "pump.key"
        key.write_text(f"# pump\n{KEY_ID:08x}:{KEY.hex()}:pump-3-1\n")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
            receiver.bind(("127.0.0.1", 0))
            receiver.settimeout(60)
            command = [sys.executable, BRIDGES / "kymo_seal.py", "--key", key, "--sequence", self.path / "pump.sequence",
                       "127.0.0.1", str(receiver.getsockname()[1])]
            key.chmod(0o644)
            done = subprocess.run(command, input=b"one\n", capture_output=True, check=False)
            self.assertIn(b"run 'chmod 600' on it", done.stderr)
            self.assertNotIn(KEY.hex().encode(), done.stderr)
            self.assertEqual(done.returncode, 1)
            key.chmod(0o600)
            done = subprocess.run(command, input=b"one\n", capture_output=True, check=False)
            self.assertIn(b"there is no sequence file", done.stderr)
            self.assertEqual(done.returncode, 1)
            for first in (0, kymo_seal.STEP):
                more = ["--new"] if first == 0 else []
                subprocess.run(command + more, input=b"one\n\ntwo\r\n", check=True)
                for number, payload in enumerate([b"one", b"two"], first):
                    self.assertEqual(receiver.recv(1000), datagram(KEY_ID, KEY, number, payload))
            done = subprocess.run(command + ["--new"], input=b"one\n", capture_output=True, check=False)
            self.assertIn(b"already", done.stderr)
            # One that is too long is told and left out.
            text = b"one\n" + b"x" * (kymo_seal.PAYLOAD_BYTES + 1) + b"\ntwo\n"
            done = subprocess.run(command, input=text, capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (1, 1))
            self.assertIn(b"line 2 is not sent: it has 65478 bytes", done.stderr)
            for number, payload in enumerate([b"one", b"two"], 2 * kymo_seal.STEP):
                self.assertEqual(receiver.recv(1000), datagram(KEY_ID, KEY, number, payload))

    def test_failures_of_the_network(self):
        """A refusal that answers an earlier datagram costs none; what is not sent is told, and the next line goes on."""
        key = self.path / "network.key"
        key.write_text(f"{KEY_ID:08x}:{KEY.hex()}\n")
        key.chmod(0o600)
        sender = kymo_seal.SealedSocket("127.0.0.1", 9, key, self.path / "network.sequence", new=True)
        refused, unreachable = (OSError(code, os.strerror(code)) for code in (errno.ECONNREFUSED, errno.ENETUNREACH))
        sent, answers = [], [refused, None, unreachable, None, refused, refused, None]

        def send(data):
            answer = answers.pop(0)
            sent.append((data, answer is None))
            if answer:
                raise answer
        sender._socket.close()
        sender._socket = unittest.mock.Mock(send=send)
        with unittest.mock.patch("sys.stderr", io.StringIO()) as said:
            self.assertFalse(kymo_seal.send_lines(sender, [b"a\n", b"b\n", b"c\n", b"d\n", b"e\n"]))
        self.assertEqual([line.split(":")[1] for line in said.getvalue().splitlines()],
                         [" line 2 is not sent", " line 4 is not sent"])
        self.assertEqual([data for data, is_sent in sent],
                         [datagram(KEY_ID, KEY, number, text) for number, text in enumerate([b"a", b"a", b"b", b"c", b"d",
                                                                                            b"d", b"e"])])
        sender.close()


if __name__ == "__main__":
    unittest.main()
