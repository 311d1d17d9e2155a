"""hl7_senders.py HOST PORT: sends messages that python-hl7 and hl7apy have made over MLLP, and reads the replies by both.

Prints a line for each message: how it was made, its id, and MSA-1 of the reply. Exits with status 1 when a reply is not
one to its message, or neither library can read it.
"""
import sys

import hl7
import hl7.client
from hl7apy.core import Message
from hl7apy.parser import parse_message

HOST, PORT = sys.argv[1], int(sys.argv[2])
ORDER = "69965^MDC_DEV_MON_PHYSIO_MULTI_PARAM_MDS^MDC"
HEART_RATE = ("NM", "147842^MDC_ECG_HEART_RATE^MDC", "264864^MDC_DIM_BEAT_PER_MIN^MDC")
SATURATION = ("NM", "150456^MDC_PULS_OXIM_SAT_O2^MDC", "262688^MDC_DIM_PERCENT^MDC")
PRESSURES = [
    ("NM", f"15002{index}^MDC_PRESS_BLD_NONINV_{name}^MDC", "266016^MDC_DIM_MMHG^MDC")
    for index, name in enumerate(("SYS", "DIA", "MEAN"), 1)]
ELECTROCARDIOGRAM = ("NA", "131330^MDC_ECG_ELEC_POTL_II^MDC", "266418^MDC_DIM_MILLI_VOLT^MDC")
RHYTHM = ("CE", "RHYTHM^Rhythm^99WARD", "")
# Results of each message: kind, value, status. The groups of the last one have an order and a time each.
MESSAGES = {
    1: [(HEART_RATE, "72", "R"), (SATURATION, "97.5", "R")],
    2: [(kind, value, "F") for kind, value in zip(PRESSURES, ("120", "80", "93"))],
    3: [((("SN",) + SATURATION[1:]), ">^99", "F")],
    4: [((("ST",) + HEART_RATE[1:]), "64", "F")],
    5: [(HEART_RATE, "75", "C")],
    6: [(HEART_RATE, "75", "D"), (SATURATION, "98", "F")],
    7: [(SATURATION, '""', "F")],
    8: [(ELECTROCARDIOGRAM, "0.10^-0.05^^0.20", "R"), (HEART_RATE, "70", "R")],
    9: [(RHYTHM, "SR^Sinus rhythm^99WARD", "F")],
    10: [(HEART_RATE, "", "X")],
    11: [(HEART_RATE, "68", "R")],
}
MORE_GROUPS = {11: [[(HEART_RATE, "69", "F"), (SATURATION, "96", "C")]]}


def groups(number):
    return enumerate([MESSAGES[number]] + MORE_GROUPS.get(number, []))


def moment(number, group):
    # A correction is of the time of what it corrects.
    return f"202603010800{(1 if number == 5 else number) + 20 * group:02d}.500+0100"


def by_hl7(number):
    """python-hl7 joins lists of segments."""
    lines = [
        f"MSH|^~\\&|PYHL7|WARD|KYMO|HOSPITAL|20260301080100+0100||ORU^R01^ORU_R01|{number}|P|2.6", "PID|||p-hl7^^^H^MR"]
    for group, results in groups(number):
        lines.append(f"OBR|{group + 1}|||{ORDER}|||{moment(number, group)}")
        if group == 0:
            lines.append(f"OBX|1||{ORDER}|1.0.0.0|||||||X|||||||monitor-hl7^^0011^EUI-64")
        for index, ((kind, code, unit), value, status) in enumerate(results, 2):
            lines.append(f"OBX|{index}|{kind}|{code}|1.1.1.{index}|{value}|{unit}|||||{status}")
    message = hl7.parse("\r".join(lines))
    return str(message)


def by_hl7apy(number):
    """hl7apy builds messages by their names, and checks their structure."""
    message = Message("ORU_R01", version="2.5")
    message.msh.msh_3, message.msh.msh_4 = "HL7APY", "WARD"
    message.msh.msh_5, message.msh.msh_6 = "KYMO", "HOSPITAL"
    message.msh.msh_7, message.msh.msh_9 = "20260301080100+0100", "ORU^R01^ORU_R01"
    message.msh.msh_10, message.msh.msh_11 = str(100 + number), "P"
    result = message.add_group("ORU_R01_PATIENT_RESULT")
    result.add_group("ORU_R01_PATIENT").add_segment("PID").pid_3 = "p-apy^^^H^MR"
    for group, results in groups(number):
        order = result.add_group("ORU_R01_ORDER_OBSERVATION")
        obr = order.add_segment("OBR")
        obr.obr_4, obr.obr_7 = ORDER, moment(number, group)
        for index, ((kind, code, unit), value, status) in enumerate(results, 1):
            obx = order.add_group("ORU_R01_OBSERVATION").add_segment("OBX")
            obx.obx_1, obx.obx_2, obx.obx_3, obx.obx_4 = str(index), kind, code, f"1.1.1.{index}"
            if value:
                obx.obx_5 = value
            if unit:
                obx.obx_6 = unit
            obx.obx_11, obx.obx_18 = status, "monitor-apy"
    return message.to_er7()


def main():
    with hl7.client.MLLPClient(HOST, PORT) as client:
        for name, make in (("hl7", by_hl7), ("hl7apy", by_hl7apy)):
            for number in MESSAGES:
                text = make(number)
                sent = hl7.parse(text)
                reply = client.send_message(text).strip(b"\x0b\x1c\r").decode()
                read, parsed = hl7.parse(reply), parse_message(reply, find_groups=False)
                control = str(sent.segment("MSH")[10])
                assert str(read.segment("MSA")[2]) == control and parsed.msa.msa_2.value == control, reply
                assert str(read.segment("MSH")[5]) == str(sent.segment("MSH")[3]), reply
                print(name, control, parsed.msa.msa_1.value, flush=True)


main()
