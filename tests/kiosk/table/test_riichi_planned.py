"""Planned deals under riichi rules: claims as at every table, han and fu, each hand scored alone and then reported."""

import pytest

from broker.protocol import SEATS, Declared, Result, RiichiEvent, RiichiWin, Ruled, Seat
from broker.rules import load_rules, points_paid
from kiosk.table import Phase
from kiosk.table.events import (
    DeclarationsCorrected,
    DepositLaid,
    HandEntered,
    PlayVoided,
    Reopened,
    ResultRefused,
    ValueEntered,
)
from tests.kiosk.riichi_tables import AloneSitting, fu30


@pytest.fixture
def table() -> AloneSitting:
    """Two planned deals, and four people at the first."""
    sitting = AloneSitting()
    sitting.begin()
    return sitting


def points(sitting: AloneSitting) -> tuple[int, ...]:
    """Return the points of the last result, in hundreds."""
    fact = sitting.facts[-1]
    assert isinstance(fact, Result)
    return tuple(fact.points[seat] for seat in SEATS)


def test_walls_are_restored_as_for_every_deal_and_the_riichi_window_applies() -> None:
    sitting = AloneSitting()
    assert (sitting.table.phase, sitting.table.claim_ms) == (Phase.RESTORING, 3000)
    sitting.begin()
    assert (sitting.table.phase, sitting.table.planned_riichi, sitting.table.session) == (Phase.PLAYING, True, None)


def test_a_ron_is_reported_with_han_fu_and_points_in_hundreds(table: AloneSitting) -> None:
    table.declare("south")
    table.tell("ron", wins={"south": fu30(3)}, loser="west")
    assert table.table.phase is Phase.ACCEPTING
    table.press(*SEATS)
    fact = table.facts[-1]
    assert isinstance(fact, Result)
    assert (fact.win, fact.winners, fact.discarder) == ("discard", {"south": 3}, "west")
    assert fact.hand == RiichiEvent(kind="ron", wins={"south": fu30(3)}, loser="west")
    assert (fact.profile, points(table)) == ("riichi-montreal", (0, 39, -39, 0))
    assert points_paid(fact, "east", load_rules("riichi-montreal")) == fact.points


def test_the_dealer_of_the_deal_pays_double_wherever_they_sit() -> None:
    sitting = AloneSitting(dealer="west")
    sitting.begin()
    sitting.declare("south")
    sitting.tell("tsumo", wins={"south": RiichiWin(han=3, fu=50)})
    sitting.press(*SEATS)
    assert points(sitting) == (-16, 64, -32, -16)


def test_two_ron_are_both_paid_and_three_abort_the_hand_without_points(table: AloneSitting) -> None:
    table.declare("south", "north")
    table.tell("ron", wins={"south": fu30(1), "north": fu30(2)}, loser="west")
    table.press(*SEATS)
    assert points(table) == (0, 10, -30, 20)
    table.next_deal()
    table.begin()
    table.declare("south", "north", "east")
    table.tell("ron", wins={seat: fu30(1) for seat in ("south", "north", "east")}, loser="west")
    table.press(*SEATS)
    fact = table.facts[-1]
    assert isinstance(fact, Result)
    assert (fact.win, fact.winners, points(table)) == ("draw", {}, (0, 0, 0, 0))


def test_if_only_the_nearest_wins_the_result_names_that_seat_only() -> None:
    sitting = AloneSitting(profile="riichi-basic")
    sitting.begin()
    sitting.declare("south", "north")
    sitting.tell("ron", wins={"south": fu30(1), "north": fu30(2)}, loser="west")
    sitting.press(*SEATS)
    fact = sitting.facts[-1]
    assert isinstance(fact, Result)
    assert (fact.winners, points(sitting)) == ({"north": 2}, (0, 0, -20, 20))


def test_a_yakuman_counts_as_thirteen_han_and_the_responsible_seat_pays_half(table: AloneSitting) -> None:
    table.declare("south")
    table.tell("ron", wins={"south": RiichiWin(yakuman=1, responsible="north")}, loser="west")
    table.press(*SEATS)
    fact = table.facts[-1]
    assert isinstance(fact, Result)
    assert (fact.winners, points(table)) == ({"south": 13}, (0, 320, -160, -160))


def test_in_a_drawn_hand_each_seat_is_asked_about_tenpai(table: AloneSitting) -> None:
    table.draw()
    assert (table.table.phase, table.table.hand.asks_tenpai) == (Phase.DECLARED, True)
    table.press("east", "south", "south", "west")
    table.tell("draw")
    table.press(*SEATS)
    assert points(table) == (15, -15, 15, -15)


