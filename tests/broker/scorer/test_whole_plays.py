"""Loading a journal play by play leads to the same state as loading it fact by fact."""

import sys
from collections.abc import Iterable, Iterator
from operator import itemgetter
from random import Random
from types import FrameType
from typing import Final, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import json
from msgspec.structs import replace

from broker.protocol import (
    Call,
    Confirmed,
    Discarded,
    Fact,
    Fine,
    FineRuled,
    LogMessage,
    PlanChanged,
    Reopen,
    Restored,
    Result,
    Ruling,
    Seat,
    Seated,
    SeatedAnew,
    TakenOver,
    TilesLaid,
    Undo,
    Void,
    encode,
)
from broker.read_ahead import Rows
from broker.rulings import PlayKey
from broker.scorer import EventState
from broker.scorer.intake import Intake
from broker.scorer.quarantine import WAITS
from broker.scorer.stored_event import JournalContent, JournalLoader, PastConcern, replay_journal
from broker.scorer.whole_plays import FactsByNumber, StoredRows, WholePlay
from broker.store import ALTERED, WRONG_POINTS, DeskDecision, Fault, Recorded
from tests.broker.rulings.ruled import ruling
from tests.broker.scorer.small import OTHER_FORM, declared, event, fact, log, sent, steps, whole_log
from tests.examples import COSTLY

MINUTE: Final = 60_000

SOME: Final = 11
"""Rows that are read together. Plays extend across several reads."""

OFTEN: Final = settings(max_examples=max(200, settings().max_examples))
"""With few journals, no ruling concerns a whole play, and no play is out of turn."""


class Row(NamedTuple):
    """A message of a journal, and when it was accepted."""

    message: Recorded
    at: int


def content_of(rows: list[Row], *, judged_from: int | None = 0) -> JournalContent:
    """Return the content of a journal with these messages."""
    bodies = [(height, row.at, encode(row.message)) for height, row in enumerate(rows, 1)]
    parts = (Rows.of(bodies[:SOME]), Rows.of(bodies[SOME:])) if len(bodies) > SOME else (Rows.of(bodies),)
    return JournalLoader(event(), judged_from).content(parts)._replace(judged_from=judged_from)


def fact_by_fact(rows: list[Row], *, judged_from: int | None = 0) -> JournalContent:
    """Return the same content without any whole plays."""
    return JournalContent([row.message for row in rows], [row.at for row in rows], judged_from, {}, (), ())


def loaded(content: JournalContent) -> tuple[object, list[PastConcern]]:
    """Return the state after loading a journal, and the concerns."""
    room = EventState(event())
    concerns = replay_journal(room, content, ())
    return everything(room), sorted(concerns, key=itemgetter(0))  # as they are loaded


def everything(room: EventState) -> object:
    """Return everything that a state contains."""
    tables, at_tables = room.tables, room.quarantine._tables
    judged = {
        table: (
            one.facts,
            one._judged,
            one._highest,
            one._missing,
            one.apart,
            one._reported,
            one._sequence.plays,
            [one._sequence.in_turn(round_) for round_ in event().rounds_at[table]],
        )
        for table, one in at_tables.items()
        if one._highest
    }
    seatings = tables.seatings
    return (
        (room.planned.plan, room.planned.bookings, room.event.plan, room.event.version),
        list(room.results.items()),
        (room._followed, room._taken_over, room._other_results, room.results_then, room._ruled),
        {key: room.play(key) for key in room.planned.bookings},
        room.book.entries,
        judged,
        (tables.clock._before, tables.times.playing, tables.times.calling, tables.times.restored),
        {key: [*players] for key, players in seatings.begun().items()},
        {key: seatings.of(key) for key in event().bookings},
        {key: (one.deal, one.players) for key, one in seatings._counted.items()},
        {deal: [*plays] for deal, plays in seatings._of_deal.items()},
        seatings.repeated(event()),
        (room._counts.of_deal, room._counts.at_table, room._counts.of_round, room._counts.expected),
        room.apart_plays(),
        list(room.snapshot().ranking),
    )


