"""What counts follows every ruling, exactly, and the deals that it touches alone are compared anew."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.contract.facts import Ruled
from broker.contract.messages import Ruling
from broker.contract.rulings import (
    Adjusted,
    Award,
    DealPlayed,
    FineRuled,
    Fouled,
    Reopen,
    SeatsPlayed,
    Undo,
    Void,
)
from broker.contract.words import LAST_TABLE
from broker.rules.points import Outcome
from broker.scorer.room import Room
from broker.scorer.rulings.laying import Laid, result_of
from broker.scorer.sheets.ladder import KEY, ladder
from broker.scorer.teams import TeamRoom
from broker.scoring.ledger import Ledger
from broker.scoring.plays import table_of
from tests.broker.scorer.rulings.drawn import Said, sequences
from tests.broker.scorer.rulings.ruled import AT, correct, room_of, ruling, told
from tests.broker.scorer.small import OUTCOMES, event, fact, result, whole_event, whole_log
from tests.broker.scoring.events import four_teams
from tests.examples import COSTLY

PLAY = (1, 2)
HERE = event().bookings[PLAY]
EAST, SOUTH, WEST, NORTH = (HERE.players[seat] for seat in ("east", "south", "west", "north"))


def total(room: Room, player: str) -> Fraction:
    """Give a player's IMPs."""
    return next(Fraction(line.imp) for line in room.standings() if line.name == player)


def imp(room: Room, play: tuple[int, int], seat: str) -> Fraction:
    """Give what a seat won in a play, before fines and awards."""
    plays = (one for group in room.groups() for one in group.plays)
    return next(Fraction(one.imp[seat]) for one in plays if room.key_of(one.play) == play)  # type: ignore[index]  # compared, so it has IMPs


@given(sequences())
@COSTLY
def test_one_by_one_or_all_at_once_the_rulings_come_to_the_same(said: list[Said]) -> None:
    room, stored = room_of(), []
    for one in said:
        stored.append(ruling(room, *one))
        room.apply(stored[-1])
    again = Room(event())
    again.load([*whole_event(), *stored])
    before = Room(event())
    before.load([*stored, *whole_event()])
    assert told(room) == told(again) == told(before)


@given(table=st.integers(1, 4), played=st.integers(1, 4), undone=st.booleans(), said=sequences())
@COSTLY
def test_one_by_one_or_all_at_once_a_table_plays_what_was_ruled_that_it_is_to_play(
    *, table: int, played: int, undone: bool, said: list[Said]
) -> None:
    last = whole_log(table)[-1]
    fact_ = replace(result_of(last), deal=played)
    room = room_of([one for one in whole_event() if one.id != last.id])
    stored: list[Ruling] = []

    def rule(*one: object) -> None:
        stored.append(ruling(room, *one))  # type: ignore[arg-type] # as `sequences` gives them
        room.apply(stored[-1])

    rule(DealPlayed(played=played, result=None), (table, fact_.round))
    if undone:  # the table may not have heard of it
        rule(Undo(ruling=stored[-1].id))
    room.apply(replace(last, fact=fact_))
    again = Room(event())
    again.load([*(replace(one, fact=fact_) if one.id == last.id else one for one in whole_event()), *stored])
    assert told(room) == told(again)
    for one in said:
        if not isinstance(one[0], Undo):
            rule(*one)
    again = Room(event())
    again.load([*(replace(one, fact=fact_) if one.id == last.id else one for one in whole_event()), *stored])
    assert told(room) == told(again)


@given(sequences())
@COSTLY
def test_with_every_ruling_taken_back_all_is_as_it_was(said: list[Said]) -> None:
    room = room_of()
    for one in said:
        room.apply(ruling(room, *one))
    for entry in reversed(list(room.book.entries.values())):
        if room.book.counts(entry.id) and not isinstance(entry.decision, Undo):
            room.apply(ruling(room, Undo(ruling=entry.id)))
    assert told(room) == told(room_of())


