"""Simulated plays as they lie on the table at their end, tile by tile, together with the actions that led there."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from broker.protocol import SEATS, LaidSeat, Seat
from broker.rules import Deal, Outcome, SerialTray, new_set, serial_order
from broker.rules.mcr import CHOWS, GAP, Action, Ending


class LaidTiles(NamedTuple):
    """What lies on the table, and what was done."""

    deal: Deal
    order: Mapping[Seat, SerialTray]
    laid: dict[Seat, LaidSeat]
    ending: Ending
    done: tuple[tuple[Action, int | None], ...]
    """The actions without `no_claim`, each with the tile drawn, discarded or claimed."""


class _Table:
    """A play by serials. Of equal tiles in a hand, a random one is used."""

    def __init__(self, deal: Deal, order: Mapping[Seat, SerialTray] | None, rng: Random) -> None:
        self._rng = rng
        self.order = order or serial_order(deal, new_set(rng))
        trays = {seat: [one for row in self.order[seat] for one in row] for seat in SEATS}
        self.face = {one: face for seat in SEATS for one, face in zip(trays[seat], deal.faces[seat], strict=True)}
        self.hands = {seat: trays[seat][:13] for seat in SEATS}
        self.walls = {seat: trays[seat][13:] for seat in SEATS}
        self.rivers: dict[Seat, list[int]] = {seat: [] for seat in SEATS}
        self.melds: dict[Seat, list[list[int]]] = {seat: [] for seat in SEATS}
        self.open_tile: tuple[Seat, int] = ("east", 0)
        self.drawn = 0
        self.done: list[tuple[Action, int | None]] = []

    def _take(self, seat: Seat, face: str) -> int:
        serial = self._rng.choice([one for one in self.hands[seat] if self.face[one] == face])
        self.hands[seat].remove(serial)
        return serial

    def do(self, action: Action) -> None:
        """Carry out an action, tile by tile."""
        if action.do == "no_claim":
            return
        seat, tile = action.actors[0], action.tile or ""
        serial: int | None = None
        if action.do == "draw":
            serial = self.drawn = self.walls[seat].pop(0)
            self.hands[seat].append(serial)
        elif action.do == "discard":
            serial = self._take(seat, tile)
            self.rivers[seat].append(serial)
            self.open_tile = (seat, serial)
        elif action.do in ("chow", "pung", "melded_kong"):
            discarder, serial = self.open_tile
            self.rivers[discarder][-1] = GAP
            face = self.face[serial]
            others = CHOWS[face][tile] if action.do == "chow" else (face,) * (2 + (action.do == "melded_kong"))
            self.melds[seat].append([serial, *(self._take(seat, other) for other in others)])
        elif action.do == "concealed_kong":
            self.melds[seat].append([self._take(seat, tile) for _ in range(4)])
        elif action.do == "added_kong":
            pung = next(one for one in self.melds[seat] if [self.face[two] for two in one] == [tile] * 3)
            added = self._take(seat, tile)
            pung.append(added)
            self.open_tile = (seat, added)
        elif action.do == "self_hu":
            self.open_tile = (seat, self.drawn)
        self.done.append((action, serial))


def laid_play(
    deal: Deal,
    actions: Sequence[Action],
    outcome: Outcome,
    seed: int,
    *,
    order: Mapping[Seat, SerialTray] | None = None,
    hands: bool = True,
    gaps: bool = False,
) -> LaidTiles:
    """Return the table after a play. `hands`: with the concealed tiles; `gaps`: with gaps where tiles were claimed."""
    rng = Random(f"{seed} tiles")  # noqa: S311 - simulated tables, no secret
    table = _Table(deal, order, rng)
    for action in actions:
        table.do(action)
    laid = {}
    for seat in SEATS:
        melds = [rng.sample(meld, len(meld)) for meld in table.melds[seat]]
        hand = tuple(rng.sample(table.hands[seat], len(table.hands[seat])))
        river = [serial for serial in table.rivers[seat] if gaps or serial != GAP]
        while river and river[-1] == GAP:
            river.pop()
        laid[seat] = LaidSeat(tuple(river), tuple(map(tuple, melds)), hand if hands else None, gaps)
    winning = table.open_tile[1] if outcome.win != "draw" else None
    return LaidTiles(deal, table.order, laid, Ending(outcome, winning), tuple(table.done))
