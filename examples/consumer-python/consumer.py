"""Prints a line for each change of an execution's status, each once.

    python3 -m venv .venv && .venv/bin/pip install -r requirements.txt
    KAFKA_BROKERS=localhost:9092 .venv/bin/python consumer.py
"""

import importlib
import os
import pathlib
import signal
import sys
import tempfile
from collections import OrderedDict

from confluent_kafka import Consumer
from grpc_tools import protoc

TOPIC = os.environ.get("KAFKA_TOPIC", "process-automation.executions")
BROKERS = os.environ.get("KAFKA_BROKERS", "localhost:9092")
GROUP = os.environ.get("KAFKA_GROUP", "consumer-python")
# The contract: a copy of the folder `proto` of the service's repository does as well.
PROTOS = os.environ.get("PROTO_DIR", str(pathlib.Path(__file__).resolve().parents[2] / "proto"))
REMEMBERED = 100_000


def messages(folder):
    """Makes Python classes of the contract in a folder, and gives the modules of events and statuses."""
    names = ["events/v1/execution_event", "execution/v1/execution", "common/v1/page"]
    well_known = importlib.import_module("importlib.resources").files("grpc_tools") / "_proto"
    files = [f"automation/{name}.proto" for name in names]
    if protoc.main(["protoc", f"-I{PROTOS}", f"-I{well_known}", f"--python_out={folder}", *files]) != 0:
        raise SystemExit(f"the contract in {PROTOS} could not be read")
    sys.path.insert(0, folder)
    return [importlib.import_module(f"automation.{name.replace('/', '.')}_pb2") for name in names[:2]]


def handle(message, event_type, status_name, seen):
    """What this consumer does with a message; a repetition does nothing."""
    attributes = {name: value.decode() for name, value in message.headers() or [] if value is not None}
    event_id = attributes.get("ce_id")
    if event_id is None or not attributes.get("ce_type", "").startswith("automation.execution."):
        return
    if event_id in seen:
        return
    event = event_type.FromString(message.value())
    print(attributes.get("ce_time"), event.team, event.execution_id, event.sequence, status_name(event.status))
    sys.stdout.flush()
    # Forgotten when the process ends: where an effect must not happen twice, store the id together with the effect.
    seen[event_id] = True
    if len(seen) > REMEMBERED:
        seen.popitem(last=False)


def main():
    stopping = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.append(True))
    with tempfile.TemporaryDirectory() as folder:
        events, executions = messages(folder)
    # Offsets are committed by us, after the effect: so each event comes at least once.
    settings = {"bootstrap.servers": BROKERS, "group.id": GROUP, "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings, "enable.auto.commit": False})
    consumer.subscribe([TOPIC])
    seen = OrderedDict()
    try:
        while not stopping:
            message = consumer.poll(0.5)
            if message is None:
                continue
            if message.error():
                # A cluster that is away comes back: the client says so on standard error, and goes on trying.
                continue
            handle(message, events.ExecutionEvent, executions.Status.Name, seen)
            consumer.commit(message=message, asynchronous=True)
    finally:
        consumer.close()


if __name__ == "__main__":
    main()