@given(sequences())
@COSTLY
def test_what_is_tried_in_a_fork_changes_nothing(said: list[Said]) -> None:
    room = room_of()
    for one in said:
        fork = room.fork()
        fork.apply(ruling(room, *one))
    assert told(room) == told(room_of())


def test_a_correction_takes_the_place_of_the_result_and_keeps_its_fines() -> None:
    room, right = room_of(), room_of()
    outcome = Outcome("self_drawn", {"north": 30})
    corrected = ruling(room, correct(outcome, room.results[PLAY].id), PLAY)
    assert room.apply(corrected) == {HERE.deal}
    message = right.results[PLAY]
    others = [one for one in whole_event() if one.id != message.id]
    fresh = Room(event())
    fresh.load([*others, fact(1, message.seq, result(1, 2, outcome))])
    assert told(room) == told(fresh)
    assert (room.play(PLAY).source, room.results[PLAY]) == (corrected.id, message)


def test_a_void_play_is_in_no_datum_and_counts_as_played() -> None:
    room = room_of()
    room.apply(ruling(room, Void(), PLAY))
    compared = [room.key_of(one) for group in room.groups() for one in group.members if group.deal == HERE.deal]
    assert sorted(compared) == sorted(key for key in event().plays_with(HERE.deal) if key != PLAY)
    assert (room.final, room.complete(HERE.deal)) == (True, True)


def test_an_adjusted_play_gives_each_player_what_the_profile_has_for_the_fault_or_what_was_said() -> None:
    void, adjusted = room_of(), room_of()
    void.apply(ruling(void, Void(), PLAY))
    gives = {EAST: "own", SOUTH: "others", WEST: "nobody", NORTH: 5}
    adjusted.apply(ruling(adjusted, Adjusted(gives=gives), PLAY))  # type: ignore[arg-type] # words of the vocabulary
    assert [total(adjusted, one) - total(void, one) for one in (EAST, SOUTH, WEST, NORTH)] == [-3, 3, 0, 5]


@pytest.mark.parametrize("play", [PLAY, None])
def test_awards_and_fines_move_those_whom_they_name_and_no_datum(play: tuple[int, int] | None) -> None:
    room, before = room_of(), room_of()
    room.apply(ruling(room, Award(gives={EAST: 3}), play))
    room.apply(ruling(room, FineRuled(takes={EAST: 8, WEST: 4}), play))
    moved = {line.name: total(room, line.name) - total(before, line.name) for line in before.standings()}
    assert {name: by for name, by in moved.items() if by} == {EAST: -5, WEST: -4}
    assert [line.fines for line in room.standings() if line.name == WEST] == [
        4 + line.fines for line in before.standings() if line.name == WEST
    ]
    assert [group.datum for group in room.groups()] == [group.datum for group in before.groups()]


@pytest.mark.parametrize("groups", [((1,), (2,), (3,), (4,)), ((1, 2), (3, 4)), ((1, 4), (2,), (3,)), ((1, 2, 3, 4),)])
def test_a_fouled_deal_has_as_many_groups_as_were_ruled(groups: tuple[tuple[int, ...], ...]) -> None:
    room = room_of()
    room.apply(ruling(room, Fouled(groups=groups), deal=HERE.deal))
    found = [tuple(one.table for one in group.members) for group in room.groups() if group.deal == HERE.deal]
    assert sorted(found) == sorted(groups)
    for group in room.groups():
        if group.deal == HERE.deal:
            assert group.datum["east"] == Fraction(sum(group.points[:, 0].tolist()), len(group.members))


def test_seats_as_they_were_played_swap_what_the_two_players_have() -> None:
    room = room_of()
    before = imp(room, PLAY, "east"), imp(room, PLAY, "west"), total(room, EAST), total(room, WEST)
    room.apply(ruling(room, SeatsPlayed(players={**HERE.players, "east": WEST, "west": EAST}), PLAY))
    by = before[1] - before[0]
    assert (total(room, EAST), total(room, WEST)) == (before[2] + by, before[3] - by)


