"""Random passwords, one for each user of an event, in one file that only its owner may read."""

import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from broker.errors import CredentialsExposed, CredentialsMalformed, CredentialsMissing, UserUnknown
from broker.permissions import table_user, users

PASSWORD_BYTES: Final = 24  # 192 bits: nobody needs to remember them, nobody can guess them
FILE_MODE: Final = 0o600

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
    def create(cls, tables: int) -> "Credentials":
        """Make new passwords for the offices and for the tables 1 to `tables`. Raises SettingRefused."""
        return cls({user: secrets.token_urlsafe(PASSWORD_BYTES) for user in users(tables)})

    @classmethod
    def load(cls, path: Path) -> "Credentials":
        """Read a file that `save` wrote.

        Raises CredentialsMissing, CredentialsExposed where others may read it, CredentialsMalformed.
        """
        try:
            opened = path.open("rb")
        except OSError as error:
            raise CredentialsMissing(f"{path}: {error.strerror}") from None
        with opened as file:
            if os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise CredentialsExposed(f"others may read {path}: chmod 600 it, or make new passwords")
            content = file.read()
        try:
            return cls(msgspec.json.decode(content, type=_File).users)
        except (msgspec.DecodeError, UnicodeDecodeError):
            # Without the decoder's own text: it might quote what it stumbled over.
            raise CredentialsMalformed(f"{path} is no file of credentials") from None

    @classmethod
    def ensure(cls, path: Path, tables: int) -> "Credentials":
        """Load the file, making it or the users that it lacks; passwords once given out stay.

        Two processes may call this at once. Raises what `load` and `create` raise.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path.parent):
            known = cls.load(path).passwords if path.exists() else {}
            wanted = cls(cls.create(tables).passwords | known)
            if wanted.passwords != known:
                wanted.save(path)
        return wanted

    def save(self, path: Path) -> None:
        """Write the file in one step, mode 0600: after a power cut there is the old file or the new one."""
        content = msgspec.json.encode(_File(schema=1, users=self.passwords))
        write_private(path, msgspec.json.format(content, indent=2) + b"\n")

    def password(self, user: str) -> str:
        """Give a user's password. Raises UserUnknown."""
        try:
            return self.passwords[user]
        except KeyError:
            raise UserUnknown(f"{user!r} has no credentials") from None

    def table(self, table: int) -> tuple[str, str]:
        """Give user name and password of a table's device. Raises UserUnknown."""
        return table_user(table), self.password(table_user(table))


def write_private(path: Path, content: bytes) -> None:
    """Write a file of mode 0600 that is never seen half-written nor readable by others, not even for a moment."""
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
