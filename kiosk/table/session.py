"""A riichi session at a table: its entries, its score, and the end of the current hand."""

from dataclasses import dataclass, replace
from typing import Final

from broker.protocol import (
    SEATS,
    Assignment,
    PlannedPlay,
    PlannedSession,
    RiichiEvent,
    RiichiRecorded,
    Seat,
)
from broker.rules import load_riichi, parse_riichi
from broker.rules.riichi import RiichiProfile, SessionState, SettledEvent, first_state, state_from_standing

NOT_ENDING_A_HAND: Final = ("minor_fault", "end")
"""Kinds of entries that do not end a hand."""


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """A recorded entry, with the state of the session before it."""

    fact: RiichiRecorded
    before: SessionState
    hand: int
    riichi: tuple[Seat, ...]

    @property
    def ended_hand(self) -> bool:
        """Whether the entry ended its hand."""
        return self.fact.event.kind not in NOT_ENDING_A_HAND


@dataclass(frozen=True, slots=True)
class RiichiSession:
    """A riichi session as of the last fact. Players are the seats in turn order; east deals first."""

    planned: PlannedSession
    profile: RiichiProfile
    state: SessionState
    hand: int = 1
    recorded: int = 0
    """Number of entries, including those made before this device took over the session."""
    riichi: tuple[Seat, ...] = ()
    """Seats that have laid a deposit in this hand, in that order."""
    settled: SettledEvent | None = None
    """The payment that the four seats are asked to accept; after the end of the session, its final places."""
    entries: tuple[SessionEntry, ...] = ()

    @property
    def play(self) -> PlannedPlay:
        """The current hand as a play: the hand's number in place of the deal's, and no order of tiles."""
        return PlannedPlay(
            round=self.planned.round,
            deal=self.hand,
            set=self.planned.set,
            prevalent_wind=SEATS[self.state.round],
            dealer=SEATS[self.state.dealer],
            players=self.planned.players,
            order={},
        )

    @property
    def deposits(self) -> int:
        """Number of deposits on the table, including those of this hand."""
        return self.state.deposits + len(self.riichi)

    def score(self, seat: Seat) -> int:
        """Return a seat's points, less a deposit laid in this hand."""
        laid = self.profile.points.deposit.value if seat in self.riichi else 0
        return self.state.scores[SEATS.index(seat)] - laid

    def next_hand(self) -> "RiichiSession":
        """Return the session without what ended with the hand."""
        return replace(self, riichi=(), settled=None)


def riichi_rules_of(assignment: Assignment) -> RiichiProfile:
    """Return the riichi rules of a plan, its own or the shipped ones. Raises RuleError."""
    return load_riichi(assignment.profile) if assignment.rules is None else parse_riichi(assignment.rules)


def begin_session(planned: PlannedSession, rules: RiichiProfile) -> RiichiSession:
    """Begin a session, or continue from the scorer's standing. Raises RuleError."""
    standing = planned.standing
    if standing is None:
        return RiichiSession(planned, rules, first_state(rules))
    return RiichiSession(planned, rules, state_from_standing(standing), standing.hand, planned.entries)


@dataclass(frozen=True, slots=True)
class HandEnd:
    """What is known of the end of the current hand of riichi."""

    ending: RiichiEvent | None = None
    """What is said to end the hand without a winner, until the claim window closes; None: an empty wall."""
    asks_tenpai: bool = False
    """Whether the wall is empty and each seat is asked if it is tenpai."""
    tenpai: frozenset[Seat] = frozenset()
    result: RiichiEvent | None = None
    """How the hand ended, for the four seats to accept, or as recorded."""


LINES_PER_PAGE: Final = 8
"""Entries on a page."""


def sheet_pages(session: RiichiSession) -> int:
    """Return the number of pages; a session without entries has one."""
    return max(1, -(-len(session.entries) // LINES_PER_PAGE))
