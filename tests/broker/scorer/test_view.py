"""The desk's view, and how much of a play's time is left."""

import asyncio
import threading
from typing import Final

import pytest
from msgspec.structs import replace

from broker.event import MINUTE_MS
from broker.protocol import Adjusted, Fine, Reopen, Result, Ruled, Seat, Void
from broker.scorer import (
    AnchorView,
    DashboardView,
    TableView,
    ViewFeed,
    open_part,
    paused_left_ms,
    time_up_at,
    whole_minutes,
)
from broker.scorer.grid import grid
from broker.scorer.view import time_left_ms
from broker.store import AnchorPlace, find_anchor
from broker.web.embargo import PublicViews
from broker.web.tables.carriers import progress_of
from tests import event_loop
from tests.broker.rulings.ruled import HEAD, correct, draft
from tests.broker.scorer.hall import NOW, Hall
from tests.broker.scorer.small import NAME, OUTCOMES, declared, event, fact, restored, result, whole_event, whole_play
from tests.broker.web import sample


def view(version: int) -> DashboardView:
    return DashboardView(
        version=version,
        event="cup",
        title="Cup",
        profile="oedmc-2020",
        connected=True,
        final=False,
        plays_in=0,
        plays_expected=0,
        tables=(),
        plays=(),
        standings=(),
        alerts=(),
    )


def test_an_anchor_is_shown_after_each_round_and_stays_until_the_next(hall: Hall) -> None:
    """Otherwise it would reveal when something hidden is stored."""
    shown = list[AnchorView | None]()
    for number in (1, 2):
        *facts, last = [message for message in whole_event() if message.fact.round == number]
        for one in facts:
            hall.hear(one)
            shown.append(hall.scorer.feed.current.anchor)
        hall.hear(last)
        anchor = hall.scorer.feed.current.anchor
        assert anchor is not None
        assert (anchor.round, PublicViews().of(hall.scorer.feed.current).anchor) == (number, anchor)
        assert find_anchor(anchor.text, NAME, hall.journal.linked_rows(), []) == AnchorPlace(hall.journal.height, 0)
    assert shown[0] is None
    assert len({one and one.text for one in shown}) == 2


def test_a_reopened_and_repeated_play_gives_its_round_another_anchor(hall: Hall) -> None:
    facts = [message for message in whole_event() if message.fact.round == 1]
    hall.hear(*facts)
    seen, seq = [hall.scorer.feed.current.anchor], sum(one.table == 1 for one in facts)
    deal = event().bookings[1, 1].deal
    reopen = Ruled(round=1, deal=deal, decision=Reopen(), author="A", role="table_arbiter", reason="R")
    hall.hear(fact(1, seq + 1, reopen))
    seen.append(hall.scorer.feed.current.anchor)
    hall.hear(fact(1, seq + 2, declared(1, 1, "south")), fact(1, seq + 3, result(1, 1, OUTCOMES[2])))
    seen.append(hall.scorer.feed.current.anchor)
    assert [one and one.round for one in seen] == [1, None, 1]
    assert len({one.text for one in seen if one}) == 2


def test_a_reader_gets_the_current_view_and_then_newer_ones() -> None:
    async def read() -> list[int]:
        feed = ViewFeed(view(1))
        views = feed.views()
        seen = [(await anext(views)).version]
        feed.publish(view(2))
        feed.publish(view(3))
        seen.append((await anext(views)).version)
        threading.Thread(target=feed.publish, args=[view(4)]).start()
        seen.append((await anext(views)).version)
        await views.aclose()  # type: ignore[attr-defined] # an async generator, told as its simplest kind
        return seen

    assert event_loop.run(read()) == [1, 3, 4]


