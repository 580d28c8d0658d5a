"""From a declaration to a result that four seats have accepted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import SEATS, Fine, Result, Seat, WinKind
from kiosk.table import Phase
from kiosk.table.events import (
    ButtonPressed,
    CallToggled,
    ClaimWindowElapsed,
    FalseHuRuled,
    NextDealCalled,
    PlayEndedDrawn,
    Restarted,
    ResultRefused,
    ValueEntered,
)
from tests.kiosk.tables import SETTLE, Sitting, sitting_in

PLAYERS: dict[Seat, str] = {"east": "p01", "south": "p02", "west": "p03", "north": "p04"}


def result_of(sitting: Sitting) -> Result:
    (result,) = [fact for fact in sitting.facts if isinstance(fact, Result)]
    return result


def test_a_win_on_a_discard_is_reported_with_the_points_of_all_four() -> None:
    sitting = Sitting()
    sitting.declare("east")
    sitting.value("north", east=18)
    sitting.press(*SEATS)
    assert result_of(sitting) == Result(
        round=1,
        deal=1,
        profile="oedmc-2020",
        players=PLAYERS,
        win="discard",
        winners={"east": 18},
        discarder="north",
        points={"east": 42, "south": -8, "west": -8, "north": -26},
        fines={},
    )


def test_two_winners_on_one_discard_both_count() -> None:
    sitting = Sitting()
    sitting.declare("south", "north")
    sitting.value("east", south=12, north=12)
    sitting.press(*SEATS)
    assert result_of(sitting).points == {"east": -32, "south": 36, "west": -8, "north": 36}


def test_three_winners_on_one_discard_all_count() -> None:
    sitting = Sitting()
    sitting.declare("south", "north", "west")
    sitting.value("east", south=8, north=10, west=12)
    sitting.press(*SEATS)
    assert result_of(sitting).points == {"east": -38, "south": 32, "west": 36, "north": 34}


def test_a_draw_is_accepted_by_all_four_as_well() -> None:
    sitting = Sitting()
    sitting.begin()
    sitting.draw()
    assert sitting.table.phase is Phase.ACCEPTING
    sitting.press(*SEATS)
    result = result_of(sitting)
    assert (result.win, result.winners, result.discarder) == ("draw", {}, None)
    assert result.points == dict.fromkeys(SEATS, 0)


def test_after_a_false_hu_the_play_goes_on_and_its_result_has_the_fine() -> None:
    sitting = Sitting()
    sitting.declare("south")
    sitting.false_hu("south", 4)
    assert sitting.table.phase is Phase.PLAYING
    sitting.declare("west")
    sitting.value(west=9)
    sitting.press(*SEATS)
    result = result_of(sitting)
    assert result.fines == {"south": Fine(imp=4, reason="not enough fan", author="Anne Arbiter")}
    assert result.points == {"east": -11, "south": -11, "west": 33, "north": -11}


def test_a_false_hu_beside_a_valid_one_leaves_the_valid_one_to_be_valued() -> None:
    sitting = Sitting()
    sitting.declare("south", "north")
    sitting.false_hu("south")
    assert sitting.table.phase is Phase.DECLARED
    sitting.value("east", north=8)
    sitting.press(*SEATS)
    assert result_of(sitting).points == {"east": -16, "south": -8, "west": -8, "north": 32}
    assert result_of(sitting).fines == {"south": Fine(imp=8, reason="not enough fan", author="Anne Arbiter")}


def test_a_false_hu_stays_fined_in_a_drawn_play() -> None:
    sitting = Sitting()
    sitting.declare("south")
    sitting.false_hu("south")
    sitting.draw()
    sitting.press(*SEATS)
    assert result_of(sitting).fines == {"south": Fine(imp=8, reason="not enough fan", author="Anne Arbiter")}


@pytest.mark.parametrize(("seat", "imp", "code"), [("east", 8, "did_not_declare"), ("west", 5, "fine_not_in_profile")])
def test_an_impossible_ruling_is_refused(seat: Seat, imp: int, code: str) -> None:
    sitting = sitting_in(Phase.DECLARED)
    sitting.admit()
    assert sitting.refusal(FalseHuRuled(at=sitting.wait(), seat=seat, imp=imp, reason="why")) == code


def test_only_an_arbiter_can_rule_a_hu_false() -> None:
    sitting = sitting_in(Phase.DECLARED)
    ruling = FalseHuRuled(at=sitting.wait(), seat="west", imp=8, reason="why")
    assert sitting.refusal(ruling) == "arbiter_needed"
    assert sitting.table.fines == {}


@pytest.mark.parametrize(
    ("win", "winners", "discarder", "code"),
    [
        ("draw", {}, None, "not_a_win"),
        ("discard", {"west": 8}, "east", "winners_differ"),
        ("discard", {"west": 8, "north": 8, "south": 8}, "east", "winners_differ"),
        ("discard", {"west": 8, "east": 8}, "south", "winners_differ"),
        ("discard", {"west": 8, "north": 8}, None, "discarder_missing"),
        ("discard", {"west": 8, "north": 8}, "west", "discarder_wins"),
        ("discard", {"west": 8, "north": 7}, "east", "below_minimum"),
        ("self_drawn", {"west": 8, "north": 8}, None, "several_self_drawn"),
    ],
)
def test_an_impossible_win_is_refused(
    win: WinKind, winners: dict[Seat, int], discarder: Seat | None, code: str
) -> None:
    sitting = sitting_in(Phase.DECLARED)
    entered = ValueEntered(at=sitting.wait(), win=win, winners=winners, discarder=discarder)
    assert sitting.refusal(entered) == code


def test_a_refused_win_is_entered_and_accepted_again() -> None:
    sitting = Sitting()
    sitting.declare("west")
    sitting.value("east", west=88)
    sitting.press("east", "south", "west")
    sitting.take(ResultRefused(at=sitting.wait()))
    assert (sitting.table.phase, sitting.table.agreed, sitting.table.outcome) == (Phase.DECLARED, frozenset(), None)
    sitting.value("east", west=8)
    sitting.press("north")
    assert sitting.table.phase is Phase.ACCEPTING
    sitting.press("east", "south", "west")
    assert result_of(sitting).winners == {"west": 8}


def test_a_refused_draw_returns_to_the_play() -> None:
    sitting = Sitting()
    sitting.begin()
    sitting.draw()
    sitting.take(ResultRefused(at=sitting.wait()))
    assert sitting.table.phase is Phase.PLAYING
    sitting.declare("west")
    sitting.value(west=10)
    sitting.press(*SEATS)
    assert result_of(sitting).win == "self_drawn"


def test_a_press_while_the_screen_changes_accepts_nothing() -> None:
    sitting = sitting_in(Phase.ACCEPTING)
    shown = sitting.table.since
    assert sitting.refusal(ButtonPressed(at=shown + SETTLE - 1, seat="east")) == "press_too_soon"
    sitting.take(ButtonPressed(at=shown + SETTLE, seat="east"))
    assert sitting.table.agreed == {"east"}


def test_one_seat_cannot_accept_for_another() -> None:
    sitting = sitting_in(Phase.ACCEPTING)
    sitting.press("east", "east", "east", "east", "south", "west")
    assert sitting.table.phase is Phase.ACCEPTING
    assert sitting.table.agreed == {"east", "south", "west"}


@given(st.integers(0, 10**18), st.sampled_from([(), ("north",), ("east", "south", "west")]))
def test_nobody_accepts_by_time_out(at: int, accepted: tuple[Seat, ...]) -> None:
    """Anything but a press, however late, leaves the result waiting."""
    sitting = sitting_in(Phase.ACCEPTING)
    sitting.press(*accepted)
    now = sitting.now + at
    taken = Restarted(at=now), CallToggled(at=now, open=True)
    for event in taken:
        sitting.take(event)
        assert sitting.table.phase is Phase.ACCEPTING
    refused = ClaimWindowElapsed(at=now), PlayEndedDrawn(at=now), NextDealCalled(at=now)
    assert [sitting.refusal(event) for event in refused] == ["not_now"] * 3


def test_if_only_one_can_win_it_is_the_nearest_of_those_who_declared() -> None:
    sitting = Sitting(profile="mcr")
    sitting.declare("east", "south")
    sitting.value("north", east=10, south=20)
    sitting.press(*SEATS)
    assert result_of(sitting).winners == {"east": 10}
    assert result_of(sitting).points == {"east": 34, "south": -8, "west": -8, "north": -18}


def overtaken_sitting(profile: str = "oedmc-2020") -> Sitting:
    """West presses on east's discard; nothing shows, so south draws, and presses too."""
    sitting = Sitting(profile=profile)
    sitting.declare("west", "south")
    return sitting


