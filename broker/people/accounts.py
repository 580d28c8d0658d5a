"""Accounts, roles, passwords, and the audit log.

A role has only the rights that `RIGHTS` gives it. Accounts are never removed, because the audit log refers to them.
Passwords are hashed with Argon2id by argon2-cffi (RFC 9106, second recommended setting: 64 MiB, three passes).

The audit log records who did what, when and from where. It is append-only, and each entry's digest covers all earlier
entries. Triggers prevent accidental changes by SQL, and the chain of digests reveals deliberate changes to the file. If
the last digest is published or noted at the end of a day, no earlier entry can be changed unnoticed.
"""

import hashlib
import json
import re
import threading
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, Literal, NamedTuple, get_args

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError
from argon2.profiles import RFC_9106_LOW_MEMORY
from sqlalchemy import Update, delete, insert, select, update

from broker.people.database import ACCOUNTS, AUDIT, SESSIONS, PeopleDatabase, witness_line
from broker.people.errors import AccountTaken, AccountUnknown, AuditBroken, BadAccount, LastHeadArbiter, WeakPassword
from broker.spreadsheet import csv_rows
from broker.store import WitnessLine

Role = Literal["head_arbiter", "table_arbiter", "organiser", "display"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)

Right = Literal[
    "see_public",
    "see_room",
    "give_orders",
    "rule",
    "check_in",
    "set_up",
    "print_sheets",
    "keep_people",
    "admit",
    "see_metrics",
]
"""`see_public`: see what players may know. `see_room`: see everything, including deals under embargo. `rule`: make
rulings on plays, if the scorer allows it. `check_in`: check in players at the door. `set_up`: set up the event before
it starts; afterwards change its players and correct its plan. `print_sheets`: print blank paper sheets. `keep_people`:
manage accounts and read the audit log. `admit`: set the arbiters' PIN and trust devices; whoever has `set_up` may pair
tables too, until the first table has sent a fact. `see_metrics`: see the state of machines and programs."""

RIGHTS: Final[dict[Role, frozenset[Right]]] = {
    "head_arbiter": frozenset(get_args(Right)),
    "table_arbiter": frozenset({"see_public", "see_room", "give_orders", "rule", "check_in", "print_sheets"}),
    # An organiser is often in a club with players, so must not see deals that are still to be played.
    "organiser": frozenset({"see_public", "check_in", "set_up", "print_sheets"}),
    "display": frozenset({"see_public"}),
}

HOUR_MS: Final = 3_600_000

IDLE_MS: Final[dict[Role, int]] = {
    "head_arbiter": 4 * HOUR_MS,
    "table_arbiter": 4 * HOUR_MS,
    "organiser": 1 * HOUR_MS,
    "display": 7 * 24 * HOUR_MS,
}
"""A login session ends after so long without a request. Pages that follow the room send requests all the time."""

LIFETIME_MS: Final[dict[Role, int]] = {
    "head_arbiter": 16 * HOUR_MS,
    "table_arbiter": 16 * HOUR_MS,
    "organiser": 16 * HOUR_MS,
    "display": 7 * 24 * HOUR_MS,
}
"""A login session ends after so long even if it is in use: a day of play, or a week for a display on the wall."""

NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}", re.ASCII)
"""Valid names of accounts, tokens and webhooks."""

LONGEST_FULL_NAME: Final = 60


@dataclass(frozen=True, slots=True)
class Account:
    """An account with which a person logs in."""

    name: str
    full: str
    role: Role
    disabled: bool

    def may(self, right: Right) -> bool:
        """Return whether the account has a right and is not disabled."""
        return not self.disabled and right in RIGHTS[self.role]


@dataclass(frozen=True, slots=True)
class Actor:
    """The person or program that performs an action, for the audit log."""

    who: str
    address: str = ""


class AuditEntry(NamedTuple):
    """One entry of the audit log."""

    number: int
    at: int
    """Wall clock, ms since 1970 (UTC)."""
    who: str
    """Login name; `(command)` for a command on the server's own machine, empty if nobody is logged in."""
    address: str
    action: str
    about: str
    detail: str
    digest: str


