"""The state of an event: results and rulings applied one by one, all at once, and in any order."""

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.protocol import (
    LAST_TABLE,
    Adjusted,
    AnyDecision,
    Award,
    DealPlayed,
    Fine,
    FineRuled,
    Fouled,
    LogMessage,
    Overridden,
    Reopen,
    Ruled,
    Ruling,
    Seat,
    SeatsPlayed,
    Undo,
    Void,
)
from broker.rules import Outcome
from broker.rulings import CountedPlay, result_of
from broker.rulings.infractions import register
from broker.scorer import EventState, as_json, standings_table
from broker.scorer.intake import Intake
from broker.scorer.service import Scorer
from broker.scorer.standings import TeamState
from broker.scorer.standings_view import DEAL_FACTOR
from broker.scoring import Ledger, table_of
from tests.broker.rulings.drawn import DrawnRuling, sequences
from tests.broker.rulings.ruled import contents, correct, ruling, state_of
from tests.broker.scorer.hall import admitting, open_journal, put
from tests.broker.scorer.small import (
    OTHER_FORM,
    OUTCOMES,
    declared,
    event,
    fact,
    log,
    restored,
    result,
    sent,
    steps,
    whole_event,
    whole_log,
    whole_play,
)
from tests.broker.scoring.events import four_teams
from tests.examples import COSTLY

PLAY = (1, 2)
HERE = event().bookings[PLAY]
EAST, SOUTH, WEST, NORTH = (HERE.players[seat] for seat in ("east", "south", "west", "north"))


def total(room: EventState, player: str) -> Fraction:
    """Return a player's IMPs."""
    return next(Fraction(line.imp) for line in room.snapshot().ranking if line.name == player)


def imp(room: EventState, play: tuple[int, int], seat: str) -> Fraction:
    """Return the IMPs of a seat in a play, before fines and awards."""
    plays = (one for group in room.groups() for one in group.plays)
    return next(Fraction(one.imp[seat]) for one in plays if room.key_of(one.play) == play)  # type: ignore[index]  # compared, so it has IMPs


@given(sequences())
@COSTLY
def test_rulings_give_the_same_state_one_by_one_or_all_at_once(said: list[DrawnRuling]) -> None:
    room, stored = state_of(), []
    for one in said:
        stored.append(ruling(room, *one))
        room.apply(stored[-1])
    again = EventState(event())
    again.load([*whole_event(), *stored])
    before = EventState(event())
    before.load([*stored, *whole_event()])
    assert contents(room) == contents(again) == contents(before)


@given(table=st.integers(1, 4), played=st.integers(1, 4), undone=st.booleans(), said=sequences())
@COSTLY
def test_rulings_give_tables_the_same_deals_one_by_one_or_all_at_once(
    *, table: int, played: int, undone: bool, said: list[DrawnRuling]
) -> None:
    last = whole_log(table)[-1]
    fact_ = replace(result_of(last), deal=played)
    room = state_of([one for one in whole_event() if one.id != last.id])
    stored: list[Ruling] = []

    def rule(*one: object) -> None:
        stored.append(ruling(room, *one))  # type: ignore[arg-type] # as `sequences` gives them
        room.apply(stored[-1])

    rule(DealPlayed(played=played, result=None), (table, fact_.round))
    if undone:  # the table may not have received it
        rule(Undo(ruling=stored[-1].id))
    room.apply(replace(last, fact=fact_))
    again = EventState(event())
    again.load([*(replace(one, fact=fact_) if one.id == last.id else one for one in whole_event()), *stored])
    assert contents(room) == contents(again)
    for one in said:
        if not isinstance(one[0], Undo):
            rule(*one)
    again = EventState(event())
    again.load([*(replace(one, fact=fact_) if one.id == last.id else one for one in whole_event()), *stored])
    assert contents(room) == contents(again)


