"""What each role may do, written by hand from the tables in docs/topics.md and docs/arbiter.md: the judge of attacks.

It knows nothing of the code. A topic or a route that is not in it is for nobody: a new one is attacked by everybody,
and those whom it lets in fall until it is written here.
"""

import re
from collections.abc import Collection
from typing import Final

from broker.people import ROLES
from tests.broker.web.pages.test_rights import BESIDES, DEVICES, SIGNED
from tests.broker.web.test_auth import ALLOWED, OPEN

NOBODY: Final = ""
"""Who has no password, or no account."""

EVERY_ROUTE: Final[dict[str, Collection[str]]] = {**ALLOWED, **BESIDES}
"""Routes and the roles that may take them."""

TOKENS: Final[dict[str, Collection[str]]] = {
    "token public": {
        *(path for path in ALLOWED if path.startswith("/api/v1/") and path != "/api/v1/rounds"),
        *("/deal/{deal:int}.json", "/player/{player}.json", "/team/{team:int}.json"),
    },
    "token monitor": {"/metrics"},
}
TOKENS["token arbiter"] = {*TOKENS["token public"], *TOKENS["token monitor"], "/api/v1/rounds"}
"""Routes that tokens of other programs open: docs/api.md."""

REVOKED: Final = "token revoked"

OPEN_ROUTES: Final = OPEN | DEVICES - SIGNED
"""Routes that ask for no account: to log in, receipts of whoever has their code, devices with a proof."""

TOPICS: Final[dict[str, tuple[str, str]]] = {
    "table/#/state": ("table", "scorer arbiter"),
    "table/#/log": ("table", "scorer arbiter"),
    "table/#/beat": ("table", "scorer arbiter"),
    "table/#/kept": ("table", "scorer"),
    "table/#/pin": ("table", "scorer"),
    "table/#/count": ("table", "scorer"),
    "scorer": ("scorer", "table scorer desk arbiter"),
    "scorer/asked": ("scorer", "scorer arbiter"),
    "receipt/#": ("scorer", "table arbiter"),
    "assignment/#": ("scorer", "table"),
    "served/#": ("scorer", "table arbiter"),
    "kept/#": ("scorer", "table"),
    "pin/#": ("scorer", "table"),
    "counted/#": ("scorer", "table"),
    "order/#": ("desk", "table scorer arbiter"),
    "traveller/#": ("scorer", "desk arbiter"),
    "standings": ("scorer", "desk arbiter"),
    "ruling": ("scorer", "desk arbiter"),
    "alert": ("scorer", "desk arbiter"),
    "public/deal/#": ("scorer", "display arbiter"),
    "public/places": ("scorer", "display arbiter"),
}
"""Below `hm/<event>/`, with `#` for a number: who writes, and who reads. `table` is the one whose number it is."""

ABOUT_A_DEAL: Final = frozenset({"traveller/#", "public/deal/#"})


def user_of(role: str, number: int) -> str:
    """Return the user of a role; of `table` that of one number."""
    return f"table-{number}" if role == "table" else role


def writer_of(topic: str) -> str:
    """Return the user who may write an exact topic; nobody where it is not in the table."""
    kind, number = _kind(topic)
    writer, _ = TOPICS.get(kind, (NOBODY, ""))
    return user_of(writer, number)


def readers_of(topic: str) -> frozenset[str]:
    """Return the roles' users who may read an exact topic; of tables the one that it is about, or every one."""
    kind, number = _kind(topic)
    _, readers = TOPICS.get(kind, (NOBODY, ""))
    return frozenset(user_of(role, number) for role in readers.split())


def may_read(user: str, topic: str) -> bool:
    """Return whether a user may read an exact topic."""
    readers = readers_of(topic)
    return user in readers or (user.startswith("table-") and "table-0" in readers)


def _kind(topic: str) -> tuple[str, int]:
    """Return a topic below the event's with `#` for its number, and the number; 0: it has none."""
    below = topic.split("/", 2)[-1]
    number = re.search(r"(?<=/)\d+(?=/|$)", below)
    return (re.sub(r"(?<=/)\d+(?=/|$)", "#", below), int(number[0]) if number else 0)


def may_take(role: str, path: str) -> bool:
    """Return whether a role (NOBODY: no account) may take a route, by its path."""
    return path in OPEN_ROUTES or role in EVERY_ROUTE.get(path, ()) or path in TOKENS.get(role, ())


def refusals(role: str, path: str) -> set[int]:
    """Return how a role is refused that may not take a route: it has no right to it, or does not count there at all."""
    if path in SIGNED:
        return {403}
    if role == REVOKED:
        return {401, 429}
    counts = role in ROLES or (role in TOKENS and any(path in opened for opened in TOKENS.values()))
    return {403 if counts else 401}
