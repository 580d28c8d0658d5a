"""The search for all plays that come to what lies on the table, position by position.

What each seat holds follows from how many tiles were drawn, what lies in the rivers, and which melds were declared. So
a position is small, many orders come to the same one, and all that fit are counted without listing them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final, NamedTuple

from msgspec.structs import replace

from broker.errors import RuleError
from broker.protocol import SEATS, LaidSeat, Seat
from broker.rules.deal import NEXT_SEAT, SEAT_INDEX, TRAY, Deal, SerialTray
from broker.rules.mcr.turns import WALL, Action, Do, Over, Turns, apply_turn, begin_turns
from broker.rules.points import Outcome

Serial = int | None
"""None: a tile that was not read."""

CALLED: Final = 0
"""In a river: the gap that a claimed tile has left, but the last ones, which cannot be seen."""


class DealtTiles(NamedTuple):
    """Where each tile was dealt."""

    deal: Deal
    seat: Mapping[int, Seat]
    place: Mapping[int, int]
    """In its tray, 0 to 33: the wall begins at 13."""
    trays: Mapping[Seat, tuple[int, ...]]

    @classmethod
    def of(cls, deal: Deal, order: Mapping[Seat, SerialTray]) -> "DealtTiles":
        """Look up a deal's tiles by their serials."""
        trays = {seat: tuple(chain.from_iterable(order[seat])) for seat in SEATS}
        seat = {serial: seat for seat, tray in trays.items() for serial in tray}
        return cls(deal, seat, {serial: at for tray in trays.values() for at, serial in enumerate(tray)}, trays)

    def face(self, serial: int) -> str:
        """Return what is on a tile."""
        return self.deal.faces[self.seat[serial]][self.place[serial]]


class LaidTable(NamedTuple):
    """What lies on the table, without a winning tile that was discarded."""

    seats: Mapping[Seat, LaidSeat]
    outcome: Outcome
    winning: int | None
    robbed: bool | None
    """Whether the winning tile was robbed from a kong; None if its place does not tell."""


class DeclaredMeld(NamedTuple):
    """A meld, and which bits say that it was declared, and that a fourth tile was added to it."""

    seat: Seat
    do: Do
    """Chow, pung, melded or concealed kong; `melded_kong` may have been a pung first."""
    serials: tuple[int, ...]
    own: tuple[int, ...]
    """Places of the seat's own tiles in its tray, sorted."""
    source: Seat | None
    claimed: int | None
    tile: str
    """As an action names it."""
    bit: int
    added: int

    @property
    def face(self) -> str | None:
        """The face of a claimed pung, to which a fourth tile may be added; None of other melds."""
        return self.tile if self.do == "pung" else None


class Position(NamedTuple):
    """Where a play stands. Which tiles each seat holds follows from it."""

    turns: Turns
    thrown: tuple[int, ...] = (0, 0, 0, 0)
    """How many tiles lie in each river, in the order of SEATS."""
    melds: int = 0
    """The bits of what was declared."""
    offered: int = -1
    """Number of the meld for which the tile that lies open is claimed; below 0 there is none."""
    odd: Seat | None = None
    """Who has drawn out of turn."""
    done: tuple[int, ...] = (0, 0, 0, 0)
    """How many steps each seat has done."""


class SearchStep(NamedTuple):
    """A step, as it is told from others."""

    do: Do
    seats: tuple[Seat, ...]
    serial: int | None
    tile: str | None

    @property
    def action(self) -> Action:
        """The step as the referee takes it."""
        if self.do == "hu_on_discard":
            return Action(self.do, seats=self.seats)
        return Action(self.do, self.seats[0], self.tile)


class Done(NamedTuple):
    """A step, and how many its seat has done before; no step where a kong at once is told from a pung first."""

    at: int
    number: int
    step: SearchStep | None


class Edge(NamedTuple):
    """What may follow on a position."""

    done: Done
    after: Position


_NOTHING: Final = -1
_WON: Final = -2
_KONG: Final = -3
"""In the place of a meld: no tile lies open; it is claimed for hu; it has just been claimed for a kong."""


Next = tuple[SearchStep | None, Position]


