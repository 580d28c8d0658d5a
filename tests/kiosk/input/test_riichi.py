"""Keys at a riichi table, none of which reveals a press."""

from typing import Final

import pytest

from broker.protocol import Assignment, RiichiEvent, RiichiRecorded, RiichiStanding, Seat
from kiosk.input import RiichiQuestion, WinForm
from kiosk.screens import ScreenView, SessionView, StatusLine, screen_view
from kiosk.screens.views import Scores, session_view, sheet_view
from kiosk.table import LINES_PER_PAGE, Phase
from kiosk.table.events import ButtonPressed
from tests.kiosk.keyed import Keyed
from tests.kiosk.riichi_tables import RiichiSitting, fu30, session_plan
from tests.kiosk.tables import TABLE

SCORES: Final[dict[Seat, int]] = {"east": 31_000, "south": 29_000, "west": 20_000, "north": 20_000}


class At(Keyed[RiichiSitting]):
    """A riichi table with its keyboard."""

    def __init__(self, plan: Assignment | None = None) -> None:
        sitting = RiichiSitting(plan)
        sitting.begin()
        sitting.wait()
        super().__init__(sitting)

    def seen(self, scores: Scores = "always") -> tuple[ScreenView, object]:
        """Return the screen's view."""
        table, form = self.sitting.table, self.keys.riichi.form
        seen = screen_view(TABLE, table, self.keys.form, StatusLine(), self.keys.problem)
        return seen, session_view(table, self.sitting.session, form, scores)


def test_a_hand_is_entered_from_declaration_to_acceptance() -> None:
    at = At()
    at.sitting.declare("south")
    at.type("3", "enter", "3", "0", "enter", "w")
    assert at.sitting.table.phase is Phase.ACCEPTING
    assert at.keys.riichi.form is None
    at.sitting.record()
    at.type("enter")
    assert (at.sitting.table.phase, at.sitting.session.hand) == (Phase.PLAYING, 2)


def test_the_earliest_tile_wins_and_the_record_names_each_declaration_tile() -> None:
    at = At()
    at.sitting.declare("south", "north")
    at.type("d", "w", "3", "enter", "3", "0", "enter")
    assert at.sitting.table.phase is Phase.ACCEPTING
    assert isinstance(seen := at.seen()[1], SessionView)
    assert (seen.ending, seen.overtaken) == (at.sitting.table.hand.result, ("south",))
    at.sitting.record()
    fact = at.sitting.facts[-1]
    assert isinstance(fact, RiichiRecorded)
    assert (fact.declared_on, [*fact.event.wins], fact.event.loser) == (
        {"south": "south", "north": "west"},
        ["north"],
        "west",
    )


def test_the_key_for_a_chombo_asks_first_and_a_slip_loses_no_input() -> None:
    at = At()
    at.sitting.declare("south")
    at.type("3", "enter", "3", "x")
    assert at.keys.riichi.form == RiichiQuestion("fault", ("south",))
    at.type("back", "0", "enter", "w")
    assert at.sitting.table.hand.result == RiichiEvent(kind="ron", wins={"south": fu30(3)}, loser="west")
    at.type("r", "x", "1")
    assert at.sitting.table.hand.result == RiichiEvent(kind="chombo", offenders=("south",))


@pytest.mark.parametrize("beside", [("x", "2"), ("i", "back")])
def test_a_question_during_the_entry_of_a_hand_loses_no_input(beside: tuple[str, ...]) -> None:
    at = At()
    at.sitting.declare("south")
    at.type("3", "enter", "3", *beside, "0", "enter", "w")
    assert (at.sitting.table.phase, at.keys.problem) == (Phase.ACCEPTING, None)
    assert at.sitting.table.hand.result == RiichiEvent(kind="ron", wins={"south": fu30(3)}, loser="west")


