"""measure.py KYMO FOLDER LEAST LEAST_TLS: readings per second of `kymo run --http` as a share of those of `kymo run
--unix`, and of `tcp` with TLS as a share of those without.

All get the same readings over CLIENTS connections, and a round ends when all of them are acknowledged, so on disk.
Rounds follow each other, so that a busy neighbour hits all; the best of each counts. Clients send ahead as far as the
kernel and kymo let them, since each answer waits for a commit. CPU time is that of kymo, from the first reading to the
last answer; the clients take the rest of the machine, and for TLS they encrypt."""
import sys

from clients import BATCH, Lines, Posts, batch, connected, connected_to_socket, posts, trusting
from drive import raced

KYMO, FOLDER, LEAST, LEAST_TLS = sys.argv[1:]
ROUNDS, CLIENTS, BATCHES = 5, 16, 250
BODIES = [[batch(number, f"watch-{client}-", f"patient-{client}") for number in range(BATCHES)]
          for client in range(CLIENTS)]
CERTIFICATE, CONTEXT = trusting(FOLDER)


def lines(connection, client):
    return Lines(connection, b"".join(BODIES[client]), BATCHES * BATCH)


DOORS = {
    "Unix": (f"unix: {FOLDER}/k.sock", lambda client, address: lines(connected_to_socket(f"{FOLDER}/k.sock"), client)),
    "HTTP": ('http: "127.0.0.1:0"', lambda client, address: Posts(
        connected(address), posts("/v1/ingest/reading", BODIES[client]), BATCHES)),
    "TCP": ('tcp: "127.0.0.1:0"', lambda client, address: lines(connected(address), client)),
    "TLS": (f'tcp: "127.0.0.1:0", {CERTIFICATE}', lambda client, address: lines(connected(address, CONTEXT), client)),
}
TOTAL = CLIENTS * BATCHES * BATCH
results = raced(KYMO, FOLDER, DOORS, CLIENTS, ROUNDS)
best = {name: [min(column) for column in zip(*rounds)] for name, rounds in results.items()}
for name, (seconds, cpu) in best.items():
    print(f"{name:5} {TOTAL / seconds:12,.0f} durable readings/s, {cpu:.2f} s of CPU")
fails = False
for name, plain, least in (("HTTP", "Unix", LEAST), ("TLS", "TCP", LEAST_TLS)):
    share, cost = best[plain][0] / best[name][0], best[name][1] / max(best[plain][1], 0.01)
    print(f"{name} / {plain} throughput {share:.2f} (at least {least}), CPU {cost:.2f}")
    fails = fails or share < float(least)
sys.exit(fails)
