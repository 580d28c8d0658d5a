"""People at a simulated riichi table: the session becomes what their script says."""

import random
import time
from typing import cast

import msgspec
import pytest

from broker.protocol import AT_THE_TABLE, SEATS, RiichiEvent, RiichiRecorded, RiichiWin, Script, ScriptedPlay, Seat
from broker.sim.demo import draw_hands
from broker.sim.demo_audit import evening_problems
from kiosk.arbiter_pin import SealedTry
from kiosk.input.controls import CHECK_NS
from kiosk.sim import People, RiichiPeople
from kiosk.table import Phase, Table
from tests.kiosk.keyed import Keyed, NoPin
from tests.kiosk.riichi_tables import RiichiSitting, session_plan
from tests.kiosk.tables import S, Sitting, play
from vision.sim.table import SimulatedTable

FU30 = RiichiWin(han=3, fu=30)

HANDS = (
    RiichiEvent(kind="ron", wins={"south": FU30}, loser="west"),
    RiichiEvent(kind="tsumo", wins={"south": RiichiWin(han=5)}, riichi=("south", "west")),
    RiichiEvent(kind="draw", tenpai=("east", "north"), riichi=("east",)),
    RiichiEvent(kind="draw"),
    RiichiEvent(kind="abort", reason="four_kans"),
    RiichiEvent(kind="ron", wins={"east": FU30, "west": RiichiWin(yakuman=1)}, loser="north", riichi=("north",)),
)


class Fingers:
    """Fingers that press at the sitting itself."""

    def __init__(self, at: Keyed[RiichiSitting] | Keyed[Sitting]) -> None:
        self._at = at

    def press(self, seat: Seat) -> None:
        """Press one button."""
        self._at.sitting.press(seat)


def played(
    hands: tuple[RiichiEvent, ...], profile: str = "riichi-montreal", now: int | None = None
) -> list[RiichiRecorded]:
    """Let people play a session, at a table whose clock begins at `now` (ns); return its entries."""
    at = Keyed(RiichiSitting(session_plan(profile=profile)))
    at.sitting.now = at.sitting.now if now is None else now
    people = RiichiPeople(
        Script(hands=hands, reaction_ms=0), Fingers(at), cast("SimulatedTable", None), at.type, "table 1"
    )
    for _ in range(40 * len(hands)):
        table: Table = at.sitting.table
        if table.phase is Phase.FINISHED:
            break
        if table.phase is Phase.CLAIMING:
            at.sitting.close_window()
        people.see(table)
        people.step(at.sitting.table)
    assert at.sitting.table.phase is Phase.FINISHED
    return [fact for fact in at.sitting.facts if isinstance(fact, RiichiRecorded)]


def test_the_session_becomes_what_the_script_says_and_then_ends() -> None:
    assert [entry.event for entry in played(HANDS)] == [*HANDS, RiichiEvent(kind="end")]


def test_people_follow_only_the_tables_clock_which_may_be_hours_ahead_of_the_machines() -> None:
    later = time.monotonic_ns() + 10 * 3600 * S
    assert len(played(HANDS, now=later)) == len(HANDS) + 1


@pytest.mark.parametrize(("seed", "profile"), [(1, "riichi-montreal"), (2, "riichi-montreal"), (3, "riichi-basic")])
def test_an_evenings_hands_can_be_played_and_their_payments_are_recomputed(seed: int, profile: str) -> None:
    hands = draw_hands(6, random.Random(seed))
    entries = played(hands, profile)
    assert [entry.event for entry in entries[:-1]] == [*hands[: len(entries) - 1]]
    journal = [{**msgspec.to_builtins(entry), "type": "riichi_hand", "table": 1} for entry in entries]
    assert [*evening_problems(journal, {1: profile})] == []
    paid = max(journal, key=lambda fact: max(fact["deltas"].values()))
    paid["deltas"] = dict.fromkeys(SEATS, 0)
    first = next(evening_problems(journal, {1: profile}))
    assert first.startswith(f"entry {paid['entry']} of table 1 pays")
    assert next(evening_problems(journal[:-1], {1: profile})) == "table 1 has not ended its session"


class SlowScorer(NoPin):
    """A scorer that has been asked about a PIN and has not answered yet."""

    known = True

    def __init__(self) -> None:
        self.given: list[str] = []

    def submit(self, pin: str) -> SealedTry:
        """Accept a typed PIN."""
        self.given.append(pin)
        return SealedTry(f"{len(self.given):032x}", "sealed", sent=True)


def test_a_pin_that_is_checked_late_is_not_withdrawn_by_typing_it_again() -> None:
    scorer, sitting = SlowScorer(), Sitting(play(1))
    at = Keyed(sitting, scorer)
    course = ScriptedPlay(round=1, win="draw", false_hu={"east": 8})
    people = People(
        Script(plays=(course,), reaction_ms=0, pin="2468"), Fingers(at), cast("SimulatedTable", None), at.type, "1"
    )
    sitting.declare("east")
    at.keys.follow(sitting.table)
    for _ in range(2):  # on a busy machine, nothing happens at once
        people.see(sitting.table)
        people.step(sitting.table)
    at.keys.idle(sitting.table, sitting.wait(CHECK_NS))  # then the table goes on without an answer
    at.keys.follow(sitting.table)
    assert (scorer.given, sitting.table.arbiter) == (["2468"], AT_THE_TABLE)
    people.step(sitting.table)
    assert {seat: fine.imp for seat, fine in sitting.table.fines.items()} == {"east": 8}
