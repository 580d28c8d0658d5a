"""Questions about a hand that the walls cannot answer: ticked walls, and riichi, where all draw from one wall."""

from dataclasses import replace
from typing import Final

import msgspec
import pytest

from broker.protocol import (
    SEATS,
    CountedFu,
    CountedYaku,
    HandLayout,
    McrWinDetails,
    NotCounted,
    RiichiValue,
    RiichiWin,
    RiichiWinDetails,
    Seat,
)
from kiosk.camera.observations import HandObservation
from kiosk.counting.desk import AnyForm
from kiosk.counting.questions import HandAnswers, McrQuestions
from kiosk.input import WinForm
from kiosk.input.forms import press_win_key
from kiosk.table.events import DepositLaid, RowTicked
from tests.kiosk.counting.test_desk import WORTH, Desk
from tests.kiosk.riichi_tables import AloneSitting, RiichiSitting, session_plan
from tests.kiosk.screens.counting_scenes import Groups, dealt, sight, with_kongs
from tests.kiosk.screens.riichi_scenes import every_question, laid
from tests.kiosk.tables import Sitting, play

SOUTH: Final = WinForm(("south",))

PINFU: Final = RiichiValue(
    han=2,
    fu=30,
    yakuman=0,
    yaku=(CountedYaku(id="riichi", han=1), CountedYaku(id="pinfu", han=1)),
    items=(CountedFu(id="winning", fu=20), CountedFu(id="concealed_ron", fu=10)),
)


def ticked() -> Sitting:
    """A table whose walls were ticked by hand, at which West and North have declared."""
    sitting = Sitting(play(1), play(2))
    for seat in SEATS:
        for row in range(3):
            sitting.take(RowTicked(at=sitting.wait(), seat=seat, row=row, right=True))
    sitting.check_in()
    sitting.press(*SEATS)
    sitting.declare("west", "north")
    return sitting


def claimed() -> Groups:
    """Ten concealed tiles, a meld of own tiles, and an own tile last, although the hand has tiles drawn later."""
    own = dealt()
    return own[:10], own[20:23], own[13:14]


class RiichiDesk(Desk):
    """A count desk at a riichi table at which South has won."""

    def __init__(self, sitting: RiichiSitting | AloneSitting, form: AnyForm = SOUTH) -> None:
        super().__init__(sitting, form)

    def asked_of(self, seen: HandObservation, *keys: str) -> RiichiWinDetails:
        """Let the camera see a hand, type answers, and return the details that are sent to the scorer."""
        self.looking_at(seen)
        for key in (*keys, "enter"):
            self.key(key)
        (asked,) = self.asked
        assert isinstance(asked.said, RiichiWinDetails)
        return asked.said


def session(*riichi: Seat, rules: str | None = None) -> RiichiSitting:
    """A session with these seats in riichi, in which South has won."""
    sitting = RiichiSitting(session_plan(profile="riichi-club" if rules else "riichi-montreal", rules=rules))
    sitting.begin()
    for seat in riichi:
        sitting.take(DepositLaid(at=sitting.wait(), seat=seat, laid=True))
    sitting.declare("south")
    return sitting


def alone() -> AloneSitting:
    """A planned deal that South has won."""
    sitting = AloneSitting()
    sitting.restore()
    sitting.press(*SEATS)
    sitting.declare("south")
    return sitting


# ---- walls that were ticked by hand -------------------------------------------------------------


def test_with_ticked_walls_the_owner_of_the_winning_tile_is_asked_first() -> None:
    desk = Desk(ticked()).looking_at(sight(claimed()))
    desk.key("enter")
    assert (desk.asked, desk.shown.counting.win) == ([], McrQuestions(HandAnswers()))
    for key in ("t", "t", "enter"):
        desk.key(key)
    assert desk.asked[0].said == McrWinDetails(laid=HandLayout(self_drawn=False))
    assert desk.asked[0].groups == claimed()


def test_with_ticked_walls_the_last_tile_is_always_asked_for() -> None:
    desk = Desk(ticked()).looking_at(sight(claimed()))
    for key in ("t", "l", "enter"):
        desk.key(key)
    assert desk.asked[0].said == McrWinDetails(last_tile=True, laid=HandLayout(self_drawn=True))


def test_each_choice_of_concealed_kongs_comes_once_and_then_none() -> None:
    desk = Desk(ticked()).looking_at(sight(with_kongs()))
    desk.key("t")
    told = []
    for _ in range(16):
        desk.key("g")
        said = desk.shown.counting.details
        assert isinstance(said, McrWinDetails)
        assert said.laid is not None
        told.append(said.laid.concealed_kongs)
    assert (len({*told}), told[0], told[-1]) == (16, (2,), ())


def test_the_choice_of_concealed_kongs_is_not_applied_to_another_hand() -> None:
    desk = Desk(ticked()).looking_at(sight(with_kongs()))
    for key in ("t", "g"):
        desk.key(key)
    desk.desk.observe(sight(claimed()))
    assert desk.shown.counting.details == McrWinDetails(laid=HandLayout(self_drawn=True))


def test_with_ticked_walls_no_discarder_is_marked_and_a_self_drawn_tile_is() -> None:
    for keys, told in ((("t",), "d"), (("t", "t"), None)):
        desk = Desk(ticked()).looking_at(sight(claimed()))
        for key in (*keys, "enter"):
            desk.key(key)
        desk.answer(WORTH)
        desk.key("enter")
        assert desk.desk.discarder_key == told


