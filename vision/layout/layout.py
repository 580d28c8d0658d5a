"""The folder's public face: tiles found and marks read, to where each lies and what each place holds."""

from dataclasses import dataclass

import numpy as np

from vision.geometry import Picture, Quad
from vision.layout.found_trays import Filled, find_trays
from vision.layout.gaps import COVERED, Ground, judge_gap, look_at
from vision.layout.samples import RIM, colours_on, covered_share, hand_near
from vision.layout.seats import name_seats
from vision.layout.strange import finger_shares, strange_backs
from vision.layout.tray import HALF_TURN, Where, places
from vision.layout.values import Layout, Lie, Site, Tray
from vision.reading import State
from vision.sight import Found, Mark

_FINGER, _FINGERS = 0.12, 0.2  # share of a back's rim that is no back; of one that was not read, hand or no hand
_HAND, _SURE_HAND = 0.1, 0.4  # trace of a hand from which what lies on a tile is a finger; on one that was read
_SEEN = 0.3  # confidence of a mark from which something stands on a back, legible or not
_ASKEW = 15.0  # degrees: tiles in a tray lie within 6 of it with corners found to 3 percent, some corners are worse


def lay_out(picture: Picture, found: Found, marks: tuple[Mark | None, ...]) -> Layout:
    """Say where each of `found.tiles` lies and what each place of each tray holds.

    `picture` is BGR, shape (height, width, 3); `marks` has an entry for each tile, None for those that were not read.
    Only the picture is asked, no deal. Holds no state, so any thread may call it.
    """
    seen = _see(picture, found, marks)
    trays: list[Tray] = []
    laid: dict[int, _Laid] = {}
    ghosts: set[int] = set()
    for seat, one in _seated(find_trays(found, marks, (picture.shape[0], picture.shape[1]))):
        sites = _sites(picture, found, one, seen)
        trays.append(Tray(seat, sites, one.lattice.rotation))
        laid |= {
            site.tile: _Laid(seat, (site.row, site.col), one.turns[site.tile])
            for site in sites
            if site.tile is not None
        }
        ghosts |= set(one.held.values()) - laid.keys()
    if trays:  # what lies beside a tray and was not read is mostly its floor or a card, seen as a tile
        ghosts |= {number for number, mark in enumerate(marks) if number not in laid and not _is_read(mark)}
    lies = tuple(_lie(seen, number, mark, laid.get(number)) for number, mark in enumerate(marks))
    return Layout(lies, tuple(trays), frozenset(ghosts))


def _is_read(mark: Mark | None) -> bool:
    return mark is not None and (mark.serial is not None or mark.either is not None)


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """What is seen of each tile, whatever tray it lies in: all of one length."""

    quads: Quad  # shape (n, 4, 2), as found
    rotations: list[float]
    covered: list[float]
    strange: list[bool]
    states: list[State]
    blank: list[bool]  # backs of which nothing was read: perhaps no tiles at all


@dataclass(frozen=True, slots=True)
class _Laid:
    """A tile's place, and how the first short side of its quad runs against its tray, radians."""

    seat: str | None
    where: Where
    way: float


def _see(picture: Picture, found: Found, marks: tuple[Mark | None, ...]) -> _Seen:
    quads: Quad = np.array([tile.quad for tile in found.tiles]).reshape(-1, 4, 2)
    right = quads[:, 1] + quads[:, 2] - quads[:, 0] - quads[:, 3]
    covered = covered_share(found.hands, found.cell, quads)
    states = [_state(tile.face_up, hidden) for tile, hidden in zip(found.tiles, covered, strict=True)]
    backs = np.array([state is State.BACK for state in states], dtype=bool)
    rims, middles = colours_on(picture, quads, RIM), quads.mean(axis=1)
    unread = np.array([mark is None or mark.serial is None for mark in marks], dtype=bool)
    near = hand_near(found.hands, found.cell, quads)
    fingers = finger_shares(rims, middles, backs)
    fingered = (fingers > _FINGER) & (near > np.where(unread, _HAND, _SURE_HAND)) | (fingers > _FINGERS) & unread
    states = [State.OCCLUDED if under else state for state, under in zip(states, fingered, strict=True)]
    blank = unread & np.array([mark is not None and mark.confidence < _SEEN for mark in marks], dtype=bool)
    strange = strange_backs(rims, middles, backs & ~fingered, blank)
    rotations = np.degrees(np.arctan2(right[:, 1], right[:, 0]))
    return _Seen(quads, rotations.tolist(), covered.tolist(), strange.tolist(), states, blank.tolist())


