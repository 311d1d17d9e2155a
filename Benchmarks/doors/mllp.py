"""mllp.py KYMO FOLDER LEAST: messages per second of `kymo run --mllp`, beside readings per second of
`kymo run --unix`.

A message is that of a monitor: a header, patient, order, device line and three results. CLIENTS
connections send them, as far ahead of their acknowledgements as the kernel and kymo let them; so do the Unix socket's
clients, which send the same readings as lines. A round ends when all is
acknowledged, so on disk. Rounds of both follow each other, so that a busy neighbour hits both; the best of each counts. CPU
time is that of kymo, from the first message to the last acknowledgement."""
import datetime
import sys

from clients import START, Lines, Messages, connected, connected_to_socket
from drive import raced

KYMO, FOLDER, LEAST = sys.argv[1:]
ROUNDS, CLIENTS, MESSAGES = 5, 16, 2_000
# MDC code, its name, unit, name of the unit; type and unit of the mapping `reading`.
RESULTS = [
    ("147842", "MDC_ECG_HEART_RATE", "264864", "MDC_DIM_BEAT_PER_MIN", "heartRate", "/min"),
    ("150456", "MDC_PULS_OXIM_SAT_O2", "262688", "MDC_DIM_PERCENT", "oxygenSaturation", "%"),
    ("151562", "MDC_RESP_RATE", "264928", "MDC_DIM_RESP_PER_MIN", "respiratoryRate", "/min"),
]


def message(client, number):
    """A message of one monitor, of its own second."""
    moment = (START + datetime.timedelta(seconds=number)).strftime("%Y%m%d%H%M%S+0000")
    lines = [
        f"MSH|^~\\&|GATEWAY^0009FBFFFE000001^EUI-64|WARD|KYMO|HOSPITAL|{moment}||ORU^R01^ORU_R01|{client}-{number}|P|2.6",
        f"PID|||patient-{client}^^^Hospital^MR||Test^Synthetic", "PV1||I|ICU^^Bed 7",
        f"OBR|1||1^GATEWAY|69965^MDC_DEV_MON_PHYSIO_MULTI_PARAM_MDS^MDC|||{moment}",
        f"OBX|1||69965^MDC_DEV_MON_PHYSIO_MULTI_PARAM_MDS^MDC|1.0.0.0|||||||X|||||||monitor-{client}^^monitor-{client}^EUI-64",
    ]
    for index, (code, name, unit, unit_name, _, _) in enumerate(RESULTS, 1):
        lines.append(f"OBX|{index + 1}|NM|{code}^{name}^MDC|1.{index}.1.1|{60 + number % 40}|{unit}^{unit_name}^MDC|||||R")
    return b"\x0b" + "\r".join(lines).encode() + b"\r\x1c\r"


def lines(client, number):
    """The same readings as lines."""
    moment = (START + datetime.timedelta(seconds=number)).isoformat()
    return "".join(
        f'{{"deviceId":"monitor-{client}","patientId":"patient-{client}","type":"{kind}","timestamp":"{moment}Z",'
        f'"value":{60 + number % 40},"unit":"{unit}"}}\n' for *_, kind, unit in RESULTS).encode()


BODIES = [[message(client, number) for number in range(MESSAGES)] for client in range(CLIENTS)]
LINES = [b"".join(lines(client, number) for number in range(MESSAGES)) for client in range(CLIENTS)]
DOORS = {
    "Unix": (f"unix: {FOLDER}/k.sock", lambda client, address: Lines(
        connected_to_socket(f"{FOLDER}/k.sock"), LINES[client], MESSAGES * len(RESULTS))),
    "MLLP": ('mllp: "127.0.0.1:0", mappings: [pcd-01]', lambda client, address: Messages(
        connected(address), b"".join(BODIES[client]), MESSAGES)),
}
TOTAL = CLIENTS * MESSAGES
results = raced(KYMO, FOLDER, DOORS, CLIENTS, ROUNDS)
rates = {name: TOTAL / min(seconds for seconds, _ in rounds) for name, rounds in results.items()}
for name, rounds in results.items():
    cpu = min(cpu for _, cpu in rounds) / TOTAL * 1e6
    print(
        f"{name:5} {rates[name]:10,.0f} messages/s  {rates[name] * len(RESULTS):10,.0f} readings/s  "
        f"{cpu:6.2f} µs CPU per message")
print(f"MLLP / Unix: {rates['MLLP'] / rates['Unix']:.2f} of the readings, at least {float(LEAST):,.0f} messages/s wanted")
if rates["MLLP"] < float(LEAST):
    sys.exit(1)
