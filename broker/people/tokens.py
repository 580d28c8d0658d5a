"""Tokens of other programs: each opens what its role may read, until it is revoked. Only its hash is stored.

A token lies in a file of another machine for months, so it opens less than the account of the same role: it reads, and
does nothing. A token has no end of its own; the list shows when each was used last.
"""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from sqlalchemy import insert, select, update

from broker.people.accounts import NAME, Actor, AuditLog, Right
from broker.people.database import TOKENS, PeopleDatabase
from broker.people.errors import BadToken, TokenTaken, TokenUnknown

TokenRole = Literal["public", "arbiter", "monitor"]

TOKEN_RIGHTS: Final[dict[TokenRole, frozenset[Right]]] = {
    "public": frozenset({"see_public"}),
    "arbiter": frozenset({"see_public", "see_room", "see_metrics"}),
    # Whoever watches machines, often on a screen that hangs in the hall, learns of no play.
    "monitor": frozenset({"see_metrics"}),
}

SEEN_EVERY_MS: Final = 60_000
"""How exactly it is kept when a session or a token was last used: a write for each request would wear out a card."""

TOKEN_BYTES: Final = 32

PREFIX: Final = "homologue_"
"""How every token begins, so that people and programs that look for leaked secrets know it."""


def token_hash(token: str) -> str:
    """Return what is kept of a token: who reads the file can be nobody with it."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token but itself. Times in ms since 1970; 0: never."""

    name: str
    role: TokenRole
    made_at: int
    used_at: int
    revoked: bool

    def may(self, right: Right) -> bool:
        """Return whether this token has a right."""
        return not self.revoked and right in TOKEN_RIGHTS[self.role]


class Tokens:
    """All tokens of an event's folder. `clock` gives the wall clock in ms."""

    def __init__(self, store: PeopleDatabase, audit: AuditLog, clock: Callable[[], int]) -> None:
        self._store, self._audit, self._clock = store, audit, clock

    def all(self) -> list[Token]:
        """Return all, by name, revoked ones too: the audit log names them."""
        return [_token(row) for row in self._store.rows(_QUERY.order_by(TOKENS.c.name))]

    def add(self, name: str, role: str, by: Actor) -> str:
        """Make a token and return it: it is never seen again. Raises BadToken, TokenTaken."""
        if role not in get_args(TokenRole):
            raise BadToken(f"a token's role is one of {', '.join(get_args(TokenRole))}")
        if not NAME.fullmatch(name):
            raise BadToken("a token's name is 1 to 32 lower-case letters, digits, dots, hyphens and _")
        token, now = PREFIX + secrets.token_urlsafe(TOKEN_BYTES), self._clock()
        with self._store.commit() as sql:
            if sql.execute(_QUERY.where(TOKENS.c.name == name)).first():
                raise TokenTaken(f"there is a token {name!r} already; names are not used again")
            sql.execute(insert(TOKENS).values((token_hash(token), name, role, now, 0, 0)))
            self._audit.note(now, by.who, "token_added", name, role, address=by.address)
        return token

    def revoke(self, name: str, by: Actor) -> None:
        """Let nobody in by a token from now on. Raises TokenUnknown."""
        with self._store.commit() as sql:
            if not sql.execute(_QUERY.where(TOKENS.c.name == name, TOKENS.c.revoked == 0)).first():
                raise TokenUnknown(f"there is no token {name[:40]!r} that opens anything")
            sql.execute(update(TOKENS).where(TOKENS.c.name == name).values(revoked=1))
            self._audit.note(self._clock(), by.who, "token_revoked", name, address=by.address)

    def find(self, token: str) -> Token | None:
        """Return what is known of a token that opens something, and remember that it was used."""
        key = token_hash(token)
        rows = self._store.rows(_QUERY.where(TOKENS.c.key == key, TOKENS.c.revoked == 0))
        if not rows:
            return None
        found, now = _token(rows[0]), self._clock()
        if now - found.used_at >= SEEN_EVERY_MS:
            with self._store.commit() as sql:
                sql.execute(update(TOKENS).where(TOKENS.c.key == key).values(used_at=now))
        return found


_QUERY: Final = select(*(TOKENS.c[name] for name in ("name", "role", "made_at", "used_at", "revoked")))


def _token(row: tuple[Any, ...]) -> Token:
    name, role, made_at, used_at, revoked = row
    return Token(name, role, made_at, used_at, bool(revoked))
