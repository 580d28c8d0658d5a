"""Simulated players at a table: one deal played to its end, and a whole event of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct

from broker.event.movement import NumberedPlay
from broker.protocol import Seat
from broker.rules import Deal, McrPaymentRules, Outcome, RuleError, seat_points
from broker.rules.mcr import (
    Action,
    Hu,
    Judge,
    PlayState,
    apply_action,
    awaited_seats,
    fan_judge,
    legal_actions,
    open_play,
    settle_claims,
)
from broker.scoring import ScoredPlay
from broker.sim.player import choose_action
from broker.sim.view import Chance, NewChance, view_from


class SimulatedPlayer(Struct, frozen=True):
    """A player at a seat."""

    strength: float
    chance: Chance


class SimulatedPlay(Struct, frozen=True):
    """A play that is over, with everything that was done in it."""

    end: PlayState
    actions: tuple[Action, ...]
    tempted: tuple[Seat, ...]
    """Who held, at some moment, a complete hand under the minimum: the false hu that nerves make."""

    @property
    def outcome(self) -> Outcome:
        """How it ended, as it is scored."""
        winners = {win.hu.seat: win.hand_value for win in self.end.wins}
        if not winners:
            return Outcome("draw", {})
        last = self.actions[-1]
        return (
            Outcome("self_drawn", winners) if last.do == "self_hu" else Outcome("discard", winners, self.end.turns.turn)
        )


def play_deal(
    deal: Deal, players: Mapping[Seat, SimulatedPlayer], payments: McrPaymentRules, judge: Judge
) -> SimulatedPlay:
    """Play a deal. Everybody is shown the own view alone; the referee allows nothing that is not legal."""
    noting = _RememberingJudge(judge)
    play, actions = open_play(deal, payments), list[Action]()
    while seats := awaited_seats(play.turns):
        chosen = [action for seat in seats if (action := _choice(play, seat, players[seat], noting))]
        action = chosen[0] if play.turns.phase in ("draw", "hold") else settle_claims(play.turns, chosen)
        play = apply_action(play, action, judge)
        actions.append(action)
    return SimulatedPlay(play, tuple(actions), tuple(noting.under))


def _choice(play: PlayState, seat: Seat, player: SimulatedPlayer, judge: Judge) -> Action | None:
    legal = legal_actions(play, seat, judge)
    return choose_action(view_from(play, seat), legal, player.strength, player.chance) if legal else None


class _RememberingJudge:
    """A judge who remembers whose hands were complete and worth too little."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.under: dict[Seat, None] = {}

    def __call__(self, hu: Hu, /) -> int:
        try:
            return self._judge(hu)
        except RuleError as refusal:
            if refusal.code == "below_minimum":
                self.under[hu.seat] = None
            raise


class EventPlay(NamedTuple):
    """One play of an event, and how it went."""

    booking: NumberedPlay
    played: SimulatedPlay


def play_event(
    bookings: Iterable[NumberedPlay],
    deal_of: Callable[[NumberedPlay], Deal],
    strengths: Mapping[int, float],
    payments: McrPaymentRules,
    new_chance: NewChance,
) -> Iterator[EventPlay]:
    """Play all bookings, one after the other; `strengths` are by the players' numbers.

    In a duplicate event `deal_of` gives the same deal wherever a booking's number is the same; in an ordinary one every
    play has its own. Each seat of each play has its own source of chance, so that no play depends on another.
    """
    judge = fan_judge(payments)
    for booking in bookings:
        players = {
            seat: SimulatedPlayer(strengths[number], new_chance(f"round {booking.round} table {booking.table} {seat}"))
            for seat, number in booking.players.items()
        }
        yield EventPlay(booking, play_deal(deal_of(booking), players, payments, judge))


def scored_play(hosted: EventPlay, payments: McrPaymentRules, name_of: Callable[[int], str] = str) -> ScoredPlay:
    """Return a play as scoring takes it."""
    booking = hosted.booking
    players = {seat: name_of(number) for seat, number in booking.players.items()}
    return ScoredPlay(booking.deal, booking.table, players, seat_points(hosted.played.outcome, payments))
