"""Plays for tests: judges, deals laid out as a test needs them, and plays at random."""

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
    """Judge that every hu is worth 8."""
    return 8


def nobody(hu: Hu) -> int:
    """Judge that nothing is a win."""
    raise RuleError("no_win_here", f"{hu.seat} has no win")


def seldom(hu: Hu) -> int:
    """Judge that only a red dragon wins, and only late, so that most plays run long and some are won."""
    return 24 if hu.winning_tile == "7z" and (len(hu.melds) > 2 or hu.last_tile or hu.kong) else nobody(hu)


def tiles(written: str) -> tuple[str, ...]:
    """Read "123m 55z" as five tiles."""
    return tuple(f"{rank}{group[-1]}" for group in written.split() for rank in group[:-1])


def arranged(hands: Mapping[Seat, str], walls: Mapping[Seat, str] | None = None, dealer: Seat = "east") -> Deal:
    """Lay the named tiles first into hands and walls, and the others wherever there is room."""
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
    """Return all that a seat may do now, hu first; empty where it can only wait.

    Not to claim is nobody's action: who does not want to, says nothing, and `settle_claims` makes `no_claim` of it.
    A draw does not name its tile, which its player does not know yet.
    """
    declared = (Action("self_hu", seat), Action("hu_on_discard", seats=(seat,)))
    won = [one for one in declared if not refuses(partial(apply_action, play, one, judge))]
    own = [
        Action(do, seat, None if do == "draw" else tile)
        for do, options in OPTIONS.items()
        if not refuses(partial(apply_turn, play.turns, Action(do, seat)))
        for tile in options(play, seat)
    ]
    return (*won, *own)


def refuses(act: Callable[[], object]) -> bool:
    """Return whether something is refused."""
    try:
        act()
    except RuleError:
        return True
    return False


def after(deal: Deal, *actions: Action, judge: Judge = nobody) -> PlayState:
    """Return the play after actions, none of which may be refused."""
    play = open_play(deal, OEDMC)
    for action in actions:
        play = apply_action(play, action, judge)
    return play


def robbing(hu: Hu) -> int:
    """Judge that a robbed kong wins, and else what seldom does."""
    return 8 if hu.kong and not hu.self_drawn else seldom(hu)


def at_random(seed: int, judge: Judge = seldom) -> Iterator[tuple[PlayState, Action]]:
    """Play one deal to its end; give every state with the action that follows on it."""
    chance = Random(seed)
    play = open_play(new_deal(seed, "east", SEATS[seed % 4], chance), OEDMC)
    while seats := awaited_seats(play.turns):
        choices = [own for seat in seats if (own := legal_actions(play, seat, judge))]
        if play.turns.phase in ("draw", "hold"):
            action = picked(choices[0], chance)
        else:
            action = settle_claims(play.turns, [picked(own, chance) for own in choices if chance.randrange(3)])
        yield play, action
        play = apply_action(play, action, judge)


def picked(own: Sequence[Action], chance: Random) -> Action:
    """Pick an action, a kong before any other: they are rare, and most goes wrong with them."""
    kongs = [action for action in own if action.do.endswith("kong")]
    return chance.choice(kongs or own)


def all_tiles(play: PlayState) -> list[str]:
    """Return every tile, wherever it lies."""
    lying = [tile for seat in SEATS for tile in play.wall(seat)]
    for hand in play.hands:
        lying += [*hand.concealed, *hand.river, *(tile for meld in hand.melds for tile in meld.tiles)]
    return sorted(lying)
