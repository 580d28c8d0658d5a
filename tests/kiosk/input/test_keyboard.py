"""Keys at the table: what each does in each phase, and that nothing else does anything."""

import string

import pytest

from broker.rules import Outcome
from kiosk.input import Form
from kiosk.table import Phase
from tests.kiosk.keyed import Keyed
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


@pytest.mark.parametrize("phase", MEANT)
def test_only_these_keys_change_the_table(phase: Phase) -> None:
    changing = set()
    for key in KEYS:
        desk = Keyed(sitting_in(phase))
        before = desk.sitting.table
        desk.type(key)
        if desk.sitting.table != before:
            changing.add(key)
    assert changing == MEANT[phase]


def test_two_values_and_a_discarder_make_a_result() -> None:
    desk = Keyed(sitting_in(Phase.DECLARED))  # west and north have declared
    desk.type("e", "e", "1", "2", "enter", "8", "enter")
    assert desk.sitting.table.outcome == Outcome("discard", {"west": 12, "north": 8}, "east")


def test_a_value_under_the_minimum_is_refused_at_once_and_nothing_that_was_typed_is_lost() -> None:
    desk = Keyed(sitting_in(Phase.DECLARED))
    desk.type("e", "e", "9", "enter", "7", "enter")
    assert (desk.keys.problem, desk.sitting.table.phase) == ("below_minimum", Phase.DECLARED)
    assert desk.keys.form == Form(("west", "north"), (9,), "7", 8, tiles=("east", "east"))
    desk.type("0", "enter")
    assert (desk.keys.problem, desk.sitting.table.phase) == (None, Phase.ACCEPTING)


def test_what_the_table_refuses_is_still_there_to_be_put_right() -> None:
    desk = Keyed(sitting_in(Phase.DECLARED))
    desk.type("e", "e", "9", "enter", "1", "2")
    desk.keys._apply = lambda _: "journal_full"
    desk.type("enter")
    form = Form(("west", "north"), (9,), "12", 8, tiles=("east", "east"))
    assert (desk.keys.problem, desk.keys.form) == ("journal_full", form)


def test_a_false_hu_leaves_the_other_declarations_to_be_valued() -> None:
    desk = Keyed(sitting_in(Phase.DECLARED))
    desk.sitting.admit()
    desk.type("x", "8", "1")
    assert desk.sitting.table.fines["west"].imp == 8
    assert desk.keys.form is not None
    assert desk.keys.form.declared == ("north",)


def test_there_is_a_form_only_while_a_declaration_waits() -> None:
    forms = {phase: Keyed[Sitting](sitting_in(phase)).keys.form for phase in Phase}
    assert {phase for phase, form in forms.items() if form is not None} == {Phase.DECLARED}
