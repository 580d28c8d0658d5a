"""A part of `make attack`, against both brokers; and that it finds faults, each built into the program."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from broker.mqtt.programs import Kind
from broker.protocol import TOPICS
from tests.attack import allowed, floods, routes, topics, wire
from tests.attack.faulty import FAULTS
from tests.attack.ledger import Ledger
from tests.attack.run import attacks, run
from tests.attack.target import Target
from tests.demo_event import MakeEvent
from tests.patience import PATIENCE_S

SEED: Final = 20
OF_THE_DESK: Final = ("routes", "forms", "rubbish", "requests")
"""Attacks on the desk, for which the kind of broker makes no difference."""

OF_PASSWORDS: Final = ("strangers", "publish", "subscribe", "takeovers", "packets", "facts", "forms")
"""Attacks that differ without TLS, because users authenticate and connect in another way."""

slow = pytest.mark.slow


@pytest.fixture(params=["embedded", "mosquitto"])
def kind(request: pytest.FixtureRequest) -> Kind:
    kinds: dict[str, Kind] = {"embedded": "embedded", "mosquitto": "mosquitto"}
    return kinds[request.param]


@slow
@pytest.mark.parametrize("plain", [False, True], ids=["TLS", "plain"])
def test_all_attacks_are_repelled(kind: Kind, tmp_path: Path, demo_event: MakeEvent, *, plain: bool) -> None:
    ledger = Ledger()
    wanted = OF_PASSWORDS if plain else [*attacks(SEED)]
    only = [name for name in wanted if kind == "embedded" or name not in OF_THE_DESK]
    with Target(tmp_path / "event", demo_event, kind, plain=plain, patience_s=PATIENCE_S) as target:
        run(target, ledger, SEED, only)
    assert ledger.fell == []
    assert ledger.counts.total() > 1_000


FOUND: Final = {
    "one_right_to_read_too_much": ("subscribe", topics.SUBSCRIBE, "table-1 listens to hm/demo/receipt/2"),
    "one_right_to_write_too_much": ("publish", topics.PUBLISH, "display writes hm/demo/order/2"),
    "a_session_id_that_anybody_knows": ("takeovers", wire.TAKEOVERS, "table-1 claims homologue-demo-scorer"),
    "a_route_without_its_guard": ("routes", routes.ROUTES, "GET /audit.csv by display"),
    "forms_without_a_token": ("forms", routes.FORGED, "POST /orders without a token"),
    "a_token_that_opens_pages": ("routes", routes.ROUTES, "GET /grid by token arbiter"),
    "one_count_of_misses_for_everybody": ("floods", floods.FLOODS, "210 devices without the code"),
    "as_many_connections_as_there_are": ("connections", floods.FLOODS, "1400 idle connections of one"),
}
"""For each fault: the attack that finds it, its group, and one of the attempts that succeed."""


def test_there_is_an_attack_for_every_fault() -> None:
    assert FOUND.keys() == FAULTS.keys()


@slow
@pytest.mark.parametrize("fault", FOUND)
def test_a_fault_is_found(fault: str, tmp_path: Path, demo_event: MakeEvent) -> None:
    ledger, (attack, group, what) = Ledger(), FOUND[fault]
    program = (sys.executable, "-m", "tests.attack.faulty", fault)
    with Target(tmp_path / "event", demo_event, "embedded", program=program) as target:
        attacks(SEED)[attack](target, ledger)
    assert {found for found, _ in ledger.fell} == {group}
    assert [words for _, words in ledger.fell if words.startswith(what)]


@pytest.fixture
def one_more_topic(monkeypatch: pytest.MonkeyPatch) -> str:
    """Add a topic to the program that the attacks do not know."""
    monkeypatch.setattr(topics, "TOPICS", (*TOPICS, replace(TOPICS[0], pattern="hm/{event}/table/{table}/new")))
    return "hm/demo/table/1/new"


def test_new_topics_are_attacked_automatically(one_more_topic: str) -> None:
    assert one_more_topic in topics.places()
    assert allowed.writer_of(one_more_topic) == allowed.NOBODY
    assert not any(allowed.may_read(user, one_more_topic) for user in ("scorer", "arbiter", "table-1"))


def test_a_route_missing_from_the_table_is_allowed_to_nobody() -> None:
    assert not allowed.may_take("head_arbiter", "/new")
