"""The halls of an event that is played in several places: their tables, and how they reach the centre.

The centre's folder has `halls.toml`, and `nodes.toml` if its broker runs on several machines. Each hall has its own
folder with the plan of its tables only, and `hall.toml`, which says how to reach the centre.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from broker.errors import BadEvent, RuleError
from broker.event.earlier import among
from broker.event.files import HALL, read_toml
from broker.event.plan import Plan
from broker.files import write_private
from broker.i18n import N_
from broker.protocol import LAST_PORT, EventName, HallName, Name, PublicKey

HALLS: Final = "halls.toml"

NODES: Final = "nodes.toml"

RANGE: Final = re.compile(r"([1-9][0-9]{0,3})(?:-([1-9][0-9]{0,3}))?")


class Hall(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One hall of an event in `halls.toml`."""

    name: HallName
    title: Name
    tables: str
    """Numbers and ranges, such as `1-20, 25`."""
    revoked: bool = False
    """Whether the centre now rejects all messages from the hall."""

    @property
    def numbers(self) -> frozenset[int]:
        """The hall's table numbers. Raises BadEvent."""
        found: set[int] = set()
        for part in self.tables.replace(" ", "").split(","):
            match = RANGE.fullmatch(part)
            if match is None:
                text = N_("hall {hall}: “{text}” is not a list of tables", hall=self.name, text=part)
                raise BadEvent.of(RuleError("hall_tables_wrong", text))
            found.update(range(int(match[1]), int(match[2] or match[1]) + 1))
        return frozenset(found)


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    halls: tuple[Hall, ...]


