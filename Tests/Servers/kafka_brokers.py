#!/usr/bin/env python3
"""A cluster of Kafka in one process: the mock cluster of the system's librdkafka, read by another librdkafka.

  kafka_brokers.py [--brokers N] [--topic NAME] [--partitions N]

Prints "listening on PORT", and answers there by HTTP:
  /brokers                   HOST:PORT of each, with commas in between
  /messages[?topic=NAME]     a line for each message that is stored: partition, offset, key, value, headers, time
  /down?broker=N, /up?…      a broker goes, and comes back
  /errors?codes=6,29         Kafka error codes, one for each request to produce that follows
  /refuse?code=29            the topic answers every request with this code; 0 ends that
  /create?topic=NAME         makes a topic
"""
import argparse
import ctypes
import json
import threading
from urllib.parse import parse_qs, urlsplit

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from answering import Answering, serve

PRODUCE = 0

parser = argparse.ArgumentParser()
parser.add_argument("--brokers", type=int, default=3)
parser.add_argument("--topic", default="readings")
parser.add_argument("--partitions", type=int, default=4)
options = parser.parse_args()

library = ctypes.CDLL("librdkafka.so.1")
for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_mock_cluster_new", "rd_kafka_mock_cluster_bootstraps"):
    getattr(library, name).restype = ctypes.c_void_p
library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p

reason = ctypes.create_string_buffer(512)
client = ctypes.c_void_p(library.rd_kafka_new(0, ctypes.c_void_p(library.rd_kafka_conf_new()), reason, 512))
cluster = ctypes.c_void_p(library.rd_kafka_mock_cluster_new(client, options.brokers))
brokers = library.rd_kafka_mock_cluster_bootstraps(cluster).decode()
lock = threading.Lock()


def create(topic):
    library.rd_kafka_mock_topic_create(cluster, topic.encode(), options.partitions, min(3, options.brokers))


def errors(codes):
    list_of_codes = (ctypes.c_int * len(codes))(*codes)
    library.rd_kafka_mock_push_request_errors_array(
        cluster, ctypes.c_int16(PRODUCE), ctypes.c_size_t(len(codes)), list_of_codes)


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


class Handler(Answering):
    def do_GET(self):
        parts = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        with lock:
            self.answer(200, self.act(parts.path, asked).encode())

    def act(self, path, asked):
        if path == "/brokers":
            return brokers
        if path == "/messages":
            return "".join(json.dumps(message) + "\n" for message in messages(asked.get("topic", options.topic)))
        if path == "/down":
            library.rd_kafka_mock_broker_set_down(cluster, int(asked["broker"]))
        elif path == "/up":
            library.rd_kafka_mock_broker_set_up(cluster, int(asked["broker"]))
        elif path == "/errors":
            errors([int(code) for code in asked["codes"].split(",")])
        elif path == "/refuse":
            library.rd_kafka_mock_topic_set_error(cluster, options.topic.encode(), int(asked["code"]))
        elif path == "/create":
            create(asked["topic"])
        return ""


if options.topic:
    create(options.topic)
serve(Handler, "listening on ")
