"""What is wrong with tiles that should be the 136 of a set, in words."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from broker.contract.words import SEATS, Seat
from broker.rules.deal import TRAY
from broker.rules.tiles import COPIES, FULL_SET, KINDS, RED


def faults_of_deal(faces: Mapping[Seat, Sequence[str]]) -> Iterator[str]:
    """Name what is wrong with four trays; nothing where they hold a whole set."""
    for seat in SEATS:
        if len(faces.get(seat, ())) != TRAY:
            yield f"{seat} has {len(faces.get(seat, ()))} tiles, not {TRAY}"
    yield from faults_of_tiles(face for seat in SEATS for face in faces.get(seat, ()))


def faults_of_set(registry: Mapping[int, str]) -> Iterator[str]:
    """Name what is wrong with a set's registry, serial to face; nothing where it is whole."""
    serials = set(range(1, len(FULL_SET) + 1))
    for what, found in (("without a face", serials - set(registry)), ("not of a set", set(registry) - serials)):
        if found:
            yield f"serial {', '.join(map(str, sorted(found)))}: {what}"
    yield from faults_of_tiles(registry.values())


def faults_of_tiles(tiles: Iterable[str]) -> Iterator[str]:
    """Name each face of which there are not four; of fives one may be red, in all three suits or in none."""
    counted = Counter(tiles)
    reds = {face: counted.pop(face) for face in RED if face in counted}
    if reds and reds != dict.fromkeys(RED, 1):
        yield f"red fives: one of each of {', '.join(RED)}, or none"
    for face, number in reds.items():
        counted[RED[face]] += number
    for face in sorted(set(counted) - set(KINDS)):
        yield f"{face[:20]!r} is no tile"
    for face in KINDS:
        if counted[face] != COPIES:
            yield f"{counted[face]} of {face}, not {COPIES}"
