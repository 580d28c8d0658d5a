"""An action and its tiles. All that turns say holds; here is only what the tiles add to it."""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from broker.contract.words import Seat
from broker.rules.deal import seat_wind
from broker.rules.errors import RuleError
from broker.rules.referee import turns as referee
from broker.rules.referee.actions import AT, Action, Do
from broker.rules.referee.hand import Hand, Meld, MeldKind
from broker.rules.referee.judge import Hu, Judge
from broker.rules.referee.options import ONE_TILE_ONLY, OPTIONS
from broker.rules.referee.play import Play, Win
from broker.rules.referee.turns import Turns
from broker.rules.tiles import COPIES


def apply(play: Play, action: Action, judge: Judge) -> Play:
    """Give the play after an action.

    Raises RuleError where the turns, the tiles or the judge do not allow it; the play is a value and stays.
    """
    turns = referee.apply(play.turns, action)
    if turns.over == "win":
        return _won(play, turns, action, judge)
    if action.do == "no_claim":
        return replace(play, turns=turns, offered="")
    tile, used = _chosen(play, turns.turn, action)
    return MOVES[action.do](play, turns, tile, used)


def _chosen(play: Play, seat: Seat, action: Action) -> tuple[str, tuple[str, ...]]:
    """Give the tile that the action is of, and the tiles of the hand that it takes."""
    options = OPTIONS[action.do](play, seat)
    tile = action.tile or ""
    if not tile and action.do in ONE_TILE_ONLY:
        tile = next(iter(options), "")
    if tile in options:
        return tile, options[tile]
    if action.do == "draw":
        raise RuleError("wall_differs", f"{seat} cannot have drawn {tile}: another tile is next in that wall")
    raise RuleError("tiles_missing", f"{seat} has not the tiles for {action.do} of {tile or play.offered or 'no tile'}")


def _drew(play: Play, turns: Turns, tile: str, _: tuple[str, ...]) -> Play:
    return replace(play, turns=turns, hands=_with(play, turns.turn, play.hand(turns.turn).drew(tile)), offered="")


def _discarded(play: Play, turns: Turns, tile: str, _: tuple[str, ...]) -> Play:
    hand = play.hand(turns.turn).discarded(tile)
    return replace(play, turns=turns, hands=_with(play, turns.turn, hand), offered=tile)


def _claimed(kind: MeldKind) -> Callable[[Play, Turns, str, tuple[str, ...]], Play]:
    def move(play: Play, turns: Turns, _: str, used: tuple[str, ...]) -> Play:
        discarder, claimed = play.turns.turn, play.offered
        meld = Meld(kind, tuple(sorted((*used, claimed))), discarder, claimed)
        gave = replace(play, hands=_with(play, discarder, play.hand(discarder).gave()))
        hand = play.hand(turns.turn).melded(meld, used)
        return replace(gave, turns=turns, hands=_with(gave, turns.turn, hand), offered="")

    return move


def _concealed_kong(play: Play, turns: Turns, _: str, used: tuple[str, ...]) -> Play:
    hand = play.hand(turns.turn).melded(Meld("kong", used), used)
    return replace(play, turns=turns, hands=_with(play, turns.turn, hand))


def _added_kong(play: Play, turns: Turns, tile: str, _: tuple[str, ...]) -> Play:
    hand = play.hand(turns.turn).added(tile)
    return replace(play, turns=turns, hands=_with(play, turns.turn, hand), offered=tile)


def _with(play: Play, seat: Seat, hand: Hand) -> tuple[Hand, ...]:
    at = AT[seat]
    return (*play.hands[:at], hand, *play.hands[at + 1 :])


def _won(play: Play, turns: Turns, action: Action, judge: Judge) -> Play:
    """End the play if the judge finds every declared hu good; a false hu is the arbiter's matter, not a move."""
    declared = [_hu(play, turns, seat, self_drawn=action.do == "self_hu") for seat in action.actors]
    return replace(play, turns=turns, wins=tuple(Win(hu, judge(hu)) for hu in declared))


def _hu(play: Play, turns: Turns, seat: Seat, *, self_drawn: bool) -> Hu:
    hand = play.hand(seat)
    tile = hand.concealed[-1] if self_drawn else play.offered
    return Hu(
        seat=seat,
        concealed=hand.concealed[:-1] if self_drawn else hand.concealed,
        melds=hand.melds,
        winning_tile=tile,
        self_drawn=self_drawn,
        seat_wind=seat_wind(seat, play.deal.dealer),
        prevalent_wind=play.deal.prevalent_wind,
        last_of_kind=_seen_by_all(play, tile) == (COPIES - 1 if self_drawn else COPIES),  # a tile offered is seen too
        situation_fans=turns.situation_fans,
    )


def _seen_by_all(play: Play, tile: str) -> int:
    """Count a tile in rivers and melds. In a concealed kong are all four, so whether those are seen never matters."""
    return sum(hand.river.count(tile) + sum(meld.tiles.count(tile) for meld in hand.melds) for hand in play.hands)


MOVES: Final[Mapping[Do, Callable[[Play, Turns, str, tuple[str, ...]], Play]]] = {
    "draw": _drew,
    "discard": _discarded,
    "chow": _claimed("chow"),
    "pung": _claimed("pung"),
    "melded_kong": _claimed("kong"),
    "concealed_kong": _concealed_kong,
    "added_kong": _added_kong,
}
"""What becomes of the tiles."""
