"""The registry of tile sets: the face of each serial, and whether a set is complete."""

import stat
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from broker.errors import collect_errors, raise_errors
from broker.event.deals.sealing import DEALS_KEY, Opener
from broker.event.file_io import CsvRow, read_csv
from broker.event.files import DEALS, SETS, Registry, SetFaces, read_deals, read_registry, write_registry
from broker.i18n import N_
from broker.protocol import SEATS, Seat
from broker.rules import COPIES, FACES, FULL_SET, KINDS, RED, TRAY, RuleError, Shuffler, new_set


def faults_of_deal(faces: Mapping[Seat, Sequence[str]]) -> Iterator[str]:
    """Yield the faults of a deal's four trays; nothing if they hold a complete set."""
    for seat in SEATS:
        if len(faces.get(seat, ())) != TRAY:
            yield f"{seat} has {len(faces.get(seat, ()))} tiles, not {TRAY}"
    yield from _faults_of_tiles(face for seat in SEATS for face in faces.get(seat, ()))


def faults_of_set(registry: Mapping[int, str]) -> Iterator[str]:
    """Yield the faults of a set, given as serial to face; nothing if it is complete."""
    serials = set(range(1, len(FULL_SET) + 1))
    for what, found in (("without a face", serials - set(registry)), ("not of a set", set(registry) - serials)):
        if found:
            yield f"serial {', '.join(map(str, sorted(found)))}: {what}"
    yield from _faults_of_tiles(registry.values())


def _faults_of_tiles(tiles: Iterable[str]) -> Iterator[str]:
    """Yield a fault for each face that does not occur four times.

    One five of each suit may be red, but in all three suits or in none.
    """
    counted = Counter(tiles)
    reds = {face: counted.pop(face) for face in RED if face in counted}
    if reds and reds != dict.fromkeys(RED, 1):
        yield f"red fives: one of each of {', '.join(RED)}, or none"
    for face, number in reds.items():
        counted[RED[face]] += number
    for face in sorted(set(counted) - set(KINDS)):
        yield f"{face[:20]!r} is not a tile"
    for face in KINDS:
        if counted[face] != COPIES:
            yield f"{counted[face]} of {face}, not {COPIES}"


def mix_sets(numbers: Collection[int], shuffler: Shuffler, *, red: bool = False) -> dict[int, SetFaces]:
    """Return new sets with random faces; with `red`, each suit has a red five."""
    return {number: new_set(shuffler, red=red) for number in sorted(set(numbers))}


def add_sets(folder: Path, made: Mapping[int, SetFaces]) -> None:
    """Add sets to a folder's registry. A set that is already there with the same faces is left alone.

    Raises an ExceptionGroup of RuleErrors `set_exists` for sets with other faces; RuleError as `Opener.set_faces`;
    BadEvent, OSError.
    """
    known = read_registry(folder) if (folder / SETS).exists() else {}
    opener = Opener(folder)
    others = [number for number in made if number in known and opener.set_faces(number, known) != made[number]]
    raise_errors(
        RuleError("set_exists", N_("{file} already has set {set}; it was not changed", set=number, file=SETS))
        for number in others
    )
    if set(made) - set(known):
        write_registry(folder, dict(sorted({**known, **made}.items())))


def ensure_sets(folder: Path, numbers: Collection[int], shuffler: Shuffler, *, red: bool = False) -> None:
    """Make sure that these sets are registered. If there is no registry, make one, with red fives if `red`.

    Raises an ExceptionGroup of RuleErrors `set_unknown` or `not_a_set`; BadEvent, OSError.
    """
    if (folder / SETS).exists():
        registry = read_registry(folder)
        raise_errors([*_unknown(registry, numbers), *_faults(Opener(folder).plain(registry))])
    else:
        write_registry(folder, mix_sets(numbers, shuffler, red=red))


def check_sets(folder: Path) -> Registry:
    """Return a folder's registry, checked: all sets complete, none in use missing, secret files not exposed.

    Raises an ExceptionGroup of RuleErrors `not_a_set`, `set_unknown`, `secret_exposed`; RuleError as
    `Opener.set_faces`; BadEvent, OSError.
    """
    registry = read_registry(folder)
    used = {deal.set for deal in read_deals(folder)} if (folder / DEALS).exists() else set()
    raise_errors([*_faults(Opener(folder).plain(registry)), *_unknown(registry, used), *_exposed(folder)])
    return registry


def read_sets(path: Path, default: int | None) -> dict[int, SetFaces]:
    """Read sets from a CSV with columns serial and face, and optionally set; `default` is the set without it.

    Raises RuleError, or an ExceptionGroup of them, each of which names the line; OSError.
    """
    rows, fields = read_csv(path, ("serial", "face"), ["set"])
    registry: dict[int, SetFaces] = {}
    first: dict[tuple[int, int], int | str] = {}

    def take(row: CsvRow) -> None:
        set_number, serial, face = _tile(row, fields, default)
        if first.setdefault((set_number, serial), row.line) != row.line:
            earlier = first[set_number, serial]
            text = f"line {row.line}: serial {serial} of set {set_number} is already used in line {earlier}"
            raise RuleError("serial_twice", text)
        registry.setdefault(set_number, {})[serial] = face

    collect_errors(take, rows)
    if not registry:
        raise RuleError("not_a_set", N_("{file} lists no tiles", file=path.name))
    raise_errors(_faults(registry))
    return registry


def _tile(row: CsvRow, fields: int, default: int | None) -> tuple[int, int, str]:
    row.whole(fields)
    if default is None and not row.cells.get("set"):
        raise RuleError(
            "set_not_said",
            N_("line {line}: the set number is missing. Use --set N, or add a column named set", line=row.line),
        )
    set_number = default if default is not None and not row.cells.get("set") else row.number("set", LAST_SET)
    return set_number, row.number("serial", len(FULL_SET)), _face(row)


def _face(row: CsvRow) -> str:
    face = row.cells["face"].lower()
    if face not in FACES:
        raise RuleError(
            "not_a_tile", N_("line {line}: {face} is not a tile", line=row.at("face"), face=repr(face[:20]))
        )
    return face


def _faults(registry: Mapping[int, SetFaces]) -> Iterator[RuleError]:
    for number, faces in sorted(registry.items()):
        for fault in faults_of_set(faces):
            yield RuleError("not_a_set", N_("set {set}: {problem}", set=number, problem=fault))


def _unknown(registry: Registry, numbers: Collection[int]) -> Iterator[RuleError]:
    for number in sorted(set(numbers) - set(registry)):
        yield RuleError("set_unknown", N_("a deal uses set {set}, which is not in {file}", set=number, file=SETS))


def _exposed(folder: Path) -> Iterator[RuleError]:
    for path in (folder / SETS, folder / DEALS, folder / DEALS_KEY):
        if path.exists() and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            yield RuleError("secret_exposed", N_("other users can read {file}: run chmod 600 on it", file=path))


LAST_SET: Final = 99
