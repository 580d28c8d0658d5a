"""Sessions and their clocks as rows of a form. Pure."""

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

import msgspec

from broker.contract.sessions import Session
from broker.rules.errors import RuleError

MOST: Final = 8
FIELDS: Final = ("name", "first_round", "last_round", "starts", "play_minutes")
DIGITS: Final = 3

T = TypeVar("T")


def session_rows(sessions: Iterable[Session]) -> list[dict[str, str]]:
    """Give sessions as the fields of a form."""
    return [{field: str(getattr(session, field) or "") for field in FIELDS} for session in sessions]


def rows_of(form: Mapping[str, str]) -> list[dict[str, str]]:
    """Give the rows of a form: fields are called `name-1`, `starts-2` and so on."""
    return [{field: form.get(f"{field}-{at}", "") for field in FIELDS} for at in range(1, MOST + 1)]


def sessions_of(form: Mapping[str, str]) -> tuple[Session, ...]:
    """Read the sessions of a form. Raises RuleError `malformed`."""
    return read_sessions(rows_of(form))


def read_sessions(rows: Iterable[Mapping[str, str]]) -> tuple[Session, ...]:
    """Read sessions; rows without a name are none. Raises RuleError `malformed`."""
    return tuple(_session(row, at) for at, row in enumerate(rows, 1) if row.get("name", "").strip())


def _session(row: Mapping[str, str], at: int) -> Session:
    said: dict[str, object] = {"name": " ".join(row["name"].split())}
    for field in ("first_round", "last_round", "play_minutes"):
        text = row.get(field, "").strip()
        if text:
            said[field] = int(text) if text.isascii() and text.isdigit() and len(text) <= DIGITS else text
    if starts := row.get("starts", "").strip():
        said["starts"] = starts
    try:
        made = msgspec.convert(said, Session)
    except msgspec.ValidationError as error:
        raise RuleError("malformed", f"session {at}: {error}") from None
    if made.last_round < made.first_round:
        raise RuleError("malformed", f"session {at}: it ends with round {made.last_round}, before it begins")
    return made


def rows_to_fill(sessions: Iterable[Session], typed: Mapping[str, str] | None = None) -> list[dict[str, str]]:
    """Give the rows of a form: of these sessions, or as they were typed; two empty ones more where there is room."""
    rows = session_rows(sessions) if typed is None else rows_of(typed)
    while rows and not any(rows[-1].values()):
        rows.pop()
    return [*rows, *(dict.fromkeys(FIELDS, "") for _ in range(min(2, MOST - len(rows))))]