def ruled(room: EventState, chance: Random) -> Ruling:
    """Return a ruling that an arbiter could make now."""
    apart = [one for one in room.apart_plays() if one.codes != (WAITS,)]
    if apart and chance.random() < 0.5:
        one = chance.choice(apart)
        result = room.results.get((one.table, one.round))
        taken = TakenOver(facts=one.ids, replaces=result.id if result else None)
        decision = chance.choice((taken, Discarded(facts=one.ids)))
        return ruling(room, decision, (one.table, one.round))
    play: PlayKey = chance.randint(1, 4), chance.randint(1, 4)
    if chance.random() < 0.3:
        return ruling(room, plan_changed(room, play, chance))
    fined = FineRuled(takes={event().bookings[play].players["west"]: 8})
    return ruling(room, chance.choice((Void(), Reopen(), fined)), play)


def plan_changed(room: EventState, play: PlayKey, chance: Random) -> PlanChanged | Undo:
    """Return a change of who plays, even where a table has begun by an earlier plan, or a withdrawal of one."""
    given = [one for one in room.book.entries.values() if isinstance(one.decision, PlanChanged)]
    if given and chance.random() < 0.3:
        return Undo(ruling=given[-1].id)
    table, round_ = play
    if chance.random() < 0.2:
        return PlanChanged(dropped=((round_, table),))
    players = list(event().bookings[play].players.values())
    players[chance.randrange(4)] = chance.choice([*event().players])
    east, south, west, north = chance.sample(players, 4)
    anew = SeatedAnew(round=round_, table=table, east=east, south=south, west=west, north=north)
    return PlanChanged(plays=(anew,))


def altered(message: LogMessage, chance: Random) -> LogMessage:
    """Return a fact that replaces another, so that its play is unusual."""
    said = message.fact
    if isinstance(said, Restored):
        said = replace(said, **chance.choice(({"verified": False}, {"form": OTHER_FORM})))
    elif isinstance(said, Result) and chance.random() < 0.5:
        said = replace(said, fines={"west": Fine(imp=4, reason="false hu")})
    elif isinstance(said, Seated | Result):
        others: dict[Seat, Seat] = {"east": "west", "west": "east", "south": "south", "north": "north"}
        seats: dict[Seat, str] = {seat: said.players[others[seat]] for seat in said.players}
        said = replace(said, players=seats)
    return fact(message.table, message.seq, said, at=message.at)


def laid_after(table: int, round_: int, chance: Random) -> list[Fact]:
    """Return the report of the laid tiles of a play: mostly none."""
    kept = TilesLaid(round=round_, deal=event().bookings[table, round_].deal, seats={})
    return [kept] * (chance.random() < 0.2)


def said_at(table: int, chance: Random) -> Iterator[LogMessage]:
    """Return what a table reports: mostly as it should be."""
    if chance.random() < 0.3:
        told = whole_log(table)
    else:
        rounds = [1, 2, 3, 4] if chance.random() < 0.8 else chance.sample(range(1, 5), 4)  # some out of turn
        facts = [one for round_ in rounds for one in (*steps(table, round_), *laid_after(table, round_, chance))]
        while chance.random() < 0.5:
            place = chance.randrange(len(facts))
            facts.insert(place, Call(round=facts[place].round, deal=facts[place].deal, open=chance.random() < 0.5))
        if chance.random() < 0.3:  # another device begins the play again
            place = chance.randrange(1, len(facts))
            round_ = facts[place - 1].round
            facts[place:place] = steps(table, round_)[: chance.randint(1, 4)]
        if chance.random() < 0.2:
            facts = [*facts[10:15], *facts[:10], *facts[15:]]
        told = log(table, *facts, at=chance.choice((1000, MINUTE)))
    if chance.random() < 0.3:
        place = chance.randrange(len(told))
        told[place] = altered(told[place], chance)
    if chance.random() < 0.3:
        one, other = chance.randrange(len(told)), chance.randrange(len(told))
        told[one], told[other] = told[other], told[one]
    if chance.random() < 0.2:
        del told[chance.randrange(len(told))]
    yield from told


