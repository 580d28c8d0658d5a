"""Search for all plays that lead to what lies on the table, position by position.

What each seat holds follows from the number of tiles drawn, the rivers, and which melds were declared. So a position is
small, many orders lead to the same one, and all that fit can be counted without listing them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final, NamedTuple

from msgspec.structs import replace

from broker.errors import RuleError
from broker.protocol import SEATS, LaidSeat, Seat
from broker.rules.deal import NEXT_SEAT, SEAT_INDEX, TRAY, Deal, SerialTray
from broker.rules.mcr.turns import WALL, Action, ActionKind, Over, TurnState, apply_turn, begin_turns
from broker.rules.points import Outcome

Serial = int | None
"""A tile's serial; None if the tile was not read."""

GAP: Final = 0
"""In a river, the gap that a claimed tile has left. Gaps at the end cannot be seen."""


class DealtTiles(NamedTuple):
    """Where each tile was dealt."""

    deal: Deal
    seat: Mapping[int, Seat]
    place: Mapping[int, int]
    """A tile's index in its tray, 0 to 33. The wall begins at 13."""
    trays: Mapping[Seat, tuple[int, ...]]

    @classmethod
    def of(cls, deal: Deal, order: Mapping[Seat, SerialTray]) -> "DealtTiles":
        """Index a deal's tiles by their serials."""
        trays = {seat: tuple(chain.from_iterable(order[seat])) for seat in SEATS}
        seat = {serial: seat for seat, tray in trays.items() for serial in tray}
        return cls(deal, seat, {serial: at for tray in trays.values() for at, serial in enumerate(tray)}, trays)

    def face(self, serial: int) -> str:
        """Return the face of a tile."""
        return self.deal.faces[self.seat[serial]][self.place[serial]]


class LaidTable(NamedTuple):
    """What lies on the table, without a winning tile that was discarded."""

    seats: Mapping[Seat, LaidSeat]
    outcome: Outcome
    winning: int | None
    robbed: bool | None
    """Whether the winning tile was robbed from a kong; None if its place does not tell."""


class DeclaredMeld(NamedTuple):
    """A meld, with the bits that record that it was declared and that a fourth tile was added to it."""

    seat: Seat
    do: ActionKind
    """Chow, pung, melded or concealed kong. `melded_kong` may have been a pung first."""
    serials: tuple[int, ...]
    own: tuple[int, ...]
    """Places of the seat's own tiles in its tray, sorted."""
    source: Seat | None
    claimed: int | None
    tile: str
    """The tile that the action names."""
    bit: int
    added: int

    @property
    def face(self) -> str | None:
        """The face of a pung, to which a fourth tile may be added; None for other melds."""
        return self.tile if self.do == "pung" else None


class Position(NamedTuple):
    """The state of a play. The tiles that each seat holds follow from it."""

    turns: TurnState
    discards: tuple[int, ...] = (0, 0, 0, 0)
    """The number of tiles in each river, in the order of SEATS."""
    melds: int = 0
    """The bits of the melds declared so far."""
    offered: int = -1
    """The number of the meld for which the open tile is claimed; below 0, `_NO_TILE`, `_FOR_HU` or `_FOR_KONG`."""
    out_of_turn: Seat | None = None
    """The seat that has drawn out of turn."""
    done: tuple[int, ...] = (0, 0, 0, 0)
    """The number of steps that each seat has taken."""


class SearchStep(NamedTuple):
    """A step of a play. Equal values are the same step."""

    do: ActionKind
    seats: tuple[Seat, ...]
    serial: int | None
    tile: str | None

    @property
    def action(self) -> Action:
        """The step in the referee's form."""
        if self.do == "hu_on_discard":
            return Action(self.do, seats=self.seats)
        return Action(self.do, self.seats[0], self.tile)


class OrderedStep(NamedTuple):
    """A step and its index among its seat's steps. The step is None where a kong at once is padded to two steps."""

    at: int
    number: int
    step: SearchStep | None


class Edge(NamedTuple):
    """A step from a position, and the position that it leads to."""

    done: OrderedStep
    after: Position


_NO_TILE: Final = -1
_FOR_HU: Final = -2
_FOR_KONG: Final = -3
"""Values of `offered` that are not a meld: no tile lies open; claimed for hu; just claimed for a kong."""


Next = tuple[SearchStep | None, Position]


