"""The secret files of an event's folder, for all who read or write them: `deals.json` and `sets.json`.

The scorer asks for faces and sets; the organiser makes them (`homologue deal`).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from broker.contract.words import DealNo, Hash, Seat, SetNo, Wind
from broker.credentials import write_private
from broker.rules.deal import Deal
from broker.scorer.errors import BadEvent

DEALS: Final = "deals.json"
SETS: Final = "sets.json"

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


def read(path: Path, decode, kind: type[T]) -> T:  # type: ignore[no-untyped-def]  # noqa: ANN001 - msgspec's decoders share no type
    """Read one file of the folder. Raises BadEvent."""
    try:
        return decode(path.read_bytes(), type=kind)  # type: ignore[no-any-return] # checked by `type`
    except FileNotFoundError:
        raise BadEvent(f"{path.name} is missing in {path.parent}") from None
    except (OSError, ValueError, RecursionError) as error:  # ValueError: also of msgspec and of Unicode
        raise BadEvent(f"{path.name}: {error}") from None
