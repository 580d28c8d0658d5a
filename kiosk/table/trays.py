"""The four trays of a carrier: what lies at each place, the fewest moves that correct them, who vouched for which.

Draw an arrow from where each tile lies to where it belongs: a chain takes one move per arrow, a ring one less.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache, reduce
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace as replace_fields

from broker.protocol import SEATS, Seat, Verifier
from broker.rules import ROWS
from kiosk.table.events import RowTicked, TrayChecked


class TilePlace(NamedTuple):
    """One place: `row` 0..2, 0 the hand; `col` from the player's left, starting at 0."""

    seat: Seat
    row: int
    col: int

    @property
    def order(self) -> tuple[int, int, int]:
        """The place's position in reading order: trays in turn order, rows from the hand, left to right."""
        return SEATS.index(self.seat), self.row, self.col


PLACES: Final = tuple(
    TilePlace(seat, row, col) for seat in SEATS for row, length in enumerate(ROWS) for col in range(length)
)

Deal = Mapping[TilePlace, int]
"""The serial that belongs at each place."""


def serial_by_place(order: Mapping[Seat, Sequence[Sequence[int]]]) -> dict[TilePlace, int]:
    """Return the serial that belongs at each place of a play's trays."""
    return {
        TilePlace(seat, row, col): serial
        for seat in SEATS
        for row, line in enumerate(order[seat])
        for col, serial in enumerate(line)
    }


def place_by_serial(deal: Deal) -> dict[int, TilePlace]:
    """Return where each serial belongs."""
    return {serial: place for place, serial in deal.items()}


class Content(Enum):
    """What kind of thing lies at a place, as far as known."""

    TILE = "tile"  # a tile of this set whose serial is known
    EMPTY = "empty"
    FOREIGN = "foreign"  # a tile of another set
    FACE_UP = "face-up"  # its back, and so its serial, is underneath
    UNREAD = "unread"  # a back that the camera cannot read
    COVERED = "covered"  # hidden by a hand or a sleeve
    UNSEEN = "unseen"  # its tray has not been shown yet


@dataclass(frozen=True, slots=True)
class PlaceContent:
    """What lies at a place. Only a TILE has a `serial`. `aligned`: back up, the right way round and straight."""

    what: Content
    serial: int | None = None
    aligned: bool = True


Carrier = Mapping[TilePlace, PlaceContent]
"""What is known of each of the 136 places."""

EMPTY: Final = PlaceContent(Content.EMPTY)

BLANK: Final[Carrier] = dict.fromkeys(PLACES, PlaceContent(Content.UNSEEN))
"""Nothing has been shown yet."""

_KINDS: Final = {
    "missing": EMPTY,
    "foreign": PlaceContent(Content.FOREIGN),
    "face-up": PlaceContent(Content.FACE_UP, aligned=False),
    "occluded": PlaceContent(Content.COVERED),
}
_MISALIGNED: Final = ("upside-down", "sideways")


def is_foreign(look: TrayChecked, at: tuple[int, int]) -> bool:
    """Return whether a tile of another set lies at a place (row, column) of a tray."""
    return any((wrong.row, wrong.col) == at and wrong.kind == "foreign" for wrong in look.wrong)


def tray_contents(look: TrayChecked) -> dict[TilePlace, PlaceContent]:
    """Return what one check says about the 34 places of its tray; all are unread if no tray was found."""
    kinds = {(wrong.row, wrong.col): wrong.kind for wrong in look.wrong if wrong.kind in _KINDS}
    misaligned = {(wrong.row, wrong.col) for wrong in look.wrong if wrong.kind in _MISALIGNED}
    if tuple(map(len, look.rows)) != ROWS:
        return {place: PlaceContent(Content.UNREAD) for place in PLACES if place.seat == look.seat}
    return {
        TilePlace(look.seat, row, col): _KINDS[kinds[row, col]]
        if (row, col) in kinds
        else _tile_content(serial, (row, col), misaligned)
        for row, line in enumerate(look.rows)
        for col, serial in enumerate(line)
    }


def _tile_content(serial: int | None, at: tuple[int, int], misaligned: set[tuple[int, int]]) -> PlaceContent:
    return PlaceContent(Content.UNREAD if serial is None else Content.TILE, serial, aligned=at not in misaligned)


def with_look(carrier: Carrier, look: TrayChecked) -> dict[TilePlace, PlaceContent]:
    """Merge the check of one tray with what is known of the others.

    A tile seen here is nowhere else. Wherever it was remembered, the place becomes unread.
    """
    now = tray_contents(look)
    here = {content.serial for content in now.values() if content.serial is not None}
    stale = PlaceContent(Content.UNREAD)
    kept = {place: stale if content.serial in here else content for place, content in carrier.items()}
    return without_duplicates({**kept, **now})


