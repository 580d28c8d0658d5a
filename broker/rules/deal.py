"""The 136 tiles, and a deal of them: four trays of 34, with its prevalent wind and dealer (MIL).

`1m..9m` characters, `1p..9p` dots, `1s..9s` bamboo, `1z..7z` east south west north white green red.
"""

from collections.abc import Iterable, Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from typing import Final, Protocol

from broker.errors import RuleError
from broker.i18n import N_
from broker.protocol import SEATS, Seat, Wind

KINDS: Final[tuple[str, ...]] = tuple(f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)) + tuple(
    f"{rank}z" for rank in range(1, 8)
)
"""The 34 faces."""

COPIES: Final = 4

FULL_SET: Final[tuple[str, ...]] = tuple(face for face in KINDS for _ in range(COPIES))
"""All 136 tiles; no flowers or seasons (MIL)."""

RED: Final[Mapping[str, str]] = {"0m": "5m", "0p": "5p", "0s": "5s"}
"""The red fives of riichi, and the face that each has where red fives do not count."""

RED_SET: Final[tuple[str, ...]] = (*RED, *(face for face in KINDS for _ in range(COPIES - (face in RED.values()))))
"""All 136 tiles of a set in which one five of each suit is red."""

FACES: Final = frozenset({*KINDS, *RED})
"""All faces that a tile can have."""

_SORTED_SETS: Final = (sorted(FULL_SET), sorted(RED_SET))


def is_full_set(faces: Sequence[str]) -> bool:
    """Return whether these are the 136 tiles of a set in any order, with one red five of each suit or without any."""
    return sorted(faces) in _SORTED_SETS


def has_red(faces: Iterable[str]) -> bool:
    """Return whether a red five is among these faces."""
    return not RED.keys().isdisjoint(faces)


ROWS: Final = (13, 11, 10)
"""The number of tiles in each row of a tray: the hand, then the wall of 21 in two rows."""

TRAY: Final = sum(ROWS)

SERIALS: Final = [b"%d" % number for number in range(1, 137)]
"""The serials as they are fed to a hash."""

SerialTray = tuple[tuple[int, ...], ...]
"""One seat's 34 serials by rows, each row from the player's left."""


class Shuffler(Protocol):
    """A source of shuffles. For an event it is always a cryptographic generator (`secrets.SystemRandom`)."""

    def shuffle(self, x: MutableSequence[str], /) -> None:
        """Shuffle in place."""


@dataclass(frozen=True, slots=True)
class Deal:
    """A numbered arrangement of the 136 faces: 34 for each seat, the hand first, then the wall in drawing order."""

    number: int
    prevalent_wind: Wind
    dealer: Seat
    faces: Mapping[Seat, tuple[str, ...]]

    def __post_init__(self) -> None:
        """Raise RuleError `not_a_deal` unless the four trays hold a whole set."""
        if set(self.faces) != set(SEATS) or any(len(tray) != TRAY for tray in self.faces.values()):
            raise RuleError(
                "not_a_deal", N_("deal {deal}: four trays of {count} tiles are needed", deal=self.number, count=TRAY)
            )
        if not is_full_set([face for seat in SEATS for face in self.faces[seat]]):
            raise RuleError("not_a_deal", N_("deal {deal}: the tiles are not the 136 of a set", deal=self.number))


def new_deal(number: int, prevalent_wind: Wind, dealer: Seat, shuffler: Shuffler, *, red: bool = False) -> Deal:
    """Shuffle the 136 tiles into a deal. With `red`, one five of each suit is a red one."""
    faces = list(RED_SET if red else FULL_SET)
    shuffler.shuffle(faces)
    trays = {seat: tuple(faces[at * TRAY : (at + 1) * TRAY]) for at, seat in enumerate(SEATS)}
    return Deal(number, prevalent_wind, dealer, trays)


def new_set(shuffler: Shuffler, *, red: bool = False) -> dict[int, str]:
    """Shuffle the faces of a set over its serials. The result is secret; the set's labels are printed from it."""
    faces = list(RED_SET if red else FULL_SET)
    shuffler.shuffle(faces)
    return dict(enumerate(faces, 1))


def is_whole_registry(registry: Mapping[int, str]) -> bool:
    """Return whether a registry maps each of the 136 serials to a face of a whole set."""
    return set(registry) == set(range(1, 137)) and is_full_set(list(registry.values()))


def serial_order(deal: Deal, registry: Mapping[int, str]) -> dict[Seat, SerialTray]:
    """Turn a deal's faces into the serials of one set, so that no message to a kiosk contains a face.

    `registry` maps the set's serials 1..136 to faces and is secret. The order of equal tiles is always the same and
    known only to the holder of registry and deal: if equal tiles were laid by number, a higher serial before a lower
    one would show that their faces differ. A set with red fives can hold a deal without them, using them as ordinary
    fives, but not the other way round. Raises RuleError `not_a_set` if the registry is not a whole set, or
    `no_red_fives`.
    """
    deal_has_red = has_red(face for tray in deal.faces.values() for face in tray)
    if not is_whole_registry(registry):
        raise RuleError("not_a_set", N_("the registry does not list the 136 tiles of a set"))
    if deal_has_red and not has_red(registry.values()):
        raise RuleError("no_red_fives", f"deal {deal.number} has red fives, and the set in its carrier has none")
    secret = ",".join(registry[serial] for serial in range(1, 137)).encode()
    deal_text = f"{deal.number}:" + ",".join(face for seat in SEATS for face in deal.faces[seat])
    serials_left: dict[str, list[int]] = {}
    for _, serial in sorted(zip(_digests(secret, f"{deal_text}:".encode()), range(1, 137), strict=True)):
        face = registry[serial]
        serials_left.setdefault(face if deal_has_red else RED.get(face, face), []).append(serial)
    return {seat: in_rows([serials_left[face].pop() for face in deal.faces[seat]]) for seat in SEATS}


