"""Logging in: passwords are checked, sessions begun and ended, and the first account is made by a link.

A session is stored here; the browser has a random token, of which we store only the hash.

Failed logins count three ways: of one name from one address (a person who mistypes), of one address (one who tries
names), and of one name from anywhere (many who try it). Nobody can keep another out: a browser in which somebody has
logged in before counts by itself, and the last limit leaves each address its first tries.
"""

import hashlib
import hmac
import ipaddress
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import delete, insert, select, update

from broker.files import write_private
from broker.people.accounts import ACCOUNT_COLUMNS, IDLE_MS, WHOLE_MS, Account, Accounts, Actor, AuditLog
from broker.people.copies import open_people
from broker.people.database import ACCOUNTS, SESSIONS, PeopleDatabase
from broker.people.errors import LinkSpent, LoginDelayed, LoginRefused
from broker.people.programs import SEEN_EVERY_MS, TOKEN_BYTES, Tokens, Webhooks, token_hash
from broker.protocol import wall_clock_ms

FIRST_LINK_FILE: Final = "first-link.txt"
FIRST_LINK_MS: Final = 60 * 60 * 1000
"""How long the link of the first start opens."""

FIRST_LINK_USER: Final = "(first link)"
"""Who makes the first account, in the audit log."""


@dataclass(frozen=True, slots=True)
class LoginSession:
    """A browser in which somebody has logged in."""

    key: str
    account: Account
    made_at: int
    seen_at: int
    agent: str
    """Hash of what the browser says of itself."""
    address: str

    def has_ended(self, now: int) -> bool:
        """Return whether its time is over; one from the future (a clock put back) is over too."""
        role = self.account.role
        idle = now - self.seen_at > IDLE_MS[role]
        return idle or not -SEEN_EVERY_MS <= now - self.made_at <= WHOLE_MS[role]