def without_duplicates(carrier: Carrier) -> dict[TilePlace, PlaceContent]:
    """Mark both places as unread if two tiles seem to have the same serial: a set has each only once."""
    first: dict[int, TilePlace] = {}
    doubles = {
        content.serial
        for place, content in carrier.items()
        if content.serial is not None and first.setdefault(content.serial, place) != place
    }
    unread = PlaceContent(Content.UNREAD)
    return {place: unread if content.serial in doubles else content for place, content in carrier.items()}


def known_places(carrier: Carrier) -> dict[int, TilePlace]:
    """Return the place of each serial whose place is known."""
    return {content.serial: place for place, content in carrier.items() if content.serial is not None}


def put_down(content: PlaceContent) -> PlaceContent:
    """Return a tile as it is after being moved: the right way round, though one face up stays so until turned."""
    return content if content.what is Content.FACE_UP else replace(content, aligned=True)


def turned(content: PlaceContent) -> PlaceContent:
    """Return a tile as it is after being straightened in place; after turning it over, its back is still unread."""
    return PlaceContent(Content.UNREAD) if content.what is Content.FACE_UP else replace(content, aligned=True)


@dataclass(frozen=True, slots=True)
class Swap:
    """Exchange what lies at two places."""

    one: TilePlace
    other: TilePlace


@dataclass(frozen=True, slots=True)
class Shift:
    """Move a tile to an empty place."""

    one: TilePlace
    other: TilePlace


@dataclass(frozen=True, slots=True)
class TakeOut:
    """Take out a tile of another set."""

    one: TilePlace


@dataclass(frozen=True, slots=True)
class PutIn:
    """Put in a tile that is at no known place: in the heap, on the floor, or in a tray not yet shown."""

    one: TilePlace
    serial: int


@dataclass(frozen=True, slots=True)
class Turn:
    """Straighten a tile in place: turn it over, round or straight."""

    one: TilePlace


Move: TypeAlias = Swap | Shift | TakeOut | PutIn | Turn


def places_of(move: Move) -> tuple[TilePlace, ...]:
    """Return the places that a move touches."""
    return (move.one, move.other) if isinstance(move, Swap | Shift) else (move.one,)


def crosses(move: Move) -> bool:
    """Return whether a move leads from one tray to another."""
    return len({place.seat for place in places_of(move)}) > 1


def changed_by(move: Move, carrier: Carrier) -> Iterator[tuple[TilePlace, PlaceContent]]:
    """Yield what the touched places contain after a move."""
    match move:
        case Swap(one, other) | Shift(one, other):
            yield one, put_down(carrier[other])
            yield other, put_down(carrier[one])
        case TakeOut(one):
            yield one, EMPTY
        case PutIn(one, serial):
            yield one, PlaceContent(Content.TILE, serial)
        case Turn(one):
            yield one, turned(carrier[one])


def is_done(move: Move, before: Carrier, now: Carrier) -> bool:
    """Return whether the camera sees that a move was made: each place it touches is as it should be after it.

    A tile that nobody could read before may be readable now.
    """
    wanted = dict(changed_by(move, before))
    return all(_fits(now[place], content) for place, content in wanted.items())


def _fits(now: PlaceContent, wanted: PlaceContent) -> bool:
    if wanted.serial is None and wanted.what is Content.UNREAD:
        return now.what in (Content.TILE, Content.UNREAD)
    return now == wanted


def next_move(carrier: Carrier, deal: Deal, near: Seat | None = None) -> Move | None:
    """Return the next move; None if nothing more is known to be wrong.

    Moves within one tray come first, above all in the tray that is `near` (under the camera). Foreign and face-up tiles
    are dealt with before tiles are moved, as that reveals more. Tiles that have to be looked for come last, since they
    may turn up. Otherwise moves are in reading order.
    """
    known = known_places(carrier)
    moves = [move for place in carrier if (move := _correcting_move(place, carrier, deal, known)) is not None]
    return min(moves, key=lambda move: _rank(move, near), default=None)


def _rank(move: Move, near: Seat | None) -> tuple[object, ...]:
    away = near is not None and any(place.seat != near for place in places_of(move))
    later = (crosses(move), isinstance(move, PutIn), not isinstance(move, TakeOut | Turn))
    return (away, *later, min(place.order for place in places_of(move)))


def _correcting_move(place: TilePlace, carrier: Carrier, deal: Deal, known: Mapping[int, TilePlace]) -> Move | None:
    """Return the move that corrects one place or helps to; None if it is right or must wait."""
    content, wanted = carrier[place], deal[place]
    if content.what is Content.FOREIGN:
        return TakeOut(place)
    if content.what is Content.FACE_UP:
        return Turn(place)
    if content.serial == wanted:
        return None if content.aligned else Turn(place)
    if (there := known.get(wanted)) is not None:
        return Shift(there, place) if content.what is Content.EMPTY else _swap(place, there)
    if content.what is Content.EMPTY:
        return PutIn(place, wanted)
    return None  # a tile from elsewhere waits for the move of its own place; an unread back may be the right one


