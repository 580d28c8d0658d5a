"""Draws the table's states as a Mermaid diagram, from the machine's own rules: `python -m kiosk.table.diagram`."""

import re
from collections.abc import Iterator

from kiosk.table.machine import EVERY, NOT_QUIET, RULES
from kiosk.table.state import Phase

HEAD = """# The states of a table

Generated from `kiosk/table/machine.py` by `make docs`; a test fails when it is stale.
States are nouns, events are past tense. An event that is not drawn is refused with a code and changes nothing.

An open claim window (`claiming`) is published, and shown on the screen, as `playing`.
"""


def diagram() -> str:
    """Return the document."""
    return (
        "\n".join([HEAD, "```mermaid", "stateDiagram-v2", "    [*] --> waiting", *_arrows(), "```", "", *_always()])
        + "\n"
    )


def _arrows() -> Iterator[str]:
    for rule in RULES:
        if rule.phases in (EVERY, NOT_QUIET):
            continue
        for phase in rule.phases:
            for target in dict.fromkeys((*rule.leads_to,)) or (phase,):
                yield f"    {phase.value} --> {target.value}: {_words(rule.event.__name__)}"


def _always() -> Iterator[str]:
    yield f"In every state: {_events_in(EVERY)}. In every state but `playing` and `claiming`: {_events_in(NOT_QUIET)}."


def _events_in(phases: tuple[Phase, ...]) -> str:
    return ", ".join(_words(rule.event.__name__) for rule in RULES if rule.phases is phases)


def _words(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name).lower()


if __name__ == "__main__":
    print(diagram(), end="")