class AuditLog:
    """The audit log in a database."""

    def __init__(self, store: PeopleDatabase) -> None:
        self._store = store

    def note(self, at: int, who: str, action: str, about: str = "", detail: str = "", *, address: str = "") -> None:
        """Append an entry, in the current commit if one is open. Raises PeopleStoreBroken."""
        with self._store.commit() as sql:
            newest = select(AUDIT.c.number, AUDIT.c.digest).order_by(AUDIT.c.number.desc()).limit(1)
            number, before = sql.execute(newest).first() or (0, FIRST_DIGEST)
            entry = AuditEntry(
                number + 1, at, who, address, action, about[:LONGEST_DETAIL], detail[:LONGEST_DETAIL], ""
            )
            row = (*entry[:-1], digest_of(before, entry))
            sql.execute(insert(AUDIT).values(row))
            self._store.note(witness_line(number + 1, row[-1]))

    def entries(self) -> Iterator[AuditEntry]:
        """Yield all entries, oldest first, without checking them."""
        for row in self._store.rows(select(AUDIT).order_by(AUDIT.c.number)):
            yield AuditEntry(*row)

    def after(self, number: int) -> list[AuditEntry]:
        """Return the entries after entry `number`, oldest first."""
        rows = self._store.rows(select(AUDIT).where(AUDIT.c.number > number).order_by(AUDIT.c.number))
        return [AuditEntry(*row) for row in rows]

    def newest(self, count: int, action: str = "") -> list[AuditEntry]:
        """Return the last `count` entries, newest first; if `action` is given, only its entries."""
        found = select(AUDIT).where(AUDIT.c.action == action) if action else select(AUDIT)
        rows = self._store.rows(found.order_by(AUDIT.c.number.desc()).limit(count))
        return [AuditEntry(*row) for row in rows]

    def checked(self) -> Iterator[AuditEntry]:
        """Yield all entries, oldest first. Raises AuditBroken at the first one that does not follow from those before.

        Entries removed from the end are noticed too, because the witness file beside the log records each entry. If
        that file is missing or truncated, the log counts as broken at the first entry that it does not record.
        """
        before, number = FIRST_DIGEST, 0
        last = max((entry.number for entry in self.newest(1)), default=0)
        recorded: dict[int, WitnessLine] = {}
        for line in self._store.witness_lines():
            recorded.setdefault(line.height, line)
        for number, entry in enumerate(self.entries(), 1):
            # The last entry may not be in the witness file yet, or a power cut may have lost its line.
            unrecorded = 0 not in recorded or (number < last and number not in recorded)
            fault = _fault(number, entry, before, recorded.get(number))
            if fault or (unrecorded and self._store.witness_is_complete):
                raise _broken(number, fault or "people.witness does not record it")
            before = entry.digest
            yield entry
        if (last_recorded := max(recorded, default=0)) > number:
            raise _broken(number + 1, f"{_entries(number + 1, last_recorded)} missing")
        if not number and self._store.rows(_QUERY.limit(1)):
            raise _broken(1, "it is empty, although there are accounts")


def _fault(number: int, entry: AuditEntry, before: str, line: WitnessLine | None) -> str:
    """Return what is wrong with the entry at position `number`, after digest `before`; empty if nothing is.

    `line` is its line in the witness file, if any.
    """
    if entry.number > number:
        return f"{_entries(number, entry.number - 1)} missing"
    if entry.number != number or digest_of(before, entry) != entry.digest:
        return "it has been changed"
    return "it has been replaced" if line and line != witness_line(number, entry.digest) else ""


def _broken(number: int, why: str) -> AuditBroken:
    return AuditBroken(f"the audit log breaks at entry {number}: {why}")


def _entries(first: int, last: int) -> str:
    return f"entry {first} is" if first == last else f"entries {first} to {last} are"


