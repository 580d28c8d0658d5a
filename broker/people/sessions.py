"""Sessions: kept on the server, known to a browser by a random token of which we keep only the hash."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Final

from broker.people.accounts import Account
from broker.people.roles import IDLE_MS, WHOLE_MS
from broker.people.store import Store

TOKEN_BYTES: Final = 32
SEEN_EVERY_MS: Final = 60_000
"""How exactly it is kept when a session was last used: a write for each request would wear out a card."""


@dataclass(frozen=True, slots=True)
class Session:
    """A browser in which somebody has logged in."""

    key: str
    account: Account
    made_at: int
    seen_at: int
    agent: str
    """Hash of what the browser says of itself."""
    address: str

    def has_ended(self, now: int) -> bool:
        """Say whether its time is over; one from the future (a clock put back) is over too."""
        role = self.account.role
        idle = now - self.seen_at > IDLE_MS[role]
        return idle or not -SEEN_EVERY_MS <= now - self.made_at <= WHOLE_MS[role]


def key_of(token: str) -> str:
    """Give what is kept of a token: who reads the file can be nobody with it."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def form_token(token: str) -> str:
    """Give what every form of a session carries: another site's page cannot know it (CSRF)."""
    return hmac.new(token.encode("utf-8", "replace"), b"form", hashlib.sha256).hexdigest()


def agent_of(header: str) -> str:
    """Give what is kept of the browser's own description."""
    return hashlib.sha256(header.encode("utf-8", "replace")).hexdigest()[:16]


class Sessions:
    """All sessions of an event's folder: a scorer that starts again sends nobody away."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def begin(self, account: Account, now: int, agent: str, address: str) -> str:
        """Begin a session; give its token, which is never seen again. Always a new one: none can be planted."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        with self._store.commit() as sql:
            row = (key_of(token), account.name, now, now, agent_of(agent), address)
            sql.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)", row)
        return token

    def find(self, key: str) -> Session | None:
        """Give the session that has this key, over or not; none whose account is disabled."""
        found = self._store.rows(_QUERY + " WHERE s.key = ?", key)
        return _session(found[0]) if found else None

    def of(self, name: str) -> list[Session]:
        """Give all sessions of an account, newest first."""
        return [_session(row) for row in self._store.rows(_QUERY + " WHERE s.name = ? ORDER BY s.made_at DESC", name)]

    def used(self, session: Session, now: int) -> None:
        """Remember that it was used."""
        if now - session.seen_at >= SEEN_EVERY_MS:
            with self._store.commit() as sql:
                sql.execute("UPDATE sessions SET seen_at = ? WHERE key = ?", (now, session.key))

    def end(self, key: str) -> None:
        """End a session."""
        with self._store.commit() as sql:
            sql.execute("DELETE FROM sessions WHERE key = ?", (key,))


_QUERY: Final = """
SELECT a.name, a."full", a.role, a.disabled, a.made_at, s.key, s.made_at, s.seen_at, s.agent, s.address
FROM sessions s JOIN accounts a ON a.name = s.name AND a.disabled = 0
"""


def _session(row: tuple[object, ...]) -> Session:
    name, full, role, disabled, created, key, made_at, seen_at, agent, address = row
    account = Account(name, full, role, bool(disabled), created)  # type: ignore[arg-type] # STRICT tables
    return Session(key, account, made_at, seen_at, agent, address)  # type: ignore[arg-type] # STRICT tables