@st.composite
def journals(draw: st.DrawFn) -> list[Row]:
    """Return a journal that a scorer may have: facts of all tables, and rulings between them."""
    chance: Random = draw(st.randoms(use_true_random=True))
    waiting = [list(said_at(table, chance)) for table in event().tables]
    room, rows, rulings = EventState(event()), list[Row](), chance.choice((0, 0, 3, 8))
    while waiting := [left for left in waiting if left]:
        at = (len(rows) + 1) * 1000
        message: LogMessage | Ruling = chance.choice(waiting).pop(0)
        if rulings and chance.random() < 0.1:
            given = ruled(room, chance)
            rows.append(Row(given, at))
            room.apply(given)
            rulings -= 1
        rows.append(Row(message, at))
        room.apply(message)
    return rows


@given(journals(), st.sampled_from([0, 0, 0, 7, 30, None]))
@OFTEN
def test_loading_play_by_play_equals_loading_fact_by_fact(rows: list[Row], judged_from: int | None) -> None:
    by_facts = fact_by_fact(rows, judged_from=judged_from)
    assert loaded(content_of(rows, judged_from=judged_from)) == loaded(by_facts)


@given(journals())
@COSTLY
def test_a_loaded_state_equals_the_state_that_received_the_messages(rows: list[Row]) -> None:
    lived, content = EventState(event()), content_of(rows)
    for message, at in rows:
        if isinstance(message, LogMessage):
            lived.apply(lived.tables.clock.corrected(message, at))
        elif isinstance(message, Ruling):
            lived.apply(message)
    loaded_room = EventState(event())
    replay_journal(loaded_room, content, ())
    assert list(loaded_room.snapshot().ranking) == list(lived.snapshot().ranking)
    assert (loaded_room.results, loaded_room.touched()) == (lived.results, lived.touched())
    assert loaded_room.apart_plays() == lived.apart_plays()
    assert [loaded_room.play(key) for key in lived.touched()] == [lived.play(key) for key in lived.touched()]
    for table in event().tables:
        assert loaded_room.quarantine.counted(table) == lived.quarantine.counted(table)


def shown(room: EventState) -> object:
    """Return what arbiters see of all plays."""
    plays = [room.play(key) for key in sorted(room.touched())]
    return room.results, plays, list(room.snapshot().ranking), room.apart_plays()


@given(journals(), st.randoms(use_true_random=True))
@COSTLY
def test_a_restart_after_a_repaired_fact_shows_what_was_shown_before(rows: list[Row], chance: Random) -> None:
    """Facts after the missing one counted while it could not be read, and must not vanish at the next start."""
    places = [place for place, row in enumerate(rows) if isinstance(row.message, LogMessage)]
    repaired, left = rows.pop(chance.choice(places)), rows
    message, at = repaired.message, (len(rows) + 2) * 1000
    assert isinstance(message, LogMessage)
    fault = Fault(ALTERED, 1, message.table, message.seq, message.id)
    lived, again = EventState(event()), EventState(event())
    replay_journal(lived, content_of(left)._replace(faults=[fault]), ())
    lived.apply(lived.tables.clock.corrected(message, at))
    replay_journal(again, content_of([*left, Row(message, at)])._replace(recorded_faults=[fault]), ())
    assert shown(again) == shown(lived)


@given(journals(), st.integers(0, 30))
@COSTLY
def test_the_numbers_of_whole_plays_are_those_of_their_facts(rows: list[Row], most: int) -> None:
    taken = {table: FactsByNumber() for table in event().tables}
    for one in content_of(rows).messages:
        if isinstance(one, WholePlay):
            taken[one.key[0]].take_whole(one)
        elif isinstance(one, LogMessage):
            taken[one.table].take(one)
    for facts in taken.values():
        assert facts.highest == max(facts, default=0)
        assert facts.last(most) == [*facts][len(facts) - min(most, len(facts)) :]


