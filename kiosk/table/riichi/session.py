"""A riichi session at one table, as a value: where it stands, what the present hand has, what is to be accepted."""

from dataclasses import dataclass, replace

from broker.contract.facts import RiichiHand
from broker.contract.messages import Assignment
from broker.contract.plans import PlannedPlay, PlannedSession
from broker.contract.riichi import RiichiEvent
from broker.contract.words import SEATS, Seat
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.profile_files import load, parse
from broker.rules.riichi.session.apply import Settled
from broker.rules.riichi.session.record import begin
from broker.rules.riichi.session.state import State
from broker.rules.riichi.session.told import state_of


@dataclass(frozen=True, slots=True)
class Entry:
    """What was recorded, and how the session stood when it happened."""

    fact: RiichiHand
    before: State
    hand: int
    riichi: tuple[Seat, ...]


@dataclass(frozen=True, slots=True)
class Session:
    """Between two facts. Players are the seats in turn order, and east deals first."""

    planned: PlannedSession
    profile: RiichiProfile
    state: State
    hand: int = 1
    recorded: int = 0
    """Entries that were there before this device knew of the session, and those it has made."""
    riichi: tuple[Seat, ...] = ()
    """Who has laid a deposit in this hand, in that order."""
    ending: RiichiEvent | None = None
    """What was said to end the hand, while the claim window is waited for; None: nobody won."""
    asking: bool = False
    """The wall is empty, and each seat is asked whether it is tenpai."""
    tenpai: frozenset[Seat] = frozenset()
    pending: RiichiEvent | None = None
    """What the four seats are asked to accept."""
    settled: Settled | None = None
    """What that pays; after the end of the session, its places."""
    entries: tuple[Entry, ...] = ()

    @property
    def play(self) -> PlannedPlay:
        """The present hand as a play: its number in the place of the deal's, and no order of tiles."""
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
        """Give a seat's points: what it has laid down in this hand is gone from them."""
        laid = self.profile.points.deposit.value if seat in self.riichi else 0
        return self.state.scores[SEATS.index(seat)] - laid

    def next_hand(self) -> "Session":
        """Forget what is over with the hand."""
        return replace(self, riichi=(), ending=None, asking=False, tenpai=frozenset(), pending=None, settled=None)


def rules_of(assignment: Assignment) -> RiichiProfile:
    """Give the riichi rules of a plan: those that it brings, or those that ship. Raises RuleError."""
    return load(assignment.profile) if assignment.rules is None else parse(assignment.rules)


def begun(planned: PlannedSession, rules: RiichiProfile) -> Session:
    """Begin a session, or go on where the scorer says that it stands. Raises RuleError."""
    standing = planned.standing
    if standing is None:
        return Session(planned, rules, begin(rules))
    return Session(planned, rules, state_of(standing), standing.hand, planned.entries)
