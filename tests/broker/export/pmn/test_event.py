"""Records of an event are correct, pass the check, and reveal nothing secret."""

from pathlib import Path

import pytest
from msgspec import structs

from broker.event import HandRecord, write_hands
from broker.export.pmn import event
from broker.export.pmn.check import declared_judge, judge_record, outcome_of_points
from broker.export.pmn.notation import write_records
from broker.export.pmn.record import by_wind
from broker.protocol import SEATS
from broker.rules import ROWS, Profile, load_mcr
from broker.rules.mcr import Action, Hu, apply_action, open_play
from broker.scorer import StoredEvent, open_stored_event
from tests.broker.export.pmn.plays import of
from tests.broker.rules.mcr.turning import awaited_seats
from tests.broker.scorer.small import deals


@pytest.fixture
def stored(over: Path) -> StoredEvent:
    return open_stored_event(over)


def test_every_play_has_a_record_that_survives_a_round_trip_and_passes(stored: StoredEvent) -> None:
    records = list(event.event_records(stored))
    assert of(write_records(records)) == records
    assert [judge_record(record, declared_judge) for record in records] == [None] * 16


def test_a_record_has_the_tables_result_by_seat_wind(stored: StoredEvent) -> None:
    for record, (message, result) in zip(event.event_records(stored), stored.results(), strict=True):
        deal = stored.deals[result.deal]
        assert (record.table, record.round, record.board) == (message.table, result.round, result.deal)
        assert record.points == by_wind(result.points, deal.dealer)
        assert record.winners == by_wind(result.winners, deal.dealer)
        assert record.fines == by_wind({seat: fine.imp for seat, fine in result.fines.items()}, deal.dealer)
        discarder = outcome_of_points(record, load_mcr()).discarder
        chair = SEATS[(SEATS.index(discarder) + SEATS.index(deal.dealer)) % 4] if discarder else None
        assert chair == result.discarder
        assert record.date == "1970.01.01"


def test_the_dealers_tiles_are_those_of_east(stored: StoredEvent) -> None:
    record = next(record for record in event.event_records(stored) if record.board == 3)
    tray = deals()[2].deal().faces["west"]
    assert (record.dealer, record.prevalent_wind) == ("west", "west")
    assert record.hands is not None
    assert record.walls is not None
    assert (sorted(record.hands["east"]), record.walls["east"]) == (sorted(tray[: ROWS[0]]), tray[ROWS[0] :])


def test_a_fouled_deal_has_no_faces_in_its_record(stored: StoredEvent) -> None:
    without = [(record.table, record.round) for record in event.event_records(stored) if record.hands is None]
    assert without == [(3, 2)]


def test_records_reveal_nothing_while_plays_are_missing(under_way: Path) -> None:
    assert list(event.event_records(open_stored_event(under_way))) == []
    told = list(event.event_records(open_stored_event(under_way), embargoed=True))
    assert {(record.hands, record.walls) for record in told} == {(None, None)}
    assert len(told) == 12


def test_faces_are_included_early_only_on_request(under_way: Path) -> None:
    stored = open_stored_event(under_way)
    assert list(event.event_records(stored, with_deals=True)) == []
    told = list(event.event_records(stored, with_deals=True, embargoed=True))
    assert sum(record.hands is None for record in told) == 1


def drawn_out(stored: StoredEvent, round_: int, table: int) -> HandRecord:
    """Return a drawn play in which everybody discards the tile just drawn."""
    booking = stored.event.bookings[table, round_]
    assert isinstance(stored.event.profile, Profile)
    state, actions = open_play(stored.deals[booking.deal].deal(), stored.event.profile.payments), list[Action]()
    while awaited_seats(state.turns):
        turn = state.turns.turn
        done = {
            "draw": Action("draw", turn),
            "hold": Action("discard", turn, state.hand(turn).concealed[-1]),
        }.get(state.turns.phase, Action("no_claim"))
        state = apply_action(state, done, nobody)
        actions.append(done)
    return HandRecord(round_, table, booking.deal, tuple(actions))


def nobody(hu: Hu) -> int:
    raise AssertionError(f"{hu.seat} declared")


def test_known_steps_are_included_if_they_lead_to_the_accepted_result(over: Path) -> None:
    plain = open_stored_event(over)
    write_hands(over, [drawn_out(plain, result.round, message.table) for message, result in plain.results()])
    known = [
        (record.hands, set(record.points.values()), record.steps)
        for record in event.event_records(open_stored_event(over))
    ]
    # The fouled play has no faces, and a play that was accepted as won differs from the stored steps.
    assert [steps is not None for *_, steps in known] == [bool(hands) and points == {0} for hands, points, _ in known]
    assert {steps is None for *_, steps in known} == {True, False}


def test_known_steps_are_omitted_while_the_event_is_running(under_way: Path) -> None:
    plain = open_stored_event(under_way)
    write_hands(under_way, [drawn_out(plain, result.round, message.table) for message, result in plain.results()])
    records = event.event_records(open_stored_event(under_way), embargoed=True)
    assert {record.steps for record in records} == {None}


def test_steps_that_the_referee_refuses_are_omitted(over: Path) -> None:
    plain = open_stored_event(over)
    hands = [drawn_out(plain, result.round, message.table) for message, result in plain.results()]
    write_hands(over, [structs.replace(hand, actions=hand.actions[1:]) for hand in hands])
    assert {record.steps for record in event.event_records(open_stored_event(over))} == {None}