@pytest.mark.parametrize("profile", ["oedmc-2020", "mcr"])
def test_a_declaration_on_a_later_tile_wins_nothing_and_is_not_fined(profile: str) -> None:
    sitting = overtaken_sitting(profile)
    sitting.value("east", on={"west": "east", "south": "south"}, west=12)
    sitting.press(*SEATS)
    result = result_of(sitting)
    assert (result.win, result.winners, result.discarder) == ("discard", {"west": 12}, "east")
    assert (result.declared_on, result.fines) == ({"west": "east", "south": "south"}, {})
    assert result.points == {"east": -20, "south": -8, "west": 36, "north": -8}


def test_if_the_hu_on_the_earlier_tile_was_false_the_later_one_counts() -> None:
    sitting = overtaken_sitting()
    sitting.admit()
    sitting.take(FalseHuRuled(at=sitting.wait(), seat="west", imp=8, reason="no hand"))
    sitting.value(None, south=9)
    sitting.press(*SEATS)
    assert result_of(sitting).winners == {"south": 9}
    assert result_of(sitting).declared_on is None


@pytest.mark.parametrize(
    ("on", "discarder", "winners"),
    [
        ({"west": "east", "south": "south"}, None, {"south": 9}),  # the later tile
        ({"west": "east", "south": "south"}, "east", {"west": 9, "south": 9}),
        ({"west": "east"}, "east", {"west": 9}),  # nothing is said about south
        ({"west": "east", "south": "south", "north": "east"}, "east", {"west": 9, "north": 9}),
        ({"west": "east", "south": "east"}, "east", {"west": 9}),
        ({"west": "west", "south": "south"}, None, {"west": 9, "south": 9}),
    ],
)
def test_only_declarations_on_the_earliest_tile_can_win(
    on: dict[Seat, Seat], discarder: Seat | None, winners: dict[Seat, int]
) -> None:
    sitting = overtaken_sitting()
    win: WinKind = "discard" if discarder else "self_drawn"
    event = ValueEntered(at=sitting.wait(), win=win, winners=winners, discarder=discarder, declared_on=on)
    assert sitting.refusal(event) in ("winners_differ", "several_self_drawn")


def test_the_tiles_are_asked_for_again_if_the_result_is_refused() -> None:
    sitting = overtaken_sitting()
    sitting.value("east", on={"west": "east", "south": "south"}, west=12)
    sitting.take(ResultRefused(at=sitting.wait()))
    sitting.value("east", on={"west": "east", "south": "east"}, west=12, south=8)
    sitting.press(*SEATS)
    assert result_of(sitting).winners == {"west": 12, "south": 8}
