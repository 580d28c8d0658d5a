"""Facts that do not follow are kept apart, and count for nothing until the head arbiter decides."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.event import BookedPlay, Event
from broker.protocol import (
    Call,
    Declared,
    Discarded,
    Fact,
    Fine,
    LogMessage,
    PublicTraveller,
    Result,
    Ruled,
    Seated,
    TakenOver,
    Undo,
    Void,
)
from broker.protocol.play_sequence import TableSequence
from broker.rulings import RulingAuthor, RulingDraft
from broker.scorer import EventState
from broker.scorer.quarantine import ApartDecisions, Quarantine
from broker.store import SqliteJournal, copy_journal
from tests.broker.scorer.hall import Hall, make_hall, open_journal
from tests.broker.scorer.small import (
    OTHER_FORM,
    OUTCOMES,
    deals,
    declared,
    event,
    fact,
    log,
    plan,
    registry,
    restored,
    result,
    steps,
    whole_event,
    whole_play,
)
from tests.kiosk.table.days import LONGER, Step, days

HEAD = RulingAuthor("Marta Head", "marta", "head_arbiter")


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[SqliteJournal]:
    """A store."""
    with open_journal(tmp_path) as opened:
        yield opened


@pytest.fixture
def hall(tmp_path: Path, journal: SqliteJournal) -> Hall:
    """A running scorer."""
    return make_hall(tmp_path, journal)


def decide(hall: Hall, decision: TakenOver | Discarded | Undo | Void, table: int = 1, round_: int = 4) -> str:
    """Have the head arbiter decide on a play as seen now. Return the ruling's id."""
    room = hall.scorer.rulings.room
    id_ = f"ruling-{len(room.book.entries)}"
    place = {} if isinstance(decision, Undo) else {"table": table, "round": round_}
    draft = RulingDraft(
        id=id_, after=room.last_message_id((table, round_)), decision=decision, reason="looked at it", **place
    )
    looked_at = hall.scorer.rulings.effects(draft, HEAD).fingerprint
    hall.scorer.rulings.give(draft, HEAD, looked_at)
    return id_


def public_deals(hall: Hall) -> set[int]:
    """Return the deals of which plays were published in public."""
    said = [one for one in hall.ear.heard("") if isinstance(one, PublicTraveller)]
    return {one.deal for one in said if one.plays}


def apart(hall: Hall, table: int = 1, round_: int = 4) -> list[str]:
    """Return why the facts of a play are kept apart, by code."""
    return [one.code for one in hall.scorer.state.undecided((table, round_))]


def test_results_without_a_play_do_not_count_and_make_no_deal_public(
    hall: Hall, tmp_path: Path, journal: SqliteJournal
) -> None:
    deal = event().bookings[1, 4].deal
    hall.hear(*(one for table in (2, 3, 4) for one in played_with(table, deal)))
    assert public_deals(hall) == set()
    hall.ear.forget()
    hall.hear(fact(1, 1, result(1, 4)))
    assert hall.ear.told("receipt/1")["upto"] == 1
    assert hall.alerts() == [("play_out_of_turn", 1)]
    assert apart(hall) == ["play_out_of_turn"]
    assert (hall.scorer.state.plays_at(1), public_deals(hall)) == (0, set())
    assert (1, 4) not in hall.scorer.snapshot.results

    again = make_hall(tmp_path, journal)
    assert (apart(again), again.scorer.state.plays_at(1)) == (["play_out_of_turn"], 0)
    assert ("play_out_of_turn", 1) in [(one.code, one.table) for one in again.scorer.feed.current.alerts]


def played_with(table: int, deal: int) -> list[LogMessage]:
    """Return what a table reports of all its plays up to the one with a deal."""
    said = [one for round_ in range(1, 5) for one in steps(table, round_)]
    last = max(at for at, one in enumerate(said) if one.deal == deal and isinstance(one, Result))
    return log(table, *said[: last + 1])


