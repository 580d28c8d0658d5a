"""Logging in: checking passwords, starting and ending sessions, and the link that creates the first account.

Sessions are stored here. The browser has a random token, of which only the hash is stored.

Failed logins are counted in three ways: for a name from one address (a person who mistypes), for an address (an
attacker who tries names), and for a name from anywhere (a distributed attack). Nobody can lock out another person: a
browser in which the person has logged in before is counted separately, and the limit for a name leaves each network its
first attempts.
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
from broker.people.accounts import ACCOUNT_COLUMNS, IDLE_MS, LIFETIME_MS, Account, Accounts, Actor, AuditLog
from broker.people.copies import open_people
from broker.people.database import ACCOUNTS, SESSIONS, PeopleDatabase
from broker.people.errors import LinkSpent, LoginDelayed, LoginRefused
from broker.people.programs import SEEN_EVERY_MS, TOKEN_BYTES, Tokens, Webhooks, token_hash
from broker.protocol import wall_clock_ms

FIRST_LINK_FILE: Final = "first-link.txt"
FIRST_LINK_MS: Final = 60 * 60 * 1000
"""How long the link of the first start is valid, in ms."""

FIRST_LINK_USER: Final = "(first link)"
"""The audit log's name for whoever creates the first account."""


@dataclass(frozen=True, slots=True)
class LoginSession:
    """A browser in which somebody has logged in. Times are in ms since 1970."""

    key: str
    account: Account
    made_at: int
    seen_at: int
    agent: str
    """Hash of the browser's User-Agent."""
    address: str

    def has_ended(self, now: int) -> bool:
        """Return whether the session has expired. A session from the future (after a clock change) has expired too."""
        role = self.account.role
        idle = now - self.seen_at > IDLE_MS[role]
        return idle or not -SEEN_EVERY_MS <= now - self.made_at <= LIFETIME_MS[role]