def _state(face_up: bool, hidden: float) -> State:  # noqa: FBT001 -- as it stands in a Tile
    if hidden > COVERED:
        return State.OCCLUDED
    return State.FACE_UP if face_up else State.BACK


def _seated(filled: tuple[Filled, ...]) -> list[tuple[str | None, Filled]]:
    """Pair each tray with its seat; a tray alone has none, and trays that no seat can be told of are left out."""
    if len(filled) < 2:  # noqa: PLR2004 -- a carrier is more than one
        return [(None, one) for one in filled]
    seats = name_seats([one.lattice.rotation for one in filled], [len(one.held) for one in filled])
    return [(seat, filled[number]) for seat, number in (seats or {}).items()]


def _sites(picture: Picture, found: Found, tray: Filled, seen: _Seen) -> tuple[Site, ...]:
    """Say what each place of a tray holds, in reading order."""
    wheres = list(places())
    quads = tray.lattice.quads(tray.lattice.spots(*np.array(wheres, dtype=float).T))
    covered = covered_share(found.hands, found.cell, quads)
    tiles = [tray.held.get(where) for where in wheres]
    known = [
        State.OCCLUDED if tile is None and hidden > COVERED else None if tile is None else seen.states[tile]
        for tile, hidden in zip(tiles, covered, strict=True)
    ]
    doubted = [tile is not None and seen.blank[tile] and seen.states[tile] is not State.FACE_UP for tile in tiles]
    real = np.array([quad if tile is None else found.tiles[tile].quad for tile, quad in zip(tiles, quads, strict=True)])
    asked = [number for number, state in enumerate(known) if state is None or doubted[number]]
    told = _judge_gaps(known, asked, look_at(picture, real, tray.lattice)) if asked else {}
    for number, state in told.items():
        if state is State.EMPTY:  # the finder saw a tile where the tray is empty
            tiles[number] = None
        known[number] = state if tiles[number] is None else known[number]
    return tuple(
        Site(*where, state or State.BACK, tile, quad)
        for where, state, tile, quad in zip(wheres, known, tiles, quads, strict=True)
    )


def _judge_gaps(known: list[State | None], asked: list[int], ground: Ground) -> dict[int, State]:
    """Say what each place holds that is asked about, by those of which it is known."""
    backs = [number for number, state in enumerate(known) if state is State.BACK and number not in asked]
    near = np.array(backs, dtype=int)
    return {number: judge_gap(ground, number, near, found=known[number] is not None) for number in asked}


def _lie(seen: _Seen, number: int, mark: Mark | None, laid: _Laid | None) -> Lie:
    """Say of a tile how it lies; where no mark tells, it is taken to stand as its tray does."""
    told = mark.turned if mark is not None else None
    over = bool(told if told is not None else laid is not None and np.cos(laid.way) < 0)
    quad = seen.quads[number][[2, 3, 0, 1]] if over else seen.quads[number]
    rotation = (seen.rotations[number] + (HALF_TURN if over else 0)) % 360
    covered, strange = seen.covered[number], seen.strange[number]
    if laid is None:
        return Lie(quad, rotation, covered=covered, strange=strange)
    turn = float(np.degrees(laid.way)) + (HALF_TURN if over else 0)
    askew = abs((turn + 90) % HALF_TURN - 90) > _ASKEW
    return Lie(quad, rotation, laid.seat, *laid.where, round(turn / 90) % 4 * 90, askew, covered, strange)