def test_a_nagashi_replaces_tenpai(table: AloneSitting) -> None:
    table.draw()
    table.wait()
    table.tell("draw", nagashi=["south"])
    table.press(*SEATS)
    assert points(table) == (-40, 80, -20, -20)


def test_a_win_on_the_last_tile_comes_before_the_draw_and_before_an_abort(table: AloneSitting) -> None:
    table.tell("abort", reason="four_winds")
    assert table.table.ended
    table.press("north")
    told = table.close_window()
    assert [type(fact) for fact in told] == [Declared]
    assert (table.table.phase, table.table.hand.ending) == (Phase.DECLARED, None)


def test_an_aborted_hand_scores_nothing_and_no_key_reveals_a_press(table: AloneSitting) -> None:
    table.tell("abort", reason="nine_terminals")
    table.close_window()
    assert table.table.phase is Phase.ACCEPTING
    table.press(*SEATS)
    assert points(table) == (0, 0, 0, 0)


def test_a_long_press_calls_the_arbiter_and_lays_no_deposit(table: AloneSitting) -> None:
    table.hold("north")
    table.close_window()
    assert (table.table.calling, table.table.phase) == (True, Phase.PLAYING)
    assert table.refusal(DepositLaid(at=table.wait(), seat="east", laid=True)) == "not_now"


def test_a_false_declaration_costs_imp_and_the_hand_goes_on(table: AloneSitting) -> None:
    table.declare("south")
    table.false_hu("south", 4)
    assert table.table.phase is Phase.PLAYING
    table.declare("east")
    table.tell("tsumo", wins={"east": fu30(2)})
    table.press(*SEATS)
    fact = table.facts[-1]
    assert isinstance(fact, Result)
    assert (fact.fines["south"].imp, points(table)) == (4, (30, -10, -10, -10))


@pytest.mark.parametrize(
    ("told", "code"),
    [
        (RiichiEvent(kind="ron", wins={"south": fu30(1)}), "loser_missing"),
        (RiichiEvent(kind="ron", wins={"south": fu30(1)}, loser="south"), "loser_wins"),
        (RiichiEvent(kind="ron", wins={"north": fu30(1)}, loser="west"), "winners_differ"),
        (RiichiEvent(kind="ron", wins={"south": RiichiWin(han=1)}, loser="west"), "value_missing"),
        (RiichiEvent(kind="chombo", offenders=("south",)), "winners_differ"),
        (RiichiEvent(kind="draw"), "winners_differ"),
    ],
)
def test_an_impossible_ending_is_refused_by_code_and_changes_nothing(
    table: AloneSitting, told: RiichiEvent, code: str
) -> None:
    table.declare("south")
    before = table.table
    assert table.refusal(HandEntered(at=table.wait(), told=told)) == code
    assert table.table == before


def test_an_mcr_hand_value_is_refused(table: AloneSitting) -> None:
    table.declare("south")
    entered = ValueEntered(at=table.wait(), win="self_drawn", winners={"south": 8}, discarder=None)
    assert table.refusal(entered) == "not_now"


@pytest.mark.parametrize("drawn", [False, True])
def test_a_refused_result_is_entered_again_where_it_was(*, table: AloneSitting, drawn: bool) -> None:
    if drawn:
        table.draw()
        table.press("east")
        table.tell("draw")
    else:
        table.declare("south")
        table.tell("tsumo", wins={"south": fu30(1)})
    table.take(ResultRefused(at=table.wait()))
    assert (table.table.phase, table.table.hand.result) == (Phase.DECLARED, None)
    assert table.table.hand.tenpai == ({"east"} if drawn else frozenset())


def test_the_arbiter_reopens_corrects_and_voids_it_as_any_play(table: AloneSitting) -> None:
    table.draw()
    table.wait()
    table.tell("draw")
    table.press(*SEATS)
    table.admit()
    table.take(Reopened(at=table.wait(), reason="south had won"))
    table.take(DeclarationsCorrected(at=table.wait(), seats=("south",), reason="south had won"))
    assert (table.table.phase, table.table.hand.asks_tenpai) == (Phase.DECLARED, False)
    table.tell("tsumo", wins={"south": fu30(1)})
    table.take(PlayVoided(at=table.wait(), reason="a tile lay wrong"))
    assert (table.table.phase, table.table.hand.result, type(table.facts[-1])) == (Phase.RECORDED, None, Ruled)


def test_the_whole_wall_is_drawn_in_turn_beginning_with_the_dealers() -> None:
    dealers: tuple[Seat, ...] = SEATS
    assert [AloneSitting(dealer=dealer).wall for dealer in dealers] == [
        ("east", "south", "west", "north"),
        ("south", "west", "north", "east"),
        ("west", "north", "east", "south"),
        ("north", "east", "south", "west"),
    ]
