"""The door: who comes in, who is known, who has to go. All that the desk asks of this room."""

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from broker.credentials import write_private
from broker.people.accounts import Account, Accounts, By
from broker.people.audit import Audit
from broker.people.errors import LinkSpent, LoginDelayed, LoginRefused
from broker.people.opened import open_people
from broker.people.sessions import Session, Sessions, agent_of, key_of
from broker.people.throttle import Throttle

LINK: Final = "first-link.txt"
LINK_MS: Final = 60 * 60 * 1000
"""How long the link of the first start opens."""

FIRST: Final = "(first link)"
"""Who makes the first account, in the audit log."""


def wall_clock() -> int:
    """Give the wall clock in ms since 1970."""
    return time.time_ns() // 1_000_000


class Door:
    """Of one event's folder. `clock` gives the wall clock in ms."""

    def __init__(self, folder: Path, clock: Callable[[], int] = wall_clock) -> None:
        """Open or make their store, where the event's journal is. Raises PeopleStoreBroken."""
        self._folder, self.clock = folder, clock
        self.store = open_people(folder, clock())
        self.audit = Audit(self.store)
        self.accounts = Accounts(self.store, self.audit, clock)
        self.sessions = Sessions(self.store)
        self._throttle = Throttle()
        self._counting = threading.Lock()
        self._link: tuple[str, int] | None = None

    def close(self) -> None:
        """Close the store; may be called twice."""
        (self._folder / LINK).unlink(missing_ok=True)
        self.store.close()

    # ---- the first start --------------------------------------------------------------------

    def first_link(self, url: str) -> str | None:
        """Give the one-time link by which the first head arbiter is made, while there is no account.

        It is also in `first-link.txt`, for its owner alone, for a scorer whose output goes into a log.
        """
        if self.accounts.any():
            return None
        token = secrets.token_urlsafe(24)
        self._link = key_of(token), self.clock() + LINK_MS
        link = f"{url}welcome?token={token}"
        write_private(self._folder / LINK, f"{link}\n".encode())
        return link

    def check_link(self, token: str) -> None:
        """Raise LinkSpent unless this is the link's token, and it may still be used."""
        link = self._link
        fresh = link is not None and self.clock() <= link[1] and hmac.compare_digest(key_of(token), link[0])
        if not fresh or self.accounts.any():
            raise LinkSpent("this link was used, has run out, or was never one: `homologue people add` makes accounts")

    def welcome(self, token: str, name: str, full: str, password: str, address: str) -> Account:
        """Make the first head arbiter. Raises LinkSpent, BadAccount, WeakPassword."""
        self.check_link(token)
        with self.store.commit():  # of two who use the link at once the second finds an account
            self.check_link(token)
            account = self.accounts.add(name, full, "head_arbiter", password, By(FIRST, address))
        self._link = None
        (self._folder / LINK).unlink(missing_ok=True)
        return account

    # ---- in and out -------------------------------------------------------------------------

    def log_in(self, name: str, password: str, *, agent: str, address: str) -> str:
        """Let somebody in; give the token of a new session. Raises LoginDelayed, LoginRefused."""
        now = self.clock()
        with self._counting:  # many tries at once are counted before the first is answered
            if wait := self._throttle.wait_ms(name, address, now):
                raise LoginDelayed(-(-wait // 1000))
            self._throttle.failed(name, address, now)
        account = self.accounts.who_has(name, password)
        if account is None:
            # The name as typed is not kept: people type passwords into the wrong field.
            known = name if any(one.name == name for one in self.accounts.all()) else ""
            self.audit.note(now, "", "login_refused", known, address=address)
            raise LoginRefused("name and password do not belong together")
        with self._counting:
            self._throttle.succeeded(name, address)
        return self.admit(account, agent=agent, address=address)

    def admit(self, account: Account, *, agent: str, address: str) -> str:
        """Begin a session for somebody who has shown who they are; give its token."""
        now = self.clock()
        with self.store.commit():
            token = self.sessions.begin(account, now, agent, address)
            self.audit.note(now, account.name, "logged_in", address=address)
        return token

    def known(self, token: str, *, agent: str, address: str) -> Session | None:
        """Give the session of a token, if it goes on. One that turns up in another browser is ended: it was stolen."""
        session = self.sessions.find(key_of(token))
        now = self.clock()
        if session is None:
            return None
        if session.has_ended(now):
            self._end(session, now, "session_ended", address)
            return None
        if session.agent != agent_of(agent):
            self._end(session, now, "session_moved", address)
            return None
        self.sessions.used(session, now)
        return session

    def goes_on(self, session: Session) -> bool:
        """Say whether a session that was known goes on: asked again and again by a stream that is open."""
        found = self.sessions.find(session.key)
        now = self.clock()
        if found is None or found.has_ended(now):
            return False
        self.sessions.used(found, now)
        return True

    def log_out(self, session: Session, address: str) -> None:
        """End a session."""
        self._end(session, self.clock(), "logged_out", address)

    def _end(self, session: Session, now: int, action: str, address: str) -> None:
        with self.store.commit():
            self.sessions.end(session.key)
            self.audit.note(now, session.account.name, action, address=address)
