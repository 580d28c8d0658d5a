"""The deals of a practice table, and for every seat a hand with which it can win: its tiles, and how they lie."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, permutations
from random import Random
from typing import Final, Literal, cast

from broker.protocol import SEATS, Assignment, PlannedPlay, PlannedSession, Player, Seat, Tray
from broker.rules import DEFAULT_MCR, DEFAULT_RIICHI, FULL_SET, KINDS, TRAY, in_rows
from vision.sim.table import SimulatedTile

EVENT: Final = "practice"
TABLE: Final = 1
STORE: Final = "practice-store"
SET: Final = 1
PLAYS: Final = 8
PLAYERS: Final[dict[Seat, str]] = {"east": "Ada", "south": "Bo", "west": "Chen", "north": "Dina"}


Practised = Literal["mcr", "riichi", "riichi-deals"]
"""Deals under MCR, a session of riichi, or deals under riichi rules with each hand scored alone."""


def practice_plan(rules: Practised = "mcr") -> Assignment:
    """Return the practice plan. The first deal is in numerical order, so that any numbered set can be laid."""
    players = {seat: _player(seat) for seat in SEATS}
    return Assignment(
        id="practice",
        event=EVENT,
        seq=1,
        table=TABLE,
        store=STORE,
        profile=DEFAULT_MCR if rules == "mcr" else DEFAULT_RIICHI,
        plays=() if rules == "riichi" else tuple(_play(number) for number in range(1, PLAYS + 1)),
        recorded=(),
        session=PlannedSession(round=1, players=players, set=SET) if rules == "riichi" else None,
    )


def _player(seat: Seat) -> Player:
    return Player(id=f"practice-{seat}", name=PLAYERS[seat])


def _play(number: int) -> PlannedPlay:
    serials = list(range(1, len(SEATS) * TRAY + 1))
    if number > 1:
        Random(number).shuffle(serials)  # noqa: S311 - practice, and the same for everybody
    return PlannedPlay(
        round=number,
        deal=number,
        set=SET,
        prevalent_wind="east" if number <= PLAYS // 2 else "south",
        dealer=SEATS[(number - 1) % len(SEATS)],
        players={seat: _player(seat) for seat in SEATS},
        order={seat: cast("Tray", in_rows(serials[at * TRAY : (at + 1) * TRAY])) for at, seat in enumerate(SEATS)},
    )


FACES: Final[Mapping[int, str]] = dict(enumerate(Random(2).sample(FULL_SET, len(FULL_SET)), 1))  # noqa: S311 - practice
"""The face of each serial in the practice set."""

Groups = tuple[tuple[int, ...], ...]
"""Serials as they lie: the concealed tiles, each claimed meld, and last the winning tile."""

Tiles = tuple[str, ...]

MOST_CLAIMED: Final = 2

MISTAKES: Final = 5
"""Number of kinds of mistakes."""


def winning_hand(play: PlannedPlay, winner: Seat) -> Groups:
    """Return a hand that is worth enough; for each play and seat it is always the same."""
    rng = Random(f"{play.round} {winner}")  # noqa: S311 - practice, and the same for everybody
    own = Counter(FACES[serial] for serial in chain(*play.order[winner]))
    for *sets, pair in _plans(own, rng):
        if (laid := _Laying(play, winner, rng).hand(sets, pair)) is not None:
            return laid
    raise LookupError(f"{winner} can have no such hand in play {play.round}")


def riichi_hand(play: PlannedPlay, winner: Seat) -> tuple[Groups, int]:
    """Return a concealed hand of simples, and an indicator to lay below it; the same for each play and seat."""
    rng = Random(f"{play.round} {winner}")  # noqa: S311 - practice, and the same for everybody
    dead = {*chain(*(rows[-1] for rows in play.order.values()))}  # where the ten indicators of a planned deal are
    left = [serial for serial in rng.sample([*FACES], len(FACES)) if serial not in dead]
    wanted = Counter[str]()
    while not wanted or wanted - Counter(FACES[serial] for serial in left[1:]):
        chows = [_chow(rng.choice(range(2, 7)), suit) for suit in rng.choices("mps", k=4)]
        eyes = rng.choice([f"{rank}{suit}" for rank in range(2, 9) for suit in "mps"])
        wanted = Counter((*chain(*chows), eyes, eyes))
    indicator, *free = left
    taken = [[serial for serial in free if FACES[serial] == tile][:count] for tile, count in wanted.items()]
    winning, *concealed = chain(*taken)
    return ((*concealed,), (winning,)), indicator


def mistaken_hand(play: PlannedPlay, groups: Groups, number: int) -> list[list[SimulatedTile]]:
    """Return a hand as it lies with a mistake. Each number gives the next kind, to show what the screen says."""
    tiles = [[SimulatedTile(play.set, serial) for serial in group] for group in groups]
    first = groups[0][0]
    match number % MISTAKES:
        case 0:  # the winning tile is not apart
            winning = tiles.pop()
            tiles[-1] += winning
        case 1:
            tiles[0][0] = SimulatedTile(play.set, first, face_up=True)
        case 2:
            tiles[0][0] = SimulatedTile(play.set + 1, first)
        case 3:
            del tiles[0][0]
        case _:  # no winning hand: one tile is replaced by another of the winner's own
            tiles[0][0] = SimulatedTile(play.set, _useless(play, groups))
    return tiles


def _useless(play: PlannedPlay, groups: Groups) -> int:
    """Return a tile of the winner's own that is unlike any in the hand."""
    held = {FACES[serial] for serial in chain(*groups)}
    hand = next(tray[0] for tray in play.order.values() if groups[0][0] in chain(*tray))
    return next(serial for serial in hand if FACES[serial] not in held)


