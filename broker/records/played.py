"""A play that the referee has seen, as a record."""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from broker.contract.words import Seat
from broker.records.fans import of_count, told
from broker.records.record import Record
from broker.records.steps import steps_of
from broker.records.winds import by_wind, hands_of, walls_of
from broker.rules.deal import Deal, seat_wind
from broker.rules.errors import RuleError
from broker.rules.fan.count import Count
from broker.rules.points import Outcome
from broker.rules.points import points as points_of
from broker.rules.profile import Profile
from broker.rules.referee.actions import Action
from broker.rules.referee.judge import Judge
from broker.rules.referee.moves import apply
from broker.rules.referee.play import Play, begin

NOT_COUNTED: Final[Mapping[Seat, Count]] = {}


def recorded(
    deal: Deal, actions: Iterable[Action], rules: Profile, judge: Judge, counts: Mapping[Seat, Count] = NOT_COUNTED
) -> Record:
    """Put a play on record. Raises RuleError where an action is not legal, `play_unfinished` where it is not over.

    `counts`: the winners' counted hands, by chair, so that Fan names their fan.
    """
    play, named = begin(deal, rules.payments), list[Action]()
    for action in actions:
        named.append(_named(play, action))
        play = apply(play, action, judge)
    if play.turns.over is None:
        raise RuleError("play_unfinished", "nobody has won, and there are tiles to draw")
    won = {win.hu.seat: win.hand_value for win in play.wins}
    fans = {seat: of_count(counts[seat]) if seat in counts else told(value) for seat, value in won.items()}
    return Record(
        board=deal.number,
        prevalent_wind=deal.prevalent_wind,
        points=by_wind(points_of(outcome_of(play), rules.payments), deal.dealer),
        hands=hands_of(deal.faces, deal.dealer),
        walls=walls_of(deal.faces, deal.dealer),
        steps=tuple(steps_of(_seated(action, deal.dealer) for action in named)),
        fans=by_wind(fans, deal.dealer),
        dealer=deal.dealer,
        profile=rules.id,
    )


def outcome_of(play: Play) -> Outcome:
    """Give how a play ended that is over."""
    won = {win.hu.seat: win.hand_value for win in play.wins}
    if not won:
        return Outcome("draw", {})
    self_drawn = play.wins[0].hu.self_drawn
    return Outcome("self_drawn" if self_drawn else "discard", won, None if self_drawn else play.turns.turn)


def _named(play: Play, action: Action) -> Action:
    """Name the tile where the action can be of one only, and does not say it."""
    if action.do == "draw":
        return replace(action, tile=next(iter(play.wall(play.turns.turn)), None))
    return replace(action, tile=play.offered) if action.do in ("pung", "melded_kong") else action


def _seated(action: Action, dealer: Seat) -> Action:
    """Turn chairs into seat winds."""
    seat = seat_wind(action.seat, dealer) if action.seat else None
    return replace(action, seat=seat, seats=tuple(seat_wind(chair, dealer) for chair in action.seats))
