"""What a seat may do now: for bots, and for screens that offer only what is legal."""

from collections.abc import Iterator

from broker.contract.words import Seat
from broker.rules.errors import RuleError
from broker.rules.referee import turns as referee
from broker.rules.referee.actions import Action, Do
from broker.rules.referee.judge import Judge
from broker.rules.referee.moves import apply
from broker.rules.referee.options import OPTIONS
from broker.rules.referee.play import Play


def legal_actions(play: Play, seat: Seat, judge: Judge) -> tuple[Action, ...]:
    """Give all that a seat may do now, hu first; empty where it can only wait.

    Not to claim is nobody's action: who does not want to, says nothing, and `settle_claims` makes `no_claim` of it.
    A draw does not name its tile, which its player does not know yet.
    """
    return (*_hu(play, seat, judge), *_of_tiles(play, seat))


def _hu(play: Play, seat: Seat, judge: Judge) -> Iterator[Action]:
    for declared in (Action("self_hu", seat), Action("hu_on_discard", seats=(seat,))):
        try:
            apply(play, declared, judge)
        except RuleError:
            continue
        yield declared


def _of_tiles(play: Play, seat: Seat) -> Iterator[Action]:
    for do, options in OPTIONS.items():
        if _in_turn(play, do, seat):
            for tile in options(play, seat):
                yield Action(do, seat, None if do == "draw" else tile)


def _in_turn(play: Play, do: Do, seat: Seat) -> bool:
    try:
        referee.apply(play.turns, Action(do, seat))
    except RuleError:
        return False
    return True
