"""Public copies of travellers and standings, receipts, and how often messages about a whole large event are made."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import cycle
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.event import STANDINGS
from broker.protocol import (
    Call,
    Fact,
    FinalDeclared,
    Kept,
    PublicStandings,
    PublicTraveller,
    Receipt,
    Reopen,
    Result,
    Ruled,
    Standing,
    Standings,
    Traveller,
    Undo,
    encode,
    topics,
)
from broker.protocol.link import LinkChanged
from broker.scorer import EventState, standings_csv
from broker.scorer import publisher as publisher_module
from broker.scorer.intake import MOST_MISSING, Intake
from broker.scorer.publisher import LARGE_EVENT, LONGEST_REST_S, PAUSE_S, REST_FACTOR, Throttle
from broker.scorer.service import Scorer
from broker.store import AnchorPlace, LogHead, find_anchor
from tests.benchmarks.scorer.large import large_event, plays
from tests.broker.rulings.ruled import ruling, state_of
from tests.broker.scorer.hall import Ear, Hall, admitting, make_hall, open_journal, publisher, put
from tests.broker.scorer.small import OUTCOMES, declared, event, fact, restored, result, sent, whole_event
from tests.patience import PATIENCE_S

T = TypeVar("T")

ROUND = 4
DEAL = event().bookings[1, ROUND].deal


def public(ear: Ear) -> list[tuple[int, bool, int] | int]:
    """Return deal, completeness and plays of each public traveller, and the number of plays in public standings."""
    found: list[tuple[int, bool, int] | int] = []
    for message in ear.heard(""):
        if isinstance(message, PublicTraveller):
            found.append((message.deal, message.complete, len(message.plays)))
        elif isinstance(message, PublicStandings):
            found.append(message.plays_in)
    ear.forget()
    return found


def test_a_deal_back_under_embargo_is_withdrawn_and_published_again_when_complete() -> None:
    facts = whole_event()
    room = EventState(event())
    room.load(facts)
    publishes, ear = publisher(room)
    tables, plays = event().expected[DEAL], len(event().plan.plays)
    publishes.plays_changed([DEAL])
    publishes.standings_if_due()
    assert public(ear) == [(DEAL, True, tables), plays]
    seq = sum(one.table == 1 for one in facts)
    reopen = Ruled(round=ROUND, deal=DEAL, decision=Reopen(), author="A", role="table_arbiter", reason="R")
    room.apply(fact(1, seq + 1, reopen))
    publishes.plays_changed([DEAL])
    assert public(ear) == [(DEAL, False, 0), plays - tables]
    publishes.plays_changed([DEAL])
    assert public(ear) == []
    room.apply(fact(1, seq + 2, declared(1, ROUND, "south")))
    room.apply(fact(1, seq + 3, result(1, ROUND, OUTCOMES[2])))
    publishes.plays_changed([DEAL])
    assert public(ear) == [(DEAL, True, tables)]
    for _ in range(2):
        publishes.standings_if_due()
    assert public(ear) == [plays]


def test_a_deal_published_by_an_earlier_scorer_is_withdrawn_too() -> None:
    facts = whole_event()
    room = EventState(event())
    room.load(facts)
    publishes, ear = publisher(room)
    publishes.connection_changed(LinkChanged(up=True))
    seq = sum(one.table == 1 for one in facts)
    reopen = Ruled(round=ROUND, deal=DEAL, decision=Reopen(), author="A", role="table_arbiter", reason="R")
    room.apply(fact(1, seq + 1, reopen))
    publishes.plays_changed([DEAL])
    left = len(event().plan.plays) - event().expected[DEAL]
    assert public(ear) == [(DEAL, False, 0), left]


def test_a_deal_back_under_embargo_while_offline_is_withdrawn_on_the_next_connection() -> None:
    facts = whole_event()
    seq = sum(one.table == 1 for one in facts)
    reopen = Ruled(round=ROUND, deal=DEAL, decision=Reopen(), author="A", role="table_arbiter", reason="R")
    room, tables = state_of([*facts, fact(1, seq + 1, reopen)]), event().expected[DEAL]
    publishes, ear = publisher(room)
    publishes.connection_changed(LinkChanged(up=True))
    publishes.publish_again()
    left = len(event().plan.plays) - tables
    assert public(ear) == [*((deal, deal != DEAL, (deal != DEAL) * tables) for deal in event().expected), left]
    publishes.connection_changed(LinkChanged(up=False))
    publishes.plays_changed([DEAL])
    ear.forget()
    publishes.connection_changed(LinkChanged(up=True))
    publishes.publish_again()
    assert (DEAL, False, 0) in public(ear)


def public_story(facts: Iterable[tuple[int, Fact]]) -> list[bytes]:
    """Return all public messages of an event, without the ids of this process."""
    room, seqs = EventState(event()), Counter[int]()
    publishes, ear = publisher(room, height=seqs.total)
    publishes.connection_changed(LinkChanged(up=True))
    for table, said in facts:
        seqs[table] += 1
        publishes.receipt(table)
        publishes.plays_changed(room.apply(fact(table, seqs[table], said)))
        publishes.standings_if_due()
    told = [message for message in ear.heard("") if isinstance(message, PublicTraveller | PublicStandings)]
    assert [one.id[20:] for one in told] == [f"{one.seq:012x}" for one in told]
    return [encode(replace(one, id="public-00001")) for one in told]


@pytest.mark.parametrize(("players", "length"), [(0, 1), (9, 100), (4_000, 10), (10_000, 1), (10_000, 100)])
def test_standings_are_cut_to_the_size_of_a_message(players: int, length: int) -> None:
    lines = tuple(
        Standing(place=at, player=f"p{at}", name="名" * length, imp=at, fines=0, plays=9)
        for at in range(1, players + 1)
    )
    whole = Standings(id="standings-1", event="cup", seq=1, final=False, plays_in=1, plays_expected=2, rows=lines)
    cut, limit = publisher_module._cut_to_fit(whole), topics.STANDINGS.limit
    assert (len(encode(cut)) <= limit, cut.rows) == (True, whole.rows[: len(cut.rows)])
    if len(encode(whole)) > limit:
        assert len(encode(cut)) > 0.9 * limit
    else:
        assert cut is whole


def test_a_deal_with_too_many_plays_is_published_partly_when_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher_module, "MOST_PLAYS", 1)
    state = EventState(event())
    made, ear = publisher(state)
    told: list[list[int]] = []
    for message in whole_event():
        state.apply(message)
        if isinstance(message.fact, Result) and message.fact.deal == DEAL:
            made.plays_changed([DEAL])
            told.append([play.table for one in ear.heard("") if type(one) is Traveller for play in one.plays])
            ear.forget()
    assert told == [*[[]] * (state.expected(DEAL) - 1), [1]]


def test_a_message_too_large_for_a_broker_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher_module, "LARGEST_MESSAGE", 10)
    made, ear = publisher(EventState(event()))
    made.standings()
    assert ear.said == []


@cache
def quiet_story() -> list[bytes]:
    """Return the public messages of an event in which no table calls."""
    return public_story([(one.table, one.fact) for one in whole_event()])


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_public_messages_do_not_reveal_how_much_is_hidden(calls: list[int]) -> None:
    """However often tables call meanwhile, public messages are the same, including their numbers and ids."""
    noisy, often = list[tuple[int, Fact]](), cycle(calls)
    for one in whole_event():
        call = Call(round=one.fact.round, deal=one.fact.deal, open=True)
        noisy += [(one.table, call)] * next(often) + [(one.table, one.fact)]
    story = quiet_story()
    assert public_story(noisy) == story
    assert [json.loads(one)["seq"] for one in story] == [*range(1, len(story) + 1)]


def test_unchanged_public_messages_are_published_again_only_on_a_connection() -> None:
    facts = whole_event()
    room = EventState(event())
    room.load(facts)
    publishes, ear = publisher(room)
    for _ in range(2):
        publishes.plays_changed([DEAL])
    assert public(ear) == [(DEAL, True, event().expected[DEAL])]
    publishes.connection_changed(LinkChanged(up=True))
    publishes.plays_changed([DEAL])
    assert public(ear) == [(DEAL, True, event().expected[DEAL])]


def test_public_standings_are_published_again_when_declared_final_or_provisional() -> None:
    room = state_of()
    publishes, ear = publisher(room)
    publishes.players_renamed()

    def finals() -> list[bool]:
        publishes.standings_due.ask()
        publishes.standings_if_due()
        found = [one.final for one in ear.heard("public/places") if isinstance(one, PublicStandings)]
        ear.forget()
        return found

    assert (finals(), finals()) == ([False], [])
    declared = ruling(room, FinalDeclared())
    room.apply(declared)
    assert (finals(), finals()) == ([True], [])
    room.apply(ruling(room, Undo(ruling=declared.id)))
    assert (finals(), finals()) == ([False], [])


def receipt(*seqs: int) -> Receipt:
    """Return the receipt of a table after these facts."""
    intake = Intake(event(), [])
    for seq in seqs:
        told = fact(1, seq, restored(1))
        verdict = intake.judge(*sent(told))
        assert verdict.new
        intake.take(told, verdict.hash)
    publishes, ear = publisher(EventState(event()), intake.books, height=lambda: 7)
    publishes.receipt(1)
    ((topic, _, retain),), (message,) = ear.said, ear.heard("")
    assert isinstance(message, Receipt)
    assert (topic, retain, message.seq, message.table) == ("hm/cup/receipt/1", True, 1, 1)
    return message


@given(st.lists(st.tuples(st.sampled_from(event().tables), st.integers(0, 50)), min_size=1, max_size=20))
def test_the_numbers_of_messages_to_a_table_reveal_nothing_about_others(heard: list[tuple[int, int]]) -> None:
    height = 0
    publishes, ear = publisher(EventState(event()), height=lambda: height)
    for table, stored in heard:
        height += stored
        publishes.receipt(table)
        publishes.records(table)
    told = [one for one in ear.heard("") if isinstance(one, Receipt | Kept)]
    for table in event().tables:
        numbers = [one.seq for one in told if one.table == table]
        assert numbers == list(range(1, len(numbers) + 1))


def safe(message: Receipt) -> set[int]:
    """Return the numbers that a receipt confirms."""
    return set(range(1, message.upto + 1)) - set(message.gaps)


def test_an_empty_receipt_confirms_nothing() -> None:
    message = receipt()
    assert (message.upto, message.gaps, message.taken, message.refused) == (0, (), (), ())


def test_a_receipt_confirms_all_numbers_up_to_the_highest_except_gaps() -> None:
    message = receipt(1, 2, 5, 7)
    assert (message.upto, message.gaps) == (7, (3, 4, 6))
    assert [one.seq for one in message.taken] == [1, 2, 5, 7]


def test_a_receipt_can_list_as_many_gaps_as_are_allowed() -> None:
    message = receipt(MOST_MISSING, MOST_MISSING + 1, MOST_MISSING + 2)
    assert (len(message.gaps), message.upto) == (MOST_MISSING - 1, MOST_MISSING + 2)
    assert safe(message) == {MOST_MISSING, MOST_MISSING + 1, MOST_MISSING + 2}


@given(st.sets(st.integers(1, MOST_MISSING), min_size=1, max_size=6))
def test_a_receipt_confirms_exactly_the_accepted_facts(seqs: set[int]) -> None:
    assert safe(receipt(*sorted(seqs))) == seqs


def test_receipts_and_plans_name_the_store(tmp_path: Path) -> None:
    names = []
    for folder in (tmp_path / "one", tmp_path / "one", tmp_path / "other"):
        folder.mkdir(exist_ok=True)
        with open_journal(folder) as journal:
            hall = make_hall(folder, journal)
            hall.connect(up=True)
            told = {hall.ear.told(topic)["store"] for topic in ("receipt/1", "assignment/1")}
            assert told == {journal.store}
            names.append(journal.store)
    assert (names[0] == names[1], names[1] == names[2]) == (True, False)


def test_a_table_gets_one_receipt_for_a_batch(hall: Hall) -> None:
    hall.hear(*(fact(table, seq, restored(table)) for seq in (1, 2, 4) for table in (1, 2)))
    receipts = [message for message in hall.ear.heard("receipt/1") if isinstance(message, Receipt)]
    assert [(one.upto, one.gaps, [t.seq for t in one.taken]) for one in receipts] == [(4, (3,), [1, 2, 4])]


def test_a_filled_gap_is_no_longer_listed(hall: Hall) -> None:
    hall.hear(fact(1, 1, restored(1)), fact(1, 3, restored(1)))
    assert hall.ear.told("receipt/1")["gaps"] == [2]
    hall.hear(fact(1, 2, restored(1)))
    assert (hall.ear.told("receipt/1")["gaps"], hall.ear.told("receipt/1")["upto"]) == ([], 3)


def test_a_receipt_does_not_reveal_the_height_of_the_journal(hall: Hall) -> None:
    hall.hear(fact(2, 1, restored(2)))
    before = hall.ear.told("receipt/2")["seq"]
    hall.hear(*(fact(1, seq, restored(1)) for seq in range(1, 6)))
    hall.hear(fact(2, 2, restored(2)))
    assert hall.ear.told("receipt/2")["seq"] == before + 1


def test_a_receipt_has_the_anchor_of_everything_stored_with_its_facts(hall: Hall) -> None:
    digests = ["a" * 64, "b" * 64]
    for seq, entries in ((1, 0), (2, 2)):
        hall.scorer.log_head = partial(LogHead, *((2, digests[1]) if entries else ()))
        hall.hear(fact(1, seq, restored(1)), fact(2, seq, restored(2)))
        anchor = hall.ear.told("receipt/1")["anchor"]
        assert find_anchor(anchor, "cup", hall.journal.linked_rows(), digests) == AnchorPlace(2 * seq, entries)


def test_a_table_that_sent_nothing_gets_no_receipt_until_the_next_connection(hall: Hall) -> None:
    hall.hear(fact(1, 1, restored(1)))
    assert hall.ear.heard("receipt/2") == []


def test_refused_facts_are_still_listed_after_a_restart(hall: Hall) -> None:
    hall.hear(fact(1, 1, restored(1)), fact(1, 1, restored(1), id_="t1-another"))
    again = make_hall(hall.folder, hall.journal)
    again.connect(up=True)
    assert [(one["seq"], one["code"]) for one in again.ear.told("receipt/1")["refused"]] == [(1, "conflict")]


def test_a_refused_fact_accepted_later_is_not_listed_after_a_restart(hall: Hall) -> None:
    far = fact(1, MOST_MISSING + 1, restored(1))
    hall.hear(far)
    hall.hear(fact(1, 1, restored(1)), far)
    again = make_hall(hall.folder, hall.journal)
    again.connect(up=True)
    assert again.ear.told("receipt/1")["refused"] == []


@pytest.mark.parametrize(
    ("took_s", "rests_s"), [(0.0, PAUSE_S), (0.2, 0.2 + 0.2 * REST_FACTOR), (10.0, 10.0 + LONGEST_REST_S)]
)
def test_throttled_work_takes_at_most_a_tenth_of_the_time(took_s: float, rests_s: float) -> None:
    now = [100.0]
    throttle = Throttle(PAUSE_S, lambda: now[0])
    throttle.ask()
    assert throttle.due()
    now[0] += took_s
    throttle.done()
    throttle.ask()
    for after, due in ((rests_s - 0.01, False), (rests_s + 0.01, True)):
        now[0] = 100.0 + after
        assert throttle.due() == due


def test_hurried_work_does_not_wait_and_is_not_done_without_a_request() -> None:
    throttle = Throttle(PAUSE_S, lambda: 100.0)
    throttle.ask()
    assert (throttle.due(), throttle.due()) == (True, False)
    throttle.done()
    throttle.hurry()
    assert not throttle.due()
    throttle.ask()
    assert throttle.due()


def test_waiting_for_the_processor_does_not_lengthen_the_pause() -> None:
    now, spent = [100.0], [5.0]
    throttle = Throttle(PAUSE_S, lambda: now[0], lambda: spent[0])
    throttle.ask()
    assert throttle.due()
    now[0] += 2.0
    spent[0] += 0.2
    throttle.done()
    throttle.ask()
    for after, due in ((2.0 + 0.2 * REST_FACTOR - 0.01, False), (2.0 + 0.2 * REST_FACTOR + 0.01, True)):
        now[0] = 100.0 + after
        assert throttle.due() == due


def test_a_large_event_gets_standings_once_a_second_and_always_the_last_ones(tmp_path: Path) -> None:
    told = large_room(tmp_path, lambda _, ear: [json.loads(one)["plays_in"] for one in bodies(ear)])
    assert told == [[1], [1], [1], [1, 2]]


def test_a_large_event_gets_travellers_once_a_second_and_always_the_last_ones(tmp_path: Path) -> None:
    told = large_room(tmp_path, lambda _, ear: sum("/traveller/" in one and "public" not in one for one in ear.story))
    assert told == [1, 1, 1, 2]


def test_the_view_of_a_large_event_changes_twenty_times_a_second_and_always_shows_the_end(tmp_path: Path) -> None:
    shown = large_room(tmp_path, lambda scorer, _: scorer.feed.current.plays_in, scale=0.05)
    assert shown == [1, 1, 1, 2]


def test_results_are_accepted_while_large_messages_are_prepared_in_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.scorer.publisher.SLICE_S", 0.0)
    monkeypatch.setattr("broker.scorer.standings.LINES_AT_ONCE", 100)
    event, ear, steps = large_event(LARGE_EVENT // 4 + 1, 1), Ear(), 0
    file = tmp_path / STANDINGS
    with open_journal(tmp_path, event.name) as journal:
        scorer = admitting(Scorer(event, journal, tmp_path, lambda: 0, lambda: 0.0), event)
        scorer.publisher.link, empty = ear, file.read_bytes()
        while scorer.publisher.busy or not steps:
            steps += 1
            for message in (one for one in plays(event) if one.table == steps):
                put(scorer, message)
            assert file.read_bytes() == empty
            scorer.step(timeout=PATIENCE_S)
            assert scorer.state.plays_in == steps
            assert sum("/traveller/" in topic or topic.endswith("/standings") for topic in ear.story) <= 1
            ear.forget()
        assert file.read_bytes() != empty
    assert steps > len(event.players) / 100


def test_hurried_standings_start_again_and_are_finished_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.scorer.publisher.SLICE_S", 0.0)
    event, ear = large_event(LARGE_EVENT // 4 + 1, 1), Ear()
    with open_journal(tmp_path, event.name) as journal:
        scorer = admitting(Scorer(event, journal, tmp_path, lambda: 0, lambda: 0.0), event)
        scorer.publisher.link = ear
        for message in (one for one in plays(event) if one.table == 1):
            put(scorer, message)
        scorer.step(timeout=0)
        assert (scorer.publisher.busy, bodies(ear)) == (True, [])
        scorer.publisher.hurry()
        assert scorer.publisher.standings_if_due(whole=True) == []
        assert not scorer.publisher.busy
        assert [json.loads(one)["plays_in"] for one in bodies(ear)] == [1]
        assert (tmp_path / STANDINGS).read_bytes().decode() == standings_csv(scorer.state.snapshot().standings)


def large_room(folder: Path, look: Callable[[Scorer, Ear], T], scale: float = 1.0) -> list[T]:
    """Let two results arrive soon after each other, then none. Look at 0, 0.5, 0.9 and 1.1 times `scale` seconds."""
    event, ear, now = large_event(LARGE_EVENT // 4 + 1, 1), Ear(), [0.0]
    first, second = ([one for one in plays(event) if one.table == table] for table in (1, 2))
    looked = []
    with open_journal(folder, event.name) as journal:
        scorer = admitting(Scorer(event, journal, folder, lambda: 0, lambda: now[0]), event)
        scorer.publisher.link = ear
        for at, come in ((0.0, first), (0.5, second), (0.9, []), (1.1, [])):
            now[0] = at * scale
            for message in come:
                put(scorer, message)
            scorer.step(timeout=0)
            looked.append(look(scorer, ear))
    return looked


def bodies(ear: Ear) -> list[bytes]:
    return [payload for topic, payload, _ in ear.said if topic.endswith("/standings") and "public" not in topic]
