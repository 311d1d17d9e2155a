#!/usr/bin/env python3
"""A cluster of Kafka in one process: the mock cluster of the system's librdkafka, read by another librdkafka.

  kafka_brokers.py [--brokers N] [--topic NAME] [--partitions N] [--certificate FILE --key FILE [--authority FILE]]

With a certificate, /brokers are those of a relay that speaks TLS; with an authority clients must show one of their own.

Prints "listening on PORT", and answers there by HTTP:
  /brokers                   HOST:PORT of each, with commas in between
  /messages[?topic=NAME]     a line for each message that is stored: partition, offset, key, value, headers, time
  /down?broker=N, /up?…      a broker goes, and comes back
  /errors?codes=6,29[&of=N]  Kafka error codes, one for each request to produce (of=1: to fetch, 8: to commit) that follows
  /refuse?code=29            the topic answers every request with this code; 0 ends that
  /create?topic=NAME         makes a topic
  /handshakes                how many by TLS were taken, and how many refused
  /positions?group=NAME      a line for each partition: the position of the group, or -1
  /position?group=NAME&partition=N&offset=N   sets one
  /remake                    another cluster with the same id and topic, with nothing in it and no positions; /brokers has changed
and by POST:
  /records                   stores the lines of the body, each as JSON: {"partition": N, "value": TEXT or null},
                             with "key": TEXT, "headers": [[NAME, HEXADECIMAL], …] and "time": N if there are any
"""
import argparse
import ctypes
import json
import threading
from urllib.parse import parse_qs, urlsplit

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from answering import Answering, serve
from tls_relay import Relay

PRODUCE = "0"

parser = argparse.ArgumentParser()
parser.add_argument("--brokers", type=int, default=3)
parser.add_argument("--topic", default="readings")
parser.add_argument("--partitions", type=int, default=4)
parser.add_argument("--certificate")
parser.add_argument("--key")
parser.add_argument("--authority")
options = parser.parse_args()

library = ctypes.CDLL("librdkafka.so.1")
for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_mock_cluster_new", "rd_kafka_mock_cluster_bootstraps"):
    getattr(library, name).restype = ctypes.c_void_p
library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p

reason = ctypes.create_string_buffer(512)
client = ctypes.c_void_p(library.rd_kafka_new(0, ctypes.c_void_p(library.rd_kafka_conf_new()), reason, 512))

ID_BYTES = 32


def begin(name=None):
    """Makes a cluster; `name` is its id, which is what its memory begins with."""
    global cluster, brokers
    cluster = ctypes.c_void_p(library.rd_kafka_mock_cluster_new(client, options.brokers))
    assert ctypes.string_at(cluster, ID_BYTES).startswith(b"mockCluster")
    if name:
        ctypes.memmove(cluster, name, ID_BYTES)
    brokers = library.rd_kafka_mock_cluster_bootstraps(cluster).decode()


begin()
lock = threading.Lock()


def create(topic):
    library.rd_kafka_mock_topic_create(cluster, topic.encode(), options.partitions, min(3, options.brokers))


def errors(codes, kind):
    list_of_codes = (ctypes.c_int * len(codes))(*codes)
    library.rd_kafka_mock_push_request_errors_array(
        cluster, ctypes.c_int16(kind), ctypes.c_size_t(len(codes)), list_of_codes)


def text(value):
    return value if value is None else value.decode()


def messages(topic):
    """All that is stored in `topic`."""
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": "judge", "enable.auto.commit": False})
    found = []
    try:
        known = AdminClient({"bootstrap.servers": brokers}).list_topics(topic, timeout=20).topics[topic].partitions
        for partition in sorted(known):
            low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=20)
            if low == high:
                continue
            consumer.assign([TopicPartition(topic, partition, low)])
            last = low - 1
            while last < high - 1:
                message = consumer.poll(20)
                if message is None or message.error():
                    raise RuntimeError(f"{message and message.error()}")
                last = message.offset()
                found.append({
                    "partition": partition, "offset": last, "key": text(message.key()), "value": text(message.value()),
                    "headers": {name: text(value) for name, value in message.headers() or []},
                    "time": message.timestamp()[1],
                })
    finally:
        consumer.close()
    return found


def produce(lines):
    """Stores records, and waits until they are."""
    failures = []
    producer = Producer({"bootstrap.servers": brokers, "acks": "all", "linger.ms": 5})
    for line in lines:
        record = json.loads(line)
        while True:
            try:
                producer.produce(
                    options.topic, record["value"], record.get("key"), partition=record["partition"],
                    timestamp=record.get("time", 0),
                    headers=[(name, bytes.fromhex(value)) for name, value in record.get("headers", [])],
                    on_delivery=lambda error, _: failures.append(error) if error else None)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    if producer.flush(60) or failures:
        raise RuntimeError(f"not all is stored: {failures[:3]}")


def with_group(group, act):
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": group, "enable.auto.commit": False})
    try:
        return act(consumer)
    finally:
        consumer.close()


def positions(group):
    everywhere = [TopicPartition(options.topic, number) for number in range(options.partitions)]
    found = with_group(group, lambda consumer: consumer.committed(everywhere, timeout=20))
    return "".join(f"{max(place.offset, -1)}\n" for place in sorted(found, key=lambda place: place.partition))


def set_position(group, partition, offset):
    place = TopicPartition(options.topic, partition, offset)
    with_group(group, lambda consumer: consumer.commit(offsets=[place], asynchronous=False))


class Handler(Answering):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        produce(body.decode().splitlines())
        self.answer(200)

    def do_GET(self):
        parts = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        with lock:
            self.answer(200, self.act(parts.path, asked).encode())

    def act(self, path, asked):
        if path == "/brokers":
            return relay.brokers if relay else brokers
        if path == "/handshakes":
            return json.dumps(relay.counts)
        if path == "/messages":
            return "".join(json.dumps(message) + "\n" for message in messages(asked.get("topic", options.topic)))
        if path == "/down":
            library.rd_kafka_mock_broker_set_down(cluster, int(asked["broker"]))
        elif path == "/up":
            library.rd_kafka_mock_broker_set_up(cluster, int(asked["broker"]))
        elif path == "/errors":
            errors([int(code) for code in asked["codes"].split(",")], int(asked.get("of", PRODUCE)))
        elif path == "/refuse":
            library.rd_kafka_mock_topic_set_error(cluster, options.topic.encode(), int(asked["code"]))
        elif path == "/remake":
            begin(ctypes.string_at(cluster, ID_BYTES))
            create(options.topic)
        elif path == "/create":
            create(asked["topic"])
        elif path == "/positions":
            return positions(asked["group"])
        elif path == "/position":
            set_position(asked["group"], int(asked["partition"]), int(asked["offset"]))
        return ""


relay = None
if options.certificate:
    ports = [int(broker.rsplit(":", 1)[1]) for broker in brokers.split(",")]
    relay = Relay(ports, options.certificate, options.key, options.authority)
if options.topic:
    create(options.topic)
serve(Handler, "listening on ")
