"""Counting a hand at the table: only after a declaration; repeated until answered; accepted or corrected."""

from dataclasses import replace
from typing import Final

import pytest

from broker.protocol import AnyCountAnswer, Counted, CountedFan, CountRequest, McrValue, McrWinDetails, NotCounted
from kiosk.camera.observations import HandObservation, SeenTile
from kiosk.counting.desk import ASK_AGAIN_NS, SILENT_NS, AnyForm, CountDesk, CountingView
from kiosk.input import Form
from kiosk.table import Phase
from tests.kiosk.screens.counting_scenes import dealt, self_drawn_late, sight, with_melds
from tests.kiosk.tables import EVENT, TABLE, Sitting, sitting_in

DECLARED: Final = Form(("west", "north"), tiles=("east", "east"))
WORTH: Final = McrValue(fan=24, minimum=8, elements=(CountedFan(id="seven_pairs", fan=24),))
TOO_LITTLE: Final = McrValue(fan=7, minimum=8, elements=(CountedFan(id="all_pungs", fan=6),))


class Desk:
    """A count desk, and its requests."""

    def __init__(self, sitting: Sitting | None = None, form: AnyForm | None = DECLARED) -> None:
        self.asked: list[CountRequest] = []
        self.desk = CountDesk(EVENT, TABLE, self.asked.append)
        self.sitting, self.form = sitting or sitting_in(Phase.DECLARED), form

    def key(self, key: str, now: int = 0) -> tuple[str, ...] | None:
        return self.desk.key(key, self.sitting.table, self.form, now)

    def looking_at(self, seen: HandObservation) -> "Desk":
        self.key("b")
        self.desk.observe(seen)
        return self

    def answer(self, answer: AnyCountAnswer, to: str | None = None) -> None:
        asked = self.asked[-1].id if to is None else to
        self.desk.take(Counted(id="answer-1", event=EVENT, seq=1, table=TABLE, asked=asked, answer=answer))

    @property
    def shown(self) -> CountingView:
        shown = self.desk.view(0, up=True)
        assert shown is not None
        return shown


def told(answer: AnyCountAnswer) -> Desk:
    """A desk that has asked about West's hand and received an answer."""
    desk = Desk().looking_at(sight(with_melds()))
    desk.key("enter")
    desk.answer(answer)
    return desk


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.DECLARED])
def test_nothing_is_counted_before_the_claim_window_closes_or_after_the_result(phase: Phase) -> None:
    desk = Desk(sitting_in(phase))
    assert (desk.key("b"), desk.desk.camera_target, desk.desk.view(0, up=True)) == (None, None, None)


def test_nothing_is_counted_while_the_owner_of_the_tile_is_asked_for() -> None:
    one_alone, both = Form(("west",), values=(24,)), replace(DECLARED, tiles=())
    assert [Desk(form=form).key("b") for form in (one_alone, both, None)] == [None, None, None]


def test_a_hand_is_sent_to_the_scorer_as_it_lies() -> None:
    desk = Desk().looking_at(sight(with_melds()))
    assert desk.key("enter") == ()
    (asked,) = desk.asked
    assert (asked.table, asked.round, asked.deal, asked.seat, asked.groups) == (TABLE, 1, 1, "west", with_melds())
    assert desk.desk.camera_target is None


@pytest.mark.parametrize(
    ("seen", "code"),
    [
        (HandObservation(), "hand_not_seen"),
        (sight((dealt()[:13], dealt()[32:34])), "winning_tile_not_apart"),
        (replace(sight(()), groups=((SeenTile(None),),)), "hand_unread"),
        (replace(sight(()), groups=((SeenTile(5, face_up=True), SeenTile(None)),)), "hand_face_up"),
        (replace(sight(()), groups=((SeenTile(5, foreign=True),),)), "hand_foreign"),
    ],
)
def test_a_hand_that_cannot_be_counted_is_not_sent(seen: HandObservation, code: str) -> None:
    desk = Desk().looking_at(seen)
    desk.key("enter")
    assert (desk.shown.counting.hand, desk.asked) == (code, [])


def test_a_hand_that_is_still_being_laid_is_not_sent() -> None:
    desk = Desk().looking_at(sight(self_drawn_late(), still=False))
    desk.key("enter")
    assert desk.asked == []