@given(sequences())
@COSTLY
def test_withdrawing_every_ruling_restores_the_state(said: list[DrawnRuling]) -> None:
    room = state_of()
    for one in said:
        room.apply(ruling(room, *one))
    for entry in reversed(list(room.book.entries.values())):
        if room.book.counts(entry.id) and not isinstance(entry.decision, Undo):
            room.apply(ruling(room, Undo(ruling=entry.id)))
    assert contents(room) == contents(state_of())


@given(sequences())
@COSTLY
def test_a_fork_changes_nothing_in_the_original(said: list[DrawnRuling]) -> None:
    room = state_of()
    for one in said:
        fork = room.fork()
        fork.apply(ruling(room, *one))
    assert contents(room) == contents(state_of())


def test_a_correction_replaces_the_result_and_keeps_its_fines() -> None:
    room, right = state_of(), state_of()
    outcome = Outcome("self_drawn", {"north": 30})
    corrected = ruling(room, correct(outcome, room.results[PLAY].id), PLAY)
    assert room.apply(corrected) == {HERE.deal}
    message = right.results[PLAY]
    others = [one for one in whole_event() if one.id != message.id]
    fresh = EventState(event())
    entered = fact(1, message.seq, result(1, 2, outcome))
    fresh.load([*others, entered], judged_from=None)
    assert contents(room) == contents(fresh)
    assert (room.play(PLAY).source, room.results[PLAY]) == (corrected.id, message)


def test_a_void_play_counts_as_played_and_is_in_no_datum() -> None:
    room = state_of()
    room.apply(ruling(room, Void(), PLAY))
    compared = [room.key_of(one) for group in room.groups() for one in group.members if group.deal == HERE.deal]
    assert sorted(compared) == sorted(key for key in event().plays_with(HERE.deal) if key != PLAY)
    assert (room.over, room.complete(HERE.deal)) == (True, True)


def test_an_adjusted_play_gives_each_player_the_award_of_the_profile_or_the_ruling() -> None:
    void, adjusted = state_of(), state_of()
    void.apply(ruling(void, Void(), PLAY))
    gives = {EAST: "own", SOUTH: "others", WEST: "nobody", NORTH: 5}
    adjusted.apply(ruling(adjusted, Adjusted(gives=gives), PLAY))  # type: ignore[arg-type] # words of the vocabulary
    assert [total(adjusted, one) - total(void, one) for one in (EAST, SOUTH, WEST, NORTH)] == [-3, 3, 0, 5]


@pytest.mark.parametrize("play", [PLAY, None])
def test_awards_and_fines_change_only_those_they_name_and_no_datum(play: tuple[int, int] | None) -> None:
    room, before = state_of(), state_of()
    room.apply(ruling(room, Award(gives={EAST: 3}), play))
    room.apply(ruling(room, FineRuled(takes={EAST: 8, WEST: 4}), play))
    moved = {line.name: total(room, line.name) - total(before, line.name) for line in before.snapshot().ranking}
    assert {name: by for name, by in moved.items() if by} == {EAST: -5, WEST: -4}
    assert [line.fines for line in room.snapshot().ranking if line.name == WEST] == [
        4 + line.fines for line in before.snapshot().ranking if line.name == WEST
    ]
    assert [group.datum for group in room.groups()] == [group.datum for group in before.groups()]


@pytest.mark.parametrize("groups", [((1,), (2,), (3,), (4,)), ((1, 2), (3, 4)), ((1, 4), (2,), (3,)), ((1, 2, 3, 4),)])
def test_a_fouled_deal_has_as_many_groups_as_ruled(groups: tuple[tuple[int, ...], ...]) -> None:
    room = state_of()
    room.apply(ruling(room, Fouled(groups=groups), deal=HERE.deal))
    found = [tuple(one.table for one in group.members) for group in room.groups() if group.deal == HERE.deal]
    assert sorted(found) == sorted(groups)
    for group in room.groups():
        if group.deal == HERE.deal:
            assert group.datum["east"] == Fraction(sum(group.points[:, 0].tolist()), len(group.members))


