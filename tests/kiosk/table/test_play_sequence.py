"""A table's facts always follow one another (`broker/protocol/play_sequence.py`); any other order is noticed."""

from collections.abc import Iterable
from contextlib import suppress
from random import Random
from typing import Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from broker.protocol import (
    SEATS,
    Confirmed,
    Declared,
    Fact,
    Overridden,
    Restored,
    Result,
    RiichiEvent,
    RiichiRecorded,
    Ruled,
    Seat,
    Seated,
)
from broker.protocol.play_sequence import SEQUENCED_FACTS, OutOfSequence, TableSequence
from kiosk.journal import SequenceWatch, Unexpected
from kiosk.table import Event, NotNow, Phase
from kiosk.table.events import (
    ButtonHeld,
    ButtonPressed,
    CallToggled,
    ClaimWindowElapsed,
    DepositLaid,
    HandEntered,
    LastTakenBack,
    NextDealCalled,
    PlayEndedDrawn,
    Restarted,
    ResultRefused,
    SessionStopped,
)
from tests.kiosk.riichi_tables import AloneSitting, RiichiSitting, fu30
from tests.kiosk.table.days import LONGER, Move, Step, days, moves, walk
from tests.kiosk.tables import S, Sitting

ROUNDS: Final = tuple(play.round for play in LONGER.plays)


def followed(facts: Iterable[Fact], sessions: frozenset[int] = frozenset()) -> tuple[list[Fact], list[Fact]]:
    """Process a table's facts in order; return those that follow, and those that do not."""
    table, right, wrong = TableSequence(ROUNDS, sessions), list[Fact](), list[Fact]()
    for fact in facts:
        try:
            table.follow(fact)
            right.append(fact)
        except OutOfSequence:
            wrong.append(fact)
    return right, wrong


def told(steps: list[Step]) -> list[Fact]:
    """Return the facts that a table has reported about its plays."""
    return [fact for step in steps for fact in step.facts if isinstance(fact, SEQUENCED_FACTS)]


def results(facts: Iterable[Fact]) -> list[Fact]:
    """Return the results among facts."""
    return [fact for fact in facts if isinstance(fact, Result)]


FORWARD: Final = Move("forward", "east", 2 * S)


def disturbed(moves_at: list[tuple[int, Move]]) -> list[Step]:
    """Return a day with two complete plays, and something else in between."""
    day = [FORWARD] * 60
    for at, move in sorted(moves_at, key=lambda one: one[0], reverse=True):
        day.insert(at, move)
    return walk(day)


played_days = st.lists(st.tuples(st.integers(0, 50), moves), max_size=15).map(disturbed)
chance = st.randoms(use_true_random=False)


@given(days)
def test_each_fact_follows_whatever_happens_at_a_table(steps: list[Step]) -> None:
    assert followed(told(steps))[1] == []
    assert watched(steps) is None


def watched(steps: list[Step]) -> Unexpected | None:
    """Return what a table itself finds out of sequence on such a day."""
    watch = SequenceWatch()
    for step in steps:
        watch.take(step.after, step.facts)
    return watch.unexpected


@given(played_days)
def test_each_fact_follows_whatever_disturbs_two_plays(steps: list[Step]) -> None:
    assert followed(told(steps))[1] == []
    assert watched(steps) is None


@given(played_days, chance)
def test_a_table_notices_a_missing_step_until_another_play_has_its_result(steps: list[Step], random: Random) -> None:
    facts = told(steps)
    wanted = [at for at, fact in enumerate(facts) if is_needed(facts, at)]
    if wanted:
        at, watch, table = random.choice(wanted), SequenceWatch(), steps[-1].after
        ended = next(one for one in facts[at:] if isinstance(one, Result) and one.round == facts[at].round)
        watch.take(table, facts[:at] + facts[at + 1 : facts.index(ended) + 1])
        assert watch.unexpected is not None
        assert watch.unexpected.fact.round == ended.round
        watch.take(table, facts[facts.index(ended) + 1 :])
        later = [one for one in facts[facts.index(ended) :] if isinstance(one, Result) and one.round != ended.round]
        assert (watch.unexpected is None) == bool(later)


@given(played_days, chance)
def test_a_play_with_a_missing_step_has_no_result(steps: list[Step], random: Random) -> None:
    facts = told(steps)
    wanted = [at for at, fact in enumerate(facts) if is_needed(facts, at)]
    if wanted:
        at = random.choice(wanted)
        (ended,) = [one for one in facts[at:] if isinstance(one, Result) and one.round == facts[at].round][:1]
        right, wrong = followed(facts[:at] + facts[at + 1 :])
        assert (ended in right, ended in wrong) == (False, True)


