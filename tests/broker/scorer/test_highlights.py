"""Remarkable deals: the greatest highlight of each kind, among deals that every table has played."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from broker.i18n import Translator
from broker.protocol import SEATS
from broker.scorer import deal_sheet, open_part
from broker.scorer.highlights import LEAST_TABLES, OF_EACH, deal_highlights, event_highlights, highlight_text
from tests.broker.scorer.small import OUTCOMES, event
from tests.broker.scorer.test_sheets import Said, a_play, moment_of

said = st.lists(a_play, min_size=1, max_size=16)


@given(said)
def test_the_spread_is_between_best_and_worst_at_one_seat(plays: list[Said]) -> None:
    snapshot = moment_of(plays)
    for deal in snapshot.event.expected:
        sheet = deal_sheet(snapshot, deal)
        widths = [
            max(points) - min(points)
            for group in sheet.groups
            for seat in SEATS
            if (points := [play.seats[seat].points or 0 for play in group.plays])
        ]
        told = [one.size for one in deal_highlights(sheet) if one.kind == "spread"]
        assert told == ([Fraction(max(widths))] if any(widths) else [])


@given(said)
def test_the_swing_names_the_player_who_gains_most_in_a_deal(plays: list[Said]) -> None:
    snapshot = moment_of(plays)
    for deal in snapshot.event.expected:
        sheet = deal_sheet(snapshot, deal)
        gains = [
            Fraction(play.seats[seat].imp or 0) for group in sheet.groups for play in group.plays for seat in SEATS
        ]
        told = [one.size for one in deal_highlights(sheet) if one.kind == "swing"]
        most = max(gains, default=Fraction(0))
        assert told == ([most] if most > 0 else [])


@given(said)
def test_a_hand_found_by_one_player_was_won_by_nobody_else_at_that_seat(plays: list[Said]) -> None:
    snapshot = moment_of(plays)
    for deal in snapshot.event.expected:
        sheet = deal_sheet(snapshot, deal)
        for one in (story for story in deal_highlights(sheet) if story.kind == "found"):
            won = [
                (play.table, len(group.plays))
                for group in sheet.groups
                for play in group.plays
                if play.seats[one.seat].hand_value == one.values["value"]
            ]
            assert (one.values["table"], one.values["tables"]) in won
            assert one.values["tables"] >= LEAST_TABLES


@given(said)
def test_deals_under_embargo_have_no_highlights(plays: list[Said]) -> None:
    snapshot = moment_of(plays)
    for of_kind in event_highlights(snapshot).values():
        deals, sizes = [one.deal for one in of_kind], [one.size for one in of_kind]
        assert {*deals} <= snapshot.complete
        assert len({*deals}) == len(deals) <= OF_EACH
        assert sizes == sorted(sizes, reverse=True)
    assert event_highlights(open_part(snapshot)) == event_highlights(snapshot)


def test_each_kind_of_highlight_has_a_sentence_with_the_seat() -> None:
    draw, won, *_ = OUTCOMES
    snapshot = moment_of([(key, won if key[0] == 2 else draw, False, False) for key in event().plays_with(1)])
    assert [highlight_text(Translator("en"), one, str) for (one,) in event_highlights(snapshot).values()] == [
        "East scored from 0 (table 1) to 42 (table 2).",
        "8 IMP for Player 8, East at table 2.",
        "Of 4 tables, only Player 8 won as East: a hand of 18 at table 2.",
    ]
