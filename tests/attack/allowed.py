"""What each role may do, written by hand from docs/topics.md and docs/arbiter.md: the reference for the attacks.

It uses none of the program's own rules. A topic or route that is missing here is for nobody: a new one is attacked by
every user, and each user that gets in fails the attack until the topic or route is added here.
"""

import re
from collections.abc import Collection
from typing import Final

from broker.people import ROLES
from tests.broker.web.pages.test_rights import BESIDES, DEVICES, SIGNED
from tests.broker.web.test_auth import ALLOWED, OPEN

NOBODY: Final = ""
"""A client without a password or an account."""

EVERY_ROUTE: Final[dict[str, Collection[str]]] = {**ALLOWED, **BESIDES}
"""Routes, and the roles that may use them."""

TOKENS: Final[dict[str, Collection[str]]] = {
    "token public": {
        *(path for path in ALLOWED if path.startswith("/api/v1/") and path != "/api/v1/rounds"),
        *("/deal/{deal:int}.json", "/player/{player}.json", "/team/{team:int}.json"),
    },
    "token monitor": {"/metrics"},
}
TOKENS["token arbiter"] = {*TOKENS["token public"], *TOKENS["token monitor"], "/api/v1/rounds"}
"""Routes that are open to tokens of other programs: docs/api.md."""

REVOKED: Final = "token revoked"

OPEN_ROUTES: Final = OPEN | DEVICES - SIGNED
"""Routes that need no account: the login, receipts by their code, and pairing by a device's proof."""

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
"""Topics below `hm/<event>/`, with `#` for a number: who writes and who reads them. `table` is the numbered table."""

ABOUT_A_DEAL: Final = frozenset({"traveller/#", "public/deal/#"})


def user_of(role: str, number: int) -> str:
    """Return the user name of a role; a table's name contains its number."""
    return f"table-{number}" if role == "table" else role


def writer_of(topic: str) -> str:
    """Return the user that may write an exact topic; NOBODY for an unknown topic."""
    kind, number = _kind(topic)
    writer, _ = TOPICS.get(kind, (NOBODY, ""))
    return user_of(writer, number)


def readers_of(topic: str) -> frozenset[str]:
    """Return the users that may read an exact topic; table 0 stands for every table."""
    kind, number = _kind(topic)
    _, readers = TOPICS.get(kind, (NOBODY, ""))
    return frozenset(user_of(role, number) for role in readers.split())


def may_read(user: str, topic: str) -> bool:
    """Return whether a user may read an exact topic."""
    readers = readers_of(topic)
    return user in readers or (user.startswith("table-") and "table-0" in readers)


def _kind(topic: str) -> tuple[str, int]:
    """Return the part of a topic below the event, with `#` for its number, and the number; 0 without a number."""
    below = topic.split("/", 2)[-1]
    number = re.search(r"(?<=/)\d+(?=/|$)", below)
    return (re.sub(r"(?<=/)\d+(?=/|$)", "#", below), int(number[0]) if number else 0)


def may_take(role: str, path: str) -> bool:
    """Return whether a role may use a route, given by its path. NOBODY is a client without an account."""
    return path in OPEN_ROUTES or role in EVERY_ROUTE.get(path, ()) or path in TOKENS.get(role, ())


def refusals(role: str, path: str) -> set[int]:
    """Return the status codes with which a role is refused a route: it lacks the right, or is not accepted at all."""
    if path in SIGNED:
        return {403}
    if role == REVOKED:
        return {401, 429}
    counts = role in ROLES or (role in TOKENS and any(path in opened for opened in TOKENS.values()))
    return {403 if counts else 401}