class PlaySearch:
    """All plays that lead to what lies on the table.

    They have the same steps in different orders, except that a kong at once may also have been a pung with a tile added
    later. Both ways count as equally many steps, so all plays have the same length.
    """

    def __init__(self, tiles: DealtTiles, read: LaidTable, melds: tuple[DeclaredMeld, ...], *, irregular: bool) -> None:
        self._tiles, self._melds, self._read, self._irregular = tiles, melds, read, irregular
        self._over: Over = "exhausted draw" if read.outcome.win == "draw" else "win"
        self._rivers = tuple(read.seats[seat].river for seat in SEATS)
        self._all_melds = sum(meld.bit | (meld.added if meld.do == "melded_kong" else 0) for meld in melds)
        self._claimed_from = {
            seat: [(number, meld) for number, meld in enumerate(melds) if meld.source == seat] for seat in SEATS
        }
        self._own_melds = {seat: [meld for meld in melds if meld.seat == seat] for seat in SEATS}
        known = {*chain.from_iterable(self._rivers), *chain.from_iterable(meld.serials for meld in melds)}
        if read.outcome.discarder is not None:
            known.add(read.winning)
        hands = [read.seats[seat].hand for seat in SEATS]
        self._missing = tuple(
            tuple(serial for serial in tiles.trays[seat] if serial not in known and serial not in (hand or ()))
            for seat, hand in zip(SEATS, hands, strict=True)
        )
        """By seat: the tiles that were read nowhere, in drawing order."""
        self._missing_drawn = tuple(
            tuple(sum(tiles.place[serial] < drawn for serial in missing) for drawn in range(TRAY + 1))
            for missing in self._missing
        )
        self._unread = tuple(
            tuple(sum(serial is None for serial in river[:end]) for end in range(len(river) + 1))
            for river in self._rivers
        )
        self._missing_count = tuple(
            None if hand is None else hand.count(None) + unread[-1]
            for hand, unread in zip(hands, self._unread, strict=True)
        )
        """By seat: how many tiles were drawn that were read nowhere; None if nobody has looked at the hand."""
        self._last_held = tuple(max((tiles.place[one] for one in hand or () if one), default=-1) for hand in hands)
        self.plays = 0
        """The number of orders that fit."""
        self.ends: list[Position] = []
        """The positions in which they end."""
        self._forward: list[dict[Position, int]] = [{Position(_start(tiles.deal)): 1}]
        self._edges: list[dict[Position, list[Edge]]] = []
        self._back: list[dict[Position, int]] = []
        self._run()

    def _run(self) -> None:
        """Expand all positions forward, step by step, then go back from the ends that fit, keeping what leads there."""
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
            yield Edge(OrderedStep(at, position.done[at], step), after._replace(done=done))

    @property
    def furthest(self) -> int:
        """The length of the longest order that fits so far, in steps."""
        return len(self._edges) - 1

    @property
    def why(self) -> str:
        """What blocks the longest order: the next tile of the river of the seat to play, or the end of the play."""
        position = next(iter(self._forward[-2]))
        seat = position.turns.turn
        at = SEAT_INDEX[seat]
        number = position.discards[at]
        if number == len(self._rivers[at]) or position.turns.over is not None:
            return f"after {self.furthest} steps the play is over, or goes on, against what was recorded"
        serial = self._rivers[at][number]
        return f"after {self.furthest} steps tile {number + 1} of {seat}'s river ({serial}) cannot have been next"

    def _is_end(self, position: Position) -> bool:
        if position.turns.over != self._over or not self._is_done(position):
            return False
        if (position.out_of_turn is None) == self._irregular:
            return False
        for at, missing in enumerate(self._missing_count):
            drawn = TRAY - position.turns.walls[at]
            if missing is not None and (self._missing_drawn[at][drawn] != missing or self._last_held[at] >= drawn):
                return False
        return True

    def counts(self) -> Counter[OrderedStep]:
        """Count, for each seat, number and step, the plays in which the seat's n-th step is that step."""
        counts: Counter[OrderedStep] = Counter()
        for at, back in enumerate(self._back[1:]):
            for position, edges in self._edges[at].items():
                for edge in edges:
                    if edge.after in back:
                        counts[edge.done] += self._forward[at][position] * back[edge.after]
        return counts

    def likeliest(self, shares: Mapping[OrderedStep, float]) -> tuple[float, tuple[OrderedStep, ...]]:
        """Return the play whose steps have the greatest sum of shares, and that sum."""
        best: dict[Position, tuple[float, tuple[OrderedStep, ...]]] = dict.fromkeys(self.ends, (0.0, ()))
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

    def unread_candidates(self, seat: Seat) -> frozenset[int]:
        """Return the tiles that an unread tile of a seat's river may be."""
        at = SEAT_INDEX[seat]
        drawn = max(TRAY - position.turns.walls[at] for position in self.ends)
        return frozenset(self._missing[at][: self._missing_drawn[at][drawn]])

    # ---- steps from a position ------------------------------------------------------------------

    def _next(self, position: Position) -> Iterator[Next]:
        turns = position.turns
        if turns.over is not None:
            return
        if position.offered == _FOR_KONG:
            yield None, position._replace(offered=_NO_TILE)
        elif turns.phase == "claim":
            yield from self._claims(position)
        elif turns.phase == "kong":
            yield from self._hu(position, "hu_on_discard") if position.offered == _FOR_HU else self._draws(position)
        elif turns.phase == "draw":
            yield from self._draws(position)
        else:
            yield from self._discards(position)
            yield from self._kongs(position)
            yield from self._self_hu(position)

    def _drew_place(self, position: Position, seat: Seat, place: int) -> bool:
        """Return whether a seat has drawn the tile at a place of its tray. The caller knows where it went since."""
        return place < TRAY - position.turns.walls[SEAT_INDEX[seat]]

    def _drew(self, position: Position, serial: int) -> bool:
        return self._drew_place(position, self._tiles.seat[serial], self._tiles.place[serial])

    def _draws(self, position: Position) -> Iterator[Next]:
        turns = position.turns
        if turns.walls[SEAT_INDEX[turns.turn]]:
            yield from self._draw(position, turns.turn, apply_turn(turns, Action("draw", turns.turn)))
        if self._irregular and position.out_of_turn is None and turns.extra == "drawn":
            for seat in SEATS:
                if seat != turns.turn and turns.walls[SEAT_INDEX[seat]]:
                    after = replace(turns, turn=seat, ltw=not turns.walls[SEAT_INDEX[NEXT_SEAT[seat]]])
                    drawn = apply_turn(after, Action("draw", seat))
                    yield from self._draw(position._replace(out_of_turn=seat), seat, drawn)

    def _draw(self, position: Position, seat: Seat, after: TurnState) -> Iterator[Next]:
        at = SEAT_INDEX[seat]
        drawn = TRAY - after.walls[at]
        missing = self._missing_count[at]
        if missing is None or self._missing_drawn[at][drawn] <= missing:
            serial = self._tiles.trays[seat][drawn - 1]
            step = SearchStep("draw", (seat,), serial, self._tiles.face(serial))
            yield step, position._replace(turns=after, offered=_NO_TILE)

    def _discards(self, position: Position) -> Iterator[Next]:
        seat = position.turns.turn
        at = SEAT_INDEX[seat]
        after = apply_turn(position.turns, Action("discard", seat))
        discards, river = position.discards[at], self._rivers[at]
        following = river[discards] if discards < len(river) else GAP
        after_discard = position._replace(
            turns=after, discards=(*position.discards[:at], min(discards + 1, len(river)), *position.discards[at + 1 :])
        )
        if following != GAP:
            yield from self._into_river(position, seat, following, after_discard)
        if following == GAP or not self._read.seats[seat].gaps:
            called = after_discard if discards < len(river) and following == GAP else position._replace(turns=after)
            for number, meld in self._claimed_from[seat]:
                if meld.claimed is not None and not position.melds & meld.bit and self._drew(position, meld.claimed):
                    yield self._discard(seat, meld.claimed), called._replace(offered=number)
        if self._is_winning_discard(position, seat):
            yield self._discard(seat, self._read.winning), position._replace(turns=after, offered=_FOR_HU)

    def _is_winning_discard(self, position: Position, seat: Seat) -> bool:
        winning = self._read.winning
        if self._read.outcome.discarder != seat or winning is None or self._read.robbed:
            return False
        return self._is_done(position) and self._drew(position, winning)

    def _into_river(self, position: Position, seat: Seat, serial: Serial, after: Position) -> Iterator[Next]:
        at = SEAT_INDEX[seat]
        if serial is None:  # one that lies nowhere else; each earlier unread discard has used one up
            drawn = TRAY - position.turns.walls[at]
            possible = self._missing_drawn[at][drawn] > self._unread[at][position.discards[at]]
        else:
            possible = self._drew(position, serial)
        if possible:
            yield (
                self._discard(seat, serial),
                after._replace(turns=apply_turn(after.turns, Action("no_claim"))),
            )

    def _discard(self, seat: Seat, serial: Serial) -> SearchStep:
        return SearchStep("discard", (seat,), serial, None if serial is None else self._tiles.face(serial))

    def _claims(self, position: Position) -> Iterator[Next]:
        if position.offered == _FOR_HU:
            yield from self._hu(position, "hu_on_discard")
            return
        meld = self._melds[position.offered]
        held = sum(self._drew_place(position, meld.seat, place) for place in meld.own)
        ways: list[tuple[ActionKind, int]] = []
        if meld.do == "melded_kong":
            ways = [("melded_kong", meld.bit | meld.added)] if held == len(meld.own) else []
            ways += [("pung", meld.bit)] if held >= len(meld.own) - 1 else []
        elif held == len(meld.own):
            ways = [(meld.do, meld.bit)]
        for do, bits in ways:
            after = _try_turn(position.turns, Action(do, meld.seat))
            if after is not None:
                step = SearchStep(do, (meld.seat,), meld.claimed, meld.tile)
                # A kong at once is one step, a pung and a kong later are two; padding keeps all plays equally long.
                offered = _FOR_KONG if do == "melded_kong" else _NO_TILE
                yield step, position._replace(turns=after, melds=position.melds | bits, offered=offered)

    def _kongs(self, position: Position) -> Iterator[Next]:
        seat = position.turns.turn
        for meld in self._own_melds[seat]:
            if not all(self._drew_place(position, seat, place) for place in meld.own):
                continue
            if meld.do == "concealed_kong" and not position.melds & meld.bit:
                yield from self._kong(position, "concealed_kong", meld.tile, meld.bit)
            if meld.do == "melded_kong" and position.melds & meld.bit and not position.melds & meld.added:
                yield from self._kong(position, "added_kong", meld.tile, meld.added)
            if self._is_robbed_of(position, meld):
                yield from self._kong(position._replace(offered=_FOR_HU), "added_kong", meld.tile, 0)

    def _kong(self, position: Position, do: ActionKind, tile: str, bits: int) -> Iterator[Next]:
        seat = position.turns.turn
        after = _try_turn(position.turns, Action(do, seat))
        if after is not None:
            yield SearchStep(do, (seat,), None, tile), position._replace(turns=after, melds=position.melds | bits)

    def _is_robbed_of(self, position: Position, pung: DeclaredMeld) -> bool:
        """Return whether the winning tile can now be added to a pung."""
        winning = self._read.winning
        if winning is None or self._read.outcome.discarder != pung.seat or self._read.robbed is False:
            return False
        fits = pung.face == self._tiles.face(winning) and bool(position.melds & pung.bit)
        return fits and self._is_done(position) and self._drew(position, winning)

    def _is_done(self, position: Position) -> bool:
        """Return whether the rivers and melds are complete as they lie at the end."""
        lying = zip(self._rivers, position.discards, strict=True)
        return position.melds == self._all_melds and all(len(river) == discards for river, discards in lying)

    def _self_hu(self, position: Position) -> Iterator[Next]:
        seat = position.turns.turn
        if self._read.outcome.win == "self_drawn" and seat in self._read.outcome.winners and self._is_done(position):
            last = self._tiles.trays[seat][TRAY - position.turns.walls[SEAT_INDEX[seat]] - 1]
            if self._read.winning in (None, last):
                yield from self._hu(position, "self_hu")

    def _hu(self, position: Position, do: ActionKind) -> Iterator[Next]:
        winners = tuple(seat for seat in SEATS if seat in self._read.outcome.winners)
        after = _try_turn(position.turns, Action(do, winners[0]) if do == "self_hu" else Action(do, seats=winners))
        if after is not None:
            yield SearchStep(do, winners, None, None), position._replace(turns=after)


def _try_turn(turns: TurnState, action: Action) -> TurnState | None:
    try:
        return apply_turn(turns, action)
    except RuleError:
        return None


def _start(deal: Deal) -> TurnState:
    return begin_turns(dict.fromkeys(SEATS, WALL), deal.dealer)