class Authentication:
    """Of one event's folder. `clock` gives the wall clock in ms."""

    def __init__(self, folder: Path, clock: Callable[[], int] = wall_clock_ms) -> None:
        """Open or make their store, where the event's journal is. Raises PeopleStoreBroken."""
        self._folder, self.clock = folder, clock
        self.store = open_people(folder, clock())
        self.audit = AuditLog(self.store)
        self.accounts = Accounts(self.store, self.audit, clock)
        self.sessions = LoginSessions(self.store)
        self.tokens = Tokens(self.store, self.audit, clock)
        self.webhooks = Webhooks(self.store, self.audit, clock)
        self._throttle = LoginThrottle()
        self._counting = threading.Lock()
        self._link: tuple[str, int] | None = None

    def close(self) -> None:
        """Close the store; may be called twice. The link of another desk stays."""
        if self._link:
            (self._folder / FIRST_LINK_FILE).unlink(missing_ok=True)
        self.store.close()

    # ---- the first start --------------------------------------------------------------------

    def first_link(self, url: str) -> str | None:
        """Return the one-time link by which the first head arbiter is made, while there is no account.

        It is also in `first-link.txt`, for its owner alone, for a scorer whose output goes into a log.
        """
        if self.accounts.any():
            (self._folder / FIRST_LINK_FILE).unlink(missing_ok=True)  # of a desk that was cut off
            return None
        token = secrets.token_urlsafe(24)
        self._link = token_hash(token), self.clock() + FIRST_LINK_MS
        link = f"{url}welcome?token={token}"
        write_private(self._folder / FIRST_LINK_FILE, f"{link}\n".encode())
        return link

    def check_link(self, token: str) -> None:
        """Raise LinkSpent unless this is the link's token, and it may still be used."""
        link = self._link
        fresh = link is not None and self.clock() <= link[1] and hmac.compare_digest(token_hash(token), link[0])
        if not fresh or self.accounts.any():
            raise LinkSpent(
                "this link was used, has run out, or was never one: `homologue event people add` makes accounts"
            )

    def welcome(self, token: str, name: str, full: str, password: str, address: str) -> Account:
        """Make the first head arbiter. Raises LinkSpent, BadAccount, WeakPassword."""
        self.check_link(token)
        with self.store.commit():  # of two who use the link at once the second finds an account
            self.check_link(token)
            account = self.accounts.add(name, full, "head_arbiter", password, Actor(FIRST_LINK_USER, address))
        self._link = None
        (self._folder / FIRST_LINK_FILE).unlink(missing_ok=True)
        return account

    # ---- in and out -------------------------------------------------------------------------

    def log_in(self, name: str, password: str, *, agent: str, address: str, browser: str = "") -> str:
        """Let somebody in; return the token of a new session. `browser`: the marks that it has (`with_mark`).

        Raises LoginDelayed, LoginRefused.
        """
        now, known = self.clock(), self._mark_of(name, browser)
        with self._counting:  # many tries at once are counted before the first is answered
            if wait := self._throttle.wait_ms(name, address, now, known):
                raise LoginDelayed(-(-wait // 1000))
            self._throttle.failed(name, address, now, known)
        account = self.accounts.who_has(name, password)
        if account is None:
            # The name as typed is not kept: people type passwords into the wrong field.
            known = name if any(one.name == name for one in self.accounts.all()) else ""
            self.audit.note(now, "", "login_refused", known, address=address)
            raise LoginRefused("name and password do not belong together")
        with self._counting:
            self._throttle.succeeded(name, address, known)
        return self.admit(account, agent=agent, address=address)

    def with_mark(self, account: Account, browser: str) -> str:
        """Return the marks of a browser in which somebody has just logged in: those that it had, and theirs.

        A mark opens nothing. It is made with the account's password hash: a new password ends it, and nothing is kept.
        """
        if self._mark_of(account.name, browser):
            return browser
        nonce = secrets.token_hex(BROWSER_MARK_BYTES)
        had = [mark for mark in browser.split(".") if BROWSER_MARK.fullmatch(mark)]
        return ".".join([*had, f"{nonce}-{self._seal_of(account.name, nonce)}"][-MOST_BROWSER_MARKS:])

    def _mark_of(self, name: str, browser: str) -> str:
        """Return the mark by which a browser is known to somebody; "" where it is not."""
        for mark in browser.split(".")[:MOST_BROWSER_MARKS]:
            nonce, _, seal = mark.partition("-")
            right = self._seal_of(name, nonce) if BROWSER_MARK.fullmatch(mark) else ""
            if right and hmac.compare_digest(seal, right):
                return nonce
        return ""

    def _seal_of(self, name: str, nonce: str) -> str:
        secret = self.accounts.password_hash(name)
        return (
            hmac.new(secret.encode(), f"browser {name} {nonce}".encode(), hashlib.sha256).hexdigest() if secret else ""
        )

    def admit(self, account: Account, *, agent: str, address: str) -> str:
        """Begin a session for somebody who has shown who they are; return its token."""
        now = self.clock()
        with self.store.commit():
            token = self.sessions.begin(account, now, agent, address)
            self.audit.note(now, account.name, "logged_in", address=address)
        return token

    def known(self, token: str, *, agent: str, address: str) -> LoginSession | None:
        """Return the session of a token, if it goes on.

        One that turns up in another browser is ended: it was stolen.
        """
        session = self.sessions.find(token_hash(token))
        now = self.clock()
        if session is None:
            return None
        if session.has_ended(now):
            self._end(session, now, "session_ended", address)
            return None
        if session.agent != agent_hash(agent):
            self._end(session, now, "session_moved", address)
            return None
        self.sessions.used(session, now)
        return session

    def goes_on(self, session: LoginSession) -> bool:
        """Return whether a session that was known goes on: asked again and again by a stream that is open."""
        found = self.sessions.find(session.key)
        now = self.clock()
        if found is None or found.has_ended(now):
            return False
        self.sessions.used(found, now)
        return True

    def log_out(self, session: LoginSession, address: str) -> None:
        """End a session."""
        self._end(session, self.clock(), "logged_out", address)

    def _end(self, session: LoginSession, now: int, action: str, address: str) -> None:
        with self.store.commit():
            self.sessions.end(session.key)
            self.audit.note(now, session.account.name, action, address=address)


def csrf_token(token: str) -> str:
    """Return what every form of a session carries: another site's page cannot know it (CSRF)."""
    return hmac.new(token.encode("utf-8", "replace"), b"form", hashlib.sha256).hexdigest()


def agent_hash(header: str) -> str:
    """Return what is kept of the browser's own description."""
    return hashlib.sha256(header.encode("utf-8", "replace")).hexdigest()[:16]


class LoginSessions:
    """All sessions of an event's folder: a scorer that starts again sends nobody away."""

    def __init__(self, store: PeopleDatabase) -> None:
        self._store = store

    def begin(self, account: Account, now: int, agent: str, address: str) -> str:
        """Begin a session; return its token, which is never seen again. Always a new one: none can be planted."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        with self._store.commit() as sql:
            row = (token_hash(token), account.name, now, now, agent_hash(agent), address)
            sql.execute(insert(SESSIONS).values(row))
        return token

    def find(self, key: str) -> LoginSession | None:
        """Return the session that has this key, over or not; none whose account is disabled."""
        found = self._store.rows(_QUERY.where(SESSIONS.c.key == key))
        return _session(found[0]) if found else None

    def of(self, name: str) -> list[LoginSession]:
        """Return all sessions of an account, newest first."""
        query = _QUERY.where(SESSIONS.c.name == name).order_by(SESSIONS.c.made_at.desc())
        return [_session(row) for row in self._store.rows(query)]

    def used(self, session: LoginSession, now: int) -> None:
        """Remember that it was used."""
        if now - session.seen_at >= SEEN_EVERY_MS:
            with self._store.commit() as sql:
                sql.execute(update(SESSIONS).where(SESSIONS.c.key == session.key).values(seen_at=now))

    def end(self, key: str) -> None:
        """End a session."""
        with self._store.commit() as sql:
            sql.execute(delete(SESSIONS).where(SESSIONS.c.key == key))


_QUERY: Final = select(
    *(ACCOUNTS.c[name] for name in ACCOUNT_COLUMNS),
    *(SESSIONS.c[name] for name in ("key", "made_at", "seen_at", "agent", "address")),
).join_from(SESSIONS, ACCOUNTS, (ACCOUNTS.c.name == SESSIONS.c.name) & (ACCOUNTS.c.disabled == 0))


def _session(row: tuple[Any, ...]) -> LoginSession:
    name, full, role, disabled, key, made_at, seen_at, agent, address = row
    account = Account(name, full, role, bool(disabled))
    return LoginSession(key, account, made_at, seen_at, agent, address)


BROWSER_MARK_BYTES: Final = 16
BROWSER_MARK: Final = re.compile(r"[0-9a-f]{32}-[0-9a-f]{64}")
MOST_BROWSER_MARKS: Final = 8
"""People who share a browser."""

LOGIN_WINDOW_MS: Final = 15 * 60 * 1000
MOST_LOGIN_KEYS: Final = 10_000
"""Keys; the oldest goes first, so that an attacker with many names fills no memory."""

OF_BOTH, OF_ADDRESS, OF_NAME = 5, 30, 60
"""Failures in a window after which no more tries are heard."""

OF_BROWSER: Final = 10
"""The same of somebody in a browser that is known as theirs, whatever others do elsewhere."""

OF_FRESH_NETWORK: Final = 3
"""Tries that each network has, though many others have tried the name: its owner comes in from a new telephone too."""

LoginKey = tuple[str | None, str | None]
"""Name and address, or name and browser; None: any."""


class RecentFailures:
    """Counts failures by keys, within a window that slides."""

    def __init__(self) -> None:
        self._failures: OrderedDict[Hashable, list[int]] = OrderedDict()

    def _count(self, key: Hashable, limit: int, now: int) -> None:
        self._failures[key] = [*self._failures.pop(key, []), now][-limit:]
        while len(self._failures) > MOST_LOGIN_KEYS:
            self._failures.popitem(last=False)

    def _wait(self, key: Hashable, limit: int, now: int) -> int:
        """Return how long from `now` a key has so many failures, in ms."""
        # A clock that was put back keeps nobody out: what lies ahead of now does not count.
        recent = [at for at in self._failures.get(key, ()) if 0 <= now - at < LOGIN_WINDOW_MS]
        return recent[-limit] + LOGIN_WINDOW_MS - now if len(recent) >= limit else 0


class LoginThrottle(RecentFailures):
    """Counts tries to log in. `browser`: the mark by which it is known to the name; "": none."""

    def wait_ms(self, name: str, address: str, now: int, browser: str = "") -> int:
        """Return how long from `now` no try of this name from this address is heard; 0: it is heard."""
        limits = _limits(name, address, browser)
        if not browser and not self._wait((None, network_of(address)), limits.pop((None, network_of(address))), now):
            del limits[name, None]
        return max((self._wait(key, limit, now) for key, limit in limits.items()), default=0)

    def failed(self, name: str, address: str, now: int, browser: str = "") -> None:
        """Count a try. To be said before the password is looked at: many tries at once are as many."""
        for key, limit in _limits(name, address, browser).items():
            self._count(key, limit, now)

    def succeeded(self, name: str, address: str, browser: str = "") -> None:
        """Forget the failures of a name from an address: it was its owner. Those of others stay."""
        if browser:
            self._failures.pop((name, browser), None)
            return
        self._failures.pop((name, address), None)
        for key in ((name, None), (None, address), (None, network_of(address))):
            if kept := self._failures.get(key):
                kept.pop()


def _limits(name: str, address: str, browser: str) -> dict[LoginKey, int]:
    if browser:
        return {(name, browser): OF_BROWSER}
    of_others = {(None, address): OF_ADDRESS, (name, None): OF_NAME, (None, network_of(address)): OF_FRESH_NETWORK}
    return {(name, address): OF_BOTH, **of_others}


def network_of(address: str) -> str:
    """Return the part of an address that one machine cannot choose: of IPv6 the first half."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return f"network of {address}"
    if isinstance(parsed, ipaddress.IPv4Address) or parsed.ipv4_mapped:
        return f"network of {address}"
    return str(ipaddress.ip_network((int(parsed), 64), strict=False))