def test_a_ruling_that_swaps_seats_swaps_the_results_of_two_players() -> None:
    room = state_of()
    before = imp(room, PLAY, "east"), imp(room, PLAY, "west"), total(room, EAST), total(room, WEST)
    room.apply(ruling(room, SeatsPlayed(players={**HERE.players, "east": WEST, "west": EAST}), PLAY))
    by = before[1] - before[0]
    assert (total(room, EAST), total(room, WEST)) == (before[2] + by, before[3] - by)


def test_a_fine_from_the_table_belongs_to_the_seat_and_one_from_the_desk_to_the_player() -> None:
    room, key = state_of(), (1, 3)
    players = event().bookings[key].players
    east, north = players["east"], players["north"]
    assert room.play(key).fines == {north: 4}
    room.apply(ruling(room, FineRuled(takes={north: 2}), key))
    room.apply(ruling(room, SeatsPlayed(players={**players, "east": north, "north": east}), key))
    assert room.play(key).fines == {north: 2, east: 4}
    assert [(one.player, one.imp) for one in register(room) if one.play == key] == [(east, 4), (north, 2)]


def test_a_play_of_another_deal_is_compared_there_and_missing_in_the_planned_one() -> None:
    room = state_of()
    other = HERE.deal % 4 + 1
    room.apply(ruling(room, DealPlayed(played=other, result=room.results[PLAY].id), PLAY))
    plays = {group.deal: 0 for group in room.groups()}
    for group in room.groups():
        plays[group.deal] += len(group.members)
    assert (plays[HERE.deal], plays[other]) == (3, 5)
    assert (room.expected(HERE.deal), room.expected(other), room.complete(other)) == (3, 5, True)
    assert sorted(room.key_of(one) for group in room.groups() for one in group.members) == sorted(event().bookings)


@pytest.mark.parametrize("table", [1, 1000, 1234, LAST_TABLE])
def test_a_play_out_of_place_belongs_to_its_table_however_high_its_number(table: int) -> None:
    players = dict(event().bookings[PLAY].players)
    laid = CountedPlay(table=table, round=3, planned=1, deal=2, players=players, settled=True)
    play = laid.scored()
    assert play is not None
    assert (table_of(play), play.table != table) == (table, True)


def test_a_fine_in_a_second_result_belongs_to_the_player_that_the_table_names() -> None:
    key, sits, deal = (1, 1), event().bookings[1, 1].players, event().bookings[1, 1].deal
    fined: dict[Seat, Fine] = {"north": Fine(imp=4, reason="false hu")}
    first = steps(*key, OUTCOMES[1], fined)
    room = state_of(log(1, *first))
    seats = {**sits, "north": event().bookings[2, 1].players["north"]}
    room.apply(ruling(room, SeatsPlayed(players=seats), key))
    assert room.play(key).fines == {seats["north"]: 4}
    reopened = Ruled(round=1, deal=deal, decision=Reopen(), author="A", role="table_arbiter", reason="R")
    corrected = Overridden(round=1, deal=deal, guards=("declarations_corrected",), reason="it was south")
    for message in log(1, reopened, corrected, result(*key, OUTCOMES[2], fined), first=len(first) + 1):
        room.apply(message)
    assert (room.play(key).players, room.play(key).fines) == (sits, {sits["north"]: 4})


def test_a_fine_counts_although_the_reopened_play_shows_that_its_player_sat_elsewhere() -> None:
    key, sits, deal = (1, 1), event().bookings[1, 1].players, event().bookings[1, 1].deal
    other = event().bookings[2, 1].players["north"]
    reopened = Ruled(round=1, deal=deal, decision=Reopen(), author="A", role="table_arbiter", reason="R")
    corrected = Overridden(round=1, deal=deal, guards=("declarations_corrected",), reason="it was south")
    again = log(1, reopened, corrected, result(*key, OUTCOMES[2]), first=len(steps(*key)) + 1)
    fined = FineRuled(takes={other: 4}, infraction="sound")
    seats, imps = SeatsPlayed(players={**sits, "north": other}), []
    ruled: list[list[AnyDecision]] = [[seats], [seats, fined]]
    for rulings in ruled:
        room, said = state_of([]), list[LogMessage | Ruling]([*log(1, *steps(*key)), *whole_play(2)])
        for message in said:
            room.apply(message)
        for decision in rulings:
            said.append(ruling(room, decision, key))
            room.apply(said[-1])
        for message in again:
            room.apply(message)
        assert room.play(key).players == sits
        recounted = EventState(event())
        recounted.load([*said, *again])
        assert contents(recounted) == contents(room)
        imps.append({row.player: int(row.imp) for row in room.snapshot().standings})
    assert imps[1] == {who: imp - 4 * (who == other) for who, imp in imps[0].items()}
    room.apply(ruling(room, Undo(ruling="ruling-0002")))
    assert {row.player: int(row.imp) for row in room.snapshot().standings} == imps[0]