def _swap(one: TilePlace, other: TilePlace) -> Swap:
    first, second = sorted((one, other), key=lambda place: place.order)
    return Swap(first, second)


def count_moves(carrier: Carrier, deal: Deal) -> int:
    """Return the number of moves without generating them."""
    known = known_places(carrier)
    into = {place: known[serial] for place, serial in deal.items() if known.get(serial, place) != place}
    misaligned = sum(not content.aligned and content.serial == deal[place] for place, content in carrier.items())
    return len(into) - _rings(into) + misaligned + sum(_EXTRA.get(content.what, 0) for content in carrier.values())


_EXTRA: Final = {Content.EMPTY: 1, Content.FOREIGN: 2, Content.FACE_UP: 1}
"""Moves beyond a chain's arrows, by its end: put in the missing tile, take a foreign one out first, turn a face."""


def _rings(into: Mapping[TilePlace, TilePlace]) -> int:
    """Count rings among arrows, given as a place and the place its tile comes from."""
    rings, seen = 0, set[TilePlace]()
    for start in into:
        place: TilePlace | None = start
        trail = set[TilePlace]()
        while place is not None and place not in seen:
            seen.add(place)
            trail.add(place)
            place = into.get(place)
        rings += place in trail
    return rings


Row = tuple[Seat, int]


@dataclass(frozen=True, slots=True)
class Work:
    """What is known, and the next move; `move` is None if nothing more is known to be wrong."""

    looks: tuple[TrayChecked, ...] = ()
    """The last check of each tray shown, the latest last, without their times."""
    move: Move | None = None
    left: int = 0
    """Number of moves left, including this one."""
    done: int = 0
    """Number of moves that were proposed and then made."""
    last_move_done: bool = False
    """Whether the last proposed move was made; otherwise staff did something else, and the plan has followed them."""
    by: Mapping[Seat, Verifier] = field(default_factory=dict)
    """Who or what verified each tray that is right."""
    rows: frozenset[Row] = frozenset()
    """Rows that were ticked by hand."""

    @property
    def carrier(self) -> Carrier:
        """What lies at each place, as far as known."""
        return carrier_of(self.looks)

    @property
    def verified(self) -> frozenset[Seat]:
        """The trays that are right."""
        return frozenset(self.by)

    @property
    def verifier(self) -> Verifier:
        """The least reliable of the verifiers."""
        return next((one for one in ("hand", "scanner") if one in self.by.values()), "camera")


def work_after_look(work: Work, look: TrayChecked, deal: Deal, *, right: bool) -> Work:
    """Add one check of a tray. `right`: all its 34 places are as they should be."""
    looks = (*(one for one in work.looks if one.seat != look.seat), replace_fields(look, at=0))
    before, carrier = work.carrier, carrier_of(looks)
    by = {seat: how for seat, how in work.by.items() if seat != look.seat and _unchanged(before, carrier, seat)}
    if right:
        by[look.seat] = look.by
    rows = frozenset(row for row in work.rows if row[0] != look.seat)
    if (carrier, by, rows) == (before, work.by, work.rows):
        return work
    done = work.move is not None and is_done(work.move, before, carrier)
    return Work(
        looks=looks,
        move=next_move(carrier, deal, None if right else look.seat),
        left=count_moves(carrier, deal),
        done=work.done + done,
        last_move_done=done,
        by=by,
        rows=rows,
    )


@lru_cache(maxsize=8)
def carrier_of(looks: tuple[TrayChecked, ...]) -> Carrier:
    """Merge checks of trays, the latest last."""
    return reduce(with_look, looks, BLANK)


def _unchanged(before: Carrier, now: Carrier, seat: Seat) -> bool:
    """Return whether a tray still holds all it held: a tile of it now seen in another tray has left it."""
    return all(now[place] == content for place, content in before.items() if place.seat == seat)


def work_after_tick(work: Work, event: RowTicked) -> Work:
    """Add or remove a tick at a row. A tray whose rows are all ticked counts as verified by hand."""
    row = (event.seat, event.row)
    rows = work.rows | {row} if event.right else work.rows - {row}
    by = {seat: how for seat, how in work.by.items() if seat != event.seat}
    if all((event.seat, at) in rows for at in range(len(ROWS))):
        by[event.seat] = "hand"
    return replace(work, by=by, rows=rows)


def rows_left(work: Work) -> tuple[Row, ...]:
    """Return the rows still to be ticked, in order, without those of trays that are right."""
    rows = ((seat, row) for seat in SEATS if seat not in work.by for row in range(len(ROWS)))
    return tuple(row for row in rows if row not in work.rows)