def test_the_head_arbiter_can_admit_facts_kept_apart_and_withdraw_that(
    hall: Hall, tmp_path: Path, journal: SqliteJournal
) -> None:
    forged_result = fact(1, 1, result(1, 4))
    hall.hear(forged_result)
    taken = decide(hall, TakenOver(facts=(forged_result.id,), replaces=None))
    counts = hall.scorer.state.play((1, 4))
    assert (counts.result, counts.points, hall.scorer.state.plays_at(1)) == (
        forged_result.id,
        result(1, 4).points,
        1,
    )
    assert (apart(hall), hall.scorer.state.recorded(1)) == ([], (4,))
    assert make_hall(tmp_path, journal).scorer.state.play((1, 4)) == counts

    undone = decide(hall, Undo(ruling=taken))
    assert (hall.scorer.state.play((1, 4)).points, hall.scorer.state.plays_at(1)) == (None, 0)
    assert (apart(hall), hall.scorer.state.recorded(1)) == (["play_out_of_turn"], ())
    assert make_hall(tmp_path, journal).scorer.state.play((1, 4)).points is None

    decide(hall, Undo(ruling=undone))
    assert hall.scorer.state.play((1, 4)).points == result(1, 4).points


def test_an_admitted_play_is_compared_in_the_form_that_its_table_restored(
    hall: Hall, tmp_path: Path, journal: SqliteJournal
) -> None:
    hall.hear(*log(1, restored(1, 4, OTHER_FORM), *steps(1, 4)[1:]))
    (play,) = hall.scorer.state.apart_plays()
    taken = decide(hall, TakenOver(facts=play.ids, replaces=None))
    assert [group.form for group in hall.scorer.state.groups()] == [OTHER_FORM]
    assert [group.form for group in make_hall(tmp_path, journal).scorer.state.groups()] == [OTHER_FORM]
    decide(hall, Undo(ruling=taken))
    assert hall.scorer.state.play((1, 4)).form == event().form(play.deal)


def test_discarded_facts_never_count_but_the_play_does_in_its_turn(hall: Hall) -> None:
    forged_result = fact(1, 1, result(1, 4, OUTCOMES[0]))
    hall.hear(forged_result)
    decide(hall, Discarded(facts=(forged_result.id,)))
    assert (apart(hall), hall.scorer.state.play((1, 4)).settled) == ([], False)
    said = [one for round_ in range(1, 5) for one in steps(1, round_)]
    hall.hear(*log(1, *said, first=2))
    assert hall.scorer.state.plays_at(1) == 4
    assert hall.scorer.state.play((1, 4)).points == result(1, 4).points


def test_a_fact_after_a_missing_one_waits_and_counts_once_that_arrives(hall: Hall) -> None:
    walls, seated, *rest = whole_play(1)
    hall.hear(walls, *rest)
    assert (apart(hall, round_=1), hall.scorer.state.plays_at(1)) == (["play_waits"] * len(rest), 0)
    assert hall.alerts() == [("gap", 1)]
    hall.hear(seated)
    assert (apart(hall, round_=1), hall.scorer.state.plays_at(1)) == ([], 1)


def test_a_play_found_out_of_turn_by_a_ruling_makes_an_alert_even_after_a_preview(hall: Hall) -> None:
    waits, discarded = fact(1, 2, result(1, 4)), fact(1, 3, result(1, 3))
    hall.hear(waits, discarded)
    assert (apart(hall), ("play_out_of_turn", 1) in hall.alerts()) == (["play_waits"], False)
    decide(hall, Discarded(facts=(discarded.id,)), round_=3)
    hall.connect(up=True)
    assert (apart(hall), ("play_out_of_turn", 1) in hall.alerts()) == (["play_out_of_turn"], True)


def test_a_call_counts_at_once_whatever_is_missing(hall: Hall) -> None:
    hall.hear(fact(1, 7, Call(round=1, deal=event().bookings[1, 1].deal, open=True)))
    assert 1 in hall.scorer.state.tables.times.calling


def test_the_number_of_a_refused_fact_is_not_waited_for(hall: Hall, tmp_path: Path, journal: SqliteJournal) -> None:
    wrong = fact(1, 1, replace(restored(1), deal=result(1, 4).deal))
    hall.hear(*whole_play(1, first=2), wrong)
    assert hall.scorer.state.plays_at(1) == 1
    assert make_hall(tmp_path, journal).scorer.state.plays_at(1) == 1


