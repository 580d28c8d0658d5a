"""The judge of `make chaos` finds each kind of damage that is done to a correct event."""

from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from broker.protocol import SEATS, ScriptedPlay
from broker.sim.demo_audit import points_of
from tests.chaos.arbiter import DoneRuling
from tests.chaos.event import ChaosEvent, expected
from tests.chaos.ledger import LedgerReader
from tests.chaos.oracle import Ranks, Recount, StoredEvent, Verdict, judge
from tests.chaos.watching import Shown

ACCEPTED = 1_000_000_000
"""When the players of the first table began to accept; those of the second table did one second later."""

FINE = {"id": "ruling-1", "table": 1, "round": 1, "decision": {"kind": "fine", "takes": {"p1-east": 8}}}


@dataclass
class Evening:
    """Two tables that have played deal 1, table 2 with a false hu, and what is known of the event afterwards."""

    event: ChaosEvent
    stored: StoredEvent
    ledger: LedgerReader
    done: list[DoneRuling]
    shown: list[Shown]
    said: dict[str, Ranks] = field(default_factory=dict)

    def verdict(self) -> Verdict:
        return judge(self.event, self.stored, self.ledger, self.done, self.shown, self.said)


@pytest.fixture
def evening() -> Evening:
    one = ScriptedPlay(1, "discard", {"east": 18}, "north")
    other = ScriptedPlay(1, "draw", {}, None, {"west": 8})
    event = ChaosEvent(Path(), 2, {1: [one], 2: [other]}, {(1, 1): 1, (2, 1): 1})
    results = []
    for table in (1, 2):
        result: dict[str, Any] = expected(event, (table, 1)) | {
            "table": table,
            "at": 0,
            "id": f"result-{table}",
            "device": "first",
        }
        result["fines"] = {seat: {"imp": imp, "reason": "x"} for seat, imp in result["fines"].items()}
        results.append(result | {"points": points_of(result)})
    ledger = LedgerReader()
    ledger.accepting = {(1, 1): ACCEPTED, (2, 1): 2 * ACCEPTED}
    stored = StoredEvent(results, [FINE], Counter())
    counts = dict.fromkeys((f"p{table}-{seat}" for table in (1, 2) for seat in SEATS), 1)
    shown = [
        Shown(3 * ACCEPTED, "deal/1.json", 1, ((1, 1), (2, 1)), {}),
        Shown(3 * ACCEPTED, "places", None, (), counts),
    ]
    made = Evening(event, stored, ledger, [DoneRuling("ruling-1", "fine", {})], shown)
    made.said = {"page": Recount(event, stored).ranks()}
    return made


def test_a_correct_event_has_no_findings(evening: Evening) -> None:
    assert evening.verdict().problems == []


def test_results_repeated_by_another_device_do_not_count(evening: Evening) -> None:
    again = deepcopy(evening.stored.results[0]) | {"device": "second", "winners": {"east": 88}}
    evening.stored.results.append(again)
    assert evening.verdict().problems == []


def test_imps_fines_and_places_follow_the_rule_book(evening: Evening) -> None:
    ranks = Recount(evening.event, evening.stored).ranks()
    assert ranks["p1-east"] == (5, 5 - 8)
    assert ranks["p1-north"] == (6, -4)


HARM: dict[str, Callable[[Evening], object]] = {
    "lost": lambda one: one.stored.results.pop(),
    "doubled": lambda one: one.stored.results.append(deepcopy(one.stored.results[0])),
    "altered": lambda one: one.stored.results[0].update(winners={"east": 19}),
    "early": lambda one: one.shown.append(Shown(2 * ACCEPTED - 1, "deal/1.json", 1, ((1, 1),), {})),
    "others": lambda one: one.said["page"].update({"p1-east": (1, 4)}),
}


@pytest.mark.parametrize("kind", HARM)
def test_each_kind_of_damage_is_found_and_named(evening: Evening, kind: str) -> None:
    HARM[kind](evening)
    verdict = evening.verdict()
    assert [name for name in HARM if getattr(verdict, name)] == [kind]


FURTHER: dict[str, tuple[str, Callable[[Evening], object]]] = {
    "a ruling that was called done is gone": ("lost", lambda one: one.stored.rulings.clear()),
    "a result of a play that nobody planned": (
        "doubled",
        lambda one: one.stored.results.append(one.stored.results[0] | {"round": 7}),
    ),
    "points that are not those of the outcome": (
        "altered",
        lambda one: one.stored.results[0]["points"].update(east=0),
    ),
    "a play that counts in public standings too early": (
        "early",
        lambda one: one.shown.append(Shown(2 * ACCEPTED - 1, "places", None, (), {"p1-east": 1})),
    ),
    "a play that was public and never played to its end": (
        "early",
        lambda one: one.ledger.accepting.pop((2, 1)),
    ),
}


@pytest.mark.parametrize("harm", FURTHER)
def test_damage_in_combination_is_found(evening: Evening, harm: str) -> None:
    kind, do = FURTHER[harm]
    do(evening)
    assert getattr(evening.verdict(), kind)


def test_a_voided_play_counts_again_after_a_correction(evening: Evening) -> None:
    void = {"id": "ruling-2", "table": 1, "round": 1, "decision": {"kind": "void"}}
    outcome = {"win": "discard", "winners": {"east": 18}, "discarder": "north"}
    correct = {"id": "ruling-3", "table": 1, "round": 1, "decision": {"kind": "correct"} | outcome}
    ranks = [
        Recount(evening.event, StoredEvent(evening.stored.results, [FINE, *rulings], Counter())).ranks()
        for rulings in ([void], [void, correct])
    ]
    assert ranks[0]["p1-east"] == (7, -8)
    assert ranks[1] == evening.said["page"]


def test_undone_rulings_do_not_count(evening: Evening) -> None:
    before = Recount(evening.event, StoredEvent(evening.stored.results, [], Counter())).ranks()
    undo = {"id": "ruling-2", "decision": {"kind": "undo", "ruling": "ruling-1"}}
    again = {"id": "ruling-3", "decision": {"kind": "undo", "ruling": "ruling-2"}}
    taken_back = Recount(evening.event, StoredEvent(evening.stored.results, [FINE, undo], Counter())).ranks()
    restored = Recount(evening.event, StoredEvent(evening.stored.results, [FINE, undo, again], Counter())).ranks()
    assert (taken_back, restored) == (before, evening.said["page"])