class Authentication:
    """Accounts, logins, tokens and webhooks of one event's folder. `clock` returns ms since 1970."""

    def __init__(self, folder: Path, clock: Callable[[], int] = wall_clock_ms) -> None:
        """Open or create the database, in the same place as the event's journal. Raises PeopleStoreBroken."""
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
        """Close the database; may be called twice. Another desk's link stays valid."""
        if self._link:
            (self._folder / FIRST_LINK_FILE).unlink(missing_ok=True)
        self.store.close()

    # ---- the first start --------------------------------------------------------------------

    def first_link(self, url: str) -> str | None:
        """Return the one-time link that creates the first head arbiter; None if there is an account.

        The link is also in `first-link.txt`, readable by its owner only, for scorers whose output goes to a log.
        """
        if self.accounts.any():
            (self._folder / FIRST_LINK_FILE).unlink(missing_ok=True)  # left by a desk that was killed
            return None
        token = secrets.token_urlsafe(24)
        self._link = token_hash(token), self.clock() + FIRST_LINK_MS
        link = f"{url}welcome?token={token}"
        write_private(self._folder / FIRST_LINK_FILE, f"{link}\n".encode())
        return link

    def check_link(self, token: str) -> None:
        """Raise LinkSpent unless this is the link's token and it is still valid."""
        link = self._link
        fresh = link is not None and self.clock() <= link[1] and hmac.compare_digest(token_hash(token), link[0])
        if not fresh or self.accounts.any():
            raise LinkSpent(
                "this link was used, has expired or is not valid: `homologue event people add` creates accounts"
            )

    def welcome(self, token: str, name: str, full: str, password: str, address: str) -> Account:
        """Create the first head arbiter. Raises LinkSpent, BadAccount, WeakPassword."""
        self.check_link(token)
        with self.store.commit():  # if two people use the link at once, the second is refused
            self.check_link(token)
            account = self.accounts.add(name, full, "head_arbiter", password, Actor(FIRST_LINK_USER, address))
        self._link = None
        (self._folder / FIRST_LINK_FILE).unlink(missing_ok=True)
        return account

    # ---- in and out -------------------------------------------------------------------------

    def log_in(self, name: str, password: str, *, agent: str, address: str, browser: str = "") -> str:
        """Log somebody in; return the token of a new session. `browser` has the browser's marks (`with_mark`).

        Raises LoginDelayed, LoginRefused.
        """
        now, mark = self.clock(), self._browser_nonce(name, browser)
        with self._counting:  # count simultaneous attempts before the first is answered
            if wait := self._throttle.wait_ms(name, address, now, mark):
                raise LoginDelayed(-(-wait // 1000))
            self._throttle.count_attempt(name, address, now, mark)
        account = self.accounts.authenticate(name, password)
        if account is None:
            # An unknown name is not recorded: people type passwords into the wrong field.
            known_name = name if any(one.name == name for one in self.accounts.all()) else ""
            self.audit.note(now, "", "login_refused", known_name, address=address)
            raise LoginRefused("the name or the password is wrong")
        with self._counting:
            self._throttle.succeeded(name, address, mark)
        return self.admit(account, agent=agent, address=address)

    def with_mark(self, account: Account, browser: str) -> str:
        """Return the marks of a browser after a login: those that it had, and one for this account.

        A mark only identifies a known browser and gives no access. It is computed from the account's password hash, so
        nothing has to be stored, and a new password invalidates it.
        """
        if self._browser_nonce(account.name, browser):
            return browser
        nonce = secrets.token_hex(BROWSER_MARK_BYTES)
        marks = [mark for mark in browser.split(".") if BROWSER_MARK.fullmatch(mark)]
        return ".".join([*marks, f"{nonce}-{self._mark_signature(account.name, nonce)}"][-MOST_BROWSER_MARKS:])

    def _browser_nonce(self, name: str, browser: str) -> str:
        """Return the nonce of the browser's valid mark for a name; empty if it has none."""
        for mark in browser.split(".")[:MOST_BROWSER_MARKS]:
            nonce, _, signature = mark.partition("-")
            expected = self._mark_signature(name, nonce) if BROWSER_MARK.fullmatch(mark) else ""
            if expected and hmac.compare_digest(signature, expected):
                return nonce
        return ""

    def _mark_signature(self, name: str, nonce: str) -> str:
        secret = self.accounts.password_hash(name)
        return (
            hmac.new(secret.encode(), f"browser {name} {nonce}".encode(), hashlib.sha256).hexdigest() if secret else ""
        )

    def admit(self, account: Account, *, agent: str, address: str) -> str:
        """Start a session for an authenticated account; return its token."""
        now = self.clock()
        with self.store.commit():
            token = self.sessions.begin(account, now, agent, address)
            self.audit.note(now, account.name, "logged_in", address=address)
        return token

    def known(self, token: str, *, agent: str, address: str) -> LoginSession | None:
        """Return the session of a token if it is still valid.

        A session used from another browser is ended, because its token has been stolen.
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
        self.sessions.touch(session, now)
        return session

    def goes_on(self, session: LoginSession) -> bool:
        """Return whether a session is still valid. Open event streams call this repeatedly."""
        found = self.sessions.find(session.key)
        now = self.clock()
        if found is None or found.has_ended(now):
            return False
        self.sessions.touch(found, now)
        return True

    def log_out(self, session: LoginSession, address: str) -> None:
        """End a session."""
        self._end(session, self.clock(), "logged_out", address)

    def _end(self, session: LoginSession, now: int, action: str, address: str) -> None:
        with self.store.commit():
            self.sessions.end(session.key)
            self.audit.note(now, session.account.name, action, address=address)


def csrf_token(token: str) -> str:
    """Return the CSRF token of a session, which all its forms contain and no other site can know."""
    return hmac.new(token.encode("utf-8", "replace"), b"form", hashlib.sha256).hexdigest()


def agent_hash(header: str) -> str:
    """Return the stored hash of a User-Agent header."""
    return hashlib.sha256(header.encode("utf-8", "replace")).hexdigest()[:16]


class LoginSessions:
    """The login sessions of an event's folder. They survive a restart of the scorer."""

    def __init__(self, store: PeopleDatabase) -> None:
        self._store = store

    def begin(self, account: Account, now: int, agent: str, address: str) -> str:
        """Start a session; return its token, which is not stored. It is always new, which prevents session fixation."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        with self._store.commit() as sql:
            row = (token_hash(token), account.name, now, now, agent_hash(agent), address)
            sql.execute(insert(SESSIONS).values(row))
        return token

    def find(self, key: str) -> LoginSession | None:
        """Return the session with this key, even if expired; None if its account is disabled."""
        found = self._store.rows(_QUERY.where(SESSIONS.c.key == key))
        return _session(found[0]) if found else None

    def of(self, name: str) -> list[LoginSession]:
        """Return all sessions of an account, newest first."""
        query = _QUERY.where(SESSIONS.c.name == name).order_by(SESSIONS.c.made_at.desc())
        return [_session(row) for row in self._store.rows(query)]

    def touch(self, session: LoginSession, now: int) -> None:
        """Record that a session was used, at most once in `SEEN_EVERY_MS`."""
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
"""How many people can share a browser and each have a mark."""

LOGIN_WINDOW_MS: Final = 15 * 60 * 1000
MOST_LOGIN_KEYS: Final = 10_000
"""Most keys counted. The oldest are dropped, so that an attacker with many names cannot exhaust memory."""

PAIR_LIMIT, ADDRESS_LIMIT, NAME_LIMIT = 5, 30, 60
"""Failed attempts within the window after which further ones are rejected: name and address, address, and name."""

BROWSER_LIMIT: Final = 10
"""The same limit for a person in a browser with their mark, independent of attempts elsewhere."""

NETWORK_LIMIT: Final = 3
"""Attempts allowed from each network even if the name is at its limit, so that its owner can use a new telephone."""

LoginKey = tuple[str | None, str | None]
"""Name and address, or name and browser mark; None means any."""


class RecentFailures:
    """Counts of failures by key within a sliding window."""

    def __init__(self) -> None:
        self._failures: OrderedDict[Hashable, list[int]] = OrderedDict()

    def _count(self, key: Hashable, limit: int, now: int) -> None:
        self._failures[key] = [*self._failures.pop(key, []), now][-limit:]
        while len(self._failures) > MOST_LOGIN_KEYS:
            self._failures.popitem(last=False)

    def _wait(self, key: Hashable, limit: int, now: int) -> int:
        """Return how many ms from `now` a key stays at its limit of failures; 0 if it is below."""
        # Failures in the future do not count, so that setting the clock back locks nobody out.
        recent = [at for at in self._failures.get(key, ()) if 0 <= now - at < LOGIN_WINDOW_MS]
        return recent[-limit] + LOGIN_WINDOW_MS - now if len(recent) >= limit else 0


class LoginThrottle(RecentFailures):
    """Limits on login attempts. `browser` is the browser's mark for the name; empty if it has none."""

    def wait_ms(self, name: str, address: str, now: int, browser: str = "") -> int:
        """Return how many ms from `now` attempts for this name from this address are rejected; 0 if allowed."""
        limits = _limits(name, address, browser)
        if not browser and not self._wait((None, network_of(address)), limits.pop((None, network_of(address))), now):
            del limits[name, None]
        return max((self._wait(key, limit, now) for key, limit in limits.items()), default=0)

    def count_attempt(self, name: str, address: str, now: int, browser: str = "") -> None:
        """Count an attempt. Call it before checking the password, so that simultaneous attempts are all counted."""
        for key, limit in _limits(name, address, browser).items():
            self._count(key, limit, now)

    def succeeded(self, name: str, address: str, browser: str = "") -> None:
        """Forget the failures of a name from this address or browser, after a login. Those from elsewhere stay."""
        if browser:
            self._failures.pop((name, browser), None)
            return
        self._failures.pop((name, address), None)
        for key in ((name, None), (None, address), (None, network_of(address))):
            if failures := self._failures.get(key):
                failures.pop()


def _limits(name: str, address: str, browser: str) -> dict[LoginKey, int]:
    if browser:
        return {(name, browser): BROWSER_LIMIT}
    of_others = {(None, address): ADDRESS_LIMIT, (name, None): NAME_LIMIT, (None, network_of(address)): NETWORK_LIMIT}
    return {(name, address): PAIR_LIMIT, **of_others}


def network_of(address: str) -> str:
    """Return the network of an address: for IPv6 the /64 prefix, which one machine cannot choose."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return f"network of {address}"
    if isinstance(parsed, ipaddress.IPv4Address) or parsed.ipv4_mapped:
        return f"network of {address}"
    return str(ipaddress.ip_network((int(parsed), 64), strict=False))