def test_a_void_play_that_was_played_is_in_the_next_snapshot() -> None:
    room = state_of([])
    room.apply(ruling(room, Void(), PLAY))
    for message in log(1, *steps(1, 1), *steps(*PLAY)):
        room.apply(message)
        last = room.snapshot()
    assert (last.ruled[PLAY][0].result, last.instead) == (room.results[PLAY].id, {})


def test_a_reopened_play_waits_for_its_second_result_in_any_order_of_arrival() -> None:
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
    reopened, press, second = log(1, ruled, declared(1, round_, "south"), result(1, round_, OUTCOMES[2]), first=seq + 1)
    room = state_of(first)
    room.apply(reopened)
    assert (room.play((1, round_)).settled, room.recorded(1)) == (False, (1, 2, 3))
    room.apply(press)
    room.apply(second)
    swapped = state_of(first)
    swapped.apply(second)
    assert swapped.play((1, round_)).result == first[-1].id
    swapped.apply(press)
    swapped.apply(reopened)
    assert contents(room) == contents(swapped) == contents(state_of([*first, reopened, press, second]))
    assert (room.play((1, round_)).result, room.recorded(1)) == (second.id, (1, 2, 3, 4))


def test_a_withdrawal_can_be_withdrawn() -> None:
    room, void = state_of(), state_of()
    first = ruling(room, Void(), PLAY)
    for one in (room, void):
        one.apply(first)
    for _ in range(3):
        last = next(reversed(room.book.entries))
        room.apply(ruling(room, Undo(ruling=last)))
    assert contents(room) == contents(state_of())
    room.apply(ruling(room, Undo(ruling=next(reversed(room.book.entries)))))
    assert contents(room) == contents(void)
    assert isinstance(first, Ruling)


def test_a_fine_for_a_play_to_come_does_not_count_it_as_played() -> None:
    last = whole_log(1)[-1]
    room = state_of([one for one in whole_event() if one.id != last.id])
    play = (1, last.fact.round)
    fined = event().bookings[play].players["east"]
    before = {rung.player: rung for rung in standings_table(room.snapshot()).rungs}
    room.apply(ruling(room, FineRuled(takes={fined: 8}), play))
    after = {rung.player: rung for rung in standings_table(room.snapshot()).rungs}
    for player in event().bookings[play].players.values():
        fine = 8 * (player == fined)
        had, has = ([Fraction(rung.least), Fraction(rung.most)] for rung in (before[player], after[player]))
        assert has == [one - fine for one in had]
        assert has[0] < has[1]


def test_a_deal_counts_for_teams_only_once_its_last_play_is_settled() -> None:
    plays, teams = four_teams()
    ledger = Ledger.of(plays, event().profile)
    room = TeamState({name: tuple(players) for name, players in teams.items()}, event().profile)
    for complete, deals in ((False, 0), (True, 1), (False, 0)):
        room.update(ledger, [1], lambda _, complete=complete: complete)  # type: ignore[misc] # bound at once
        assert len(room._played) == deals


def test_a_play_out_of_place_is_never_mistaken_for_another() -> None:
    last = CountedPlay(table=9999, round=999, planned=1, deal=2, players=HERE.players, settled=True)
    play = last.scored()
    assert play is not None
    assert (table_of(play), last.scoring_table < DEAL_FACTOR) == (9999, True)