class AuditedStore:
    """Base of stores whose changes are all recorded in the audit log. `clock` returns ms since 1970."""

    def __init__(self, store: PeopleDatabase, audit: AuditLog, clock: Callable[[], int]) -> None:
        self._store, self._audit, self._clock = store, audit, clock

    def _note(self, by: Actor, action: str, about: str, detail: str = "") -> None:
        self._audit.note(self._clock(), by.who, action, about, detail, address=by.address)


class Accounts(AuditedStore):
    """All accounts of an event's folder."""

    def all(self) -> list[Account]:
        """Return all accounts, ordered by name."""
        return [_account(row) for row in self._store.rows(_QUERY.order_by(ACCOUNTS.c.name))]

    def get(self, name: str) -> Account:
        """Return an account. Raises AccountUnknown."""
        rows = self._store.rows(_QUERY.where(ACCOUNTS.c.name == name))
        if not rows:
            raise AccountUnknown(f"there is no account {name[:40]!r}")
        return _account(rows[0])

    def any(self) -> bool:
        """Return whether there is any account, even a disabled one."""
        return bool(self._store.rows(_QUERY.limit(1)))

    def add(self, name: str, full: str, role: str, password: str, by: Actor) -> Account:
        """Create an account. Raises BadAccount, AccountTaken, WeakPassword."""
        account = _checked(name, full, role)
        secret = hash_password(password, name=name)
        with self._store.commit() as sql:
            if sql.execute(_QUERY.where(ACCOUNTS.c.name == name)).first():
                raise AccountTaken(f"there is an account {name!r} already; names are not used again")
            row = (name, account.full, account.role, secret, 0, self._clock())
            sql.execute(insert(ACCOUNTS).values(row))
            self._note(by, "account_added", name, f"{role}: {account.full}")
        return account

    def disable(self, name: str, by: Actor) -> None:
        """Disable an account and end its sessions. Raises AccountUnknown, LastHeadArbiter."""
        with self._store.commit() as sql:
            account = self.get(name)
            heads = [one.name for one in self.all() if one.role == "head_arbiter" and not one.disabled]
            if account.name in heads and len(heads) == 1:
                raise LastHeadArbiter(f"{name} is the only head arbiter: make another first")
            sql.execute(_update(name).values(disabled=1))
            sql.execute(delete(SESSIONS).where(SESSIONS.c.name == name))
            self._note(by, "account_disabled", name)

    def enable(self, name: str, by: Actor) -> None:
        """Enable a disabled account. Raises AccountUnknown."""
        with self._store.commit() as sql:
            self.get(name)
            sql.execute(_update(name).values(disabled=0))
            self._note(by, "account_enabled", name)

    def set_password(self, name: str, password: str, by: Actor) -> None:
        """Set an account's password and end its sessions. Raises AccountUnknown, WeakPassword."""
        self.get(name)
        secret = hash_password(password, name=name)
        with self._store.commit() as sql:
            sql.execute(_update(name).values(password=secret))
            sql.execute(delete(SESSIONS).where(SESSIONS.c.name == name))
            self._note(by, "password_set", name)

    def end_sessions(self, name: str, by: Actor, *, but: str = "") -> None:
        """End all sessions of an account, except the one with the key `but`. Raises AccountUnknown."""
        with self._store.commit() as sql:
            self.get(name)
            sql.execute(delete(SESSIONS).where(SESSIONS.c.name == name, SESSIONS.c.key != but))
            self._note(by, "sessions_ended", name)

    def password_hash(self, name: str) -> str:
        """Return an account's stored password hash; empty if it does not exist or is disabled."""
        rows = self._store.rows(select(ACCOUNTS.c.password).where(ACCOUNTS.c.name == name, ACCOUNTS.c.disabled == 0))
        return str(rows[0][0]) if rows else ""

    def authenticate(self, name: str, password: str) -> Account | None:
        """Return the account for a name and password; None if they do not match or it is disabled.

        The check is slow on purpose, and equally slow for unknown names.
        """
        stored = self.password_hash(name)
        matches = verify_password(password, stored or None)
        # Check again, since the account may have been disabled or changed while the hash was computed.
        if not matches or stored != self.password_hash(name):
            return None
        return self.get(name)


