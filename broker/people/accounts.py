"""Accounts: made, listed, disabled, given another password. An account is never removed: the audit log names it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from broker.people.audit import Audit
from broker.people.errors import AccountTaken, AccountUnknown, BadAccount, LastHeadArbiter
from broker.people.passwords import hashed, is_right
from broker.people.roles import RIGHTS, ROLES, Right, Role
from broker.people.store import Store

NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}", re.ASCII)
LONGEST_FULL: Final = 60


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who may log in."""

    name: str
    full: str
    role: Role
    disabled: bool
    made_at: int

    def may(self, right: Right) -> bool:
        """Say whether this account has a right."""
        return not self.disabled and right in RIGHTS[self.role]


@dataclass(frozen=True, slots=True)
class By:
    """Who does something, for the audit log."""

    who: str
    address: str = ""


class Accounts:
    """All accounts of an event's folder. `clock` gives the wall clock in ms."""

    def __init__(self, store: Store, audit: Audit, clock: Callable[[], int]) -> None:
        self._store, self._audit, self._clock = store, audit, clock

    def all(self) -> list[Account]:
        """Give all, by name."""
        rows = self._store.rows('SELECT name, "full", role, disabled, made_at FROM accounts ORDER BY name')
        return [_account(row) for row in rows]

    def get(self, name: str) -> Account:
        """Give one. Raises AccountUnknown."""
        rows = self._store.rows('SELECT name, "full", role, disabled, made_at FROM accounts WHERE name = ?', name)
        if not rows:
            raise AccountUnknown(f"there is no account {name[:40]!r}")
        return _account(rows[0])

    def any(self) -> bool:
        """Say whether there is an account at all, disabled or not."""
        return bool(self._store.rows("SELECT 1 FROM accounts LIMIT 1"))

    def add(self, name: str, full: str, role: str, password: str, by: By) -> Account:
        """Make an account. Raises BadAccount, AccountTaken, WeakPassword."""
        account = _checked(name, full, role, self._clock())
        secret = hashed(password, name=name)
        with self._store.commit() as sql:
            if sql.execute("SELECT 1 FROM accounts WHERE name = ?", (name,)).fetchone():
                raise AccountTaken(f"there is an account {name!r} already; names are not used again")
            row = (name, account.full, account.role, secret, 0, account.made_at)
            sql.execute("INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?)", row)
            self._note(by, "account_added", name, f"{role}: {account.full}")
        return account

    def disable(self, name: str, by: By) -> None:
        """Let nobody in by this account, and end its sessions. Raises AccountUnknown, LastHeadArbiter."""
        with self._store.commit() as sql:
            account = self.get(name)
            heads = [one.name for one in self.all() if one.role == "head_arbiter" and not one.disabled]
            if account.name in heads and len(heads) == 1:
                raise LastHeadArbiter(f"{name} is the only head arbiter: make another first")
            sql.execute("UPDATE accounts SET disabled = 1 WHERE name = ?", (name,))
            sql.execute("DELETE FROM sessions WHERE name = ?", (name,))
            self._note(by, "account_disabled", name)

    def enable(self, name: str, by: By) -> None:
        """Let somebody in again. Raises AccountUnknown."""
        with self._store.commit() as sql:
            self.get(name)
            sql.execute("UPDATE accounts SET disabled = 0 WHERE name = ?", (name,))
            self._note(by, "account_enabled", name)

    def set_password(self, name: str, password: str, by: By) -> None:
        """Give an account another password, and end its sessions. Raises AccountUnknown, WeakPassword."""
        self.get(name)
        secret = hashed(password, name=name)
        with self._store.commit() as sql:
            sql.execute("UPDATE accounts SET password = ? WHERE name = ?", (secret, name))
            sql.execute("DELETE FROM sessions WHERE name = ?", (name,))
            self._note(by, "password_set", name)

    def end_sessions(self, name: str, by: By, *, but: str = "") -> None:
        """Send somebody away in all browsers but one. Raises AccountUnknown."""
        with self._store.commit() as sql:
            self.get(name)
            sql.execute("DELETE FROM sessions WHERE name = ? AND key <> ?", (name, but))
            self._note(by, "sessions_ended", name)

    def who_has(self, name: str, password: str) -> Account | None:
        """Give the account that name and password belong to; a disabled one is nobody's. Takes its time."""
        rows = self._store.rows("SELECT password FROM accounts WHERE name = ? AND disabled = 0", name)
        right = is_right(password, str(rows[0][0]) if rows else None)
        # Asked again: it may have been disabled, or given another password, while we reckoned.
        if not right or rows != self._store.rows("SELECT password FROM accounts WHERE name = ? AND disabled = 0", name):
            return None
        return self.get(name)

    def _note(self, by: By, action: str, about: str, detail: str = "") -> None:
        self._audit.note(self._clock(), by.who, action, about, detail, address=by.address)


def _checked(name: str, full: str, role: str, now: int) -> Account:
    known = next((one for one in ROLES if one == role), None)
    if known is None:
        raise BadAccount(f"a role is one of {', '.join(ROLES)}")
    if not NAME.fullmatch(name):
        raise BadAccount("a login name is 1 to 32 lower-case letters, digits, dots, hyphens and _")
    full = " ".join(full.split())
    if not 1 <= len(full) <= LONGEST_FULL or not full.isprintable():
        raise BadAccount(f"a full name has 1 to {LONGEST_FULL} printable characters")
    return Account(name, full, known, disabled=False, made_at=now)


def _account(row: tuple[object, ...]) -> Account:
    name, full, role, disabled, made_at = row
    return Account(str(name), str(full), role, bool(disabled), int(str(made_at)))  # type: ignore[arg-type] # only roles are written
