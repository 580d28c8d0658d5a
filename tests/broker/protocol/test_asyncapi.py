"""The AsyncAPI document matches the table of topics, and the file in docs/ is up to date."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from broker.protocol import TOPICS, Topic, asyncapi

FILE = Path(__file__).parents[3] / "docs" / "asyncapi.json"

DOCUMENT = asyncapi.asyncapi_document()


def references(part: Any) -> Iterator[str]:  # noqa: ANN401 - any piece of JSON
    """Yield every reference in a document: `$ref` and the mapping of a discriminator."""
    if isinstance(part, list):
        for one in part:
            yield from references(one)
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        if "propertyName" in part and "mapping" in part:
            yield from part["mapping"].values()
        for one in part.values():
            yield from references(one)


def resolve(reference: str) -> Any:  # noqa: ANN401 - any piece of JSON
    """Return what a reference points to. Raises KeyError."""
    place: Any = DOCUMENT
    for step in reference.removeprefix("#/").split("/"):
        place = place[step]
    return place


def test_the_document_in_docs_is_up_to_date() -> None:
    assert FILE.read_text(encoding="utf-8") == asyncapi.asyncapi_text(), "docs/asyncapi.json is stale: run `make docs`"


def test_every_run_gives_the_same_output() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "broker.protocol.asyncapi"],
        env={"PYTHONHASHSEED": "1", "PYTHONIOENCODING": "utf-8"},
        cwd=FILE.parents[1],
        capture_output=True,
        check=True,
    )
    assert printed.stdout.decode() == asyncapi.asyncapi_text()


def test_every_reference_can_be_resolved() -> None:
    found = list(references(DOCUMENT))
    assert len(found) > len(TOPICS)
    assert [reference for reference in found if not reference.startswith("#/") or not resolve(reference)] == []


def test_every_schema_is_used_by_a_message() -> None:
    reached: set[str] = set()
    waiting = [f"#/components/schemas/{topic.message.__name__}" for topic in TOPICS]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(references(resolve(name)))
    assert reached == {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_a_channel_has_address_parameters_and_payload_limit(topic: Topic) -> None:
    channel = DOCUMENT["channels"][topic.name]
    levels = {level.strip("{}") for level in topic.pattern.split("/") if level.startswith("{")}
    assert (channel["address"], channel["x-max-bytes"]) == (topic.pattern, topic.limit)
    assert set(channel["parameters"]) == levels
    assert list(channel["messages"]) == [topic.message.__name__]


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_operations_match_writers_readers_and_qos(topic: Topic) -> None:
    ours = {
        (operation["x-role"], operation["action"]): operation["bindings"]["mqtt"]
        for operation in DOCUMENT["operations"].values()
        if operation["channel"] == {"$ref": f"#/channels/{topic.name}"}
    }
    received = {(role, "receive"): {"qos": topic.qos, "bindingVersion": "0.2.0"} for role in topic.readers}
    sent = {(topic.writer, "send"): {"qos": topic.qos, "retain": topic.retain, "bindingVersion": "0.2.0"}}
    assert ours == sent | received


def test_there_is_one_operation_for_each_right() -> None:
    assert len(DOCUMENT["operations"]) == sum(1 + len(topic.readers) for topic in TOPICS)


def test_the_document_names_no_server() -> None:
    assert "servers" not in DOCUMENT
