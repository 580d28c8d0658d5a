"""Plays for tests: judges, deals with chosen tiles, and random plays."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import Final

from broker.protocol import SEATS, Seat
from broker.rules import FULL_SET, ROWS, TRAY, Deal, RuleError, new_deal
from broker.rules.mcr import (
    Action,
    Hu,
    Judge,
    PlayState,
    apply_action,
    apply_turn,
    open_play,
    settle_claims,
)
from broker.rules.mcr.referee import OPTIONS
from tests.broker.rules.mcr.turning import awaited_seats
from tests.broker.rules.variants import OEDMC

HAND: Final = ROWS[0]


def everybody(_: Hu) -> int:
    """Accept every hu as worth 8."""
    return 8


def nobody(hu: Hu) -> int:
    """Refuse every hu."""
    raise RuleError("no_win_here", f"{hu.seat} has no win")


def seldom(hu: Hu) -> int:
    """Accept only a late red dragon, so that most plays run long and some are won."""
    return 24 if hu.winning_tile == "7z" and (len(hu.melds) > 2 or hu.last_tile or hu.kong) else nobody(hu)


def tiles(notation: str) -> tuple[str, ...]:
    """Parse "123m 55z" as five tiles."""
    return tuple(f"{rank}{group[-1]}" for group in notation.split() for rank in group[:-1])


def arranged(hands: Mapping[Seat, str], walls: Mapping[Seat, str] | None = None, dealer: Seat = "east") -> Deal:
    """Return a deal whose hands and walls start with the given tiles. The others fill up the rest."""
    first = {seat: tiles(hands.get(seat, "")) for seat in SEATS}
    then = {seat: tiles((walls or {}).get(seat, "")) for seat in SEATS}
    free = list(
        (Counter(FULL_SET) - Counter(tile for part in (first, then) for s in SEATS for tile in part[s])).elements()
    )
    trays = {}
    for seat in SEATS:
        hand = (*first[seat], *(free.pop() for _ in range(HAND - len(first[seat]))))
        trays[seat] = (*hand, *then[seat], *(free.pop() for _ in range(TRAY - HAND - len(then[seat]))))
    return Deal(1, "south", dealer, trays)


def legal_actions(play: PlayState, seat: Seat, judge: Judge) -> tuple[Action, ...]:
    """Return the legal actions of a seat, hu first. Empty if it can only wait.

    Not claiming is no action of a seat: `settle_claims` returns `no_claim` if nobody claims.
    A draw does not name its tile, which the player does not know yet.
    """
    declared = (Action("self_hu", seat), Action("hu_on_discard", seats=(seat,)))
    won = [one for one in declared if not refuses(partial(apply_action, play, one, judge))]
    legal = [
        Action(do, seat, None if do == "draw" else tile)
        for do, options in OPTIONS.items()
        if not refuses(partial(apply_turn, play.turns, Action(do, seat)))
        for tile in options(play, seat)
    ]
    return (*won, *legal)


def refuses(act: Callable[[], object]) -> bool:
    """Whether a call raises `RuleError`."""
    try:
        act()
    except RuleError:
        return True
    return False


def after(deal: Deal, *actions: Action, judge: Judge = nobody) -> PlayState:
    """Return the play after legal actions."""
    play = open_play(deal, OEDMC)
    for action in actions:
        play = apply_action(play, action, judge)
    return play


def robbing(hu: Hu) -> int:
    """Accept a robbed kong, and otherwise what `seldom` accepts."""
    return 8 if hu.kong and not hu.self_drawn else seldom(hu)


def at_random(seed: int, judge: Judge = seldom) -> Iterator[tuple[PlayState, Action]]:
    """Play a deal at random to its end, yielding each state with the action taken in it."""
    rng = Random(seed)
    play = open_play(new_deal(seed, "east", SEATS[seed % 4], rng), OEDMC)
    while seats := awaited_seats(play.turns):
        choices = [legal for seat in seats if (legal := legal_actions(play, seat, judge))]
        if play.turns.phase in ("draw", "hold"):
            action = pick(choices[0], rng)
        else:
            action = settle_claims(play.turns, [pick(legal, rng) for legal in choices if rng.randrange(3)])
        yield play, action
        play = apply_action(play, action, judge)


def pick(legal: Sequence[Action], rng: Random) -> Action:
    """Choose an action at random. Kongs are preferred, as they are rare and cause most faults."""
    kongs = [action for action in legal if action.do.endswith("kong")]
    return rng.choice(kongs or legal)


def all_tiles(play: PlayState) -> list[str]:
    """Return all tiles of walls, hands, rivers and melds, sorted."""
    placed_tiles = [tile for seat in SEATS for tile in play.wall(seat)]
    for hand in play.hands:
        placed_tiles += [*hand.concealed, *hand.river, *(tile for meld in hand.melds for tile in meld.tiles)]
    return sorted(placed_tiles)