@pytest.mark.parametrize("lost", range(1, 6))
def test_an_unreadable_fact_affects_its_own_play_and_none_after_it(lost: int) -> None:
    room, said = EventState(event()), log(1, *steps(1), *steps(1, 2), *steps(1, 3))
    room.load([one for one in said if one.seq != lost], lost=[(1, lost)])
    assert [room.play((1, round_)).settled for round_ in (1, 2, 3)] == [False, True, True]
    room.apply(said[lost - 1])
    assert [room.play((1, round_)).settled for round_ in (1, 2, 3)] == [True, True, True]


def _watch(monkeypatch: pytest.MonkeyPatch, name: str, judged: list[Fact]) -> None:
    """Record the facts that are given to a method of all sequences."""
    judge = getattr(TableSequence, name)

    def watched(self: TableSequence, fact: Fact) -> None:
        judged.append(fact)
        judge(self, fact)

    monkeypatch.setattr(TableSequence, name, watched)


def test_late_facts_of_a_batch_have_their_table_judged_again_once(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that was replaced by an older copy gets hundreds of resent facts of each table, and later ones."""
    said = log(1, *(one for round_ in range(1, 5) for one in steps(1, round_)))
    lost = [one for one in said if one.fact.round in (2, 3)]
    for one in lost:
        hall.scorer.state.quarantine.mark_lost(1, one.seq)
    hall.hear(*(one for one in said if one not in lost))
    assert hall.scorer.state.plays_at(1) == 2
    judged = list[Fact]()
    _watch(monkeypatch, "follow", judged)
    _watch(monkeypatch, "add", judged)
    hall.hear(*lost)
    assert hall.scorer.state.plays_at(1) == 4
    assert len(judged) == len(said)


def test_a_fact_refused_from_another_device_is_waited_for(hall: Hall) -> None:
    hall.scorer.state.pass_over(2, 1)
    hall.hear(*whole_play(1, first=2))
    assert hall.scorer.state.plays_at(1) == 0


def test_a_play_before_its_turn_counts_once_an_arbiter_brought_it_forward(hall: Hall) -> None:
    hall.hear(*whole_play(1, 4))
    assert set(apart(hall)) == {"play_out_of_turn"}
    hall.hear(*whole_play(2, 4, forward=True))
    assert (hall.scorer.state.plays_at(1), hall.scorer.state.plays_at(2)) == (0, 1)


def test_a_play_counts_if_the_desk_settled_those_before_it(hall: Hall) -> None:
    decide(hall, Void(), round_=1)
    hall.hear(*whole_play(1, 2))
    assert hall.scorer.state.play((1, 2)).points == result(1, 2).points


def test_a_ruling_on_the_previous_play_lets_a_play_out_of_turn_count(hall: Hall) -> None:
    hall.hear(*whole_play(1, 2))
    assert hall.scorer.state.plays_at(1) == 0
    decide(hall, Void(), round_=1)
    assert hall.scorer.state.plays_at(1) == 2
    assert hall.scorer.state.play((1, 2)).points == result(1, 2).points


def test_a_ruling_at_a_table_kept_apart_counts_as_long_as_it_is_admitted(hall: Hall) -> None:
    void = Ruled(round=4, deal=result(1, 4).deal, decision=Void(), author="Tao", role="table_arbiter", reason="why")
    ruled = fact(1, 1, void)
    hall.hear(ruled)
    assert (apart(hall), hall.scorer.state.play((1, 4)).settled) == (["play_out_of_turn"], False)
    taken = decide(hall, TakenOver(facts=(ruled.id,), replaces=None))
    assert hall.scorer.state.play((1, 4)).settled
    decide(hall, Undo(ruling=taken))
    assert not hall.scorer.state.play((1, 4)).settled


def test_facts_from_before_plays_were_judged_still_count() -> None:
    room = EventState(event())
    room.load([fact(1, 3, result(1, 4)), fact(2, 1, result(2))], judged_from=None)
    assert (room.plays_at(1), room.plays_at(2)) == (1, 1)


def test_a_store_from_before_plays_were_judged_still_counts_and_new_facts_are_judged(
    tmp_path: Path, journal: SqliteJournal
) -> None:
    with journal.commit():
        journal.append(fact(2, 1, result(2)), 0)
    hall = make_hall(tmp_path, journal)
    hall.hear(fact(1, 1, result(1)))
    for one in (hall, make_hall(tmp_path, journal)):
        assert (one.scorer.state.plays_at(2), one.scorer.state.plays_at(1)) == (1, 0)


def test_a_copy_of_a_store_knows_since_when_plays_are_judged(tmp_path: Path, journal: SqliteJournal) -> None:
    make_hall(tmp_path, journal).hear(fact(1, 1, result(1)))
    (tmp_path / "copy").mkdir()
    with open_journal(tmp_path / "copy") as copy:
        copy_journal(journal, copy)
        assert make_hall(tmp_path / "copy", copy).scorer.state.plays_at(1) == 0


def test_a_play_that_began_before_plays_were_judged_continues() -> None:
    before, after = EventState(event()), whole_play(1)[2:]
    before.load(whole_play(1)[:2], judged_from=2)
    for message in after:
        before.apply(message)
    assert before.plays_at(1) == 1


@given(st.randoms(use_true_random=False))
def test_all_plays_count_in_whatever_order_and_however_often_their_facts_arrive(random: Random) -> None:
    room, messages = EventState(event()), whole_event()
    random.shuffle(messages)
    for message in messages:
        room.apply(message)
    assert (room.plays_in, room.apart_plays()) == (16, [])


STEPS = steps(1, 1, OUTCOMES[3], {"west": Fine(imp=8, reason="false hu")})


@pytest.mark.parametrize("left_out", range(5))
def test_the_result_of_a_play_with_a_missing_step_does_not_count(left_out: int) -> None:
    said = [one for at, one in enumerate(STEPS) if at != left_out]
    room = EventState(event())
    for message in log(1, *said):
        room.apply(message)
    assert (room.plays_in, [(one.table, one.round) for one in room.apart_plays()]) == (0, [(1, 1)])


@pytest.mark.parametrize("at", range(5))
def test_the_result_of_a_play_with_steps_in_the_wrong_order_does_not_count(at: int) -> None:
    said = [*STEPS]
    said[at], said[at + 1] = said[at + 1], said[at]
    room = EventState(event())
    for message in log(1, *said):
        room.apply(message)
    assert (room.plays_in, [(one.table, one.round) for one in room.apart_plays()]) == (0, [(1, 1)])


EAST, SOUTH, WEST, NORTH = result(1).players.values()
ELSEWHERE = Seated(round=1, deal=result(1).deal, players={"east": SOUTH, "south": EAST, "west": WEST, "north": NORTH})
WRONG_STEPS = [
    (3, declared(1, 1, "east", "north"), "play_winners_differ"),
    (3, declared(1, 1, "south"), "play_winners_differ"),
    (4, result(1, 1, OUTCOMES[0]), "play_winners_differ"),
    (4, result(1, 1, OUTCOMES[2]), "play_winners_differ"),
    (1, ELSEWHERE, "play_seats_differ"),
]


@pytest.mark.parametrize(("at", "said", "code"), WRONG_STEPS)
def test_a_result_that_contradicts_earlier_facts_is_kept_apart(
    at: int, said: Declared | Result | Seated, code: str
) -> None:
    told = [*steps(1)]
    told[at] = said
    room = EventState(event())
    for message in log(1, *told):
        room.apply(message)
    assert [(one.code, type(one.message.fact)) for one in room.undecided((1, 1))] == [(code, Result)]


@cache
def kiosk_event() -> Event:
    """Return the event of the table whose random days are in `tests/kiosk/table/days.py`."""
    plays = tuple(
        BookedPlay(one.round, 1, one.deal, {seat: player.id for seat, player in one.players.items()})
        for one in LONGER.plays
    )
    return Event(replace(plan(), players=tuple(LONGER.plays[0].players.values()), plays=plays), deals(), registry())


@given(days, st.randoms(use_true_random=False))
def test_no_fact_of_a_real_table_stays_apart_in_whatever_order_they_arrive(steps: list[Step], random: Random) -> None:
    messages = log(1, *(one for step in steps for one in step.facts))
    quarantine = Quarantine(kiosk_event(), lambda _key: False, lambda _table: ApartDecisions())
    arriving = random.sample(messages, len(messages))
    counted = [one for message in arriving for one in quarantine.take(message) if isinstance(one, LogMessage)]
    assert (quarantine.ids(), sorted(counted, key=lambda one: one.seq)) == (set(), messages)
