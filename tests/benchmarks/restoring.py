"""How many hand movements and looks it takes to restore a carrier: `python -m tests.benchmarks.restoring`.

Simulated staff bring a heap of 136 tiles into four trays and check them. What a look and a movement take, and how often
people slip, is the model of docs/restoring.md; the moves that mend slips are those of the product.
"""

import random
import statistics
from dataclasses import dataclass, field
from typing import Final

from broker.protocol import SEATS
from kiosk.table import BLANK, PLACES, Carrier, Content, Deal, PlaceContent, TilePlace, after_move, next_move

CARRIERS: Final = 200

MOVE_S: Final = 1.5
"""Take a tile and put it down somewhere else."""
READ_S: Final = 1.0
"""Read a number of three digits on a tile at hand."""
LIST_S: Final = 2.0
"""Find a number in a list of 136, or a place in the list of what belongs there."""
SHAPE_S: Final = 0.4
"""See a colour and shape, or row and place, on the screen beside a tile."""
SCAN_S: Final = 1.2
"""Hold a tile before a scanner and see the answer."""
SCREEN_S: Final = 1.0
"""Read a sentence on the screen."""
SETTLE_S: Final = 1.5
"""Lay a tray under the camera and wait until it is settled."""

MISREAD: Final = 0.01
"""Numbers that are read or looked up wrongly, so that a tile comes to another place, and the other one to its own."""
MISPLACE: Final = 0.003
"""Tiles that are put beside the place that was told, whatever told it."""
OVERLOOK: Final = 0.1
"""Wrong places that a person who compares numbers with a list does not see."""


@dataclass
class Effort:
    """What one carrier took; `wrong` are places that were wrong when staff thought that they had done."""

    moves: int = 0
    looks: int = 0
    seconds: float = 0.0
    wrong: int = 0
    chance: random.Random = field(default_factory=random.Random)

    def move(self) -> None:
        """Move one tile, or exchange two."""
        self.moves += 1
        self.seconds += MOVE_S

    def look(self, seconds: float) -> None:
        """Look at one thing."""
        self.looks += 1
        self.seconds += seconds


def _laid(deal: Deal, slips: float, chance: random.Random) -> dict[TilePlace, PlaceContent]:
    """Return the carrier after all tiles were laid: each slip exchanges a tile with another's place."""
    serials = dict(deal)
    for place in PLACES:
        if chance.random() < slips:
            other = chance.choice(PLACES)
            serials[place], serials[other] = serials[other], serials[place]
    return {place: PlaceContent(Content.TILE, serial) for place, serial in serials.items()}


def _wrong(carrier: Carrier, deal: Deal) -> list[TilePlace]:
    return [place for place, lying in carrier.items() if lying.serial != deal[place]]


def by_numbers(deal: Deal, effort: Effort) -> None:
    """Read each tile, look its place up, lay it; then compare all 136 with the list, and mend what is seen."""
    for _ in PLACES:
        effort.look(READ_S)
        effort.look(LIST_S)
        effort.move()
    carrier = _laid(deal, MISREAD + MISPLACE, effort.chance)
    for _ in PLACES:
        effort.look(READ_S)
        effort.look(LIST_S / 2)  # the list is gone through in its order
    seen = {place for place in _wrong(carrier, deal) if effort.chance.random() >= OVERLOOK}
    while seen:
        place = seen.pop()
        belongs = next(one for one, serial in deal.items() if serial == carrier[place].serial)
        effort.look(LIST_S)
        effort.move()
        carrier = {**carrier, place: carrier[belongs], belongs: carrier[place]}
        if carrier[place].serial != deal[place]:
            seen.add(place)
    effort.wrong = len(_wrong(carrier, deal))


def by_camera(deal: Deal, effort: Effort) -> None:
    """Sort by seat as the picture says, then each pile by place; then check the trays."""
    for _ in ("seat", "place"):
        for _ in PLACES:
            effort.look(SHAPE_S)
            effort.move()
    _check(_laid(deal, MISPLACE, effort.chance), deal, effort)


def by_scanner(deal: Deal, effort: Effort) -> None:
    """Scan each tile and lay it where the screen says; then check the trays under the camera."""
    for _ in PLACES:
        effort.look(SCAN_S)
        effort.move()
    _check(_laid(deal, MISPLACE, effort.chance), deal, effort)


def _check(carrier: Carrier, deal: Deal, effort: Effort) -> None:
    """Lay the trays under the camera, and do what the screen says until nothing is left."""
    for _ in SEATS:
        effort.look(SCREEN_S)
        effort.seconds += SETTLE_S
    while (move := next_move(carrier, deal)) is not None:
        effort.look(SCREEN_S)
        effort.move()
        effort.seconds += SETTLE_S
        carrier = after_move(carrier, move)
    effort.wrong = len(_wrong(carrier, deal))


def main() -> None:
    """Print one line for each way, and its ratio to the numbers alone."""
    means: dict[str, tuple[float, float, float]] = {}
    for name, way in (("numbers", by_numbers), ("camera", by_camera), ("scanner", by_scanner)):
        efforts = []
        for seed in range(CARRIERS):
            chance = random.Random(seed)
            serials = chance.sample(range(1, 137), len(BLANK))
            effort = Effort(chance=chance)
            way(dict(zip(PLACES, serials, strict=True)), effort)
            efforts.append(effort)
        means[name] = (
            statistics.mean(one.moves for one in efforts),
            statistics.mean(one.looks for one in efforts),
            statistics.mean(one.seconds for one in efforts),
        )
        moves, looks, seconds = means[name]
        ratios = [f"{mine / first:.2f}" for mine, first in zip(means[name], means["numbers"], strict=True)]
        left = sum(one.wrong > 0 for one in efforts)
        print(
            f"{name:8} {moves:6.1f} moves {looks:6.1f} looks {seconds / 60:5.1f} min"
            f"   ratio {' '.join(ratios)}   carriers wrong in the end: {left} of {CARRIERS}"
        )


if __name__ == "__main__":
    main()
