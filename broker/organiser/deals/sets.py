"""The registry of tile sets: which serial is on the back of which face."""

import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from broker.organiser.deals.files import every, refuse
from broker.organiser.deals.listed import LAST_SET
from broker.organiser.deals.table import Row, read_table
from broker.organiser.deals.whole import faults_of_set
from broker.rules.deal import Shuffler, new_set
from broker.rules.errors import RuleError
from broker.rules.tiles import FACES, FULL_SET
from broker.scorer.folder import DEALS, SETS, Registry, read_deals, read_registry, write_registry


def mixed(numbers: Collection[int], shuffler: Shuffler, *, red: bool = False) -> Registry:
    """Make sets of which nobody knows anything yet; `red`: with a red five of each suit."""
    return {number: new_set(shuffler, red=red) for number in sorted(set(numbers))}


def add(folder: Path, made: Registry) -> None:
    """Add sets to a folder's registry; a set that is there, the same to the last serial, stays as it is.

    Raises an ExceptionGroup of RuleErrors `set_exists`; BadEvent, OSError.
    """
    known = read_registry(folder) if (folder / SETS).exists() else {}
    others = [number for number in made if number in known and known[number] != made[number]]
    refuse(RuleError("set_exists", f"set {number} is in {SETS} already, and stays as it is") for number in others)
    if set(made) - set(known):
        write_registry(folder, dict(sorted((known | made).items())))


def ensure(folder: Path, numbers: Collection[int], shuffler: Shuffler, *, red: bool = False) -> None:
    """See to it that there are these sets: make the registry if there is none, `red` with red fives.

    Raises an ExceptionGroup of RuleErrors `set_unknown` or `not_a_set`; BadEvent, OSError.
    """
    if (folder / SETS).exists():
        registry = read_registry(folder)
        refuse([*_unknown(registry, numbers), *_faults(registry)])
    else:
        write_registry(folder, mixed(numbers, shuffler, red=red))


def check(folder: Path) -> Registry:
    """Give a folder's registry if it can be played with.

    Raises an ExceptionGroup of RuleErrors `not_a_set`, `set_unknown`, `secret_exposed`; BadEvent, OSError.
    """
    registry = read_registry(folder)
    used = {deal.set for deal in read_deals(folder)} if (folder / DEALS).exists() else set()
    refuse([*_faults(registry), *_unknown(registry, used), *_exposed(folder)])
    return registry


def read_sets(path: Path, number: int | None) -> Registry:
    """Read a CSV of columns serial and face; `number` is the set's where there is no column set.

    Raises RuleError, or an ExceptionGroup of them, that name the line; OSError.
    """
    rows, fields = read_table(path, ("serial", "face"), ["set"])
    registry: Registry = {}
    first: dict[tuple[int, int], int] = {}

    def take(row: Row) -> None:
        at, serial, face = _tile(row, fields, number)
        if first.setdefault((at, serial), row.line) != row.line:
            text = f"line {row.line}: serial {serial} of set {at} is in line {first[at, serial]} already"
            raise RuleError("serial_twice", text)
        registry.setdefault(at, {})[serial] = face

    every(take, rows)
    if not registry:
        raise RuleError("not_a_set", f"{path.name} lists no tile")
    refuse(_faults(registry))
    return registry


def _tile(row: Row, fields: int, number: int | None) -> tuple[int, int, str]:
    row.whole(fields)
    if number is None and not row.cells.get("set"):
        raise RuleError("set_not_said", f"line {row.line}: of which set? Say --set N, or add a column set")
    at = number if number is not None and not row.cells.get("set") else row.number("set", LAST_SET)
    return at, row.number("serial", len(FULL_SET)), _face(row)


def _face(row: Row) -> str:
    face = row.cells["face"].lower()
    if face not in FACES:
        raise RuleError("not_a_tile", f"line {row.line}: {face[:20]!r} is no tile")
    return face


def _faults(registry: Registry) -> Iterator[RuleError]:
    for number, faces in sorted(registry.items()):
        for fault in faults_of_set(faces):
            yield RuleError("not_a_set", f"set {number}: {fault}")


def _unknown(registry: Registry, numbers: Collection[int]) -> Iterator[RuleError]:
    for number in sorted(set(numbers) - set(registry)):
        yield RuleError("set_unknown", f"a deal lies in set {number}, which is not in {SETS}")


def _exposed(folder: Path) -> Iterator[RuleError]:
    for path in (folder / SETS, folder / DEALS):
        if path.exists() and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            yield RuleError("secret_exposed", f"others may read {path}: chmod 600 it")