def _plans(own: Counter[str], rng: Random) -> Iterator[tuple[Tiles, ...]]:
    """Yield sets and a pair, worth at least 8, in every way that these tiles may allow."""
    pairs = [kind for kind in KINDS if own[kind] > 1]
    fourths = [*_chows(), *((kind,) * 3 for kind in KINDS)]
    threes = [three for three in _threes() if _lacking(own, chain(*three)) <= MOST_CLAIMED]
    for three in rng.sample(threes, len(threes)):
        for fourth in rng.sample(fourths, len(fourths)):
            if _lacking(own, chain(*three, fourth)) <= MOST_CLAIMED:
                yield from ((*three, fourth, (kind, kind)) for kind in pairs)


def _lacking(own: Counter[str], tiles: Iterable[str]) -> int:
    return (Counter(tiles) - own).total()


def _threes() -> Iterator[tuple[Tiles, Tiles, Tiles]]:
    """Yield straights in one or three suits, and equal chows in three suits."""
    for suits in (*permutations("mps"), *zip("mps", "mps", "mps", strict=True)):
        one, two, three = (_chow(low, suit) for low, suit in zip((1, 4, 7), suits, strict=True))
        yield one, two, three
    for low in range(1, 8):
        yield _chow(low, "m"), _chow(low, "p"), _chow(low, "s")


def _chows() -> Iterator[Tiles]:
    return (_chow(low, suit) for suit in "mps" for low in range(1, 8))


def _chow(low: int, suit: str) -> Tiles:
    return tuple(f"{rank}{suit}" for rank in range(low, low + 3))


class _Laying:
    """Takes the tiles of one hand: the winner's own, and for a claimed set one of another seat's."""

    def __init__(self, play: PlannedPlay, winner: Seat, rng: Random) -> None:
        own = [*chain(*play.order[winner])]
        self._drawn = {serial: at for at, serial in enumerate(own)}
        self._own, self._rng = own, rng
        before = SEATS[SEATS.index(winner) - 1]
        self._before = [*chain(*play.order[before])]
        self._others = [*chain(*(chain(*play.order[seat]) for seat in SEATS if seat != winner))]

    def hand(self, sets: Sequence[Tiles], pair: Tiles) -> Groups | None:
        """Return the hand as laid, or None if the winner cannot have it."""
        eyes = self._taken(pair)
        found = [self._set(one) for one in sets]
        if len(eyes) < len(pair) or None in found:
            return None
        whole = [one for one in found if one is not None]
        melds = tuple(one for one in whole if any(serial not in self._drawn for serial in one))
        concealed = [*chain(*(one for one in whole if one not in melds)), *eyes]
        return self._won(concealed, melds) if len(melds) <= MOST_CLAIMED else None

    def _won(self, concealed: list[int], melds: Groups) -> Groups | None:
        """Separate the winning tile: the one drawn last, or instead one that another seat has discarded."""
        used = [serial for serial in chain(concealed, *melds) if serial in self._drawn]
        last = max(used, key=self._drawn.__getitem__)
        if last in concealed and self._rng.random() < 0.5:  # noqa: PLR2004 - one half
            winning = last
            concealed.remove(last)
        else:
            winning = next((one for one in self._others if FACES[one] == FACES[concealed[0]]), 0)
            del concealed[0]
        return (tuple(concealed), *melds, (winning,)) if winning else None

    def _set(self, tiles: Tiles) -> tuple[int, ...] | None:
        """Take a set: own tiles, or two of them and a discard; for a chow that of the seat before."""
        own = self._taken(tiles)
        if len(own) == len(tiles):
            return own
        lacking = [*tiles]
        for serial in own:
            lacking.remove(FACES[serial])
        of = self._others if len({*tiles}) == 1 else self._before
        claimed = next((serial for serial in of if FACES[serial] == lacking[0]), None)
        if len(lacking) > 1 or claimed is None:
            return None
        self._others = [serial for serial in self._others if serial != claimed]
        self._before = [serial for serial in self._before if serial != claimed]
        return (claimed, *own)

    def _taken(self, tiles: Tiles) -> tuple[int, ...]:
        """Take as many of these tiles as the winner's own include."""
        taken = []
        for tile in tiles:
            serial = next((one for one in self._own if FACES[one] == tile), None)
            if serial is not None:
                self._own.remove(serial)
                taken.append(serial)
        return tuple(taken)
