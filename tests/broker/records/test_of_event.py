"""Records of an event: true, judged right, and silent about what is secret."""

from pathlib import Path

import pytest

from broker.contract.words import SEATS
from broker.records import of_event
from broker.records.judges import declared
from broker.records.judging import judge, outcome_of_points
from broker.records.stored import Stored, open_stored
from broker.records.winds import by_wind
from broker.records.writing import write
from broker.rules.deal import ROWS
from broker.rules.profile_files import load
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
