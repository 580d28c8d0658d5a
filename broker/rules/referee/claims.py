"""Claims arrive together: which of them goes through."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from broker.contract.words import Seat
from broker.rules.errors import RuleError
from broker.rules.referee.actions import Action, Do, distance
from broker.rules.referee.turns import Turns

PRECEDENCE: Final[Mapping[Do, int]] = {"hu_on_discard": 0, "pung": 1, "melded_kong": 1, "chow": 2}
"""Hu before pung and kong before chow."""


def settle_claims(state: Turns, claims: Iterable[Action]) -> Action:
    """Give the action that the claims on one tile come to, whatever order they arrived in; `no_claim` for none.

    Each claim should have been found legal by itself: what is told here is only which comes first. All hu go through
    (OEDMC rule 2), or the nearest in turn order where the profile says so. Two hands cannot both have a pung or kong of
    one tile. Raises RuleError `not_a_claim`, `seat_missing` or `claimed_twice`.
    """
    made = tuple(claims)
    _check(made)
    if not made:
        return Action("no_claim")
    first = min(made, key=lambda claim: (PRECEDENCE[claim.do], min(_turns_away(state, claim))))
    if first.do != "hu_on_discard":
        return first
    hu = {seat for claim in made if claim.do == "hu_on_discard" for seat in claim.actors}
    in_turn = sorted(hu, key=lambda seat: distance(state.turn, seat))
    return Action("hu_on_discard", seats=tuple(in_turn[:1] if state.one_winner else in_turn))


def _check(claims: tuple[Action, ...]) -> None:
    for claim in claims:
        if claim.do not in PRECEDENCE:
            raise RuleError("not_a_claim", f"{claim.do} claims no tile")
        if not claim.actors:
            raise RuleError("seat_missing", f"{claim.do}: whose?")
    times: Counter[Seat] = Counter(seat for claim in claims for seat in claim.actors)
    twice = [seat for seat, count in times.items() if count > 1]
    if twice:
        raise RuleError("claimed_twice", f"{', '.join(sorted(twice))}: one claim a seat")


def _turns_away(state: Turns, claim: Action) -> list[int]:
    return [distance(state.turn, seat) for seat in claim.actors]
