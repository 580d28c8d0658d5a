"""Who may say and read what, made from the table of topics. Pure: the brokers' own formats are made elsewhere."""

from dataclasses import dataclass
from typing import Final, get_args

import msgspec

from broker.contract.topics import TOPICS, Role, Topic
from broker.contract.words import EventName, TableNo
from broker.errors import SettingRefused

OFFICES: Final[tuple[Role, ...]] = tuple(role for role in get_args(Role) if role != "table")
"""The roles held once an event; their user names are the roles' names."""


@dataclass(frozen=True, slots=True)
class Permissions:
    """MQTT topic filters that one user may publish to and subscribe to. What is not named is forbidden."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]


def table_user(table: int) -> str:
    """Give the user name of a table's device."""
    return f"table-{table}"


def users(tables: int) -> tuple[str, ...]:
    """Give all user names of an event: the offices, then the tables from 1. Raises SettingRefused."""
    check_tables(tables)
    return (*OFFICES, *(table_user(table) for table in range(1, tables + 1)))


def permissions(event: str, tables: int) -> dict[str, Permissions]:
    """Give every user's permissions within one event. Raises SettingRefused."""
    check_event(event)
    check_tables(tables)
    offices = {role: of_role(role, event) for role in OFFICES}
    return offices | {table_user(table): of_role("table", event, table=table) for table in range(1, tables + 1)}


def of_role(role: Role, event: str, *, table: int | None = None) -> Permissions:
    """Give what the table of topics allows one role. A table's role is nothing without its number."""
    if (role == "table") != (table is not None):
        raise SettingRefused(f"role {role} with table {table}")
    return Permissions(
        publish=tuple(topic.at(event, table=table) for topic in TOPICS if topic.writer == role),
        subscribe=tuple(topic.at(event, table=table) for topic in TOPICS if role in topic.readers),
    )


def check_event(event: str) -> None:
    """Refuse what is no event name: it becomes a level of topics and a line of configuration."""
    try:
        msgspec.convert(event, type=EventName)
    except msgspec.ValidationError as error:
        raise SettingRefused(f"event {event!r}: {error}") from None


def check_tables(tables: int) -> None:
    """Refuse what is no number of tables, 1 to 9,999."""
    try:
        msgspec.convert(tables, type=TableNo)
    except msgspec.ValidationError as error:
        raise SettingRefused(f"{tables!r} tables: {error}") from None


def as_markdown() -> str:
    """Give the table of permissions for docs/brokers.md, for an event `<event>` and a table `<t>`."""
    lines = ["| user | publishes | reads |", "|---|---|---|"]
    for role in get_args(Role):
        name = "table-<t>" if role == "table" else role
        said = [topic for topic in TOPICS if topic.writer == role]
        read = [topic for topic in TOPICS if role in topic.readers]
        lines.append(f"| `{name}` | {_patterns(said, role)} | {_patterns(read, role)} |")
    return "\n".join(lines)


def _patterns(topics: list[Topic], role: Role) -> str:
    table = "<t>" if role == "table" else "+"
    shown = (topic.pattern.format(event="<event>", table=table, deal="+") for topic in topics)
    return " ".join(f"`{pattern}`" for pattern in shown) or "nothing"


if __name__ == "__main__":  # python -m broker.permissions: for docs/brokers.md
    print(as_markdown())