def test_an_impossible_value_is_refused_and_the_input_stays() -> None:
    at = At()
    at.sitting.declare("south")
    at.type("1", "enter", "3", "1", "enter")
    assert (at.sitting.table.phase, at.keys.problem) == (Phase.DECLARED, "impossible_fu")
    assert at.keys.riichi.form == WinForm(("south",), asked="fu", han=1, digits="31", live_kan=True)
    at.type("back", "0", "enter", "w")
    assert at.sitting.table.phase is Phase.ACCEPTING


@pytest.mark.parametrize(
    ("value", "by"),
    [("1 2 0", "w"), ("1 2 5", "w"), ("2 2 0", "w"), ("1 2 0", "d"), ("1 2 5", "d"), ("2 2 5", "d")],
)
def test_han_and_fu_that_do_not_fit_are_not_accepted(value: str, by: str) -> None:
    at = At()
    at.sitting.declare("south")
    han, *fu = value.split()
    at.type(han, "enter", *fu, "enter", by)
    assert (at.sitting.table.phase, at.keys.problem) == (Phase.DECLARED, "impossible_value")


@pytest.mark.parametrize(
    ("keys", "ending"),
    [
        (("b", "2"), RiichiEvent(kind="abort", reason="four_winds")),
        (("f", "s", "1"), RiichiEvent(kind="chombo", offenders=("south",))),
        (("f", "n", "s", "w", "w", "1", "enter"), RiichiEvent(kind="chombo", offenders=("south", "north"))),
        (
            ("f", "s", "n", "1", "e", "n", "enter"),
            RiichiEvent(kind="chombo", offenders=("south", "north"), dependent=("north",)),
        ),
        (
            ("f", "s", "3", "enter", "s", "n", "w", "w", "enter"),
            RiichiEvent(kind="chombo", offenders=("south",), yakuman_tenpai=("north",)),
        ),
        (
            ("f", "s", "n", "3", "s", "enter", "enter"),
            RiichiEvent(kind="chombo", offenders=("south", "north"), yakuman_tenpai=("south",)),
        ),
    ],
)
def test_the_reason_for_ending_a_hand_is_asked_for_and_reported(keys: tuple[str, ...], ending: RiichiEvent) -> None:
    at = At()
    at.type(*keys)
    assert (at.sitting.table.phase, at.sitting.table.hand.ending) == (Phase.CLAIMING, ending)


def test_a_chombo_that_depends_on_another_pays_nothing() -> None:
    at = At()
    at.type("f", "s", "n", "1", "n", "enter")
    at.sitting.close_window()
    at.sitting.record()
    assert at.sitting.scores == (29_000, 17_000, 27_000, 27_000)


def test_a_chombo_that_spoils_a_possible_yakuman_pays_double_if_the_rules_say_so() -> None:
    at = At()
    at.type("f", "s", "3", "n", "enter")
    at.sitting.close_window()
    at.sitting.record()
    assert at.sitting.scores == (33_000, 9_000, 29_000, 29_000)
    basic = At(session_plan(profile="riichi-basic"))
    basic.type("f", "s", "3")
    assert basic.keys.riichi.form == RiichiQuestion("fault", seats=("south",))


def test_at_least_one_of_several_offenders_pays() -> None:
    at = At()
    before = at.sitting.table
    at.type("f", "s", "n", "1", "n", "s", "enter")
    assert (at.sitting.table, at.keys.problem) == (before, "no_first_fault")


def test_a_tsumo_after_a_live_kan_is_paid_by_the_discarder_of_its_tile() -> None:
    at = At()
    at.sitting.declare("south")
    at.type("3", "enter", "3", "0", "enter", "k", "w")
    at.sitting.record()
    assert at.sitting.scores == (25_000, 29_000, 21_000, 25_000)


def test_back_from_a_question_changes_nothing() -> None:
    at = At()
    before = at.sitting.table
    for key in ("i", "b", "f", "u"):
        at.type(key)
        assert isinstance(at.keys.riichi.form, RiichiQuestion)
        at.type("back")
    assert (at.sitting.table, at.keys.riichi.form) == (before, None)


