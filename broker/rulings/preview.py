"""What a ruling changes, before and after: its subject, everybody's IMPs and places, and the plays compared again.

The same comparison of standings shows the event under other rules. Nothing here is stored or sent.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from broker.event import Event
from broker.protocol import PLAN_DECISIONS, Fouled, Imp, Seat, Substitute, Withdrawn
from broker.rules import Outcome, Profile, RiichiProfile, Rules, Setting, allowed_outcome, seat_points
from broker.rulings import plan
from broker.rulings.model import WHO_PLAYS, CountedPlay, PlayKey, RulingBook, RulingEntry
from broker.scorer import EventState
from broker.scoring import ComparisonGroup, Exact, Ranked, ScoredPlay, json_imp

Groups = tuple[tuple[int, ...], ...]


class SubjectState(Struct, frozen=True, kw_only=True):
    """What counted at one time. Only the fields that the ruling concerns are set."""

    play: CountedPlay | None = None
    sitting: str | None = None
    """The person in the player's seats; an empty name for nobody."""
    groups: Groups = ()
    """Tables of a fouled deal grouped by their form; empty if all are compared as restored."""
    plan_texts: tuple[str, ...] = ()
    """The texts of the plan (`plan_texts`): of a player, the title, or the sessions."""
    until: int | None = None
    """The end of the correction period, ms since 1970."""


class RulingChange(Struct, frozen=True):
    """One ruling, and what it changed."""

    entry: RulingEntry
    about: RulingEntry
    """The ruling that it undoes or appeals against; otherwise the ruling itself."""
    root: RulingEntry
    """What it is ultimately about: for an undo the first ruling undone; otherwise the ruling itself."""
    place: RulingEntry
    """The ruling that names the play or deal."""
    before: SubjectState | None
    """None if no longer known: the table was reopened since and has entered another result."""
    after: SubjectState


class RulingChanges:
    """What each ruling in a room changed. `state` must not change while this is used."""

    def __init__(self, event: Event, state: EventState) -> None:
        self._event, self._state = event, state
        self._order = {id_: number for number, id_ in enumerate(state.book.entries)}
        self._plans: dict[int, Event] = {}

    def of(self, entry: RulingEntry) -> RulingChange:
        """Return what one ruling changed."""
        book = self._state.book
        root, number = book.root(entry), self._order[entry.id]
        subject = book.subject(entry)
        about = [one for one in book.all_of(subject) if self._order[one.id] <= number]
        if root.play is not None:
            about += [one for one in book.all_of(WHO_PLAYS) if self._order[one.id] < number]
        result_then, before, after = self._state.results_then.get(entry.id), RulingBook(), RulingBook()
        for one in about:
            after.add(one)
            if one.id != entry.id:
                before.add(one)
        result = self._state.result_under(root.play, after) if root.play and result_then else None
        entered = result is not None and result.id == result_then
        state_before = self._state_under(before, root, entered=entered) if entered or result_then is None else None
        state_after = self._state_under(after, root, entered=entered)
        return RulingChange(entry, book.about(entry), root, book.naming_entry(entry), state_before, state_after)

    def _state_under(self, book: RulingBook, root: RulingEntry, *, entered: bool) -> SubjectState:
        """Return what counted by the rulings in a book. `entered`: whether the play's present result existed then."""
        if root.play is not None:
            event = self._planned(book)
            planned = root.play in event.bookings
            play = self._state.play_under(root.play, book, entered=entered, event=event) if planned else None
            return SubjectState(play=play)
        decision = root.decision
        if isinstance(decision, Substitute | Withdrawn):
            ruled = plan.last_ruling_on(book.of(WHO_PLAYS), decision.player, decision.first_round)
            return SubjectState(sitting=plan.sitting_name(ruled, self._event.name_of(decision.player)))
        if isinstance(decision, Fouled) and root.deal is not None:
            last = book.of(root.deal)
            return SubjectState(
                groups=last[-1].decision.groups if last and isinstance(last[-1].decision, Fouled) else ()
            )
        if isinstance(decision, PLAN_DECISIONS):
            return SubjectState(plan_texts=plan.plan_texts(self._state.planned, book, root))
        return SubjectState(until=book.deadline)

    def _planned(self, book: RulingBook) -> Event:
        """Return the event as planned under a book, whose rulings on who plays are the earliest ones."""
        known = len(book.all_of(WHO_PLAYS))
        if known == len(self._state.book.all_of(WHO_PLAYS)):
            return self._state.planned
        if known not in self._plans:
            begun = self._state.tables.seatings.begun()
            self._plans[known] = plan.planned_event(self._state.original, book, begun)
        return self._plans[known]


class StandingChange(Struct, frozen=True):
    """A player or team whose IMPs or place would change. `before` and `after` are None if there is no line."""

    name: str
    place_before: int | None
    place_after: int | None
    imp_before: Imp | None
    imp_after: Imp | None
    by: Imp
    """The difference in IMPs."""


class PlayChange(Struct, frozen=True):
    """A play that would be compared differently: each seat's IMPs before and after; None if it enters no datum."""

    table: int
    round: int
    deal: int
    before: Mapping[Seat, Imp] | None
    after: Mapping[Seat, Imp] | None


