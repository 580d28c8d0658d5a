"""Which sign and colour each state of a table has: never colour alone (docs/arbiter.md holds the same list)."""

from typing import Final, Literal, NamedTuple

from broker.contract.words import PublicState
from broker.scorer.sheets.grid import Want
from broker.scorer.view import TableView

Absent = Literal["unheard", "init", "disconnected", "lost"]
"""Why a table says nothing of its play: these stand in the place of its state."""

Shown = PublicState | Absent


class Sign(NamedTuple):
    """A shape (drawn in `templates/signs.html`) and a tone (a colour pair in `static/desk.css`)."""

    shape: str
    tone: Literal["grey", "amber", "blue", "violet", "green", "red"]


SIGNS: Final[dict[Shown, Sign]] = {
    "waiting": Sign("ring", "grey"),
    "restoring": Sign("tiles", "amber"),
    "seating": Sign("person", "amber"),
    "confirming": Sign("list", "amber"),
    "playing": Sign("triangle", "blue"),
    "declared": Sign("flag", "violet"),
    "accepting": Sign("half disc", "violet"),
    "recorded": Sign("tick", "green"),
    "finished": Sign("double tick", "green"),
    "unheard": Sign("dots", "grey"),
    "init": Sign("hourglass", "grey"),
    "disconnected": Sign("bar", "grey"),
    "lost": Sign("cross", "red"),
}


Stage = Literal["in", "missing", "to_come", "offline_unsent"]
"""What the grid says of a play, and of a table, beside a table's state."""

STAGES: Final[dict[Stage, Sign]] = {
    "in": Sign("tick", "green"),
    "missing": Sign("warning", "red"),
    "to_come": Sign("dot", "grey"),
    "offline_unsent": Sign("hourglass", "red"),
}


WANTS: Final[dict[Want, str]] = {
    "calling": "bell",
    "walls": "tiles",
    "offline_unsent": "hourglass",
    "over": "clock",
    "lost": "cross",
    "missing": "warning",
    "gaps": "warning",
    "unwell": "warning",
}
"""The shape of each reason why a table wants looking after."""

LEGEND: Final[tuple[Shown | Stage, ...]] = (
    "lost",
    "restoring",
    "playing",
    "declared",
    "accepting",
    "in",
    "missing",
    "offline_unsent",
)
"""What the grid explains at its foot."""


def shown(table: TableView) -> Shown:
    """Give what a table's card says: its state, or why nothing is known of it now."""
    if table.lifecycle is None or table.lifecycle in {"init", "disconnected", "lost"}:
        return _absent(table)
    return table.state or "unheard"


def _absent(table: TableView) -> Absent:
    match table.lifecycle:
        case "init" | "disconnected" | "lost":
            return table.lifecycle
        case _:
            return "unheard"
