"""The event counted under other rules, to see who would change place. Nothing of it is stored or published."""

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from broker.contract.words import Seat
from broker.rules.errors import RuleError
from broker.rules.points import Outcome, kept, points
from broker.rules.profile import Stated
from broker.rules.riichi.duplicate import scored
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.rule_books import Rules
from broker.scorer.room import Room
from broker.scorer.rulings.effects import Moved, moved
from broker.scorer.rulings.laying import Laid
from broker.scorer.teams import TeamRoom
from broker.scoring import individual
from broker.scoring.ledger import Ledger
from broker.scoring.plays import ScoredPlay

T = TypeVar("T")

SOURCE: Final = "what if"

CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "method": ("datum", "cross"),
    "own_score": ("included", "excluded"),
    "gap": ("midpoint", "floor"),
    "rounding": ("none", "tenth", "whole"),
}
"""What may be changed one by one, whatever profile is begun from."""


class WhatIf(Struct, frozen=True):
    """Who would stand elsewhere."""

    profile: Rules
    players: tuple[Moved, ...]
    teams: tuple[Moved, ...]
    of: int
    """How many players there are."""


def changed(profile: Rules, wishes: dict[str, str]) -> Rules:
    """Give a profile with some settings changed (`CHOICES`). Raises KeyError, ValueError for what is no choice."""
    for name, value in wishes.items():
        if value not in CHOICES[name]:
            raise ValueError(f"{name} is one of {', '.join(CHOICES[name])}")
        part = "imp" if name in {"method", "gap"} else "datum"
        settings = replace(getattr(profile, part), **{name: Stated(value, SOURCE)})
        profile = replace(profile, **{part: settings})
    return profile


def what_if(room: Room, profile: Rules, players: Iterable[str], teams: dict[str, tuple[str, ...]]) -> WhatIf:
    """Count everything again under another profile. `room` must not change meanwhile: a fork.

    Where the profile lets fewer win at once, of several winners the nearest in turn order is kept; a win that was worth
    too little there is a draw.
    """
    listed, other = tuple(players), room.under(profile)
    plays = [play for key in other.known() if (play := _played(other, key, profile))]
    ledger = Ledger.of(plays, profile, listed).with_adjustments(other.adjustments())
    of_teams = TeamRoom(teams, profile)
    of_teams.follow(ledger, sorted({play.deal for play in plays}), room.complete)
    return WhatIf(
        profile=profile,
        players=moved(room.standings(), individual.standings(ledger)),
        teams=moved(room.team_standings(), of_teams.standings(other.adjustments())),
        of=len(listed),
    )


def _played(room: Room, key: tuple[int, int], profile: Rules) -> ScoredPlay | None:
    """Give a play with what its outcome would have paid."""
    laid = room.play(key)
    play = laid.scored()
    if play is None or play.points is None or laid.win is None:
        return play
    return _paying(play, _points(room, laid, profile))


def _points(room: Room, laid: Laid, profile: Rules) -> Mapping[Seat, int]:
    """Give what an outcome would have paid; a hand that the other rules do not know pays what it paid."""
    if isinstance(profile, RiichiProfile):
        try:
            return scored(laid.hand, room.dealer(laid.deal), profile)[1] if laid.hand else {**(laid.points or {})}
        except RuleError:
            return {**(laid.points or {})}
    outcome = kept(Outcome(laid.win or "draw", laid.winners, laid.discarder), profile.payments)
    worth = {seat: value for seat, value in outcome.winners.items() if value >= profile.payments.minimum.value}
    if outcome.win != "draw" and not worth:
        outcome = Outcome("draw", {})
    elif worth != outcome.winners:
        outcome = Outcome(outcome.win, worth, outcome.discarder)
    return points(outcome, profile.payments)


def _paying(play: ScoredPlay, paid: Mapping[Seat, int]) -> ScoredPlay:
    return ScoredPlay(
        play.deal,
        play.table,
        play.players,
        paid,
        play.fines,
        play.form,
        play.section,
        play.awards,
        play.stands_for,
    )
