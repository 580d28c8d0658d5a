"""The program with a fault built in, which attacks must find: `python -m tests.attack.faulty FAULT scorer ...`."""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partialmethod
from typing import Final
from unittest.mock import patch

from starlette.routing import Route

from broker.cli.main import homologue
from broker.mqtt import access, certificates
from broker.people import Right
from broker.protocol import Role
from broker.scorer import publisher
from broker.web import auth, forms, server
from broker.web.auth import Handler


def one_right_to_read_too_much() -> None:
    """Let a table read the receipts of others."""
    _grant("table", subscribe=("hm/demo/receipt/+",))


def one_right_to_write_too_much() -> None:
    """Let a display give orders."""
    _grant("display", publish=("hm/demo/order/+",))


def _grant(to: Role, publish: tuple[str, ...] = (), subscribe: tuple[str, ...] = ()) -> None:
    rights = access.permissions_of_role

    def more(role: Role, event: str, *, table: int | None = None, hall: str | None = None) -> access.Permissions:
        may = rights(role, event, table=table, hall=hall)
        if role != to:
            return may
        return replace(may, publish=may.publish + publish, subscribe=may.subscribe + subscribe)

    access.permissions_of_role = more
    patch.object(certificates, "permissions_of_role", more).start()


def a_route_without_its_guard() -> None:
    """Let any logged-in user read the audit log."""
    route = auth.Access.route

    def unguarded(
        self: auth.Access,
        path: str,
        answer: Handler,
        right: Right,
        *methods: tuple[str, ...],
        tokens: bool = False,
    ) -> Route:
        return route(self, path, answer, "see_public" if path == "/audit.csv" else right, *methods, tokens=tokens)

    patch.object(auth.Access, "route", unguarded).start()


def forms_without_a_token() -> None:
    """Accept forms without the session's token."""
    checked = forms._parse_checked

    def careless(body: bytes, kind: str, visitor: auth.Visitor | None, largest: int) -> forms.Form:
        return checked(body, kind, None if visitor else visitor, largest)

    forms._parse_checked = careless


def a_session_id_that_anybody_knows() -> None:
    """Connect the scorer with its plain name as client id."""
    vars(publisher)["session_id"] = lambda name, _folder: name


def a_token_that_opens_pages() -> None:
    """Accept tokens of other programs on every route within their rights."""
    route = auth.Access.route

    patch.object(auth.Access, "route", partialmethod(route, tokens=True)).start()


ANYBODY: Final = "192.0.2.1"
"""An address that no machine has (RFC 5737)."""


def one_count_of_misses_for_everybody() -> None:
    """Refuse everybody after too many wrong guesses by anybody."""
    limiter, wait_ms, count = auth.MissLimiter, auth.MissLimiter.wait_ms, auth.MissLimiter.count_miss
    patch.object(limiter, "wait_ms", lambda self, _, now: wait_ms(self, ANYBODY, now)).start()
    patch.object(limiter, "count_miss", lambda self, _, now, **more: count(self, ANYBODY, now, **more)).start()


def as_many_connections_as_there_are() -> None:
    """Let one address take all of the desk's connections."""
    counting = server.Connections.begin

    def greedy(self: server.Connections, address: str) -> bool:
        self._limits = replace(self._limits, of_address=self._limits.in_all)
        return counting(self, address)

    patch.object(server.Connections, "begin", greedy).start()


FAULTS: Final[dict[str, Callable[[], None]]] = {
    one.__name__: one
    for one in (
        one_right_to_read_too_much,
        one_right_to_write_too_much,
        a_route_without_its_guard,
        forms_without_a_token,
        a_token_that_opens_pages,
        one_count_of_misses_for_everybody,
        a_session_id_that_anybody_knows,
        as_many_connections_as_there_are,
    )
}

if __name__ == "__main__":
    FAULTS[sys.argv[1]]()
    homologue(sys.argv[2:])
