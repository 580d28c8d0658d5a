"""The picture of the states in docs/ is the machine's own."""

import re
from pathlib import Path

from kiosk.table.diagram import diagram
from kiosk.table.events import Event
from kiosk.table.machine import RIICHI, RULES
from kiosk.table.state import Phase

PAGE = Path(__file__).parents[3] / "docs" / "table-states.md"


def test_the_page_is_what_the_machine_draws() -> None:
    assert PAGE.read_text(encoding="utf-8") == diagram(), "stale: make docs"


def test_every_phase_is_drawn_and_no_other() -> None:
    drawn = set(re.findall(r"^    (\w+) -->|--> (\w+)(?::|$)", diagram(), flags=re.MULTILINE))
    assert {name for pair in drawn for name in pair if name} == {phase.value for phase in Phase}


def test_every_event_has_a_rule() -> None:
    assert {rule.event for rule in (*RULES, *RIICHI)} == {*Event.__args__}
