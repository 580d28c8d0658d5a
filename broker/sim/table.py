"""Simulated players at their tables: one deal, played as often as wanted, or a whole event.

`broker.rules.mcr.referee` judges each step of a play and keeps every state. This module does only what a play without
disputes needs, in columns and in place, and is about ten times as fast. Tests replay plays with the referee, and ask it
at every step who may declare hu.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple, TypeVar

import numpy as np
from msgspec import Struct

from broker.event.movement import NumberedPlay
from broker.protocol import SEATS, Seat
from broker.rules import COPIES, KINDS, ROWS, Deal, McrPaymentRules, Outcome, RuleError, seat_points, seat_wind
from broker.rules.mcr import CHOWS, WALL, Action, ActionKind, Hu, Judge, SituationFan, TableMeld, fan_judge
from broker.scoring import ScoredPlay
from broker.sim.plans import COLUMN, NONE, Whole, count_columns
from broker.sim.player import Choice, Claim, Hold, Kong, Offer, SimulatedPlayer, choose
from broker.sim.view import NewRng, OpenSeat, PlayerView
from broker.sim.waits import waits

_OTHERS: Final = tuple(tuple((turn + step) % 4 for step in (1, 2, 3)) for turn in range(4))

Returned = TypeVar("Returned")

NEEDED: Final[Mapping[int, tuple[tuple[str, int, int], ...]]] = {
    COLUMN[claimed]: tuple((low, COLUMN[one], COLUMN[other]) for low, (one, other) in chows.items())
    for claimed, chows in CHOWS.items()
}
"""By claimed tile: each chow by its lowest tile, with the columns of the two tiles that the hand must hold."""


class SimulatedPlay(Struct, frozen=True):
    """A finished play, with everything that was done in it."""

    outcome: Outcome
    actions: tuple[Action, ...]
    tempted: tuple[Seat, ...]
    """Seats that at some point held a complete hand below the minimum, and might have declared a false hu."""


class DealTable:
    """A deal, laid out anew for each play. Hand values are cached, since the same hands recur."""

    def __init__(self, deal: Deal, payments: McrPaymentRules, judge: Judge) -> None:
        self._deal, self._judge = deal, judge
        self._nearest_only = payments.several_hu.value == "nearest"
        self._trays = tuple(tuple(COLUMN[tile] for tile in deal.faces[seat]) for seat in SEATS)
        self._winds = tuple(
            (SEATS.index(seat_wind(seat, deal.dealer)), SEATS.index(deal.prevalent_wind)) for seat in SEATS
        )
        self._values: dict[tuple[object, ...], int] = {}

    def play(self, players: Mapping[Seat, SimulatedPlayer]) -> SimulatedPlay:
        """Play the deal to its end."""
        return self.play_all([players])[0]

    def play_all(self, several: Sequence[Mapping[Seat, SimulatedPlayer]]) -> list[SimulatedPlay]:
        """Play the deal to its end with each group of players, all in step so that many players choose at once."""
        return play_in_step([(self, players) for players in several])

    def value(self, hu: Hu) -> int:
        """Return the value of a complete hand; 0 if it is below the minimum."""
        key = (
            hu.seat,
            tuple(sorted(hu.concealed)),
            hu.melds,
            hu.winning_tile,
            hu.self_drawn,
            hu.last_of_kind,
            hu.situation_fans,
        )
        if key not in self._values:
            try:
                self._values[key] = self._judge(hu)
            except RuleError as refusal:
                if refusal.code != "below_minimum":
                    raise
                self._values[key] = 0
        return self._values[key]


def play_in_step(several: Sequence[tuple[DealTable, Mapping[Seat, SimulatedPlayer]]]) -> list[SimulatedPlay]:
    """Play one deal or many in step. The players next to choose in all plays choose at once."""
    plays = [_Play(table, tuple(players[seat] for seat in SEATS)).to_the_end() for table, players in several]
    pending, over = {at: next(play) for at, play in enumerate(plays)}, dict[int, SimulatedPlay]()
    while pending:
        chosen = iter(choose([one for decisions in pending.values() for one in decisions]))
        for at, questions in [*pending.items()]:
            try:
                pending[at] = plays[at].send([next(chosen) for _ in questions])
            except StopIteration as end:
                over[at] = end.value
                del pending[at]
    return [over[at] for at in range(len(plays))]


Decisions = Generator[Sequence[Hold | Offer], Sequence[Choice], Returned]
"""Yields players' decisions to be made, is sent their choices, and returns a result."""


def _counted(tiles: bytearray) -> Whole:
    return np.frombuffer(tiles, dtype=np.int8)


