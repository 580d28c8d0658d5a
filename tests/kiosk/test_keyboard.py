"""Keys at the table: what each does in each phase, and that nothing else does anything."""

import string

import pytest

from broker.rules.points import Outcome
from kiosk.keyboard import Keyboard
from kiosk.table.errors import NotNow
from kiosk.table.events import Event
from kiosk.table.state import Phase
from tests.kiosk.tables import Sitting, sitting_in

KEYS = [*string.ascii_lowercase, *string.digits, "enter", "back"]

MEANT = {
    Phase.WAITING: set(),
    Phase.RESTORING: {"c"},
    Phase.CONFIRMING: {"c"},
    Phase.PLAYING: {"c", "d"},
    Phase.CLAIMING: {"c", "d"},
    Phase.ACCEPTING: {"c", "r"},
    Phase.RECORDED: {"c", "enter"},
    Phase.FINISHED: set(),
}


class Desk:
    """A keyboard at a table."""

    def __init__(self, sitting: Sitting) -> None:
        self.sitting = sitting
        self.keyboard = Keyboard(self._apply)
        self.keyboard.follow(sitting.table)

    def _apply(self, event: Event) -> str | None:
        try:
            self.sitting.take(event)
        except NotNow as refusal:
            return refusal.code
        return None

    def type(self, *keys: str) -> None:
        for key in keys:
            self.keyboard.key(key, self.sitting.table, self.sitting.wait())
            self.keyboard.follow(self.sitting.table)


@pytest.mark.parametrize("phase", MEANT)
def test_only_these_keys_change_the_table(phase: Phase) -> None:
    changing = set()
    for key in KEYS:
        desk = Desk(sitting_in(phase))
        before = desk.sitting.table
        desk.type(key)
        if desk.sitting.table != before:
            changing.add(key)
    assert changing == MEANT[phase]


def test_two_values_and_a_discarder_make_a_result() -> None:
    desk = Desk(sitting_in(Phase.DECLARED))  # west and north have declared
    desk.type("1", "2", "enter", "8", "enter", "e")
    assert desk.sitting.table.outcome == Outcome("discard", {"west": 12, "north": 8}, "east")


def test_a_value_under_the_minimum_is_refused_with_its_code_and_the_form_begins_again() -> None:
    desk = Desk(sitting_in(Phase.DECLARED))
    desk.type("7", "enter", "8", "enter", "e")
    assert desk.keyboard.problem == "below_minimum"
    assert desk.sitting.table.phase is Phase.DECLARED
    assert desk.keyboard.form is not None
    assert desk.keyboard.form.values == ()


def test_a_false_hu_leaves_the_other_declarations_to_be_valued() -> None:
    desk = Desk(sitting_in(Phase.DECLARED))
    desk.type("x", "8")
    assert desk.sitting.table.fines["west"].imp == 8
    assert desk.keyboard.form is not None
    assert desk.keyboard.form.declared == ("north",)


def test_there_is_a_form_only_while_a_declaration_waits() -> None:
    forms = {phase: Desk(sitting_in(phase)).keyboard.form for phase in Phase}
    assert {phase for phase, form in forms.items() if form is not None} == {Phase.DECLARED}