def test_keys_answer_what_the_tiles_cannot_tell_if_the_hand_allows_it() -> None:
    late, early = sight(self_drawn_late()), sight((dealt()[:13], dealt()[13:14]))
    desk = Desk().looking_at(late)
    for key in ("l", "o", "k", "enter"):  # there is no kong, so no replacement tile
        desk.key(key)
    assert desk.asked[0].said == McrWinDetails(last_tile=True, last_of_kind=True)
    desk.key("r")
    desk.desk.observe(early)
    desk.key("enter")
    assert desk.asked[1].said == McrWinDetails(last_of_kind=True)


def test_a_robbed_kong_needs_a_claimed_tile_that_is_not_the_last_one() -> None:
    desk = Desk().looking_at(sight(with_melds()))
    desk.key("k")
    assert desk.shown.counting.details == McrWinDetails(kong=True)
    desk.key("l")
    assert desk.shown.counting.details == McrWinDetails(last_tile=True)


def test_without_an_answer_the_request_is_repeated_and_the_screen_says_so() -> None:
    desk = Desk().looking_at(sight(with_melds()))
    desk.key("enter", now=0)
    for now in (ASK_AGAIN_NS - 1, ASK_AGAIN_NS, ASK_AGAIN_NS + 1, 2 * ASK_AGAIN_NS):
        desk.desk.due(now)
    assert desk.asked == [desk.asked[0]] * 3
    silent = [desk.desk.view(now, up=up) for now, up in ((1, True), (1, False), (SILENT_NS, True))]
    assert [one is not None and one.silent for one in silent] == [False, True, True]


def test_the_desk_waits_while_the_scorer_lacks_the_declaration() -> None:
    desk = told(NotCounted(code="not_declared"))
    assert desk.shown.counting.answer is None
    desk.desk.due(ASK_AGAIN_NS)
    desk.answer(WORTH)
    assert (len(desk.asked), desk.shown.counting.accepted) == (2, WORTH)


def test_an_answer_to_an_older_request_is_ignored() -> None:
    desk = told(WORTH)
    desk.key("r")
    desk.key("enter")
    desk.answer(TOO_LITTLE, to=desk.asked[0].id)
    assert desk.shown.counting.answer is None


def test_tiles_that_move_after_the_request_change_nothing() -> None:
    desk = told(WORTH)
    desk.desk.observe(HandObservation())
    assert desk.shown.counting.observation == sight(with_melds())


def test_an_accepted_value_is_typed_into_the_form_and_the_discarder_marked() -> None:
    desk = told(WORTH)
    assert desk.key("enter") == ("clear", "2", "4", "enter")
    assert (desk.desk.view(0, up=True), desk.desk.discarder_key) == (None, "e")


def test_a_self_drawn_tile_is_marked_too_until_the_form_is_complete() -> None:
    desk = Desk().looking_at(sight(self_drawn_late()))
    desk.key("enter")
    desk.answer(WORTH)
    desk.key("enter")
    assert desk.desk.discarder_key == "d"
    desk.desk.follow(desk.sitting.table, None)
    assert desk.desk.discarder_key is None


@pytest.mark.parametrize("answer", [TOO_LITTLE, NotCounted(code="not_winning")])
def test_a_hand_that_is_no_hu_can_be_ruled_false_but_not_accepted(answer: AnyCountAnswer) -> None:
    desk = told(answer)
    assert desk.key("enter") == ()
    assert desk.key("x") == ("x",)


def test_a_hand_refused_for_its_layout_is_not_a_false_hu() -> None:
    desk = told(NotCounted(code="not_a_meld"))
    assert desk.key("x") == ()


def test_the_keypad_is_one_key_away_at_every_step() -> None:
    for desk in (Desk().looking_at(HandObservation()), Desk().looking_at(sight(with_melds())), told(WORTH)):
        assert desk.key("back") == ()
        assert (desk.desk.view(0, up=True), desk.desk.discarder_key) == (None, None)


def test_the_arbiter_can_be_called_while_a_hand_is_counted() -> None:
    desk = Desk().looking_at(sight(with_melds()))
    assert (desk.key("c"), desk.key("a"), desk.key("7")) == (None, None, ())


def test_counting_ends_when_the_form_asks_for_another_hand() -> None:
    desk = Desk().looking_at(sight(with_melds()))
    desk.desk.follow(desk.sitting.table, replace(DECLARED, values=(24,)))
    assert desk.desk.view(0, up=True) is None