def is_needed(facts: list[Fact], at: int) -> bool:
    """Return whether a fact is the last of its kind before the first result of its play, which needs it."""
    fact = facts[at]
    of_play = [one for one in facts[at + 1 :] if one.round == fact.round]
    until = next((end for end, one in enumerate(of_play) if isinstance(one, Result)), None)
    before = [*(one for one in facts[:at] if one.round == fact.round), *of_play[:until]]
    if until is None or any(isinstance(one, Result | Ruled | Overridden) for one in before):
        return False
    if isinstance(fact, Restored | Seated | Confirmed):
        return not any(isinstance(one, type(fact)) for one in of_play[:until])
    return isinstance(fact, Declared)


@given(played_days, chance)
def test_two_exchanged_facts_give_no_other_result(steps: list[Step], random: Random) -> None:
    facts = told(steps)
    if len(facts) > 1:
        at = random.randrange(len(facts) - 1)
        swapped = [*facts[:at], facts[at + 1], facts[at], *facts[at + 2 :]]
        right, wrong = followed(swapped)
        assert wrong or results(right) == results(facts)


@given(played_days, chance)
def test_an_inserted_fact_gives_no_other_result(steps: list[Step], random: Random) -> None:
    """Arbiters may rule at the table at any time; any other fact has its place, or is kept apart."""
    facts = told(steps)
    pool = [fact for fact in facts if not isinstance(fact, Ruled | Overridden)]
    if pool:
        at, more = random.randrange(len(facts) + 1), random.choice(pool)
        right, wrong = followed([*facts[:at], more, *facts[at:]])
        assert wrong or results(right) == results(facts)


# ---- riichi -------------------------------------------------------------------------------------

RIICHI_MOVES: Final = ("press", "hold", "due", "drawn", "value", "tenpai", "draw", "next", "refuse", "accept", "fault")
RIICHI_ODD: Final = ("back", "stop", "chombo", "abort", "call", "restart", "deposit")

riichi_moves = st.lists(
    st.tuples(st.sampled_from((*RIICHI_MOVES * 3, *RIICHI_ODD)), st.sampled_from(SEATS), st.integers(1, 5)), max_size=80
)


def riichi_event(sitting: Sitting, kind: str, seat: Seat, han: int) -> Event | None:
    """Return a random event at a table that plays riichi; None if none is possible."""
    now, declared = sitting.wait(), [one.seat for one in sitting.table.declarations]
    losers = [one for one in SEATS if one not in declared]
    wins = {one: fu30(han) for one in declared}
    ron = RiichiEvent(kind="ron", wins=wins, loser=losers[0] if losers else None)
    hand = ron if len(declared) > 1 or han % 2 else RiichiEvent(kind="tsumo", wins=wins)
    events: dict[str, Event | None] = {
        "press": ButtonPressed(at=now, seat=seat),
        "accept": ButtonPressed(at=now, seat=next((one for one in SEATS if one not in sitting.table.agreed), seat)),
        "hold": ButtonHeld(at=now, seat=seat),
        "due": ClaimWindowElapsed(at=max(now, sitting.table.closes_at or now)),
        "drawn": PlayEndedDrawn(at=now),
        "value": HandEntered(at=now, told=hand),
        "tenpai": ButtonPressed(at=now, seat=seat),
        "draw": HandEntered(at=now, told=RiichiEvent(kind="draw")),
        "next": NextDealCalled(at=now),
        "refuse": ResultRefused(at=now),
        "fault": HandEntered(at=now, told=RiichiEvent(kind="minor_fault", offenders=(seat,))),
        "chombo": HandEntered(at=now, told=RiichiEvent(kind="chombo", offenders=(seat,))),
        "abort": HandEntered(at=now, told=RiichiEvent(kind="abort", reason="four_kans")),
        "back": LastTakenBack(at=now),
        "stop": SessionStopped(at=now),
        "call": CallToggled(at=now, open=not sitting.table.calling),
        "restart": Restarted(at=now),
        "deposit": DepositLaid(at=now, seat=seat, laid=bool(han % 2)),
    }
    return events[kind]


def live(sitting: Sitting, done: list[tuple[str, Seat, int]]) -> list[Fact]:
    """Run a day at a riichi table that mostly makes progress; return its facts."""
    for kind, seat, han in done:
        phase = sitting.table.phase
        wanted = {Phase.CLAIMING: "due", Phase.DECLARED: "value", Phase.ACCEPTING: "accept", Phase.RECORDED: "next"}
        for what in (kind, wanted.get(phase, kind)) if han > 1 else (kind,):
            if event := riichi_event(sitting, what, seat, han):
                with suppress(NotNow):
                    sitting.take(event)
    return [fact for fact in sitting.facts if isinstance(fact, SEQUENCED_FACTS)]