def _digests(secret: bytes, prefix: bytes) -> Iterator[bytes]:
    """Yield the HMAC (RFC 2104, SHA-256) of a deal with each serial, 1 to 136.

    The part before the serial is hashed once only: an event of a thousand deals needs 136,000 digests.
    """
    key = sha256(secret).digest().ljust(64, b"\0")
    inner, outer = sha256(bytes(one ^ 0x36 for one in key) + prefix), sha256(bytes(one ^ 0x5C for one in key))
    for number in SERIALS:
        own, around = inner.copy(), outer.copy()
        own.update(number)
        around.update(own.digest())
        yield around.digest()


def in_rows(serials: Sequence[int]) -> SerialTray:
    """Cut 34 serials into the rows of a tray."""
    hand, wall = ROWS[0], ROWS[0] + ROWS[1]
    return tuple(serials[:hand]), tuple(serials[hand:wall]), tuple(serials[wall:])


def form_hash(order: Mapping[Seat, SerialTray]) -> str:
    """Return the SHA-256 (hex) of the serials as they lie. Two plays had the same form if and only if it is equal."""
    text = ";".join(f"{seat}:" + "/".join(",".join(map(str, row)) for row in order[seat]) for seat in SEATS)
    return sha256(text.encode()).hexdigest()


def seat_wind(seat: Seat, dealer: Seat) -> Wind:
    """Return a seat's wind in a play. The dealer is east."""
    return SEATS[(SEATS.index(seat) - SEATS.index(dealer)) % 4]


SEAT_INDEX: Final[dict[Seat, int]] = {seat: at for at, seat in enumerate(SEATS)}
"""Each seat's index in turn order."""

NEXT_SEAT: Final[dict[Seat, Seat]] = {seat: SEATS[(at + 1) % 4] for seat, at in SEAT_INDEX.items()}
"""The seat whose turn comes after each seat's."""


def turns_between(seat: Seat, other: Seat) -> int:
    """Return the number of turns from one seat to another, 0 to 3."""
    return (SEAT_INDEX[other] - SEAT_INDEX[seat]) % 4


class SeatAction(Protocol):
    """Something that a seat does in a play, under any rules."""

    @property
    def do(self) -> str:
        """The kind of action."""

    @property
    def seat(self) -> Seat | None:
        """The acting seat; None for actions of nobody."""


def acting_seat(action: SeatAction) -> Seat:
    """Return the acting seat. Raises RuleError `seat_missing`."""
    if action.seat is None:
        raise RuleError("seat_missing", f"{action.do}: whose?")
    return action.seat


def seat_in_turn(turn: Seat, action: SeatAction) -> Seat:
    """Return the acting seat, whose turn it must be. Raises RuleError `seat_missing` or `not_your_turn`."""
    seat = acting_seat(action)
    if seat != turn:
        raise RuleError("not_your_turn", f"{action.do}: it is the turn of {turn}, not of {seat}")
    return seat


REPLACEMENTS: Final = 4
INDICATORS: Final = 5

DEAD_WALL: Final = REPLACEMENTS + 2 * INDICATORS
"""Riichi: tiles that are never drawn. Each replacement is made up for from the live wall, so there are always 14."""


@dataclass(frozen=True, slots=True)
class CommonWall:
    """A deal's hands and common wall in riichi. Each kan takes the last tile of `live`, which is then never drawn."""

    hands: Mapping[Seat, tuple[str, ...]]
    live: tuple[str, ...]
    """70 tiles, in drawing order."""
    replacements: tuple[str, ...]
    indicators: tuple[str, ...]
    under: tuple[str, ...]
    """The tiles below the indicators, revealed after a win with riichi."""


def wall_of(dealer: Seat) -> tuple[Seat, ...]:
    """Return the order in which the seats' 21 tiles are drawn. The last 14 tiles of the last seat are the dead wall."""
    at = SEATS.index(dealer)
    return SEATS[at:] + SEATS[:at]


def common_wall(deal: Deal) -> CommonWall:
    """Return a deal as riichi plays it: our own layout, since no source has one (docs/riichi-session.md).

    Each tray holds a hand of 13 and 21 tiles of the wall. The wall begins with the dealer's 21 and continues with those
    of the next players in turn order; its last 14 tiles are the dead wall.
    """
    hand = ROWS[0]
    wall = tuple(chain.from_iterable(deal.faces[seat][hand:] for seat in wall_of(deal.dealer)))
    live, dead = wall[:-DEAD_WALL], wall[-DEAD_WALL:]
    indicator_stacks = dead[REPLACEMENTS:]
    return CommonWall(
        hands={seat: deal.faces[seat][:hand] for seat in SEATS},
        live=live,
        replacements=dead[:REPLACEMENTS],
        indicators=indicator_stacks[:INDICATORS],
        under=indicator_stacks[INDICATORS:],
    )