class RulingEffects(Struct, frozen=True):
    """Everything that a ruling would change."""

    players: tuple[StandingChange, ...]
    teams: tuple[StandingChange, ...]
    plays: tuple[PlayChange, ...]
    change: RulingChange
    """The ruling's own subject, before and after."""

    @property
    def fingerprint(self) -> str:
        """A hash by which to tell whether these are the effects that somebody has seen.

        Places are left out: in a full hall they change all the time, and no ruling could ever be published.
        """
        imps = [(one.name, one.by) for one in (*self.players, *self.teams) if one.by]
        return hashlib.sha256(msgspec.json.encode((imps, self.plays))).hexdigest()


def standing_changes(before: Iterable[Ranked], after: Iterable[Ranked]) -> tuple[StandingChange, ...]:
    """Compare two standings. Returns those who move, by the place they would have."""
    old, new = ({line.name: line for line in lines} for lines in (before, after))
    found = [_standing_change(name, old.get(name), new.get(name)) for name in {**new, **old}]
    return tuple(one for one in found if one.by or one.place_before != one.place_after)


def _standing_change(name: str, old: Ranked | None, new: Ranked | None) -> StandingChange:
    return StandingChange(
        name=name,
        place_before=old.place if old else None,
        place_after=new.place if new else None,
        imp_before=json_imp(old.imp) if old else None,
        imp_after=json_imp(new.imp) if new else None,
        by=json_imp(Fraction(new.imp if new else 0) - Fraction(old.imp if old else 0)),
    )


ComparedImps = Mapping[PlayKey, tuple[int, Mapping[Seat, Exact]]]
"""The deal and IMPs of each compared play, before fines and awards."""


def play_changes(before: ComparedImps, after: ComparedImps) -> tuple[PlayChange, ...]:
    """Compare the IMPs of plays. Unchanged plays are left out."""
    keys = sorted({key for key in {**before, **after} if before.get(key) != after.get(key)}, key=lambda key: key[::-1])
    deals = {key: (after.get(key) or before[key])[0] for key in keys}
    return tuple(
        PlayChange(*key, deals[key], _written_imps(before.get(key)), _written_imps(after.get(key))) for key in keys
    )


def _written_imps(found: tuple[int, Mapping[Seat, Exact]] | None) -> dict[Seat, Imp] | None:
    return {seat: json_imp(imp) for seat, imp in found[1].items()} if found else None


def imps_of_groups(groups: Iterable[ComparisonGroup], key_of: Callable[[ScoredPlay], PlayKey]) -> ComparedImps:
    """Return the IMPs of all plays of some groups."""
    return {key_of(one.play): (one.play.deal, one.imp) for group in groups for one in group.plays}


T = TypeVar("T")

SOURCE: Final = "what if"

CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "method": ("datum", "cross"),
    "own_score": ("included", "excluded"),
    "gap": ("midpoint", "floor"),
    "rounding": ("none", "tenth", "whole"),
}
"""Settings that may be changed one by one, whatever profile is the base."""


class WhatIf(Struct, frozen=True):
    """The players and teams whose standing would change under other rules."""

    profile: Rules
    players: tuple[StandingChange, ...]
    teams: tuple[StandingChange, ...]
    player_count: int
    """The number of players."""


def changed_rules(profile: Rules, settings: dict[str, str]) -> Rules:
    """Return a profile with some settings changed. Raises KeyError or ValueError for anything not in `CHOICES`."""
    for name, value in settings.items():
        if value not in CHOICES[name]:
            raise ValueError(f"{name} is one of {', '.join(CHOICES[name])}")
        part = "imp" if name in {"method", "gap"} else "datum"
        part_settings = replace(getattr(profile, part), **{name: Setting(value, SOURCE)})
        profile = replace(profile, **{part: part_settings})
    return profile


def what_if(state: EventState, profile: Rules) -> WhatIf:
    """Recompute everything under another profile. `state` must not change meanwhile, so pass a fork.

    If the profile allows fewer winners at once, the nearest in turn order of several is kept. A win worth too little
    under the profile becomes a draw.
    """
    other = state.with_rules(profile)
    other.count([play for key in other.touched() if (play := _recounted_play(other, key, profile))], state.complete)
    return WhatIf(
        profile=profile,
        players=standing_changes(state.snapshot().ranking, other.snapshot().ranking),
        teams=standing_changes(state.team_standings(), other.team_standings()),
        player_count=len(state.event.players),
    )


def _recounted_play(state: EventState, key: tuple[int, int], profile: Rules) -> ScoredPlay | None:
    """Return a play with the points that its outcome would have paid."""
    counted = state.play(key)
    play = counted.scored()
    if play is None or play.points is None or counted.win is None or isinstance(profile, RiichiProfile):
        return play  # a hand of riichi already pays by the other rules
    return replace(play, points=_recounted_points(counted, profile))


def _recounted_points(counted: CountedPlay, profile: Profile) -> Mapping[Seat, int]:
    """Return the points that an outcome would have paid."""
    outcome = allowed_outcome(Outcome(counted.win or "draw", counted.winners, counted.discarder), profile.payments)
    worth = {seat: value for seat, value in outcome.winners.items() if value >= profile.payments.minimum.value}
    if outcome.win != "draw" and not worth:
        outcome = Outcome("draw", {})
    elif worth != outcome.winners:
        outcome = Outcome(outcome.win, worth, outcome.discarder)
    return seat_points(outcome, profile.payments)
