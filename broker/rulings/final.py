"""The standings become final when the head arbiter says so, and not before everything is played and decided.

From then on nothing more is ruled, but for corrections of names; whoever wants to rule takes the declaration back. What
an arbiter rules at a table all the same, of a play that is reopened there, makes the standings provisional again.
"""

from typing import NamedTuple

from broker.i18n import N_
from broker.protocol import AnyDecision, CheckedIn, FinalDeclared, PlayerCorrected, Refused, TitleCorrected, Undo, Void
from broker.rulings.infractions import appeals, dead_hands_that_won
from broker.rulings.model import FINAL, PlayKey, RulingBook
from broker.rulings.stage import next_stage
from broker.scorer.state import EventState

ALWAYS = (CheckedIn, PlayerCorrected, TitleCorrected)
"""What moves nobody in the standings."""


class OpenMatters(NamedTuple):
    """What is still open in an event."""

    plays: int
    """Without a result."""
    stage: str
    """Which stage is not seated yet; empty: none."""
    repeated: int
    """Plays in which somebody met a deal again, on which nobody has ruled."""
    apart: int
    """Plays of which something is kept apart."""
    left_out: int
    """Deals that count for no team; not those of which an arbiter has made a play void, or adjusted it."""
    sessions: tuple[PlayKey, ...]
    """Riichi sessions of which no hand is recorded, on which nobody has ruled."""
    appeals: int
    """That a committee is to decide, or whose ruling it has changed and that still counts."""
    dead_hands: tuple[PlayKey, ...]
    """Plays that count for somebody whose hand was ruled dead."""
    corrections_until: int | None
    """End of the correction period, ms since 1970, if that is to come."""

    @property
    def nothing(self) -> bool:
        """Whether the standings may be declared final."""
        return not any(self)


def open_matters(room: EventState, now: int) -> OpenMatters:
    """Return what is still open. `now` in ms since 1970."""
    stage, deadline = next_stage(room), room.book.deadline
    return OpenMatters(
        plays=len(room.planned.plan.plays) - room.plays_in,
        stage=stage.name if stage else "",
        repeated=len(room.snapshot().doubles),
        apart=len(room.apart_plays()),
        left_out=sum(not _is_ended(room, deal) for deal in room.teams.left_out),
        sessions=tuple(sorted(key for key in room.event.riichi if not _is_settled(room, key))),
        appeals=sum(one.is_open for one in appeals(room)),
        dead_hands=tuple(dead_hands_that_won(room)),
        corrections_until=deadline if deadline is not None and deadline >= now else None,
    )


def _is_settled(room: EventState, session: PlayKey) -> bool:
    """Return whether a riichi session was begun, or an arbiter has said that it does not take place."""
    ruled = (one.decision for one in room.book.of(session))
    return bool(room.tables.sessions.entries(session)) or any(isinstance(one, Void) for one in ruled)


def _is_ended(room: EventState, deal: int) -> bool:
    """Return whether a play of a deal is void or adjusted: a team that did sit twice at a wind cannot be put right."""
    return any((play := room.play(key)).settled and play.points is None for key in room.plays_with(deal))


def check_final(room: EventState, decision: AnyDecision, now: int) -> None:
    """Refuse a declaration while something is open, and a ruling after it: `still_open`, `declared_final`."""
    if isinstance(decision, FinalDeclared) or _declares_again(room.book, decision):
        if room.book.declared is not None:
            raise Refused("declared_final", N_("the standings are declared final already"))
        if not open_matters(room, now).nothing:
            raise Refused("still_open", N_("something is still open: the list says what"))
        return
    if room.book.declared is not None and not isinstance(decision, ALWAYS) and not takes_back(room.book, decision):
        raise Refused("declared_final", N_("the standings are declared final: take that back before you rule"))


def _declares_again(book: RulingBook, decision: AnyDecision) -> bool:
    """Return whether a decision takes back that a declaration was taken back."""
    if not isinstance(decision, Undo) or not takes_back(book, decision):
        return False
    return not book.counts(book.root(book.entries[decision.ruling]).id)


def takes_back(book: RulingBook, decision: AnyDecision) -> bool:
    """Return whether a decision takes a declaration back."""
    if not isinstance(decision, Undo) or decision.ruling not in book.entries:
        return False
    return book.subject(book.entries[decision.ruling]) == FINAL
