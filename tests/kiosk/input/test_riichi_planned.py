"""A planned deal under riichi rules at the keyboard, from declaration to acceptance; no key reveals a press."""

from dataclasses import replace

import pytest

from broker.i18n import Translator
from broker.protocol import SEATS, Result
from kiosk.arbiter_pin import SealedTry
from kiosk.input import WinForm
from kiosk.screens import StatusLine, screen_view
from kiosk.screens.table import current_screen
from kiosk.screens.views import planned_riichi_view
from kiosk.table import Phase
from kiosk.table.events import ButtonPressed
from tests.kiosk.keyed import Keyed, NoPin
from tests.kiosk.riichi_tables import AloneSitting
from tests.kiosk.tables import TABLE


class Pin(NoPin):
    """A PIN that is set and that nobody knows."""

    known = True
    mark = None

    def submit(self, _: str) -> SealedTry:
        """Send a PIN, which is never answered."""
        return SealedTry("0" * 32, "0" * 120, sent=True)


class At(Keyed[AloneSitting]):
    """A table with its keyboard, in the first of two hands."""

    def __init__(self, pins: Pin | None = None) -> None:
        sitting = AloneSitting()
        sitting.begin()
        sitting.wait()
        super().__init__(sitting, pins)

    def seen(self) -> tuple[object, ...]:
        """Return the screen's view."""
        table = self.sitting.table
        alone = planned_riichi_view(table, self.keys.riichi.form)
        seen = screen_view(TABLE, table, self.keys.form, StatusLine(), self.keys.problem)
        return seen, alone


def test_a_hand_is_entered_from_declaration_to_the_next_deal() -> None:
    at = At()
    at.sitting.declare("south")
    at.type("3", "enter", "3", "0", "enter", "w")
    assert at.sitting.table.phase is Phase.ACCEPTING
    at.sitting.press(*SEATS)
    fact = at.sitting.facts[-1]
    assert isinstance(fact, Result)
    assert fact.points == {"east": 0, "south": 39, "west": -39, "north": 0}
    at.type("enter")
    assert (at.sitting.table.phase, at.sitting.table.index) == (Phase.RESTORING, 1)


def test_a_drawn_hand_is_settled_by_enter_and_refused_by_r() -> None:
    at = At()
    at.sitting.draw()
    at.sitting.press("east")
    at.type("enter")
    assert at.sitting.table.phase is Phase.ACCEPTING
    at.type("r")
    assert (at.sitting.table.phase, at.sitting.table.hand.asks_tenpai) == (Phase.DECLARED, True)


def test_a_false_declaration_is_fined_and_the_hand_goes_on() -> None:
    at = At()
    at.sitting.declare("south")
    at.sitting.admit()
    at.type("x", "4", "1")
    assert at.sitting.table.phase is Phase.PLAYING
    assert {seat: fine.imp for seat, fine in at.sitting.table.fines.items()} == {"south": 4}


def test_a_declaration_questioned_by_mistake_can_still_be_valued() -> None:
    at = At()
    at.sitting.declare("south")
    at.sitting.admit()
    at.type("x", "back", "back")
    assert (at.sitting.table.phase, at.keys.riichi.form) == (Phase.DECLARED, WinForm(("south",), live_kan=True))


@pytest.mark.parametrize(("pin", "problem"), [(Pin(), None), (None, "arbiter_needed")], ids=["PIN", "no PIN"])
def test_only_arbiters_rule_a_declaration_false(pin: Pin | None, problem: str | None) -> None:
    at = At(pin)
    at.sitting.declare("south")
    at.type("x")
    at.type(*(("4", "enter") if pin else ()))
    assert (at.sitting.table.phase, at.sitting.table.fines, at.keys.problem) == (Phase.DECLARED, {}, problem)


@pytest.mark.parametrize("key", ["i", "f", "u", "q"])
def test_nothing_is_deposited_paid_or_taken_back(key: str) -> None:
    at = At()
    before = at.sitting.table
    at.type(key, "e", "enter")
    assert (at.sitting.table, at.keys.riichi.form) == (before, None)


@pytest.mark.parametrize("keys", [(), ("d",), ("b",), ("b", "1"), ("b", "back"), ("x",), ("5",)], ids=" ".join)
def test_typing_looks_the_same_whether_or_not_somebody_has_pressed(keys: tuple[str, ...]) -> None:
    pictures = []
    for pressing in (False, True):
        at = At()
        if pressing:
            at.sitting.take(ButtonPressed(at=at.sitting.wait(), seat="west"))
        at.type(*keys)
        pictures.append(at.seen())
    assert pictures[0] == pictures[1]


def test_before_the_first_tile_the_screen_shows_where_the_wall_begins_and_the_dead_wall() -> None:
    sitting = AloneSitting(dealer="west")
    sitting.restore()
    seen = screen_view(TABLE, sitting.table, None, StatusLine(), None)
    seen = replace(seen, riichi=planned_riichi_view(sitting.table, None))
    texts = [said.text for said in current_screen(Translator(), seen).lines]
    assert texts[-1] == "One wall: from West on. Dead wall: the last 14 of South."