def test_all_readers_are_woken_and_those_that_left_forgotten() -> None:
    async def read() -> list[int]:
        feed = ViewFeed(view(1))
        readers = [feed.views() for _ in range(3)]
        for reader in readers:
            await anext(reader)
        await readers[0].aclose()  # type: ignore[attr-defined] # an async generator, told as its simplest kind
        assert len(feed._waiting) == 2
        feed.publish(view(2))
        seen = [(await anext(reader)).version for reader in readers[1:]]
        for reader in readers[1:]:
            await reader.aclose()  # type: ignore[attr-defined] # an async generator, told as its simplest kind
        return seen

    assert event_loop.run(read()) == [2, 2]


def test_a_reader_with_a_closed_loop_does_not_stop_the_scorer() -> None:
    feed = ViewFeed(view(1))
    loop = asyncio.new_event_loop()
    feed._waiting.add((loop, asyncio.Event()))
    loop.close()
    feed.publish(view(2))
    assert feed.current.version == 2


def test_plays_are_newest_first_and_provisional_until_their_deal_is_complete(hall: Hall) -> None:
    told = whole_event()
    results = [message for message in told if isinstance(message.fact, Result)]
    for message in told[:-1]:
        hall.hear(message)
    plays = hall.scorer.feed.current.plays
    assert [(play.table, play.round) for play in plays] == [(m.table, m.fact.round) for m in results[-2::-1]]
    last = results[-1].fact.deal
    assert {play.deal for play in plays if play.provisional} == {last}
    hall.hear(results[-1])
    assert [play for play in hall.scorer.feed.current.plays if play.provisional] == []


def test_a_play_without_comparison_has_no_imps(hall: Hall) -> None:
    hall.hear(*whole_play(1, outcome=OUTCOMES[1]))
    (line_of,) = hall.scorer.feed.current.plays
    assert {seat: (line.points, line.hand_value, line.fine, line.imp) for seat, line in line_of.seats.items()} == {
        "east": (42, 18, 0, None),
        "south": (-8, None, 0, None),
        "west": (-8, None, 0, None),
        "north": (-26, None, 0, None),
    }
    assert (line_of.win, line_of.discarder, line_of.at) == ("discard", "north", NOW)


def test_the_line_of_a_play_has_the_imps_after_the_fine(hall: Hall) -> None:
    """South has -8 and 0 and the datum is -4: 4 points are 1 IMP by the scale. The fine is subtracted after that."""
    deal = event().bookings[1, 1].deal
    table, round_ = next(key for key, one in event().bookings.items() if one.deal == deal and key != (1, 1))
    fined: dict[Seat, Fine] = {"south": Fine(imp=8, reason="false hu")}
    hall.hear(*whole_play(table, round_, OUTCOMES[0], forward=True), *whole_play(1, 1, OUTCOMES[1], fined))
    newest, before = hall.scorer.feed.current.plays
    assert (newest.seats["south"].fine, newest.seats["south"].imp) == (8, -1 - 8)
    assert (before.seats["south"].fine, before.seats["south"].imp) == (0, 1)


@pytest.mark.parametrize("table", [1, 2, 3, 4])
def test_the_plays_of_a_table_are_counted(hall: Hall, table: int) -> None:
    hall.hear(*whole_play(table), *whole_play(table, 2, first=6), *whole_play(table, 3, first=13))
    seen = hall.scorer.feed.current.tables[table - 1]
    assert (seen.table, seen.plays_in, seen.plays_expected, seen.gaps) == (table, 2, 4, (11, 12))
    assert hall.scorer.feed.current.plays_expected == len(event().plan.plays)


def test_before_a_tables_first_state_its_card_names_its_next_players(hall: Hall) -> None:
    def sitting() -> dict[Seat, str]:
        (card,) = (one for one in hall.scorer.feed.current.tables if one.table == 2)
        return card.players

    def planned(round_: int) -> dict[Seat, str]:
        return {seat: event().name_of(one) for seat, one in event().bookings[2, round_].players.items()}

    seen = [sitting()]
    hall.hear(*whole_play(2, 1))
    assert [*seen, sitting()] == [planned(1), planned(2)]


