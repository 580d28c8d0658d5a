"""A riichi session at a table: its entries, its score, and the hands of deals that are compared."""

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

BESIDE_HANDS: Final = ("minor_fault", "end")
"""Kinds of entries that end no hand."""


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """What was recorded, and how the session stood when it happened."""

    fact: RiichiRecorded
    before: SessionState
    hand: int
    riichi: tuple[Seat, ...]

    @property
    def ended_hand(self) -> bool:
        """Whether its hand was over with it."""
        return self.fact.event.kind not in BESIDE_HANDS


@dataclass(frozen=True, slots=True)
class RiichiSession:
    """Between two facts. Players are the seats in turn order, and east deals first."""

    planned: PlannedSession
    profile: RiichiProfile
    state: SessionState
    hand: int = 1
    recorded: int = 0
    """Entries that were there before this device knew of the session, and those it has made."""
    riichi: tuple[Seat, ...] = ()
    """Who has laid a deposit in this hand, in that order."""
    settled: SettledEvent | None = None
    """What the hand pays that the four seats are asked to accept; after the end of the session, its places."""
    entries: tuple[SessionEntry, ...] = ()

    @property
    def play(self) -> PlannedPlay:
        """The present hand as a play: its number in place of the deal's, and no order of tiles."""
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
        """Deposits on the table, those of this hand among them."""
        return self.state.deposits + len(self.riichi)

    def score(self, seat: Seat) -> int:
        """Return a seat's points: what it has laid down in this hand is gone from them."""
        laid = self.profile.points.deposit.value if seat in self.riichi else 0
        return self.state.scores[SEATS.index(seat)] - laid

    def next_hand(self) -> "RiichiSession":
        """Forget what is over with the hand."""
        return replace(self, riichi=(), settled=None)


def riichi_rules_of(assignment: Assignment) -> RiichiProfile:
    """Return the riichi rules of a plan: those that it brings, or those that ship. Raises RuleError."""
    return load_riichi(assignment.profile) if assignment.rules is None else parse_riichi(assignment.rules)


def begin_session(planned: PlannedSession, rules: RiichiProfile) -> RiichiSession:
    """Begin a session, or go on where the scorer says that it stands. Raises RuleError."""
    standing = planned.standing
    if standing is None:
        return RiichiSession(planned, rules, first_state(rules))
    return RiichiSession(planned, rules, state_from_standing(standing), standing.hand, planned.entries)


@dataclass(frozen=True, slots=True)
class HandEnd:
    """What a table knows of the end of the present hand of riichi."""

    ending: RiichiEvent | None = None
    """What was said to break it off, while the claim window is waited for; None: nobody won."""
    asking: bool = False
    """The wall is empty, and each seat is asked whether it is tenpai."""
    tenpai: frozenset[Seat] = frozenset()
    told: RiichiEvent | None = None
    """How it ended, to be accepted by the four seats or recorded."""


LINES: Final = 8
"""Entries on a page."""


def sheet_pages(session: RiichiSession) -> int:
    """Return how many pages there are; a session without an entry has one."""
    return max(1, -(-len(session.entries) // LINES))