def _checked(name: str, full: str, role: str) -> Account:
    valid_role = next((one for one in ROLES if one == role), None)
    if valid_role is None:
        raise BadAccount(f"a role is one of {', '.join(ROLES)}")
    if not NAME.fullmatch(name):
        raise BadAccount("a login name is 1 to 32 lower-case letters, digits, dots, hyphens and _")
    full = " ".join(full.split())
    if not 1 <= len(full) <= LONGEST_FULL_NAME or not full.isprintable():
        raise BadAccount(f"a full name has 1 to {LONGEST_FULL_NAME} printable characters")
    return Account(name, full, valid_role, disabled=False)


ACCOUNT_COLUMNS: Final = ("name", "full", "role", "disabled")

_QUERY: Final = select(*(ACCOUNTS.c[name] for name in ACCOUNT_COLUMNS))


def _account(row: tuple[Any, ...]) -> Account:
    name, full, role, disabled = row
    return Account(name, full, role, bool(disabled))


def _update(name: str) -> Update:
    return update(ACCOUNTS).where(ACCOUNTS.c.name == name)


SHORTEST_PASSWORD: Final = 12
LONGEST_PASSWORD: Final = 200
"""Length in characters. NIST SP 800-63B recommends length and advises against composition rules."""

ARGON2_SETTING: Final = RFC_9106_LOW_MEMORY
_HASHER: Final = PasswordHasher.from_parameters(ARGON2_SETTING)

# One at a time: a hundred people (or one attacker) logging in at once would otherwise take 6 GiB.
_HASHING: Final = threading.Lock()


def hash_password(password: str, *, name: str) -> str:
    """Hash a new password. Raises WeakPassword."""
    text = _normal(password)
    if not SHORTEST_PASSWORD <= len(text) <= LONGEST_PASSWORD:
        raise WeakPassword(f"a password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters")
    if len(set(text)) < SHORTEST_PASSWORD // 3 or text.casefold().strip() == name.casefold():
        raise WeakPassword("this password is too easy to guess")
    with _HASHING:
        return _HASHER.hash(text)


def verify_password(password: str, stored: str | None) -> bool:
    """Return whether a password matches a stored hash. Without a hash it takes as long and returns False."""
    with _HASHING:
        try:
            _HASHER.verify(stored or _decoy_hash(), _normal(password[: LONGEST_PASSWORD + 1]))
        except (VerifyMismatchError, InvalidHashError):
            return False
    return stored is not None


def _normal(password: str) -> str:
    """Return a password in NFKC form, because keyboards encode the same é in two ways."""
    return unicodedata.normalize("NFKC", password)


@cache
def _decoy_hash() -> str:
    """Return a hash of a password that no account has, so that unknown names take as long to check."""
    return _HASHER.hash("a password that nobody has")


FACES_SHOWN: Final = "faces_shown"
"""Action: somebody was shown the faces of deals."""

EMBARGO_READ: Final = "embargo_read"
"""Action: somebody looked at results under embargo."""

DEVICE_REVOKED: Final = "device_revoked"
"""Action: somebody revoked a table's device."""

DEVICE_LISTED: Final = "device_listed"
"""Action: somebody listed a table's device, which is admitted when the scorer starts."""

EVENT_CLOSED: Final = "event_closed"
"""Action: somebody ended the access of all tables."""

LONGEST_DETAIL: Final = 600
"""Longest `about` or `detail` of an entry, in characters; the rest is cut off."""

FIRST_DIGEST: Final = "0" * 64


def digest_of(before: str, entry: AuditEntry) -> str:
    """Return the digest of an entry that follows the entry with the digest `before`."""
    text = json.dumps([before, *entry[:-1]], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def audit_line(entry: AuditEntry, *, as_csv: bool) -> str:
    """Return an entry as a line of CSV or JSON, with its time in ISO format (UTC)."""
    row = entry._asdict() | {"at": time_text(entry.at)}
    return csv_rows([tuple(row.values())]) if as_csv else json.dumps(row, ensure_ascii=False) + "\n"


def time_text(at: int) -> str:
    """Return a time (ms since 1970) in ISO format (UTC)."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")