class _Play:
    def __init__(self, table: DealTable, players: tuple[SimulatedPlayer, ...]) -> None:
        deal = table._deal  # noqa: SLF001 - one thing in two classes: what all plays share, and one of them
        self._table, self._deal, self._players = table, deal, players
        self._trays, self._winds = table._trays, table._winds  # noqa: SLF001 - one thing in two classes
        self._held = [bytearray(count_columns(deal.faces[seat][: ROWS[0]])) for seat in SEATS]
        self._waits: list[frozenset[int] | None] = [None for _ in SEATS]
        """The tiles that would complete each hand; None if not computed since it changed."""
        self._melds: list[tuple[TableMeld, ...]] = [() for _ in SEATS]
        self._before = tuple(OpenSeat(WALL) for _ in SEATS)
        self._shown = bytearray(len(KINDS))
        self._seen_held, self._seen_shown = [_counted(one) for one in self._held], _counted(self._shown)
        """Numpy views of the same memory. For single tiles a bytearray is faster."""
        self._turn = SEATS.index(deal.dealer)
        self._ltw = False
        self._actions: list[Action] = []
        self._tempted: dict[Seat, None] = {}

    def to_the_end(self) -> Decisions[SimulatedPlay]:
        """Let seats draw or claim, discard, and claim in turn until somebody wins or nobody can draw."""
        claimed, outcome = False, None
        while outcome is None:
            outcome, discard = yield from self._hold(claimed=claimed)
            if outcome is None:
                outcome, claimed = yield from self._claims(discard)
        return SimulatedPlay(outcome, tuple(self._actions), tuple(self._tempted))

    def _hold(self, *, claimed: bool) -> Decisions[tuple[Outcome | None, int]]:
        """Let the seat in turn draw, make kongs and discard. Returns how the play ended, or the discard."""
        at, seat, replacement = self._turn, SEATS[self._turn], False
        held, before = self._held[at], self._before[at]
        while True:
            if not claimed:
                tile = self._trays[at][len(self._trays[at]) - before.wall]
                before.wall -= 1
                self._do("draw", seat)
                if tile in self._waited(at) and (value := self._hu(at, tile, self_drawn=True, kong=replacement)):
                    self._do("self_hu", seat)
                    return Outcome("self_drawn", {seat: value}), NONE
                held[tile] += 1
                self._waits[at] = None
            kongs = () if claimed or self._ltw or not before.wall else self._kongs(at)
            (chosen,) = yield (Hold(self._view(at), kongs, self._players[at]),)
            if isinstance(chosen, int):
                held[chosen] -= 1
                self._waits[at] = None
                before.river.append(chosen)
                self._shown[chosen] += 1
                self._do("discard", seat, chosen)
                return None, chosen
            replacement = True
            if isinstance(chosen, Kong) and (outcome := self._kong(at, chosen)) is not None:
                return outcome, NONE

    def _kongs(self, at: int) -> Sequence[Kong]:
        held, melds = self._held[at], self._melds[at]
        if not melds and COPIES not in held:
            return ()
        pungs = [COLUMN[meld.tiles[0]] for meld in melds if meld.kind == "pung"]
        return (
            *(Kong("concealed_kong", tile) for tile, count in enumerate(held) if count == COPIES),
            *(Kong("added_kong", tile) for tile in pungs if held[tile]),
        )

    def _kong(self, at: int, kong: Kong) -> Outcome | None:
        tile, name = kong.tile, KINDS[kong.tile]
        self._do(kong.do, SEATS[at], tile)
        self._waits[at] = None
        if kong.do == "concealed_kong":
            self._held[at][tile] -= COPIES
            self._lay(at, TableMeld("kong", (name,) * COPIES))
            return None
        self._held[at][tile] -= 1
        self._shown[tile] += 1
        self._melds[at] = tuple(
            TableMeld("kong", (name,) * COPIES, meld.source, meld.claimed)
            if meld.tiles[0] == meld.tiles[1] == name
            else meld
            for meld in self._melds[at]
        )
        if (outcome := self._hu_by_others(tile, kong=True)) is None:
            self._do("no_claim")
        return outcome

    def _lay(self, at: int, meld: TableMeld) -> None:
        self._melds[at] = (*self._melds[at], meld)
        self._before[at].meld(meld)

    def _claims(self, tile: int) -> Decisions[tuple[Outcome | None, bool]]:
        """Collect claims on a discard. Returns how the play ended, or whether the next seat holds a claimed tile."""
        if (outcome := self._hu_by_others(tile, kong=False)) is not None:
            return outcome, False
        offers = [] if self._ltw else [offer for at in self._others() if (offer := self._offer(at, tile))]
        chosen = (yield offers) if offers else ()
        claims = [
            (offer.view.seat, claim) for offer, claim in zip(offers, chosen, strict=True) if isinstance(claim, Claim)
        ]
        if not claims:
            self._do("no_claim")
            if self._ltw:
                return Outcome("draw", {}), False
            self._pass_turn((self._turn + 1) % 4)
            return None, False
        at, claim = min(claims, key=lambda one: one[1].do == "chow")
        self._take(at, claim, tile)
        return None, True

    def _others(self) -> Sequence[int]:
        return _OTHERS[self._turn]

    def _offer(self, at: int, tile: int) -> Offer | None:
        held = self._held[at]
        claims = [Claim("pung", NONE, (tile, tile))] if held[tile] > 1 else []
        if at == (self._turn + 1) % 4:
            claims += [
                Claim("chow", COLUMN[low], (one, other))
                for low, one, other in NEEDED.get(tile, ())
                if held[one] and held[other]
            ]
        return Offer(self._view(at, tile), claims, self._players[at]) if claims else None

    def _take(self, at: int, claim: Claim, tile: int) -> None:
        self._do(claim.do, SEATS[at], claim.low)
        self._waits[at] = None
        for used in claim.used:
            self._held[at][used] -= 1
            self._shown[used] += 1
        self._before[self._turn].river.pop()
        self._lay(at, claim.meld(tile, self._turn))
        self._pass_turn(at)

    def _pass_turn(self, at: int) -> None:
        self._turn, self._ltw = at, not self._before[(at + 1) % 4].wall

    def _hu_by_others(self, tile: int, *, kong: bool) -> Outcome | None:
        won = {
            SEATS[at]: value
            for at in self._others()
            if tile in self._waited(at) and (value := self._hu(at, tile, self_drawn=False, kong=kong))
        }
        if not won:
            return None
        if self._table._nearest_only:  # noqa: SLF001 - one thing in two classes
            won = dict([next(iter(won.items()))])
        self._actions.append(Action("hu_on_discard", seats=tuple(won)))
        return Outcome("discard", won, SEATS[self._turn])

    def _waited(self, at: int) -> frozenset[int]:
        """Return the tiles that would complete a hand."""
        if (waited := self._waits[at]) is None:
            waited = self._waits[at] = waits(bytes(self._held[at]))
        return waited

    def _hu(self, at: int, tile: int, *, self_drawn: bool, kong: bool) -> int:
        """Return the value of a hand with a tile that completes it; 0 if it does not win."""
        seat = SEATS[at]
        fans: tuple[SituationFan, ...] = ("Last Tile Draw" if self_drawn else "Last Tile Claim",) if self._ltw else ()
        if kong:
            fans = (*fans, "Out with Replacement Tile" if self_drawn else "Robbing the Kong")
        value = self._table.value(
            Hu(
                seat=seat,
                concealed=tuple(kind for kind, count in zip(KINDS, self._held[at], strict=True) for _ in range(count)),
                melds=self._melds[at],
                winning_tile=KINDS[tile],
                self_drawn=self_drawn,
                seat_wind=SEATS[self._winds[at][0]],
                prevalent_wind=self._deal.prevalent_wind,
                last_of_kind=self._shown[tile] == (COPIES - 1 if self_drawn else COPIES),
                situation_fans=fans,
            )
        )
        if not value:
            self._tempted[seat] = None
        return value

    def _view(self, at: int, offered: int = NONE) -> PlayerView:
        held, shown = self._seen_held[at], self._seen_shown
        return PlayerView(at, held, self._melds[at], self._before, shown, self._turn, self._winds[at], offered)

    def _do(self, do: ActionKind, seat: Seat | None = None, tile: int = NONE) -> None:
        self._actions.append(Action(do, seat, None if tile == NONE else KINDS[tile]))