def test_another_deal_played_is_compared_there_and_the_planned_one_is_a_play_short() -> None:
    room = room_of()
    other = HERE.deal % 4 + 1
    room.apply(ruling(room, DealPlayed(played=other, result=room.results[PLAY].id), PLAY))
    plays = {group.deal: 0 for group in room.groups()}
    for group in room.groups():
        plays[group.deal] += len(group.members)
    assert (plays[HERE.deal], plays[other]) == (3, 5)
    assert (room.expected(HERE.deal), room.expected(other), room.complete(other)) == (3, 5, True)
    assert sorted(room.key_of(one) for group in room.groups() for one in group.members) == sorted(event().bookings)


@pytest.mark.parametrize("table", [1, 1000, 1234, LAST_TABLE])
def test_a_play_out_of_place_is_of_its_table_however_high_its_number(table: int) -> None:
    players = dict(event().bookings[PLAY].players)
    laid = Laid(table=table, round=3, planned=1, deal=2, players=players, settled=True)
    play = laid.scored()
    assert play is not None
    assert (table_of(play), play.table != table) == (table, True)


def test_a_reopened_play_waits_for_its_second_result_in_whatever_order_they_come() -> None:
    first = [one for one in whole_event() if one.table == 1]
    seq = len(first)
    round_ = 4
    ruled = Ruled(
        round=round_,
        deal=event().bookings[1, round_].deal,
        decision=Reopen(),
        author="A",
        role="head_arbiter",
        reason="R",
    )
    reopened, second = fact(1, seq + 1, ruled), fact(1, seq + 2, result(1, round_, OUTCOMES[2]))
    room = room_of(first)
    room.apply(reopened)
    assert (room.play((1, round_)).settled, room.recorded(1)) == (False, (1, 2, 3))
    room.apply(second)
    swapped = room_of(first)
    swapped.apply(second)
    assert swapped.play((1, round_)).result == first[-1].id
    swapped.apply(reopened)
    assert told(room) == told(swapped) == told(room_of([*first, reopened, second]))
    assert (room.play((1, round_)).result, room.recorded(1)) == (second.id, (1, 2, 3, 4))


def test_an_undo_is_undone() -> None:
    room, void = room_of(), room_of()
    first = ruling(room, Void(), PLAY)
    for one in (room, void):
        one.apply(first)
    for _ in range(3):
        last = next(reversed(room.book.entries))
        room.apply(ruling(room, Undo(ruling=last)))
    assert told(room) == told(room_of())
    room.apply(ruling(room, Undo(ruling=next(reversed(room.book.entries)))))
    assert told(room) == told(void)
    assert isinstance(first, Ruling)


def test_a_play_still_to_come_is_no_play_for_anybody_though_somebody_was_fined_for_it() -> None:
    last = whole_log(1)[-1]
    room = room_of([one for one in whole_event() if one.id != last.id])
    play = (1, last.fact.round)
    fined = event().bookings[play].players["east"]
    before = {rung.player: rung for rung in ladder(room.moment(), AT).rungs}
    room.apply(ruling(room, FineRuled(takes={fined: 8}), play))
    after = {rung.player: rung for rung in ladder(room.moment(), AT).rungs}
    for player in event().bookings[play].players.values():
        fine = 8 * (player == fined)
        had, has = ([Fraction(rung.least), Fraction(rung.most)] for rung in (before[player], after[player]))
        assert has == [one - fine for one in had]
        assert has[0] < has[1]


def test_a_deal_counts_for_teams_when_its_last_play_is_settled_and_not_before() -> None:
    plays, teams = four_teams()
    ledger = Ledger.of(plays, event().profile)
    room = TeamRoom({name: tuple(players) for name, players in teams.items()}, event().profile)
    for complete, deals in ((False, 0), (True, 1), (False, 0)):
        room.follow(ledger, [1], lambda _, complete=complete: complete)  # type: ignore[misc] # bound at once
        assert len(room._played) == deals


def test_no_play_out_of_place_is_taken_for_one_of_another_table_or_deal() -> None:
    last = Laid(table=9999, round=999, planned=1, deal=2, players=HERE.players, settled=True)
    play = last.scored()
    assert play is not None
    assert (table_of(play), last.line < KEY) == (9999, True)
