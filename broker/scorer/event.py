"""An event's folder: what the organiser has settled before the first play.

`event.toml` (name, profile, players, plays), `deals.json` (faces: secret), `sets.json` (serial to face: secret).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final, TypeVar

import msgspec
import tomli_w
from msgspec import Struct

from broker.contract.messages import PlannedPlay, Player
from broker.contract.words import (
    DealNo,
    EventName,
    Name,
    PlayerId,
    ProfileId,
    RoundNo,
    Seat,
    SetNo,
    TableNo,
    Wind,
)
from broker.rules.deal import Deal, SerialTray, form_hash, order_of
from broker.rules.errors import RuleError
from broker.rules.movement import check
from broker.rules.profile import Profile, load
from broker.scorer.errors import BadEvent

EVENT: Final = "event.toml"
DEALS: Final = "deals.json"
SETS: Final = "sets.json"

T = TypeVar("T")


class Booking(Struct, frozen=True, forbid_unknown_fields=True):
    """One play of the movement."""

    round: RoundNo
    table: TableNo
    deal: DealNo
    players: dict[Seat, PlayerId]


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    """`event.toml`."""

    name: EventName
    title: Name
    profile: ProfileId
    players: tuple[Player, ...]
    plays: tuple[Booking, ...]


class DealRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """One deal in `deals.json`: faces, and the number of the set that lies in its carrier."""

    number: DealNo
    set: SetNo
    prevalent_wind: Wind
    dealer: Seat
    faces: dict[Seat, tuple[str, ...]]


Registry = dict[int, dict[int, str]]
"""`sets.json`: set number to serial to face."""


class Event:
    """A checked event, with everything looked up that the scorer asks for."""

    def __init__(self, plan: Plan, deals: Iterable[DealRecord], registry: Registry) -> None:
        """Raise BadEvent, naming every problem, unless it can be played."""
        self.plan = plan
        self.name = plan.name
        listed = tuple(deals)
        self._deals = {deal.number: deal for deal in listed}
        problems = [*_problems(plan, self._deals), *_twice("deal {0} is listed twice", ((d.number,) for d in listed))]
        if problems:
            raise BadEvent("; ".join(problems))
        try:
            self.profile: Profile = load(plan.profile)
            self._orders = {number: _order(deal, registry) for number, deal in self._deals.items()}
        except RuleError as error:
            raise BadEvent(error.text) from None
        self.players = {player.id: player for player in plan.players}
        self.bookings = {(play.table, play.round): play for play in plan.plays}

    @cached_property
    def tables(self) -> tuple[int, ...]:
        """The tables that play, in order."""
        return tuple(sorted({play.table for play in self.plan.plays}))

    @cached_property
    def expected(self) -> Mapping[int, int]:
        """How many plays each deal is to have."""
        return Counter(play.deal for play in self.plan.plays)

    def form(self, deal: int) -> str:
        """Hash of a deal's serials as they should lie."""
        return form_hash(self._orders[deal])

    def plays_of(self, table: int) -> tuple[PlannedPlay, ...]:
        """What one table is to do, by rounds: serials, never a face."""
        return tuple(
            self._planned(play) for play in sorted(self.plan.plays, key=lambda play: play.round) if play.table == table
        )

    def _planned(self, play: Booking) -> PlannedPlay:
        deal = self._deals[play.deal]
        return PlannedPlay(
            round=play.round,
            deal=play.deal,
            set=deal.set,
            prevalent_wind=deal.prevalent_wind,
            dealer=deal.dealer,
            players={seat: self.players[player] for seat, player in play.players.items()},
            order={seat: _tray(tray) for seat, tray in self._orders[play.deal].items()},
        )


def _tray(rows: SerialTray) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    hand, far, near = rows
    return hand, far, near


def _order(record: DealRecord, registry: Registry) -> dict[Seat, SerialTray]:
    deal = Deal(record.number, record.prevalent_wind, record.dealer, record.faces)
    return order_of(deal, registry.get(record.set, {}))


def _problems(plan: Plan, deals: Mapping[int, DealRecord]) -> Iterable[str]:
    """Name everything that is wrong with a movement."""
    known = {player.id for player in plan.players}
    if len(known) != len(plan.players):
        yield "a player is listed twice"
    if not plan.plays:
        yield "no play is planned"
    yield from (fault.text for fault in check(plan.plays))
    for play in plan.plays:
        where = f"round {play.round} table {play.table}"
        for player in set(play.players.values()) - known:
            yield f"{where}: player {player} is not in the list"
        if play.deal not in deals:
            yield f"{where}: there is no deal {play.deal}"
    yield from _twice("table {1} has two plays in round {0}", ((p.round, p.table) for p in plan.plays))


def _twice(sentence: str, pairs: Iterable[tuple[object, ...]]) -> Iterable[str]:
    return (sentence.format(*pair) for pair, count in Counter(pairs).items() if count > 1)


def save(folder: Path, plan: Plan, deals: Iterable[DealRecord], registry: Registry) -> None:
    """Write an event's folder; what is secret is readable by its owner alone."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / EVENT).write_text(tomli_w.dumps(msgspec.to_builtins(plan)), encoding="utf-8")
    for name, secret in ((DEALS, tuple(deals)), (SETS, registry)):
        path = folder / name
        path.touch(mode=0o600)
        path.chmod(0o600)  # one that was there before keeps the rights it had
        path.write_bytes(msgspec.json.encode(secret))


def open_event(folder: Path) -> Event:
    """Read an event's folder. Raises BadEvent."""
    plan = _read(folder / EVENT, msgspec.toml.decode, Plan)
    deals = _read(folder / DEALS, msgspec.json.decode, tuple[DealRecord, ...])
    registry = _read(folder / SETS, msgspec.json.decode, Registry)
    return Event(plan, deals, registry)


def _read(path: Path, decode, kind: type[T]) -> T:  # type: ignore[no-untyped-def]  # noqa: ANN001 - msgspec's decoders share no type
    try:
        return decode(path.read_bytes(), type=kind)  # type: ignore[no-any-return] # checked by `type`
    except FileNotFoundError:
        raise BadEvent(f"{path.name} is missing in {path.parent}") from None
    except (OSError, ValueError, RecursionError) as error:  # ValueError: also of msgspec and of Unicode
        raise BadEvent(f"{path.name}: {error}") from None