def test_riichi_can_be_declared_and_taken_back_by_keys() -> None:
    at = At()
    laid = []
    for _ in range(2):
        at.type("i", "n")
        laid.append(at.sitting.session.riichi)
    assert laid == [("north",), ()]


def test_tenpai_is_settled_and_the_session_ended_and_resumed_by_keys() -> None:
    at = At()
    at.sitting.draw()
    at.type("enter")
    at.sitting.record()
    came = []
    for keys in (("q", "enter"), ("u", "enter")):
        at.type(*keys)
        came.append(at.sitting.table.phase)
    assert came == [Phase.FINISHED, Phase.RECORDED]


KEYS = [
    (),
    ("d",),
    ("b", "1"),
    ("b",),
    ("f", "w", "2"),
    ("f", "w", "1"),
    ("i", "e"),
    ("u",),
    ("u", "enter"),
    ("q",),
    ("5",),
]


@pytest.mark.parametrize("keys", KEYS, ids=" ".join)
@pytest.mark.parametrize("scores", ["always", "between_hands"])
def test_typing_looks_the_same_whether_or_not_somebody_has_pressed(keys: tuple[str, ...], scores: Scores) -> None:
    """Until the claim window closes. Deposits and faults are public, and show at once."""
    pictures = []
    for pressing in (False, True):
        at = At()
        if pressing:
            at.sitting.take(ButtonPressed(at=at.sitting.wait(), seat="west"))
        at.type(*keys)
        pictures.append(at.seen(scores))
    assert pictures[0] == pictures[1]


def test_the_score_shows_during_a_hand_only_if_the_club_wants_it() -> None:
    at = At()
    _, seen = at.seen("between_hands")
    assert getattr(seen, "scores") == {}  # noqa: B009 - typed as any object
    at.sitting.declare("south")
    _, seen = at.seen("between_hands")
    assert len(getattr(seen, "scores")) == 4  # noqa: B009 - typed as any object


def test_two_seats_can_have_a_nagashi_mangan_in_one_hand() -> None:
    at = At()
    at.sitting.draw()
    at.type("g", "enter")  # nobody is chosen yet
    assert at.keys.riichi.form == RiichiQuestion("nagashi")
    at.type("s", "w", "n", "w", "enter")
    told = at.sitting.table.hand.result
    assert told is not None
    assert (at.sitting.table.phase, told.nagashi) == (Phase.ACCEPTING, ("south", "north"))


def test_the_sheet_shows_every_entry_page_by_page_and_changes_nothing() -> None:
    at = At()
    for _ in range(LINES_PER_PAGE + 1):
        at.type("f", "s", "2")
    at.type("b", "2")
    at.sitting.close_window()
    at.sitting.record()
    before = at.sitting.table
    kinds: list[list[str]] = []
    at.type("l")
    for key in ("1", "1", "2", "2"):
        _, session = at.seen()
        assert isinstance(session, SessionView)
        assert session.sheet is not None
        kinds.append([one.ending.kind for one in session.sheet.lines])
        at.type(key)
    newest, oldest = [*["minor_fault"] * (LINES_PER_PAGE - 1), "abort"], ["minor_fault"] * 2
    assert kinds == [newest, oldest, oldest, newest]
    at.type("back")
    assert (at.keys.riichi.form, at.sitting.table) == (None, before)


def test_a_hand_in_play_has_no_sheet() -> None:
    at = At()
    at.type("l")
    assert at.keys.riichi.form is None


def test_the_sheet_counts_entries_made_on_another_device() -> None:
    standing = RiichiStanding(hand=7, round_wind="east", dealer="west", counters=0, deposits=0, scores=SCORES)
    sitting = RiichiSitting(session_plan(standing=standing))
    shown = sheet_view(sitting.session, 0)
    assert (shown.unknown, shown.lines, shown.pages, shown.scores) == (7, (), 1, SCORES)
