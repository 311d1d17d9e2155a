"""The encoders of sealed datagrams in Python and C give the same bytes, those of AES-GCM by its definition, and keep their
sequence numbers over restarts."""

import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import unittest

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
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kymo_seal.h"

/* seal ID SEQUENCE: the key and the payload from standard input, the datagram to standard output.
   numbers FILE STEP COUNT: COUNT numbers of the file, one in a line. */
int main(int count, char **texts) {
    static uint8_t in[70000], out[70000];
    if (count == 4 && !strcmp(texts[1], "seal")) {
        size_t size = fread(in, 1, sizeof in, stdin);
        int length = kymo_seal_datagram((uint32_t)strtoul(texts[2], 0, 10), in, strtoull(texts[3], 0, 10), in + 16,
                                        size - 16, out, sizeof out);
        if (length < 0) return 1;
        fwrite(out, 1, (size_t)length, stdout);
        return kymo_seal_datagram(1, in, 1, in, 1, out, 30) == -1 ? 0 : 2;
    }
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
        for turn in range(4):
            numbers, _ = self.numbers("both", 8, 3)
            seen += numbers
            file = kymo_seal.SequenceFile(self.path / "both", step=5)
            seen += [file.next() for _ in range(7)]
            with self.assertRaises(BlockingIOError):
                kymo_seal.SequenceFile(self.path / "both")
            self.assertIn("unavailable", self.numbers("both", 8, 1)[1])
            # As after SIGKILL: nothing is written at the end.
            os.close(file._file)
        self.assertEqual(len(seen), 40)
        self.assertEqual(seen, sorted(set(seen)))
        self.assertEqual((self.path / "both").stat().st_mode & 0o777, 0o600)

    def test_last_numbers(self):
        for name, text in [("short", b"12\n"), ("text", b"0000000000000000000x\n"), ("beyond", b"18446744073709551616\n"),
                           ("more", b"00000000000000000001\n\n")]:
            (self.path / name).write_bytes(text)
            with self.assertRaises(ValueError):
                kymo_seal.SequenceFile(self.path / name)
            self.assertEqual(self.numbers(name, 1, 1), ([], "Invalid argument"))
        last = (1 << 64) - 1
        for name in ("python", "c"):
            (self.path / name).write_bytes(b"%020d\n" % (last - 2))
        self.assertEqual(self.numbers("c", 256, 3), ([last - 2, last - 1], "Numerical result out of range"))
        file = kymo_seal.SequenceFile(self.path / "python")
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
            for first in (0, kymo_seal.STEP):
                subprocess.run(command, input=b"one\n\ntwo\r\n", check=True)
                for number, payload in enumerate([b"one", b"two"], first):
                    self.assertEqual(receiver.recv(1000), datagram(KEY_ID, KEY, number, payload))


if __name__ == "__main__":
    unittest.main()
