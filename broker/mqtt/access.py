"""Permissions of the broker's users, derived from the table of topics, and their passwords in a separate file."""

import os
import secrets
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

import msgspec

from broker.errors import (
    CredentialsExposed,
    CredentialsMalformed,
    CredentialsMissing,
    SettingRefused,
    UserUnknown,
    reason,
)
from broker.files import locked, make_folder, write_private
from broker.protocol import TOPICS, EventName, Role, TableNo

OFFICES: Final[tuple[Role, ...]] = tuple(role for role in get_args(Role) if role not in {"table", "hall"})
"""The roles that exist once in an event. Their user names are the names of the roles."""

PROBER: Final[Role] = "display"
"""The role used to test whether a broker accepts clients: the one with the fewest rights."""

NODE: Final = "node"
"""User name by which the nodes of one broker know each other. It is not accepted from clients."""


@dataclass(frozen=True, slots=True)
class Permissions:
    """MQTT topic filters that a user may publish and subscribe to. All other topics are forbidden."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]


def table_user(table: int) -> str:
    """Return the user name of a table's device."""
    return f"table-{table}"


def hall_user(hall: str) -> str:
    """Return the user name of a hall at the centre's broker."""
    return f"hall-{hall}"


def user_names(tables: int, halls: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return all user names of an event: the offices, then the tables from 1, or instead of tables the `halls`.

    Raises SettingRefused.
    """
    check_tables(tables)
    tables_named = (table_user(table) for table in range(1, tables + 1))
    return (*OFFICES, *(tables_named if halls is None else map(hall_user, halls)))


def permissions_of_event(event: str, tables: int, halls: Iterable[str] | None = None) -> dict[str, Permissions]:
    """Return the permissions within an event by user name. Raises SettingRefused.

    At the centre of an event in several halls, `halls` connect instead of tables.
    """
    check_event_name(event)
    check_tables(tables)
    offices = {role: permissions_of_role(role, event) for role in OFFICES}
    if halls is not None:
        return offices | {hall_user(hall): permissions_of_role("hall", event, hall=hall) for hall in halls}
    return offices | {
        table_user(table): permissions_of_role("table", event, table=table) for table in range(1, tables + 1)
    }


def permissions_of_role(role: Role, event: str, *, table: int | None = None, hall: str | None = None) -> Permissions:
    """Return what the table of topics allows a role. The table role needs a table, and the hall role a hall."""
    if (role == "table") != (table is not None) or (role == "hall") != (hall is not None):
        raise SettingRefused(f"role {role} with table {table}, hall {hall}")
    return Permissions(
        publish=tuple(topic.at(event, table=table, hall=hall) for topic in TOPICS if topic.writer == role),
        subscribe=tuple(topic.at(event, table=table, hall=hall) for topic in TOPICS if role in topic.readers),
    )


def check_event_name(event: str) -> None:
    """Raise SettingRefused unless this is an event name, which is used in topics and configuration files."""
    try:
        msgspec.convert(event, type=EventName)
    except msgspec.ValidationError as error:
        raise SettingRefused(f"event {event!r}: {reason(error)}") from None


def check_tables(tables: int) -> None:
    """Raise SettingRefused unless this is a number of tables, 1 to 9,999."""
    try:
        msgspec.convert(tables, type=TableNo)
    except msgspec.ValidationError as error:
        raise SettingRefused(f"{tables!r} tables: {reason(error)}") from None


PASSWORD_BYTES: Final = 24  # 192 bits cannot be guessed, and nobody has to remember them

Password = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{16,64}$")]
User = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9-]{1,32}$")]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    schema: Literal[1]
    users: dict[User, Password]


@dataclass(frozen=True, slots=True)
class Credentials:
    """The passwords of an event's users. Neither `repr` nor `str` shows one."""

    passwords: dict[str, str] = field(repr=False)

    @classmethod
    def create(cls, tables: int, halls: Iterable[str] | None = None) -> "Credentials":
        """Generate passwords for the offices and tables 1 to `tables`, or for halls. Raises SettingRefused."""
        return cls({user: secrets.token_urlsafe(PASSWORD_BYTES) for user in user_names(tables, halls)})

    @classmethod
    def load(cls, path: Path) -> "Credentials":
        """Read a file that `save` wrote.

        Raises CredentialsMissing, CredentialsExposed if others may read it, CredentialsMalformed.
        """
        try:
            opened = path.open("rb")
        except OSError as error:
            raise CredentialsMissing(f"{path}: {error.strerror}") from None
        with opened as file:
            if os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise CredentialsExposed(f"other users can read {path}: chmod 600 it, or make new passwords")
            content = file.read()
        try:
            return cls(msgspec.json.decode(content, type=_File).users)
        except (msgspec.DecodeError, UnicodeDecodeError):
            # The decoder's message is omitted, since it might quote a password.
            raise CredentialsMalformed(f"{path} is not a file of credentials") from None

    @classmethod
    def ensure(cls, path: Path, tables: int, halls: Iterable[str] | None = None) -> "Credentials":
        """Load the file, creating it or adding missing users. Existing passwords do not change.

        Two processes may call this at once. Raises what `load` and `create` raise.
        """
        make_folder(path.parent)
        with locked(path.parent):
            known = cls.load(path).passwords if path.exists() else {}
            wanted = cls(cls.create(tables, halls).passwords | known)
            if wanted.passwords != known:
                wanted.save(path)
        return wanted

    def save(self, path: Path) -> None:
        """Write the file atomically with mode 0600; a power cut leaves the old file or the new one."""
        content = msgspec.json.encode(_File(schema=1, users=self.passwords))
        write_private(path, msgspec.json.format(content, indent=2) + b"\n")

    def password(self, user: str) -> str:
        """Return a user's password. Raises UserUnknown."""
        try:
            return self.passwords[user]
        except KeyError:
            raise UserUnknown(f"{user!r} has no credentials") from None

    def table(self, table: int) -> tuple[str, str]:
        """Return the user name and password of a table's device. Raises UserUnknown."""
        return table_user(table), self.password(table_user(table))