@given(riichi_moves)
def test_each_fact_follows_whatever_happens_in_a_riichi_session(done: list[tuple[str, Seat, int]]) -> None:
    sitting = RiichiSitting()
    sitting.begin()
    facts = live(sitting, done)
    assert followed(facts, frozenset({1}))[1] == []
    watch = SequenceWatch()
    watch.take(sitting.table, facts)
    assert watch.unexpected is None


@given(riichi_moves)
def test_each_fact_follows_whatever_happens_to_planned_hands_of_riichi(done: list[tuple[str, Seat, int]]) -> None:
    sitting = AloneSitting()
    sitting.begin()
    assert followed(live(sitting, done))[1] == []


def test_a_result_names_as_winners_those_who_declared_on_the_earliest_tile() -> None:
    sitting = Sitting()
    sitting.declare("west", "south")
    sitting.value("east", on={"west": "east", "south": "south"}, west=12)
    sitting.press(*SEATS)
    *before, result = [fact for fact in sitting.facts if isinstance(fact, SEQUENCED_FACTS)]
    assert isinstance(result, Result)
    on: dict[Seat, Seat] = {"west": "east", "south": "south"}
    others = (
        changed(result, declared_on=None),
        changed(result, declared_on={"west": "east"}),
        changed(result, declared_on={**on, "north": "east"}),
        changed(result, declared_on={"west": "north", "south": "south"}),
        changed(result, winners={"south": 12}, win="self_drawn", discarder=None),
    )
    assert followed([*before, result]) == ([*before, result], [])
    for other in others:
        assert followed([*before, other])[1] == [other]


@pytest.mark.parametrize("kind", [RiichiSitting, AloneSitting])
def test_a_triple_ron_that_aborts_a_hand_follows(kind: type[RiichiSitting] | type[AloneSitting]) -> None:
    sitting = kind()
    sitting.begin()
    won: tuple[Seat, ...] = ("east", "west", "north")
    sitting.declare(*won)
    told = RiichiEvent(kind="ron", wins=dict.fromkeys(won, fu30(3)), loser="south")
    on: dict[Seat, Seat] = dict.fromkeys(won, "south")
    sitting.take(HandEntered(at=sitting.wait(), told=told, declared_on=on))
    sitting.press(*SEATS)
    facts = [fact for fact in sitting.facts if isinstance(fact, SEQUENCED_FACTS)]
    assert isinstance(facts[-1], Result | RiichiRecorded)
    assert followed(facts, frozenset({1} if kind is RiichiSitting else ()))[1] == []


@pytest.mark.parametrize("kind", [RiichiSitting, AloneSitting])
def test_a_riichi_ending_names_as_winners_those_who_declared_on_the_earliest_tile(
    kind: type[RiichiSitting] | type[AloneSitting],
) -> None:
    sitting = kind()
    sitting.begin()
    sitting.declare("west", "south")
    on: dict[Seat, Seat] = {"west": "east", "south": "south"}
    told = RiichiEvent(kind="ron", wins={"west": fu30(3)}, loser="east")
    sitting.take(HandEntered(at=sitting.wait(), told=told, declared_on=on))
    sitting.press(*SEATS)
    *before, ending = [fact for fact in sitting.facts if isinstance(fact, SEQUENCED_FACTS)]
    assert isinstance(ending, Result | RiichiRecorded)
    assert ending.declared_on == on
    sessions = frozenset({1} if kind is RiichiSitting else ())
    assert followed([*before, ending], sessions) == ([*before, ending], [])
    for tiles in (None, {"west": "east"}, {**on, "north": "east"}, {"west": "north", "south": "south"}):
        other = changed(ending, declared_on=tiles)
        assert followed([*before, other], sessions)[1] == [other]


def test_in_journals_from_before_the_question_about_tiles_each_declaration_is_valued() -> None:
    sitting = RiichiSitting()
    sitting.begin()
    sitting.declare("west", "south")
    old = msgspec.json.decode(
        msgspec.json.encode(
            {
                "type": "hand_told",
                "at": sitting.wait(),
                "told": {
                    "kind": "ron",
                    "wins": {"west": {"han": 5}, "south": {"han": 5}},
                    "loser": "east",
                },
            }
        ),
        type=HandEntered,
    )
    sitting.take(old)
    sitting.press(*SEATS)
    fact = sitting.facts[-1]
    assert isinstance(fact, RiichiRecorded)
    assert (set(fact.event.wins), fact.declared_on) == ({"west", "south"}, None)
    assert followed(sitting.facts, frozenset({1}))[1] == []