class CentreAddress(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a hall reaches the centre, from its `hall.toml`. Secrets are kept in separate files."""

    hall: HallName
    title: Name
    brokers: tuple[str, ...]
    """HOST:PORT of each node. If one does not answer, the hall tries the next."""
    key: PublicKey
    """Public key that verifies the centre's messages."""


def read_halls(folder: Path) -> tuple[Hall, ...]:
    """Return the halls of an event; empty if it is played in one place. Raises BadEvent."""
    path = folder / HALLS
    if not path.exists():
        return ()
    halls = read_toml(path, _File).halls
    _refuse_shared(halls)
    return halls


class HallsFile:
    """`halls.toml`, reread when it changes: halls may join or be revoked while the centre runs."""

    def __init__(self, folder: Path) -> None:
        """Read the file. Raises BadEvent."""
        self._folder = folder
        self._stamp = self._stamped()
        self._halls = read_halls(folder)

    def now(self) -> tuple[Hall, ...]:
        """Return the current halls, or the last known ones while the file is missing or invalid."""
        if (stamp := self._stamped()) not in {None, self._stamp}:
            with suppress(BadEvent):
                self._halls = read_halls(self._folder)
            self._stamp = stamp
        return self._halls

    @property
    def written_at(self) -> int:
        """When the file was last written, ms since 1970; 0 if there is none."""
        return self._stamp[1] // 1_000_000 if self._stamp else 0

    def connecting(self) -> tuple[str, ...] | None:
        """Return the names of the halls that may connect; None if the event is played in one place."""
        return tuple(hall.name for hall in self.now() if not hall.revoked) if self.now() else None

    def _stamped(self) -> tuple[int, int] | None:
        with suppress(OSError):
            found = (self._folder / HALLS).stat()
            return found.st_ino, found.st_mtime_ns
        return None


def _refuse_shared(halls: Iterable[Hall]) -> None:
    """Raise BadEvent if two halls share a name or a table."""
    of: dict[int, str] = {}
    names: set[str] = set()
    for hall in halls:
        if hall.name in names:
            raise BadEvent.of(RuleError("hall_twice", N_("two halls are called {hall}", hall=hall.name)))
        names.add(hall.name)
        for table in hall.numbers:
            if (other := of.setdefault(table, hall.name)) != hall.name:
                text = N_("table {table} is in two halls: {one} and {other}", table=table, one=other, other=hall.name)
                raise BadEvent.of(RuleError("hall_tables_wrong", text))


def missing_file(file: str) -> BadEvent:
    """Return the error for a store of an event in several halls whose `file` is missing from the folder."""
    text = N_("{file} is missing, but the store belongs to an event in several halls: restore the file", file=file)
    return BadEvent.of(RuleError("hall_file_missing", text))


def write_halls(folder: Path, halls: Iterable[Hall]) -> None:
    """Write `halls.toml` atomically."""
    write_private(folder / HALLS, msgspec.toml.encode(_File(tuple(halls))))


def keep_halls(folder: Path, halls: Sequence[Hall]) -> None:
    """Write `halls.toml`, or delete it if the event is played in one place."""
    if halls:
        write_halls(folder, halls)
    else:
        (folder / HALLS).unlink(missing_ok=True)


class Nodes(Struct, frozen=True, forbid_unknown_fields=True):
    """The machines on which the centre's broker runs, from `nodes.toml`."""

    event: EventName
    nodes: tuple[str, ...]
    """HOST:PORT of each node, as halls reach it. Each node is on its own host."""

    def __post_init__(self) -> None:
        """Raise ValueError if an address is invalid, or a host has two nodes."""
        for place in self.nodes:
            host, _, port = place.rpartition(":")
            if not host or not port.isdecimal() or not 1 <= int(port) < LAST_PORT:
                raise ValueError(f"{place} is not a HOST:PORT with a port before {LAST_PORT}")
        if len(set(self.hosts)) < len(self.nodes):
            raise ValueError("two nodes are on the same host")

    @property
    def routes(self) -> tuple[str, ...]:
        """HOST:PORT at which the nodes reach each other. The port is one above the port for halls."""
        return tuple(f"{host}:{int(port) + 1}" for host, _, port in (address.rpartition(":") for address in self.nodes))

    @property
    def hosts(self) -> tuple[str, ...]:
        """The nodes' host names or addresses."""
        return tuple(address.rpartition(":")[0].strip("[]") for address in self.nodes)


def read_nodes(folder: Path) -> Nodes | None:
    """Return the nodes of the centre's broker; None if it runs on one machine. Raises BadEvent."""
    return read_toml(folder / NODES, Nodes) if (folder / NODES).exists() else None


def write_nodes(folder: Path, nodes: Nodes) -> None:
    """Write `nodes.toml` atomically."""
    write_private(folder / NODES, msgspec.toml.encode(nodes))


def read_centre(folder: Path) -> CentreAddress | None:
    """Return how a hall reaches the centre; None if the event is played in one place. Raises BadEvent."""
    return read_toml(folder / HALL, CentreAddress) if (folder / HALL).exists() else None


def write_centre(folder: Path, centre: CentreAddress) -> None:
    """Write `hall.toml` atomically."""
    write_private(folder / HALL, msgspec.toml.encode(centre))


def refuse_travellers(plan: Plan, halls: Iterable[Hall]) -> None:
    """Raise BadEvent if a player would play in two halls."""
    at = {table: hall for hall in halls for table in hall.numbers}
    of, names = dict[str, Hall](), {one.id: one.name for one in plan.players}  # a final names ranks, not players
    for play in plan.plays:
        for player in play.players.values() if play.table in at else ():
            here = at[play.table]
            if player in names and (other := of.setdefault(player, here)) is not here:
                text = N_(
                    "{player} plays in two halls: {one} and {other}",
                    player=names[player],
                    one=other.title,
                    other=here.title,
                )
                raise BadEvent.of(RuleError("player_in_two_halls", text))


def plan_of_hall(plan: Plan, hall: Hall) -> Plan:
    """Return the plan of one hall, with only its tables and players. Raises BadEvent if nothing is played there."""
    tables = hall.numbers
    plays = tuple(play for play in plan.plays if play.table in tables)
    riichi = tuple(booking for booking in plan.riichi if booking.table in tables)
    if not plays and not riichi:
        text = N_("hall {hall}: nothing is played at its tables", hall=hall.name)
        raise BadEvent.of(RuleError("hall_tables_wrong", text))
    here = {player for play in plays for player in play.players.values()}
    here.update(player for booking in riichi for player in booking.players.values())
    whole = {team: members for team, members in plan.teams.items() if here.issuperset(members)}
    teams = whole if len(here) == sum(map(len, whole.values())) else {}  # the centre scores teams that span halls
    return replace(
        plan,
        plays=plays,
        riichi=riichi,
        players=tuple(player for player in plan.players if player.id in here),
        teams=teams,
        earlier=among(plan.earlier, here, teams),
        uncompared=True,  # not within this hall; other halls play the same deals
    )
