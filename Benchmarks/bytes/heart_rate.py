#!/usr/bin/env python3
"""heart_rate.py DEVICES SECONDS [SEED]: heart rates at 1 Hz as NDJSON of the mapping 'reading'.

A walk in steps of one beat: 0.55 of the seconds change by one, drawn back to the wearer's usual rate. Steadier rates
(0.3), and ones that change nearly every second (0.98), both take fewer bytes with zstd. A real wrist band, whose
readings 5 s apart differ by a variance of 4.9, is nearer to the latter. Equal arguments give equal bytes.
"""
import random
import sys

CHANGES = 0.55


def rates(seconds, generator):
    home = rate = generator.randrange(58, 89)
    for _ in range(seconds):
        if generator.random() < CHANGES:
            pulled = generator.random() < abs(home - rate) / 40
            step = (1 if home > rate else -1) if pulled else generator.choice((-1, 1))
            rate = min(max(rate + step, 40), 180)
        yield rate


def main():
    devices, seconds = int(sys.argv[1]), int(sys.argv[2])
    generator = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    walks = [list(rates(seconds, generator)) for _ in range(devices)]
    for second in range(seconds):
        time = f"2026-03-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"
        for device, walk in enumerate(walks):
            sys.stdout.write(
                f'{{"deviceId":"band-{device:04}","patientId":"p-{device:04}","type":"heartRate","timestamp":"{time}",'
                f'"value":{walk[second]},"unit":"/min"}}\n')


main()
