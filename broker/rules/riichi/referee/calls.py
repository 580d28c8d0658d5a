"""Calls on one tile, with their times: which of them goes through (MONTREAL: 0.5 s, and 3 s for a ron)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from broker.contract.words import Seat
from broker.rules.errors import RuleError
from broker.rules.referee.actions import distance
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.referee.actions import Action, Do

PRECEDENCE: Final[Mapping[Do, int]] = {"ron": 0, "pon": 1, "daiminkan": 1, "chii": 2}
"""Ron before pon and kan before chii (RIICHI-PLAY)."""

Why = Literal["too_late", "other_call"]


@dataclass(frozen=True, slots=True)
class Call:
    """A call, and when it was made, in milliseconds from the discard (the edge of the seat's button)."""

    action: Action
    ms: int

    @property
    def seat(self) -> Seat:
        """Who calls. Raises RuleError `seat_missing`."""
        if self.action.seat is None:
            raise RuleError("seat_missing", f"{self.action.do}: whose?")
        return self.action.seat


@dataclass(frozen=True, slots=True)
class Called:
    """What the calls on a tile come to, `no_call` for none, and who is refused for which reason."""

    action: Action
    refused: Mapping[Seat, Why]


def settle(discarder: Seat, calls: Iterable[Call], rules: RiichiProfile) -> Called:
    """Give what calls come to, in whatever order they are told.

    A ron goes through until `ron_ms`, several as the rules say. Of the others the one with precedence goes through that
    was made until `priority_ms`; where there is none, the first. A player may make of the own call a ron in time
    (MONTREAL, note 1). Each call should have been found legal by itself. Raises RuleError `not_a_claim`,
    `seat_missing`, `own_discard`, `claimed_twice` or `time_negative`.
    """
    made = tuple(calls)
    _check(discarder, made)
    in_time = [call for call in made if call.action.do == "ron" and call.ms <= rules.play.ron_ms.value]
    if in_time:
        return _ron(discarder, made, in_time, rules)
    others = [call for call in made if call.action.do != "ron"]
    if not others:
        return Called(Action("no_call"), {call.seat: "too_late" for call in made})
    prompt = [call for call in others if call.ms <= rules.play.priority_ms.value]
    if prompt:
        first = min(prompt, key=lambda call: (PRECEDENCE[call.action.do], distance(discarder, call.seat)))
    else:
        first = min(others, key=lambda call: (call.ms, PRECEDENCE[call.action.do], distance(discarder, call.seat)))
    return Called(first.action, {call.seat: _why(call, first) for call in made if call.seat != first.seat})


def _ron(discarder: Seat, made: tuple[Call, ...], ron: list[Call], rules: RiichiProfile) -> Called:
    seats = sorted((call.seat for call in ron), key=lambda seat: distance(discarder, seat))
    kept = seats[:1] if rules.session.ron.several.value == "nearest" else seats
    refused: dict[Seat, Why] = {}
    for call in made:
        if call.seat not in kept:
            refused[call.seat] = "too_late" if call.action.do == "ron" and call not in ron else "other_call"
    return Called(Action("ron", seats=tuple(kept)), refused)


def _why(call: Call, first: Call) -> Why:
    late = call.action.do == "ron" or PRECEDENCE[call.action.do] < PRECEDENCE[first.action.do]
    return "too_late" if late else "other_call"


def _check(discarder: Seat, made: tuple[Call, ...]) -> None:
    for call in made:
        if call.action.do not in PRECEDENCE:
            raise RuleError("not_a_claim", f"{call.action.do} calls no tile")
        if call.seat == discarder:
            raise RuleError("own_discard", f"{discarder} has discarded this tile")
        if call.ms < 0:
            raise RuleError("time_negative", f"{call.ms} ms: no call comes before the discard")
    asked = [(call.seat, call.action.do == "ron") for call in made]
    if len({*asked}) < len(asked):
        raise RuleError("claimed_twice", "one call a seat, which may become a ron")
