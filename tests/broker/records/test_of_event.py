"""Records of an event: true, judged right, and silent about what is secret."""

from pathlib import Path

import pytest
from msgspec import structs

from broker.contract.words import SEATS
from broker.records import of_event
from broker.records.judges import declared
from broker.records.judging import judge, outcome_of_points
from broker.records.winds import by_wind
from broker.records.writing import write
from broker.rules.deal import ROWS
from broker.rules.profile import Profile
from broker.rules.profile_files import load
from broker.rules.referee.actions import Action
from broker.rules.referee.judge import Hu
from broker.rules.referee.moves import apply
from broker.rules.referee.play import begin
from broker.rules.referee.turns import asked
from broker.scorer.folder import HandRecord, write_hands
from broker.scorer.stored import Stored, open_stored
from tests.broker.records.plays import of
from tests.broker.scorer.small import deals


@pytest.fixture
def stored(over: Path) -> Stored:
    return open_stored(over)


def test_every_play_has_a_record_that_is_read_as_it_was_written_and_judged_right(stored: Stored) -> None:
    records = list(of_event.records(stored))
    assert of(write(records)) == records
    assert [judge(record, declared) for record in records] == [None] * 16


def test_a_record_says_what_the_table_said_by_seat_wind(stored: Stored) -> None:
    for record, (message, result) in zip(of_event.records(stored), stored.results(), strict=True):
        deal = stored.deals[result.deal]
        assert (record.table, record.round, record.board) == (message.table, result.round, result.deal)
        assert record.points == by_wind(result.points, deal.dealer)
        assert record.winners == by_wind(result.winners, deal.dealer)
        assert record.fines == by_wind({seat: fine.imp for seat, fine in result.fines.items()}, deal.dealer)
        discarder = outcome_of_points(record, load()).discarder
        chair = SEATS[(SEATS.index(discarder) + SEATS.index(deal.dealer)) % 4] if discarder else None
        assert chair == result.discarder
        assert record.date == "1970.01.01"


def test_the_dealer_s_tiles_are_east_s(stored: Stored) -> None:
    record = next(record for record in of_event.records(stored) if record.board == 3)
    tray = deals()[2].faces["west"]
    assert (record.dealer, record.prevalent_wind) == ("west", "west")
    assert record.hands is not None
    assert record.walls is not None
    assert (sorted(record.hands["east"]), record.walls["east"]) == (sorted(tray[: ROWS[0]]), tray[ROWS[0] :])


def test_of_a_fouled_deal_no_faces_are_told(stored: Stored) -> None:
    without = [(record.table, record.round) for record in of_event.records(stored) if record.hands is None]
    assert without == [(3, 2)]


def test_while_plays_are_missing_nothing_is_told_that_a_player_could_use(under_way: Path) -> None:
    assert list(of_event.records(open_stored(under_way))) == []
    told = list(of_event.records(open_stored(under_way), embargoed=True))
    assert {(record.hands, record.walls) for record in told} == {(None, None)}
    assert len(told) == 12


def test_faces_are_told_early_only_if_asked_for(under_way: Path) -> None:
    stored = open_stored(under_way)
    assert list(of_event.records(stored, with_deals=True)) == []
    told = list(of_event.records(stored, with_deals=True, embargoed=True))
    assert sum(record.hands is None for record in told) == 1


def drawn_out(stored: Stored, round_: int, table: int) -> HandRecord:
    """Play a play in which everybody discards what was drawn, until nobody can draw: a draw."""
    booking = stored.event.bookings[table, round_]
    assert isinstance(stored.event.profile, Profile)
    state, actions = begin(stored.deals[booking.deal].deal(), stored.event.profile.payments), list[Action]()
    while asked(state.turns):
        turn = state.turns.turn
        done = {
            "draw": Action("draw", turn),
            "hold": Action("discard", turn, state.hand(turn).concealed[-1]),
        }.get(state.turns.phase, Action("no_claim"))
        state = apply(state, done, nobody)
        actions.append(done)
    return HandRecord(round_, table, booking.deal, tuple(actions))


def nobody(hu: Hu) -> int:
    raise AssertionError(f"{hu.seat} declared")


def test_a_play_that_is_known_is_told_where_it_comes_to_what_four_seats_accepted(over: Path) -> None:
    plain = open_stored(over)
    write_hands(over, [drawn_out(plain, result.round, message.table) for message, result in plain.results()])
    known = [
        (record.hands, set(record.points.values()), record.steps) for record in of_event.records(open_stored(over))
    ]
    # Of the fouled play no face is told, and a play that four seats accepted as won was not the one that is kept.
    assert [steps is not None for *_, steps in known] == [bool(hands) and points == {0} for hands, points, _ in known]
    assert {steps is None for *_, steps in known} == {True, False}


def test_a_play_that_is_known_is_not_told_while_the_event_goes_on(under_way: Path) -> None:
    plain = open_stored(under_way)
    write_hands(under_way, [drawn_out(plain, result.round, message.table) for message, result in plain.results()])
    records = of_event.records(open_stored(under_way), embargoed=True)
    assert {record.steps for record in records} == {None}


def test_a_play_that_the_referee_refuses_is_not_told(over: Path) -> None:
    plain = open_stored(over)
    hands = [drawn_out(plain, result.round, message.table) for message, result in plain.results()]
    write_hands(over, [structs.replace(hand, actions=hand.actions[1:]) for hand in hands])
    assert {record.steps for record in of_event.records(open_stored(over))} == {None}
