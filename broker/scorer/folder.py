"""The secret files of an event's folder, for all who read or write them: `deals.json`, `sets.json`, `hands.json`.

The scorer asks for faces and sets; the organiser makes them (`homologue deal`). What was done in a play step by step is
on no wire: only where players are simulated it is known, and kept in `hands.json`.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from broker.contract.words import DealNo, Hash, RoundNo, Seat, SetNo, TableNo, Wind
from broker.credentials import write_private
from broker.rules.deal import Deal
from broker.rules.errors import RuleError
from broker.rules.referee.actions import Action
from broker.scorer.errors import BadEvent

DEALS: Final = "deals.json"
SETS: Final = "sets.json"
HANDS: Final = "hands.json"

T = TypeVar("T")


class DealRecord(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One deal in `deals.json`: faces, the set that lies in its carrier, and the salt of its commitment."""

    number: DealNo
    set: SetNo
    prevalent_wind: Wind
    dealer: Seat
    faces: dict[Seat, tuple[str, ...]]
    salt: Hash | None = None

    def deal(self) -> Deal:
        """Give the deal itself. Raises RuleError `not_a_deal`."""
        return Deal(self.number, self.prevalent_wind, self.dealer, self.faces)


class HandRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """What was done in one play; with its deal, all that the referee needs to see it again."""

    round: RoundNo
    table: TableNo
    deal: DealNo
    actions: tuple[Action, ...]


Registry = dict[int, dict[int, str]]
"""`sets.json`: set number to serial to face."""


def read_deals(folder: Path) -> tuple[DealRecord, ...]:
    """Read `deals.json`, as it is written: whether each deal is whole is not asked. Raises BadEvent."""
    return read(folder / DEALS, msgspec.json.decode, tuple[DealRecord, ...])


def read_registry(folder: Path) -> Registry:
    """Read `sets.json`, as it is written: whether each set is whole is not asked. Raises BadEvent."""
    return read(folder / SETS, msgspec.json.decode, Registry)


def write_deals(folder: Path, deals: Iterable[DealRecord]) -> None:
    """Write `deals.json` in one step, for its owner alone."""
    write_private(folder / DEALS, msgspec.json.encode(tuple(deals)))


def write_registry(folder: Path, registry: Registry) -> None:
    """Write `sets.json` in one step, for its owner alone."""
    write_private(folder / SETS, msgspec.json.encode(registry))


def read_hands(folder: Path) -> tuple[HandRecord, ...]:
    """Read `hands.json`; nothing where there is none. Raises BadEvent."""
    path = folder / HANDS
    return read(path, msgspec.json.decode, tuple[HandRecord, ...]) if path.exists() else ()


def write_hands(folder: Path, hands: Iterable[HandRecord]) -> None:
    """Write `hands.json` in one step, for its owner alone: whoever has it knows the deals."""
    write_private(folder / HANDS, msgspec.json.encode(tuple(hands)))


def read(path: Path, decode, kind: type[T]) -> T:  # type: ignore[no-untyped-def]  # noqa: ANN001 - msgspec's decoders share no type
    """Read one file of the folder. Raises BadEvent."""
    try:
        return decode(path.read_bytes(), type=kind)  # type: ignore[no-any-return] # checked by `type`
    except FileNotFoundError:
        missing = RuleError("file_missing", f"{path.name} is missing in {path.parent}")
        raise BadEvent(missing.text, [missing]) from None
    except (OSError, ValueError, RecursionError) as error:  # ValueError: also of msgspec and of Unicode
        wrong = RuleError("malformed", f"{path.name}: {error}")
        raise BadEvent(wrong.text, [wrong]) from None
