"""Travellers, standings, players' and teams' sheets, receipts and the grid."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from broker.protocol import (
    SEATS,
    AnyDecision,
    Award,
    Correct,
    DealPlayed,
    FinalDeclared,
    Fine,
    FineRuled,
    LogMessage,
    Reopen,
    Seat,
    SeatsPlayed,
    Void,
    receipt_code,
)
from broker.rules import Outcome
from broker.scorer import (
    Embargo,
    EventState,
    ReceiptIndex,
    Snapshot,
    TeamSheet,
    deal_sheet,
    open_part,
    player_sheet,
    receipt_sheet,
    standings_history,
    standings_table,
    team_sheet,
)
from broker.scorer.grid import grid
from broker.scorer.sheets import play_line
from broker.scorer.snapshot import Results
from broker.scorer.standings_view import MOST_DEALS
from broker.scoring import ScoredPlay, entry_bounds
from tests.benchmarks.scorer.large import large_event, plays
from tests.broker.rulings.ruled import correct, ruling
from tests.broker.scorer.folders import until_round
from tests.broker.scorer.small import OTHER_FORM, OUTCOMES, event, fact, restored, result, steps, whole_event
from tests.broker.scorer.team_event import TEAMS, said, seated, team_event
from tests.broker.web.sample import table as table_view
from tests.examples import COSTLY

PLAYS = tuple((play.table, play.round) for play in event().plan.plays)
a_play = st.tuples(st.sampled_from(PLAYS), st.sampled_from(OUTCOMES), st.booleans(), st.booleans())
Said = tuple[tuple[int, int], Outcome, bool, bool]


def moment_of(plays: list[Said]) -> Snapshot:
    """Return the snapshot after these plays.

    Each gives the play, its outcome, whether North is fined, and another form.
    """
    room = EventState(event())
    seq = dict.fromkeys(event().tables, 0)
    for (table, round_), outcome, fined, fouled in {play[0]: play for play in plays}.values():
        fines: dict[Seat, Fine] = {"north": Fine(imp=4, reason="false hu")} if fined else {}
        if "north" in outcome.winners:
            fines = {}
        forward, _, *rest = steps(table, round_, outcome, fines, forward=True)
        walls = restored(table, round_, OTHER_FORM if fouled else None)
        for one in (forward, walls, *rest):
            seq[table] += 1
            room.apply(fact(table, seq[table], one))
    return room.snapshot()


def whole() -> Snapshot:
    room = EventState(event())
    room.load(whole_event())
    return room.snapshot()


moments = st.lists(a_play, max_size=20).map(moment_of)


@given(moments)
def test_a_line_of_a_traveller_equals_the_line_computed_alone(moment: Snapshot) -> None:
    for deal in event().expected:
        sheet = deal_sheet(moment, deal)
        listed = [play for group in sheet.groups for play in group.plays]
        assert [play_line(moment, deal, play.table) for play in listed] == listed
        assert (sheet.plays_in + len(sheet.missing), sheet.complete) == (sheet.expected, not sheet.missing)


@given(moments)
def test_a_datum_is_the_exact_mean_of_its_group(moment: Snapshot) -> None:
    for deal in event().expected:
        for group in deal_sheet(moment, deal).groups:
            if group.datum is None:
                assert len(group.plays) == 1
                assert {line.imp for line in group.plays[0].seats.values()} <= {None, 0}
            for seat, datum in (group.datum or {}).items():
                points = [play.seats[seat].points or 0 for play in group.plays]
                assert Fraction(datum) == Fraction(sum(points), len(points))


@given(moments)
def test_the_plays_of_a_player_add_up_to_the_line_in_the_standings(moment: Snapshot) -> None:
    standings = standings_table(moment)
    for rung in standings.rungs:
        sheet = player_sheet(moment, standings, rung.player)
        told = [play.line.net for play in sheet.plays]
        assert sum((Fraction(imp or 0) for imp in told), Fraction()) == Fraction(rung.imp)
        assert (sheet.rung, len(sheet.plays) + sheet.to_come) == (rung, rung.plays_expected)


@given(moments)
def test_the_reachable_places_are_those_of_the_scoring(moment: Snapshot) -> None:
    there = {(play.deal, play.table) for row in moment.ledger.rows.values() for play in row.group.members}
    missing = [
        ScoredPlay(play.deal, play.table, play.players, None)
        for play in event().plan.plays
        if (play.deal, play.table) not in there
    ]
    told = {rung.player: (rung.best, rung.worst) for rung in standings_table(moment).rungs}
    assert told == {name: (one.best, one.worst) for name, one in entry_bounds(moment.ledger, missing).items()}


@given(moments)
def test_the_open_part_is_as_if_the_other_deals_had_not_been_played(moment: Snapshot) -> None:
    open_ = open_part(moment)
    assert open_.by_deal.keys() == moment.complete
    assert standings_table(open_part(open_)) == standings_table(open_)
    for deal in moment.complete:
        assert deal_sheet(open_, deal) == deal_sheet(moment, deal)


def test_a_ruling_that_changes_no_points_is_public_too() -> None:
    embargo, room = Embargo(), EventState(event())
    room.load(whole_event())
    before = room.snapshot()
    deal, points = event().bookings[1, 2].deal, room.play((1, 2)).points
    parts, shown = before.parts(deal), deal_sheet(embargo.open_part(before), deal)
    room.apply(
        ruling(room, Correct(replaces=None, win="draw", winners={}, discarder=None, points=dict(points or {})), (1, 2))
    )
    now = room.snapshot()
    assert deal_sheet(embargo.open_part(now), deal) == deal_sheet(now, deal) != shown
    assert now.parts(deal) != parts


def test_a_ruling_on_a_deal_under_embargo_changes_no_public_page() -> None:
    embargo, room = Embargo(), EventState(event())
    room.load(until_round(3))
    deal = next(deal for deal in event().expected if 0 < room.plays_of(deal) < room.expected(deal))
    place = next(key for key in room.plays_with(deal) if key in room.results)
    shown = embargo.open_part(room.snapshot())
    room.apply(ruling(room, correct(OUTCOMES[2], None), place))
    assert embargo.open_part(room.snapshot()) is shown


def test_the_end_of_a_round_is_public_before_any_deal() -> None:
    embargo, room = Embargo(), EventState(event())
    for message in until_round(1):
        room.apply(message)
        last = embargo.open_part(room.snapshot())
    assert (last.complete, last.rounds_over) == (frozenset(), 1)


@given(st.permutations(whole_event()), st.lists(st.integers(0, len(whole_event()) - 1), max_size=3))
@COSTLY
def test_the_incremental_open_part_equals_the_one_computed_anew(facts: list[LogMessage], ruled: list[int]) -> None:
    embargo, room, player = Embargo(), EventState(event()), next(iter(event().players))
    decisions: list[AnyDecision] = [Reopen(), FineRuled(takes={player: 8}), Void()]
    for at, message in enumerate(facts):
        room.apply(message)
        for decision in (one for when, one in zip(ruled, decisions, strict=False) if when == at):
            room.apply(ruling(room, decision, None if isinstance(decision, FineRuled) else PLAYS[0]))
        told, anew = embargo.open_part(room.snapshot()), open_part(room.snapshot())
        columns = zip(told.ledger.totals.columns, anew.ledger.totals.columns, strict=True)
        assert [one.tolist() == other.tolist() for one, other in columns] == [True] * 4
        assert (told.by_deal, told.unplayed, told.complete) == (anew.by_deal, anew.unplayed, anew.complete)


@given(moments)
def test_the_history_ends_with_the_standings(moment: Snapshot) -> None:
    rungs = standings_table(moment).rungs
    way = standings_history(moment, [rung.player for rung in rungs])
    if way.deals:
        assert [Fraction(line.imps[-1]) for line in way.lines] == [Fraction(rung.imp) for rung in rungs]


def test_an_unknown_deal_or_player_has_no_sheet() -> None:
    with pytest.raises(KeyError):
        deal_sheet(whole(), 99)
    with pytest.raises(KeyError):
        player_sheet(whole(), standings_table(whole()), "nobody")


def test_the_groups_of_a_fouled_deal_begin_with_the_one_as_dealt() -> None:
    sheet = deal_sheet(whole(), event().bookings[3, 2].deal)
    assert [(group.as_dealt, len(group.plays)) for group in sheet.groups] == [(True, 3), (False, 1)]
    assert {line.imp for line in sheet.groups[1].plays[0].seats.values()} == {0}


def test_every_result_is_found_by_its_code_and_equals_what_was_confirmed() -> None:
    moment, index = whole(), ReceiptIndex()
    for message in moment.results.values():
        assert index.find(moment, receipt_code(message)) == message
        assert receipt_sheet(moment, message).equal is True
    assert index.find(moment, "AAAA-AAAA-AAAA-AAAA") is None


def test_a_receipt_shows_whether_the_published_result_differs() -> None:
    moment = whole()
    key, message = next(iter(moment.results.items()))
    other = fact(message.table, message.seq, result(*key, OUTCOMES[0], {"east": Fine(imp=8, reason="false hu")}))
    published = Snapshot(moment.event, moment.ledger, Results({**moment.results, key: other}), moment.complete)
    assert receipt_sheet(published, other).equal is False


def test_the_receipt_of_a_play_ruled_to_be_of_another_deal_shows_only_that_it_is_stored() -> None:
    room = EventState(event())
    room.load(whole_event())
    message, deal = room.results[1, 1], event().bookings[1, 1].deal
    room.apply(ruling(room, DealPlayed(played=deal % 4 + 1, result=message.id), (1, 1)))
    sheet = receipt_sheet(room.snapshot(), message)
    assert (sheet.play, sheet.equal, sheet.text, sheet.digest) == (None, None, None, None)


def test_a_receipt_shows_the_end_of_the_correction_period() -> None:
    moment = whole()
    message = next(iter(moment.results.values()))
    ends = [receipt_sheet(replace(moment, deadline=end), message).objections_until for end in (None, 5000)]
    assert ends == [None, 5000]


def test_a_deal_played_in_another_round_keeps_the_result_of_its_table() -> None:
    moment = whole()
    (table, round_), message = next(iter(moment.results.items()))
    elsewhere = {key: one for key, one in moment.results.items() if key != (table, round_)} | {(table, 4): message}
    moved = replace(moment, results=Results(elsewhere))
    assert moved.result(message.fact.deal, table) == moment.result(message.fact.deal, table) == (message, message.fact)


def test_a_corrected_play_shows_the_outcome_that_counts() -> None:
    room = EventState(event())
    room.load(whole_event())
    last = room.results[1, 1]
    room.apply(ruling(room, correct(Outcome("discard", {"west": 33}, "south"), last.id), (1, 1)))
    sheet = deal_sheet(room.snapshot(), last.fact.deal)
    (play,) = [play for group in sheet.groups for play in group.plays if play.table == 1]
    hand_values = {seat: line.hand_value for seat, line in play.seats.items() if line.hand_value}
    assert (play.win, play.discarder, hand_values, play.at) == ("discard", "south", {"west": 33}, last.at)


def test_a_long_history_shows_deals_at_even_distances_with_the_first_and_the_last() -> None:
    long = large_event(150, 1)
    room = EventState(long)
    for message in plays(long):
        room.apply(message)
    deals = standings_history(room.snapshot(), ["p1-east"]).deals
    assert (len(deals), deals[0], deals[-1]) == (MOST_DEALS, 1, 150)
    assert {later - earlier for earlier, later in pairwise(deals)} == {2, 3}


@pytest.mark.parametrize(
    ("at", "in_until", "first"),
    [
        ((None, None), 0, 1),  # nothing has begun
        ((None, None), 2, 2),  # tables not heard since a restart are at the end of their results
        ((None, 2), 13, 1),
        ((4, 4), 3, 3),
        ((None, None), 14, 3),  # over: the last rounds
    ],
)
def test_the_grid_of_a_long_event_shows_the_rounds_around_the_earliest_current_one(
    at: tuple[int | None, int | None], in_until: int, first: int
) -> None:
    long = large_event(14, 14)
    room = EventState(long)
    for message in plays(long):
        if message.fact.round <= in_until:
            room.apply(message)
    tables = [structs.replace(table_view(table), round=round_) for table, round_ in zip((1, 2), at, strict=True)]
    assert grid(room.snapshot(), tables).rounds == (*range(first, first + 12),)


def test_a_play_out_of_place_is_at_its_table_and_round_and_missing_nowhere() -> None:
    room = EventState(event())
    room.load(one for one in whole_event() if (one.table, one.fact.round) != (2, 4))
    here = event().bookings[1, 2]
    other = event().bookings[1, 3].deal
    room.apply(ruling(room, DealPlayed(played=other, result=room.results[1, 2].id), (1, 2)))
    moment = room.snapshot()
    sheet = deal_sheet(moment, other)
    places = [(play.table, play.round) for group in sheet.groups for play in group.plays]
    assert ((1, 2) in places, (1, 3) in places, sheet.expected) == (True, True, 5)
    left = deal_sheet(moment, here.deal)
    assert (left.expected, 1 in left.missing) == (3, False)
    cells = grid(moment, [table_view(1)]).rows[0].cells
    assert [(cell.deal, cell.stage) for cell in cells][1] == (other, "in")
    # No bounds depend on a play that is over, only on the one still to come.
    coming = set(event().bookings[2, 4].players.values())
    loose = {rung.player for rung in standings_table(moment).rungs if rung.least != rung.most}
    assert (
        coming
        <= loose
        <= coming
        | {
            p
            for key in moment.plays_with(event().bookings[2, 4].deal)
            for p in moment.event.bookings[key].players.values()
        }
    )
    assert player_sheet(moment, standings_table(moment), here.players["east"]).plays[1].code is not None


TEAM_PLAYS = tuple(team_event().bookings)


def room_of(plays: int) -> EventState:
    """Return the state after this many plays."""
    room = EventState(team_event())
    room.load(message for place in TEAM_PLAYS[:plays] for message in said(*place))
    return room


def sheets(room: EventState) -> list[TeamSheet]:
    moment = room.snapshot()
    return [team_sheet(moment, standings_table(moment), number) for number in range(1, len(TEAMS) + 1)]


def test_the_deals_of_a_sheet_add_up_to_the_line_in_the_standings() -> None:
    room = room_of(len(TEAM_PLAYS))
    room.apply(ruling(room, Award(gives={"p01": 3})))
    room.apply(ruling(room, FinalDeclared()))
    for sheet, (name, members) in zip(sheets(room), TEAMS.items(), strict=True):
        assert sheet.standing is not None
        assert (sheet.team, tuple(one.player for one in sheet.members), sheet.final) == (name, members, True)
        assert Fraction(sheet.standing.imp) == sum(Fraction(one.imp) for one in sheet.deals) + Fraction(sheet.beside)
        assert sheet.beside == (3 if "p01" in members else 0)


def test_the_four_seats_of_a_team_in_a_deal_are_those_who_sat_there() -> None:
    for sheet in sheets(room_of(len(TEAM_PLAYS))):
        for deal in sheet.deals:
            points = 0
            for seat in SEATS:
                sat = deal.seats[seat]
                (round_,) = [key[1] for key in TEAM_PLAYS if key[0] == sat.table and (sum(key) % 4) + 1 == deal.deal]
                assert seated(sat.table, round_)[seat] == sat.player
                points += sat.points or 0
            assert points == deal.points


def test_a_deal_under_embargo_is_on_no_team_sheet_and_without_deals_there_is_no_place() -> None:
    assert [(sheet.deals, sheet.standing) for sheet in sheets(room_of(3))] == [((), None)] * 4
    counts = room_of(len(TEAM_PLAYS) - 1)
    last = team_event().bookings[TEAM_PLAYS[-1]].deal
    assert [{one.deal for one in sheet.deals} for sheet in sheets(counts)] == [{1, 2, 3, 4} - {last}] * 4


def test_a_deal_in_which_a_team_sat_twice_at_a_wind_is_listed_and_counts_for_none() -> None:
    room = room_of(len(TEAM_PLAYS))
    here = team_event().bookings[TEAM_PLAYS[0]]
    swapped = {**here.players, "east": here.players["west"], "west": here.players["east"]}
    room.apply(ruling(room, SeatsPlayed(players=swapped), TEAM_PLAYS[0]))
    assert [(sheet.left_out, here.deal in {one.deal for one in sheet.deals}) for sheet in sheets(room)] == [
        ((here.deal,), False)
    ] * 4


@pytest.mark.parametrize("number", [-1, 0, 5])
def test_an_unknown_team_has_no_sheet(number: int) -> None:
    moment = room_of(0).snapshot()
    with pytest.raises(KeyError):
        team_sheet(moment, standings_table(moment), number)