TOLD = whole_event()


@st.composite
def arrivals(draw: st.DrawFn) -> list[LogMessage]:
    """Return all messages of the event in any order, some of them repeated."""
    chance: Random = draw(st.randoms(use_true_random=True))
    resent = chance.choices(TOLD, k=draw(st.integers(0, 60)))
    arriving = [*TOLD, *resent]
    chance.shuffle(arriving)
    return arriving


def heard(messages: Iterable[LogMessage]) -> tuple[Intake, EventState]:
    intake, room = Intake(event(), []), EventState(event())
    for message in messages:
        verdict = intake.judge(*sent(message))
        assert verdict.code is None
        if verdict.new:
            intake.take(message, verdict.hash)
            room.apply(message)
    return intake, room


def summary(intake: Intake, room: EventState) -> object:
    """Return everything that is shown from a state."""
    books = {table: (book.upto, book.gaps(), book.refused, book.accepted) for table, book in intake.books.items()}
    return (
        books,
        room.groups(),
        list(room.snapshot().ranking),
        room.over,
        [room.complete(deal) for deal in event().expected],
    )


STRAIGHT_INTAKE, STRAIGHT_ROOM = heard(TOLD)
STRAIGHT = summary(STRAIGHT_INTAKE, STRAIGHT_ROOM)


def test_the_event_of_these_tests_is_complete() -> None:
    intake, room = heard(TOLD)
    assert room.over
    assert [book.gaps() for book in intake.books.values()] == [()] * 4
    assert len(room.groups()) == 5  # four deals, one of them in two forms


@given(arrivals())
def test_the_state_is_the_same_in_any_order_of_messages(arriving: list[LogMessage]) -> None:
    assert summary(*heard(arriving)) == STRAIGHT


@given(arrivals())
def test_a_state_equals_the_replay_of_its_journal_at_any_time(arriving: list[LogMessage]) -> None:
    half = arriving[: len(arriving) // 2]
    intake, room = heard(half)
    journal = [message for book in intake.books.values() for message in book.accepted.values()]
    again = EventState(event())
    for message in journal:
        again.apply(message)
    assert summary(Intake(event(), journal), again) == summary(intake, room)


@given(arrivals(), st.lists(st.integers(1, 30), min_size=1, max_size=8))
@COSTLY
def test_a_scorer_reaches_the_same_state_in_any_order_and_any_batches(
    arriving: list[LogMessage], sizes: list[int]
) -> None:
    with TemporaryDirectory() as folder, open_journal(Path(folder)) as journal:
        scorer = admitting(Scorer(event(), journal, Path(folder), lambda: 0))
        waiting = list(arriving)
        while waiting:
            for size in sizes:
                batch, waiting = waiting[:size], waiting[size:]
                put(scorer, *batch)
                scorer.step(timeout=0)
        assert summary(scorer.live.intake, scorer.state) == STRAIGHT
        assert journal.height == len(TOLD)
        assert list(journal.refused()) == []
        again = Scorer(event(), journal, Path(folder), lambda: 0)
        assert summary(again.live.intake, again.state) == STRAIGHT


def test_walls_restored_after_the_result_change_no_imps() -> None:
    late = fact(1, 99, restored(1, 1, OTHER_FORM))
    _, room = heard([*TOLD, late])
    assert room.groups() == STRAIGHT_ROOM.groups()


@given(arrivals(), st.integers(8, 60))
@COSTLY
def test_after_each_batch_a_scorer_shows_what_a_restarted_one_would(arriving: list[LogMessage], size: int) -> None:
    with TemporaryDirectory() as name, open_journal(Path(name)) as journal:
        scorer = admitting(Scorer(event(), journal, Path(name), lambda: 0))
        for begin in range(0, len(arriving), size):
            put(scorer, *arriving[begin : begin + size])
            scorer.step(timeout=0)
            again = Scorer(event(), journal, Path(name), lambda: 0)
            shown, anew = (as_json(replace(one.feed.current, version=0, alerts=())) for one in (scorer, again))
            assert shown == anew