class PlaySearch:
    """All plays that come to what lies there.

    Each has the same steps in another order, a pung to which a tile was added apart, so all have the same number.
    """

    def __init__(self, tiles: DealtTiles, read: LaidTable, melds: tuple[DeclaredMeld, ...], *, irregular: bool) -> None:
        self._tiles, self._melds, self._read, self._irregular = tiles, melds, read, irregular
        self._over: Over = "exhausted draw" if read.outcome.win == "draw" else "win"
        self._rivers = tuple(read.seats[seat].river for seat in SEATS)
        self._whole = sum(meld.bit | (meld.added if meld.do == "melded_kong" else 0) for meld in melds)
        self._claimed_from = {
            seat: [(number, meld) for number, meld in enumerate(melds) if meld.source == seat] for seat in SEATS
        }
        self._own_melds = {seat: [meld for meld in melds if meld.seat == seat] for seat in SEATS}
        known = {*chain.from_iterable(self._rivers), *chain.from_iterable(meld.serials for meld in melds)}
        if read.outcome.discarder is not None:
            known.add(read.winning)
        hands = [read.seats[seat].hand for seat in SEATS]
        self._free = tuple(
            tuple(serial for serial in tiles.trays[seat] if serial not in known and serial not in (hand or ()))
            for seat, hand in zip(SEATS, hands, strict=True)
        )
        """By seat: tiles that lie nowhere that was read, in the order of drawing."""
        self._free_drawn = tuple(
            tuple(sum(tiles.place[serial] < drawn for serial in free) for drawn in range(TRAY + 1))
            for free in self._free
        )
        self._unread = tuple(
            tuple(sum(serial is None for serial in river[:end]) for end in range(len(river) + 1))
            for river in self._rivers
        )
        self._may_be_free = tuple(
            None if hand is None else hand.count(None) + unread[-1]
            for hand, unread in zip(hands, self._unread, strict=True)
        )
        """By seat: how many tiles were drawn that lie nowhere; None if nobody has looked at the hand."""
        self._last_held = tuple(max((tiles.place[one] for one in hand or () if one), default=-1) for hand in hands)
        self.plays = 0
        """How many orders fit."""
        self.ends: list[Position] = []
        """The positions in which they end."""
        self._forward: list[dict[Position, int]] = [{Position(_start(tiles.deal)): 1}]
        self._edges: list[dict[Position, list[Edge]]] = []
        self._back: list[dict[Position, int]] = []
        self._run()

    def _run(self) -> None:
        """Go forward step by step, then back, and keep what leads to an end that fits."""
        while self._forward[-1]:
            following: dict[Position, int] = {}
            edges = {position: list(self._edges_of(position)) for position in self._forward[-1]}
            for position, ways in self._forward[-1].items():
                for edge in edges[position]:
                    following[edge.after] = following.get(edge.after, 0) + ways
            self._edges.append(edges)
            self._forward.append(following)
        ends = [at for at, layer in enumerate(self._forward) if any(map(self._is_end, layer))]
        if not ends:
            return
        self.ends = [position for position in self._forward[ends[-1]] if self._is_end(position)]
        self._back = [dict.fromkeys(self.ends, 1)]
        for edges in reversed(self._edges[: ends[-1]]):
            ways_on = {at: sum(self._back[0].get(edge.after, 0) for edge in after) for at, after in edges.items()}
            self._back.insert(0, {position: ways for position, ways in ways_on.items() if ways})
        self.plays = sum(self._back[0].values())

    def _edges_of(self, position: Position) -> Iterator[Edge]:
        for step, after in self._next(position):
            at = SEAT_INDEX[step.seats[0] if step else position.turns.turn]
            done = (*position.done[:at], position.done[at] + 1, *position.done[at + 1 :])
            yield Edge(Done(at, position.done[at], step), after._replace(done=done))

    @property
    def furthest(self) -> int:
        """How many steps the longest order has that fits so far."""
        return len(self._edges) - 1

    @property
    def why(self) -> str:
        """What hinders the longest order: the next tile of the river whose turn it is, or the end of the play."""
        position = next(iter(self._forward[-2]))
        seat = position.turns.turn
        at = SEAT_INDEX[seat]
        number = position.thrown[at]
        if number == len(self._rivers[at]) or position.turns.over is not None:
            return f"after {self.furthest} steps the play is over, or goes on, against what was recorded"
        serial = self._rivers[at][number]
        return f"after {self.furthest} steps tile {number + 1} of {seat}'s river ({serial}) cannot have been next"

    def _is_end(self, position: Position) -> bool:
        if position.turns.over != self._over or not self._is_done(position):
            return False
        if (position.odd is None) == self._irregular:
            return False
        for at, free in enumerate(self._may_be_free):
            drawn = TRAY - position.turns.walls[at]
            if free is not None and (self._free_drawn[at][drawn] != free or self._last_held[at] >= drawn):
                return False
        return True

    def counts(self) -> Counter[Done]:
        """Count the plays in which a step is the n-th that its seat does, for each seat, number and step."""
        counts: Counter[Done] = Counter()
        for at, back in enumerate(self._back[1:]):
            for position, edges in self._edges[at].items():
                for edge in edges:
                    if edge.after in back:
                        counts[edge.done] += self._forward[at][position] * back[edge.after]
        return counts

    def likeliest(self, shares: Mapping[Done, float]) -> tuple[float, tuple[Done, ...]]:
        """Return the play of which the shares of its steps add up to most, and that sum."""
        best: dict[Position, tuple[float, tuple[Done, ...]]] = dict.fromkeys(self.ends, (0.0, ()))
        for at in reversed(range(len(self._back) - 1)):
            following, best = best, {}
            for position in self._back[at]:
                reached = [
                    (following[edge.after][0] + shares[edge.done], edge)
                    for edge in self._edges[at][position]
                    if edge.after in following
                ]
                total, edge = max(reached, key=lambda one: one[0])
                best[position] = total, (edge.done, *following[edge.after][1])
        (found,) = best.values()
        return found

    def may_be_unread(self, seat: Seat) -> frozenset[int]:
        """Return the tiles one of which each unread tile of a river is."""
        at = SEAT_INDEX[seat]
        drawn = max(TRAY - position.turns.walls[at] for position in self.ends)
        return frozenset(self._free[at][: self._free_drawn[at][drawn]])

    # ---- what may follow on a position ----------------------------------------------------------

    def _next(self, position: Position) -> Iterator[Next]:
        turns = position.turns
        if turns.over is not None:
            return
        if position.offered == _KONG:
            yield None, position._replace(offered=_NOTHING)
        elif turns.phase == "claim":
            yield from self._claims(position)
        elif turns.phase == "kong":
            yield from self._hu(position, "hu_on_discard") if position.offered == _WON else self._draws(position)
        elif turns.phase == "draw":
            yield from self._draws(position)
        else:
            yield from self._discards(position)
            yield from self._kongs(position)
            yield from self._self_hu(position)

    def _held(self, position: Position, seat: Seat, place: int) -> bool:
        """Return whether a tile was drawn; where it has gone since, its caller knows."""
        return place < TRAY - position.turns.walls[SEAT_INDEX[seat]]

    def _drawn(self, position: Position, serial: int) -> bool:
        return self._held(position, self._tiles.seat[serial], self._tiles.place[serial])

    def _draws(self, position: Position) -> Iterator[Next]:
        turns = position.turns
        if turns.walls[SEAT_INDEX[turns.turn]]:
            yield from self._draw(position, turns.turn, apply_turn(turns, Action("draw", turns.turn)))
        if self._irregular and position.odd is None and turns.extra == "drawn":
            for seat in SEATS:
                if seat != turns.turn and turns.walls[SEAT_INDEX[seat]]:
                    after = replace(turns, turn=seat, ltw=not turns.walls[SEAT_INDEX[NEXT_SEAT[seat]]])
                    drawn = apply_turn(after, Action("draw", seat))
                    yield from self._draw(position._replace(odd=seat), seat, drawn)

    def _draw(self, position: Position, seat: Seat, after: Turns) -> Iterator[Next]:
        at = SEAT_INDEX[seat]
        drawn = TRAY - after.walls[at]
        free = self._may_be_free[at]
        if free is None or self._free_drawn[at][drawn] <= free:
            serial = self._tiles.trays[seat][drawn - 1]
            step = SearchStep("draw", (seat,), serial, self._tiles.face(serial))
            yield step, position._replace(turns=after, offered=_NOTHING)

    def _discards(self, position: Position) -> Iterator[Next]:
        seat = position.turns.turn
        at = SEAT_INDEX[seat]
        after = apply_turn(position.turns, Action("discard", seat))
        thrown, river = position.thrown[at], self._rivers[at]
        following = river[thrown] if thrown < len(river) else CALLED
        lying = position._replace(
            turns=after, thrown=(*position.thrown[:at], min(thrown + 1, len(river)), *position.thrown[at + 1 :])
        )
        if following != CALLED:
            yield from self._into_river(position, seat, following, lying)
        if following == CALLED or not self._read.seats[seat].gaps:
            called = lying if thrown < len(river) and following == CALLED else position._replace(turns=after)
            for number, meld in self._claimed_from[seat]:
                if meld.claimed is not None and not position.melds & meld.bit and self._drawn(position, meld.claimed):
                    yield self._discard(seat, meld.claimed), called._replace(offered=number)
        if self._is_thrown_to_win(position, seat):
            yield self._discard(seat, self._read.winning), position._replace(turns=after, offered=_WON)

    def _is_thrown_to_win(self, position: Position, seat: Seat) -> bool:
        winning = self._read.winning
        if self._read.outcome.discarder != seat or winning is None or self._read.robbed:
            return False
        return self._is_done(position) and self._drawn(position, winning)

    def _into_river(self, position: Position, seat: Seat, serial: Serial, lying: Position) -> Iterator[Next]:
        at = SEAT_INDEX[seat]
        if serial is None:  # some tile that lies nowhere else: each unread one before it has taken one of them
            drawn = TRAY - position.turns.walls[at]
            possible = self._free_drawn[at][drawn] > self._unread[at][position.thrown[at]]
        else:
            possible = self._drawn(position, serial)
        if possible:
            yield self._discard(seat, serial), lying._replace(turns=apply_turn(lying.turns, Action("no_claim")))

    def _discard(self, seat: Seat, serial: Serial) -> SearchStep:
        return SearchStep("discard", (seat,), serial, None if serial is None else self._tiles.face(serial))

    def _claims(self, position: Position) -> Iterator[Next]:
        if position.offered == _WON:
            yield from self._hu(position, "hu_on_discard")
            return
        meld = self._melds[position.offered]
        held = sum(self._held(position, meld.seat, place) for place in meld.own)
        ways: list[tuple[Do, int]] = []
        if meld.do == "melded_kong":
            ways = [("melded_kong", meld.bit | meld.added)] if held == len(meld.own) else []
            ways += [("pung", meld.bit)] if held >= len(meld.own) - 1 else []
        elif held == len(meld.own):
            ways = [(meld.do, meld.bit)]
        for do, bits in ways:
            after = _applied(position.turns, Action(do, meld.seat))
            if after is not None:
                step = SearchStep(do, (meld.seat,), meld.claimed, meld.tile)
                # A kong at once is one step; a pung and a kong later are two, and all plays shall have as many.
                offered = _KONG if do == "melded_kong" else _NOTHING
                yield step, position._replace(turns=after, melds=position.melds | bits, offered=offered)

    def _kongs(self, position: Position) -> Iterator[Next]:
        seat = position.turns.turn
        for meld in self._own_melds[seat]:
            if not all(self._held(position, seat, place) for place in meld.own):
                continue
            if meld.do == "concealed_kong" and not position.melds & meld.bit:
                yield from self._kong(position, "concealed_kong", meld.tile, meld.bit)
            if meld.do == "melded_kong" and position.melds & meld.bit and not position.melds & meld.added:
                yield from self._kong(position, "added_kong", meld.tile, meld.added)
            if self._is_robbed_of(position, meld):
                yield from self._kong(position._replace(offered=_WON), "added_kong", meld.tile, 0)

    def _kong(self, position: Position, do: Do, tile: str, bits: int) -> Iterator[Next]:
        seat = position.turns.turn
        after = _applied(position.turns, Action(do, seat))
        if after is not None:
            yield SearchStep(do, (seat,), None, tile), position._replace(turns=after, melds=position.melds | bits)

    def _is_robbed_of(self, position: Position, pung: DeclaredMeld) -> bool:
        """Return whether the winning tile may now be added to a pung."""
        winning = self._read.winning
        if winning is None or self._read.outcome.discarder != pung.seat or self._read.robbed is False:
            return False
        fits = pung.face == self._tiles.face(winning) and bool(position.melds & pung.bit)
        return fits and self._is_done(position) and self._drawn(position, winning)

    def _is_done(self, position: Position) -> bool:
        """Return whether all lies on the table that lies there at the end."""
        lying = zip(self._rivers, position.thrown, strict=True)
        return position.melds == self._whole and all(len(river) == thrown for river, thrown in lying)

    def _self_hu(self, position: Position) -> Iterator[Next]:
        seat = position.turns.turn
        if self._read.outcome.win == "self_drawn" and seat in self._read.outcome.winners and self._is_done(position):
            last = self._tiles.trays[seat][TRAY - position.turns.walls[SEAT_INDEX[seat]] - 1]
            if self._read.winning in (None, last):
                yield from self._hu(position, "self_hu")

    def _hu(self, position: Position, do: Do) -> Iterator[Next]:
        winners = tuple(seat for seat in SEATS if seat in self._read.outcome.winners)
        after = _applied(position.turns, Action(do, winners[0]) if do == "self_hu" else Action(do, seats=winners))
        if after is not None:
            yield SearchStep(do, winners, None, None), position._replace(turns=after)


def _applied(turns: Turns, action: Action) -> Turns | None:
    try:
        return apply_turn(turns, action)
    except RuleError:
        return None


def _start(deal: Deal) -> Turns:
    return begin_turns(dict.fromkeys(SEATS, WALL), deal.dealer)