class EventPlay(NamedTuple):
    """One play of an event, and how it went."""

    booking: NumberedPlay
    played: SimulatedPlay


def play_event(
    bookings: Iterable[NumberedPlay],
    deal_of: Callable[[NumberedPlay], Deal],
    strengths: Mapping[int, float],
    payments: McrPaymentRules,
    new_rng: NewRng,
) -> Iterator[EventPlay]:
    """Play all bookings, those of one round in step. `strengths` are by the players' numbers.

    In a duplicate event `deal_of` returns the same deal for bookings with the same number; in an ordinary event each
    play has its own deal. Each seat of each play has its own random source, so no play depends on another.
    """
    judge = fan_judge(payments)
    for _, of_round in groupby(bookings, key=lambda booking: booking.round):
        several, seated = [*of_round], []
        for booking in several:
            players = {
                seat: SimulatedPlayer(strengths[number], new_rng(f"round {booking.round} table {booking.table} {seat}"))
                for seat, number in booking.players.items()
            }
            seated.append((DealTable(deal_of(booking), payments, judge), players))
        yield from map(EventPlay, several, play_in_step(seated))


def scored_play(event_play: EventPlay, payments: McrPaymentRules, name_of: Callable[[int], str] = str) -> ScoredPlay:
    """Return a play for scoring."""
    booking = event_play.booking
    players = {seat: name_of(number) for seat, number in booking.players.items()}
    return ScoredPlay(booking.deal, booking.table, players, seat_points(event_play.played.outcome, payments))