def test_a_play_settled_only_by_a_ruling_is_listed_and_missing_nowhere(hall: Hall) -> None:
    void, adjusted, paper = (1, 1), (2, 1), (3, 1)
    room = hall.scorer.rulings.room
    east, *others = event().bookings[adjusted].players.values()
    for decision, key in (
        (Void(), void),
        (Adjusted(gives={east: 7, **dict.fromkeys(others, 0)}), adjusted),
        (correct(OUTCOMES[1], None), paper),
    ):
        hall.scorer.rulings.give(draft(room, decision, key), HEAD)
    hall.hear(*whole_play(4))
    view = hall.scorer.feed.current
    assert [(play.table, play.round) for play in view.plays] == [paper, adjusted, void, (4, 1)]
    assert [(play.at, play.win, play.counts) for play in view.plays[:3]] == [
        (NOW, "discard", True),
        (NOW, None, False),
        (NOW, None, False),
    ]
    assert (view.plays[0].seats["east"].points, view.plays[1].seats["east"].imp) == (42, 7)
    assert {row.cells[0].stage for row in grid(hall.scorer.snapshot, view.tables).rows} == {"in"}
    assert sorted(progress_of(hall.scorer.snapshot, view.tables, NOW).recorded) == sorted(
        [paper, adjusted, void, (4, 1)]
    )


def test_public_standings_include_rulings_that_replace_a_result(hall: Hall) -> None:
    deal = event().bookings[1, 1].deal
    first, *others = event().plays_with(deal)
    for table, round_ in others:
        hall.hear(*whole_play(table, round_, OUTCOMES[1], forward=True))
    gives = Adjusted(gives=dict.fromkeys(event().bookings[first].players.values(), 7))
    hall.scorer.rulings.give(draft(hall.scorer.rulings.room, gives, first), HEAD)
    hall.hear(fact(1, 30, restored(1, 4)))
    shown = {row.player: row.imp for row in PublicViews().of(hall.scorer.feed.current).standings}
    assert shown == {row.player: row.imp for row in open_part(hall.scorer.snapshot).standings}


BEGAN: Final = sample.NOON


def playing(**more: object) -> TableView:
    limited = {"playing_since": BEGAN, "minutes": 40, "stood_ms": 0, **more}
    return replace(sample.table(1), **limited)


def left(table: TableView, after_min: int) -> int | None:
    return time_left_ms(table, BEGAN + after_min * MINUTE_MS)


def test_a_play_ends_after_its_minutes_extra_time_and_pauses() -> None:
    table = playing(extra_min=5, stood_ms=2 * MINUTE_MS)
    assert time_up_at(table) == BEGAN + 47 * MINUTE_MS
    assert (left(table, 40), left(table, 50)) == (7 * MINUTE_MS, -3 * MINUTE_MS)


def test_in_a_pause_the_time_left_stays_as_it_was() -> None:
    table = playing(paused=True, played_ms=10 * MINUTE_MS)
    assert (time_up_at(table), paused_left_ms(table)) == (None, 30 * MINUTE_MS)
    assert left(table, 10) == left(table, 90) == 30 * MINUTE_MS


@pytest.mark.parametrize(
    "unknown",
    [
        {"minutes": None},
        {"playing_since": None},
        {"stood_ms": None},
        {"state": "recorded"},
        {"paused": True},
    ],
)
def test_without_a_limit_or_a_known_start_no_end_is_shown(unknown: dict[str, object]) -> None:
    table = playing(**unknown)
    assert (time_up_at(table), left(table, 1)) == (None, None)


def test_a_started_minute_counts_as_a_whole_one_as_on_the_tables_screen() -> None:
    seconds = {60: 1, 59: 1, 1: 1, 0: 0, -59: 0, -60: -1, -61: -1}
    assert {at: whole_minutes(at * 1000) for at in seconds} == seconds