def test_ids_of_whole_plays_are_looked_up_without_decoding_other_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    facts, reads = [one for table in event().tables for one in whole_log(table)], list[bytes]()
    places = {one.id: (one.table, one.seq) for one in facts} | {"of a row that was set aside": (1, 1)}
    intake = Intake(event(), content_of([Row(one, MINUTE) for one in facts]).messages)
    intake.place_of = places.get
    call, array = Call(round=4, deal=event().bookings[1, 4].deal, open=True), StoredRows.array

    def counted(rows: StoredRows, wanted: Iterable[int]) -> bytes:
        reads.append(found := array(rows, wanted))
        return found

    monkeypatch.setattr(StoredRows, "array", counted)
    assert not intake.has("new")
    assert intake.judge(*sent(fact(1, len(whole_log(1)) + 1, call))).code is None
    assert len(reads) <= 1  # how often its table has reported this in round 4
    assert not intake.has("of a row that was set aside")
    assert all(intake.has(one.id) for one in facts)


def test_loading_twice_as_many_old_facts_takes_twice_the_work() -> None:
    def work(count: int) -> int:
        """Return how many steps it takes to load this many facts of a table."""
        room, steps_taken = EventState(event()), 0
        facts = log(1, *[steps(1)[2]] * count)

        def step(_frame: FrameType, kind: str, _about: object) -> None:
            nonlocal steps_taken
            steps_taken += kind == "call"

        sys.setprofile(step)
        try:
            room.load(facts, judged_from=None)
        finally:
            sys.setprofile(None)
        return steps_taken

    nothing, some, more = map(work, (0, 100, 200))
    assert more - some < 1.5 * (some - nothing)


def test_recovered_rulings_count() -> None:
    """The second home and the tables return what an older copy of the store lacks."""
    facts, room = whole_log(1), EventState(event())
    for message in facts:
        room.apply(message)
    rows = [Row(message, MINUTE) for message in facts]
    fined = ruling(room, FineRuled(takes={event().bookings[1, 1].players["west"]: 8}), (1, 1))
    back = [DeskDecision(fined, MINUTE, encode(fined))]
    content = content_of([Row(one, MINUTE) for one in facts]).with_decided(back)
    again = EventState(event())
    replay_journal(again, content, ())
    assert [*again.book.entries] == [fined.id]
    assert loaded(content) == loaded(fact_by_fact(rows).with_decided(back))


def whole(*facts: LogMessage) -> list[tuple[int, int]]:
    """Return the plays that are recognised as whole among facts, by their first and last numbers."""
    messages = content_of([Row(one, MINUTE) for one in facts]).messages
    return [(one.first, one.result.seq) for one in messages if isinstance(one, WholePlay)]


def test_a_play_as_planned_is_whole_unless_its_table_reports_anything_else_meanwhile() -> None:
    walls, *rest = steps(1)
    call = Call(round=walls.round, deal=walls.deal, open=True)
    assert whole(*log(1, call, walls, *rest, call)) == [(2, 1 + len(steps(1)))]
    assert whole(*log(1, walls, call, *rest)) == []


def test_a_play_not_as_planned_is_not_whole() -> None:
    facts = log(1, *steps(1))
    for place, one in enumerate(facts):
        if (other := altered(one, Random(1))) != one:
            assert whole(*facts[:place], other, *facts[place + 1 :]) == []
    *before, last = facts
    assert isinstance(last.fact, Result)
    told = replace(last.fact, declared_on={"east": "north"})
    assert whole(*before, fact(last.table, last.seq, told, at=last.at)) == []
    assert whole(*facts[:2], *facts[3:]) == []
    assert whole(facts[0], facts[2], facts[1], *facts[3:]) == []


def test_a_play_during_a_ruling_of_the_desk_is_not_whole() -> None:
    facts, room = log(1, *steps(1)), EventState(event())
    taken: list[Recorded] = [*facts[:2], ruling(room, Void(), (2, 1)), *facts[2:]]
    rows = [Row(one, MINUTE) for one in taken]
    assert not any(isinstance(one, WholePlay) for one in content_of(rows).messages)
    assert any(isinstance(one, WholePlay) for one in content_of([*rows[:2], *rows[3:]]).messages)