def test_the_desk_waits_while_the_scorer_lacks_the_walls() -> None:
    desk = Desk().looking_at(sight((dealt()[:13], dealt()[13:14])))
    desk.key("enter")
    desk.answer(NotCounted(code="not_restored"))
    assert desk.shown.counting.answer is None


# ---- riichi -------------------------------------------------------------------------------------


def test_a_session_supplies_round_dealer_and_riichi() -> None:
    said = RiichiDesk(session("south", "east")).asked_of(laid(13, 1), "t")
    assert said == RiichiWinDetails(laid=HandLayout(self_drawn=True), round_wind="east", dealer="east", riichi="riichi")


def test_a_seat_without_a_deposit_is_not_asked_about_riichi() -> None:
    desk = RiichiDesk(session("east")).looking_at(laid(13, 1))
    for key in ("t", "i", "p"):
        desk.key(key)
    assert [question.key for question in desk.shown.counting.questions] == ["t", "s"]


def test_in_a_planned_deal_riichi_is_asked_for_and_the_walls_give_the_indicators() -> None:
    sitting = alone()
    wall = sitting.play.order["north"][-1]
    said = RiichiDesk(sitting).asked_of(laid(13, 1), "t", "t", "i", "p", "j")
    assert (said.laid.self_drawn, said.riichi, said.ippatsu) == (False, "riichi", True)
    assert (said.dora, said.ura) == (wall[:2], wall[5:7])


def test_a_kan_of_the_winner_turns_another_indicator() -> None:
    sitting = alone()
    said = RiichiDesk(sitting).asked_of(laid(7, 4, 3, 1), "t", "s", "s")
    assert (len(said.dora), said.ura, said.moment) == (2, (), "kan")


def test_indicators_lie_in_a_row_below_the_hand() -> None:
    said = RiichiDesk(session("south")).asked_of(laid(13, 1, under=(2, 2)), "t")
    assert (said.dora, said.ura) == ((15, 16), (17, 18))


def test_without_riichi_ura_indicators_do_not_count() -> None:
    said = RiichiDesk(session()).asked_of(laid(13, 1, under=(1, 1)), "t")
    assert (said.dora, said.ura) == ((15,), ())


def test_a_hand_in_two_rows_is_one_hand() -> None:
    seen = replace(laid(7, 3, 3, 1), rows=(2, 2))
    desk = RiichiDesk(session())
    assert desk.asked_of(seen, "t").dora == ()
    assert [len(group) for group in desk.asked[0].groups] == [7, 3, 3, 1]


@pytest.mark.parametrize("under", [(6,), (1, 1, 1)])
def test_tiles_that_cannot_be_indicators_are_not_sent(under: tuple[int, ...]) -> None:
    desk = RiichiDesk(session()).looking_at(laid(13, 1, under=under))
    assert desk.shown.counting.hand == "indicators_unclear"


def test_red_fives_and_open_riichi_are_asked_for_if_the_rules_have_them() -> None:
    desk = RiichiDesk(session("south", rules=every_question()))
    said = desk.asked_of(laid(13, 1), "t", "i", "i", "f", "f")
    assert (said.riichi, said.red_fives) == ("open_riichi", 2)


def test_the_special_moment_is_one_that_this_hand_allows() -> None:
    desk = RiichiDesk(session()).looking_at(laid(10, 3, 1))
    desk.key("t")
    moments = []
    for _ in range(2):
        desk.key("s")
        moments.append(getattr(desk.shown.counting.details, "moment", ""))
    assert moments == ["last_tile", None]  # no kan, and no first turn after a call


def test_an_accepted_value_is_entered_as_if_typed() -> None:
    desk = RiichiDesk(session("south"))
    desk.asked_of(laid(13, 1), "t")
    desk.answer(PINFU)
    assert _entered(desk) == WinForm(("south",), wins=(RiichiWin(han=2, fu=30),), asked="discarder")
    assert desk.desk.discarder_key == "d"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (msgspec.structs.replace(PINFU, han=6, fu=40), RiichiWin(han=6)),
        (msgspec.structs.replace(PINFU, han=26, fu=0, yakuman=2), RiichiWin(yakuman=2)),
    ],
)
def test_no_fu_are_entered_for_large_hands(value: RiichiValue, told: RiichiWin) -> None:
    desk = RiichiDesk(session())
    desk.asked_of(laid(13, 1), "t")
    desk.answer(value)
    form = _entered(desk)
    form = _pressed(form, ("enter",)) if form.asked == "responsible" else form
    assert form.wins == (told,)


@pytest.mark.parametrize(("code", "false"), [("no_yaku", ("x",)), ("not_winning", ("x",)), ("five_of_a_tile", ())])
def test_a_hand_without_yaku_can_be_ruled_false(code: str, false: tuple[str, ...]) -> None:
    desk = RiichiDesk(session())
    desk.asked_of(laid(13, 1), "t")
    desk.answer(NotCounted(code=code))
    assert desk.key("x") == false


def _entered(desk: RiichiDesk) -> WinForm:
    """Accept the count, and return the form after the resulting keys."""
    keys = desk.key("enter")
    assert keys is not None
    return _pressed(WinForm(("south",), digits="7"), keys)


def _pressed(form: WinForm, keys: tuple[str, ...]) -> WinForm:
    for key in keys:
        after = press_win_key(form, key)
        assert isinstance(after, WinForm)
        form = after
    return form
