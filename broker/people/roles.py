"""Roles, and what each may do. Pure. What a role is not given here it may not do."""

from typing import Final, Literal, get_args

Role = Literal["head_arbiter", "table_arbiter", "organiser", "display"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)

Right = Literal["see_public", "see_room", "give_orders", "rule", "set_up", "print_sheets", "keep_people"]
"""`see_public`: what players may know. `see_room`: all, deals under embargo too. `rule`: on plays, if the scorer lets.
`set_up`: the event before it starts, and what its plan has wrong afterwards. `print_sheets`: blank ones, for paper.
`keep_people`: accounts and the audit log."""

RIGHTS: Final[dict[Role, frozenset[Right]]] = {
    "head_arbiter": frozenset(get_args(Right)),
    "table_arbiter": frozenset({"see_public", "see_room", "give_orders", "rule", "print_sheets"}),
    # An organiser is often a player's club mate: deals that others have yet to play are not for them.
    "organiser": frozenset({"see_public", "set_up", "print_sheets"}),
    "display": frozenset({"see_public"}),
}

HOUR_MS: Final = 3_600_000

IDLE_MS: Final[dict[Role, int]] = {
    "head_arbiter": 4 * HOUR_MS,
    "table_arbiter": 4 * HOUR_MS,
    "organiser": 1 * HOUR_MS,
    "display": 7 * 24 * HOUR_MS,
}
"""A session that nothing was asked with for so long has ended. A page that follows the room asks all the time."""

WHOLE_MS: Final[dict[Role, int]] = {
    "head_arbiter": 16 * HOUR_MS,
    "table_arbiter": 16 * HOUR_MS,
    "organiser": 16 * HOUR_MS,
    "display": 7 * 24 * HOUR_MS,
}
"""A session ends after so long, used or not: a day of play, or for a display on the wall a week."""
