"""The AsyncAPI 3.0 document, generated from the table of topics: `python -m broker.protocol.asyncapi`.

The output is stored as `docs/asyncapi.json` (`make docs`); a test fails when that file is stale.
"""

import json
import re
import sys
from inspect import cleandoc
from typing import Any, Final

import msgspec

from broker.protocol.topics import TOPICS, Role, Topic

Document = dict[str, Any]

BINDING: Final = "0.2.0"
"""Version of AsyncAPI's MQTT binding."""

PAYLOAD_FORMAT: Final = "application/schema+json;version=draft-2020-12"
"""AsyncAPI's default dialect is draft 7, which lacks `prefixItems`: a tray would be read as an empty list."""

PARAMETERS: Final = {
    "event": "Name of the event: lower-case letters, digits and hyphens, at most 32.",
    "table": "Number of the table, 1 to 9999.",
    "deal": "Number of the deal, 1 to 9999.",
    "hall": "Name of a hall: lower-case letters, digits and hyphens, at most 24.",
}

INTRODUCTION: Final = """\
The messages between the tables, the scorer, the arbiter's desk and read-only arbiters over MQTT 3.1.1. \
Delivery is at least once: a message has an `id`, which a resent one keeps, and a `seq`, which gives the order. \
A PUBACK proves nothing; a fact is safe when the scorer's receipt says so. \
An operation is what one role may do; the broker permits nothing else. \
`x-max-bytes` is the largest payload that is read."""


def asyncapi_document() -> Document:
    """Return the whole document."""
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Homologue", "version": str(_schema_number()), "description": INTRODUCTION},
        "defaultContentType": "application/json",
        "channels": {topic.name: _channel(topic) for topic in TOPICS},
        "operations": dict(operation for topic in TOPICS for operation in _operations(topic)),
        "components": {
            "parameters": {name: {"description": text} for name, text in PARAMETERS.items()},
            "messages": {topic.message.__name__: _message(topic) for topic in TOPICS},
            "schemas": _schemas(),
        },
    }


def asyncapi_text() -> str:
    """Return the document as JSON text, byte for byte the same in every run."""
    return json.dumps(asyncapi_document(), indent=2, ensure_ascii=False) + "\n"


def _schema_number() -> int:
    """Return the schema number that all messages share; it is the version of this document."""
    (number,) = {
        field.default for topic in TOPICS for field in msgspec.structs.fields(topic.message) if field.name == "schema"
    }
    return int(number)


def _channel(topic: Topic) -> Document:
    name = topic.message.__name__
    return {
        "address": topic.pattern,
        "description": topic.about,
        "messages": {name: _reference("components", "messages", name)},
        "parameters": {
            level: _reference("components", "parameters", level) for level in re.findall(r"{(\w+)}", topic.pattern)
        },
        "x-max-bytes": topic.limit,
    }


def _operations(topic: Topic) -> list[tuple[str, Document]]:
    """Return the sender's operation, then those of the receivers. Only the sender's has `retain`."""
    sent = _operation(topic, topic.writer, "send", {"qos": topic.qos, "retain": topic.retain})
    return [sent, *(_operation(topic, reader, "receive", {"qos": topic.qos}) for reader in topic.readers)]


def _operation(topic: Topic, role: Role, action: str, mqtt: Document) -> tuple[str, Document]:
    return f"{role}_{action}s_{topic.name}", {
        "action": action,
        "channel": _reference("channels", topic.name),
        "messages": [_reference("channels", topic.name, "messages", topic.message.__name__)],
        "bindings": {"mqtt": {**mqtt, "bindingVersion": BINDING}},
        "x-role": role,
    }


def _message(topic: Topic) -> Document:
    name = topic.message.__name__
    return {
        "name": name,
        "contentType": "application/json",
        "payload": {"schemaFormat": PAYLOAD_FORMAT, "schema": _reference("components", "schemas", name)},
    }


def _schemas() -> Document:
    """Return the JSON Schema of every struct, by name."""
    _, schemas = msgspec.json.schema_components(
        (topic.message for topic in TOPICS), ref_template="#/components/schemas/{name}"
    )
    # Python before 3.13 leaves the indentation in docstrings.
    return {
        name: {**schema, "description": cleandoc(schema["description"])} for name, schema in sorted(schemas.items())
    }


def _reference(*way: str) -> dict[str, str]:
    return {"$ref": "#/" + "/".join(way)}


if __name__ == "__main__":
    sys.stdout.write(asyncapi_text())