def test_a_play_with_a_wrong_clock_after_it_gets_the_right_times() -> None:
    facts = [replace(one, at=MINUTE * (2 if one.seq == 1 else 1)) for one in log(1, *steps(1), *steps(1, 2))]
    rows = [Row(one, 2 * MINUTE) for one in facts]
    assert loaded(content_of(rows)) == loaded(fact_by_fact(rows))


def test_a_play_with_wrong_points_is_reported_and_not_whole() -> None:
    *said, last = log(1, *steps(1))
    assert isinstance(last.fact, Result)
    wrong = replace(last.fact, points={seat: -paid for seat, paid in last.fact.points.items()})
    found = []
    for ended in (last, fact(1, last.seq, wrong, at=last.at)):
        reading = JournalLoader(event(), 0)
        rows = Rows.of((height, MINUTE, encode(one)) for height, one in enumerate([*said, ended], 1))
        whole = [isinstance(one, WholePlay) for one in reading.content([rows]).messages]
        found.append((whole, [(one.code, one.height) for one in reading.faults]))
    assert found == [([True], []), ([False] * len(said), [(WRONG_POINTS, len(said) + 1)])]


@given(st.integers(1, len(steps(1))), st.data())
@COSTLY
def test_a_play_with_a_changed_byte_is_whole_only_if_its_facts_agree(seq: int, chance: st.DataObject) -> None:
    bodies = [encode(one) for one in log(1, *steps(1))]
    body = bytearray(bodies[seq - 1])
    place = chance.draw(st.integers(0, len(body) - 1))
    body[place] = chance.draw(st.sampled_from([*b'0123456789"\\,:{} \n', body[place] ^ 1, body[place] ^ 128]))
    bodies[seq - 1] = bytes(body)
    rows = [(height, MINUTE, one) for height, one in enumerate(bodies, 1)]
    alone, together = (JournalLoader(event(), after).content([Rows.of(rows)]) for after in (len(rows), 0))
    assert [*unfolded_all(together)] == [*alone.messages]
    assert loaded(together._replace(judged_from=0)) == loaded(alone._replace(judged_from=0))


@pytest.mark.parametrize("key", ["type", "round", "deal", "profile", "players"])
def test_a_fact_with_a_repeated_field_counts_with_the_last_value(key: str) -> None:
    told = log(1, *steps(1))
    last: dict[str, object] = {"type": "call", "round": 2, "deal": 2, "profile": "other", "players": {}}
    for at, message in enumerate(told):
        if isinstance(message.fact, Seated | Confirmed):
            continue  # these are compared with the plan byte by byte
        again = b',"%b":%b},"device"' % (key.encode(), json.encode(last[key]))
        bodies = [encode(one) for one in told]
        bodies[at] = bodies[at].replace(b'},"device"', again)
        assert again in bodies[at]
        rows = Rows.of((height, MINUTE, body) for height, body in enumerate(bodies, 1))
        assert not any(isinstance(one, WholePlay) for one in JournalLoader(event(), 0).content([rows]).messages)


def unfolded_all(content: JournalContent) -> Iterator[Recorded]:
    """Return all messages, with whole plays expanded."""
    for one in content.messages:
        yield from one.messages() if isinstance(one, WholePlay) else (one,)


def test_a_play_in_another_form_or_declared_by_others_is_not_whole() -> None:
    walls, seated, confirmed, _, result = steps(1)
    assert isinstance(walls, Restored)
    others = {seat: declared(1, 1, seat) for seat in ("east", "south", "west", "north")}
    plays = [[replace(walls, form=OTHER_FORM), *steps(1)[1:]]]
    plays += ([walls, seated, confirmed, said, result] for said in others.values())
    rows = [[Row(one, MINUTE) for one in log(1, *play)] for play in plays]
    assert [len(content_of(one).messages) for one in rows].count(1) == 1  # the winner has declared
    assert len(content_of(rows[0]).messages) == len(rows[0])
