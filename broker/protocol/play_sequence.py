"""The order of facts within a play: which may follow which. Pure; a fact that does not follow does not count.

A play of a planned deal: the walls are restored, the players seated, their tiles confirmed, hu is declared or nobody
wins, and the four seats accept the result. A hand of a riichi session: confirmed, declared, recorded. Plays follow the
order of the plan, except where an arbiter has brought one forward. Facts are processed in the order of their numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from broker.protocol.facts import (
    Confirmed,
    Declared,
    Fact,
    Overridden,
    Restored,
    Result,
    RiichiRecorded,
    RiichiTakenBack,
    Ruled,
    Seated,
)
from broker.protocol.rulings import Adjusted, FineRuled, Reopen, Void
from broker.protocol.types import SEATS, PlayerId, Seat

SEQUENCED_FACTS: Final = (
    Restored,
    Seated,
    Overridden,
    Confirmed,
    Declared,
    Result,
    Ruled,
    RiichiRecorded,
    RiichiTakenBack,
)
"""Facts that have a fixed place within a play. Calls, and arbiters' actions other than rulings, may come at any
time."""

BROUGHT_FORWARD: Final = "out_of_order"
"""Guard of an override with which an arbiter lets a play be played before its turn."""

DECLARATIONS_CORRECTED: Final = "declarations_corrected"
"""Guard of an override with which an arbiter has corrected who declared."""


def fact_kind(fact: Fact) -> str:
    """Return the kind of a fact: its tag in messages."""
    return str(fact.__struct_config__.tag)


FACTS_OF_RESTORED_DEAL: Final = frozenset({Seated, Confirmed, Declared, Result})
"""Facts that must name the deal that was restored."""

Stage = Literal["to_come", "restored", "seated", "confirmed", "declared", "recorded", "reopened", "ruled"]
"""How far a play has come; `ruled`: an arbiter at the table has ended it without a result."""

UNDER_WAY: Final[tuple[Stage, ...]] = ("confirmed", "declared", "reopened")


class Rule(NamedTuple):
    """The stages of a play in which a fact may come, and the stage it leads to (None: the stage does not change)."""

    after: tuple[Stage, ...]
    leads_to: Stage | None


ANY_STAGE: Final[tuple[Stage, ...]] = (
    "to_come",
    "restored",
    "seated",
    "confirmed",
    "declared",
    "recorded",
    "reopened",
    "ruled",
)

RULES: Final[Mapping[type, Rule]] = {
    # A device that replaces another one restarts a play that has no result.
    Restored: Rule(("to_come", "restored", "seated", *UNDER_WAY, "ruled"), "restored"),
    # A player who is moved to another seat checks in again.
    Seated: Rule(("restored", "seated"), "seated"),
    Confirmed: Rule(("seated",), "confirmed"),
    # After a false hu the play goes on.
    Declared: Rule(UNDER_WAY, "declared"),
    Result: Rule(UNDER_WAY, "recorded"),
    # Rulings at the table. An infraction does not change the stage.
    Void: Rule(ANY_STAGE, "ruled"),
    Adjusted: Rule(ANY_STAGE, "ruled"),
    FineRuled: Rule(ANY_STAGE, None),
    Reopen: Rule(("recorded",), "reopened"),
    Overridden: Rule(ANY_STAGE, None),
}
"""The rules for a play of a planned deal."""

WRONG_STAGE: Final[Mapping[Stage, str]] = {
    "to_come": "play_not_restored",
    "restored": "play_not_seated",
    "seated": "play_not_confirmed",
    "confirmed": "play_begun",
    "declared": "play_begun",
    "recorded": "play_recorded",
    "reopened": "play_begun",
    "ruled": "play_ruled",
}
"""The code of the reason why a fact cannot come in a stage."""


SEQUENCE_CODES: Final = frozenset(
    {
        "play_begun",
        "play_deal_differs",
        "play_declared_twice",
        "play_not_confirmed",
        "play_not_recorded",
        "play_not_restored",
        "play_not_seated",
        "play_out_of_turn",
        "play_recorded",
        "play_ruled",
        "play_seats_differ",
        "play_waits",
        "play_winners_differ",
        "play_entry_differs",
        "play_hand_differs",
        "play_session_over",
    }
)
"""Reasons for keeping a fact apart; `play_waits`: an earlier one has not arrived."""


class OutOfSequence(Exception):
    """A fact that does not follow from those before it. `code` is in docs/codes.md."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class PlaySoFar(Struct, frozen=True, gc=False):
    """The state of one play of a planned deal, from its table's facts so far."""

    stage: Stage = "to_come"
    deal: int = 0
    """The deal whose walls were restored; 0: unknown."""
    seats: Mapping[Seat, PlayerId] | None = None
    """The players who checked in, by seat; None: unknown."""
    declared: tuple[Seat, ...] | None = ()
    """Seats of the last declaration; None: an arbiter has corrected it, or it is unknown."""
    false_hu: tuple[Seat, ...] = ()
    """Seats of earlier declarations. The play went on, so their hu was false."""
    corrected: bool = False
    """Whether an arbiter has corrected who declared: others may have declared and been fined."""
    brought_forward: bool = False
    """Whether an arbiter has brought the play forward."""

    @property
    def over(self) -> bool:
        """Whether the table has finished the play."""
        return self.stage in ("recorded", "ruled")

    @property
    def begun(self) -> bool:
        """Whether the play has had its turn."""
        return self.stage != "to_come" or self.brought_forward

    def after(self, fact: Fact, *, nearest: bool = False) -> "PlaySoFar":
        """Return the play after its next fact. `nearest`: if several declare only the first in turn order wins.

        Raises OutOfSequence.
        """
        kind = type(fact)
        rule = RULES.get(type(fact.decision) if isinstance(fact, Ruled) else kind)
        if rule is None:
            raise OutOfSequence("play_not_restored")
        if self.stage not in rule.after:
            raise OutOfSequence(_code(self.stage, fact))
        if self.deal != fact.deal and self.deal and kind in FACTS_OF_RESTORED_DEAL:
            raise OutOfSequence("play_deal_differs")
        if isinstance(fact, Result):
            self._check_result(fact, nearest=nearest)
        elif isinstance(fact, Declared):
            self._check_declared(fact)
        elif isinstance(fact, Overridden) and DECLARATIONS_CORRECTED in fact.guards and self.stage not in UNDER_WAY:
            raise OutOfSequence(WRONG_STAGE[self.stage])
        return self.with_fact(fact)

    def with_fact(self, fact: Fact) -> "PlaySoFar":
        """Return the play after a fact that counts, whether or not it is in sequence."""
        match fact:
            case Restored():
                now = PlaySoFar("restored", fact.deal, brought_forward=self.brought_forward)
            case Seated():
                # Not `replace`, which takes ten times as long: a long journal has very many of these.
                unchanged = self.declared, self.false_hu, self.corrected, self.brought_forward
                now = PlaySoFar("seated", fact.deal, fact.players, *unchanged)
            case Confirmed():
                now = PlaySoFar("confirmed", self.deal, self.seats, (), (), self.corrected, self.brought_forward)
            case Declared():
                seats, false_hu = tuple(one.seat for one in fact.presses), (*self.false_hu, *(self.declared or ()))
                by_arbiter = self.corrected, self.brought_forward
                now = PlaySoFar("declared", self.deal, self.seats, seats, false_hu, *by_arbiter)
            case Result():
                unchanged = self.declared, self.false_hu, self.corrected, self.brought_forward
                now = PlaySoFar("recorded", fact.deal, fact.players, *unchanged)
            case Overridden():
                now = self._overridden(fact)
            case Ruled():
                now = replace(self, stage=RULES[type(fact.decision)].leads_to or self.stage)
            case _:
                now = self
        return now

    def _overridden(self, fact: Overridden) -> "PlaySoFar":
        forward = self.brought_forward or BROUGHT_FORWARD in fact.guards
        if DECLARATIONS_CORRECTED not in fact.guards:
            return replace(self, brought_forward=forward)
        return replace(self, stage="declared", declared=None, false_hu=(), corrected=True, brought_forward=forward)

    def _check_declared(self, fact: Declared) -> None:
        """Refuse a seat that declared before: after a false hu its hand is dead."""
        before = {*self.false_hu, *(self.declared or ())}
        if not self.corrected and before & {one.seat for one in fact.presses}:
            raise OutOfSequence("play_declared_twice")

    def _check_result(self, result: Result, *, nearest: bool) -> None:
        if self.seats is not None and result.players != self.seats:
            raise OutOfSequence("play_seats_differ")
        one_or_none = len(result.winners) <= 1 and result.hand is None and self.declared == (*result.winners,)
        if one_or_none and not result.fines and not self.false_hu:
            return  # fast path for nearly all results: a long journal has very many
        fined, won = set(result.fines), set(result.hand.wins if result.hand else result.winners)
        if not self.corrected and not set(self.false_hu) <= fined <= {*self.false_hu, *(self.declared or ())}:
            raise OutOfSequence("play_winners_differ")
        if self.declared is None:
            if won & fined:
                raise OutOfSequence("play_winners_differ")
            return
        if won != self._entitled(result, self.declared, nearest=nearest):
            raise OutOfSequence("play_winners_differ")

    def _entitled(self, result: Result, declared: tuple[Seat, ...], *, nearest: bool) -> set[Seat]:
        """Return the seats that must have won: those that declared and were not fined. Raises OutOfSequence."""
        unfined = tuple(seat for seat in declared if seat not in result.fines)
        discarder = result.hand.loser if result.hand else result.discarder  # three ron on a tile may end as a draw
        winners = _first_of(unfined, result.declared_on, discarder)
        if nearest and result.hand is None and result.discarder is not None:
            winners = _nearest(winners, result.discarder)
        return winners


def winning_tile(declared_on: Mapping[Seat, Seat]) -> tuple[Seat | None, tuple[Seat, ...]]:
    """Return the discarder of the tile that ends a play (None: it was drawn) and all seats that declared on it.

    `declared_on` maps each seat that declared to the owner of the tile, in the order of the presses; its own seat means
    self-drawn. As nothing is shown before the claim window closes, others may have played on: the earliest of these
    tiles ends the play. A discard (or a robbed kong) comes before a tile drawn after it, because a player who declares
    on a drawn tile does not play on. Of two discards, the one on which somebody pressed first is the earlier.
    """
    discarder = next((owner for seat, owner in declared_on.items() if owner != seat), None)
    if discarder is None:
        return None, tuple(declared_on)
    return discarder, tuple(seat for seat, owner in declared_on.items() if owner == discarder != seat)


def _first_of(declared: tuple[Seat, ...], declared_on: Mapping[Seat, Seat] | None, discarder: Seat | None) -> set[Seat]:
    """Return the seats that declared on the earliest tile, or all if tiles were not recorded. Raises OutOfSequence."""
    if declared_on is None:
        return set(declared)
    owner, first = winning_tile({seat: declared_on.get(seat, seat) for seat in declared})
    if set(declared_on) != set(declared) or owner != discarder:
        raise OutOfSequence("play_winners_differ")
    return set(first)


def _nearest(seats: set[Seat], discarder: Seat) -> set[Seat]:
    """Return the first of these seats in turn order after the discarder."""
    at = SEATS.index(discarder)
    return {next(seat for seat in (*SEATS[at + 1 :], *SEATS[: at + 1]) if seat in seats)} if seats else set()


def _code(stage: Stage, fact: Fact) -> str:
    if isinstance(fact, Ruled):
        return "play_not_recorded"
    return WRONG_STAGE[stage]


class Entry(NamedTuple):
    """One entry of a riichi session: its number, its hand and its kind."""

    number: int
    hand: int
    kind: str


class SessionSoFar(Struct, frozen=True, gc=False):
    """The state of a riichi session, from its table's facts so far."""

    confirmed: bool = False
    entries: tuple[Entry, ...] = ()
    declared: tuple[Seat, ...] = ()
    """Seats that have declared in the present hand."""

    @property
    def over(self) -> bool:
        """Whether the session has ended."""
        return bool(self.entries) and self.entries[-1].kind == "end"

    @property
    def begun(self) -> bool:
        """Whether the session has had its turn."""
        return self.confirmed

    def after(self, fact: Fact, *, nearest: bool = False) -> "SessionSoFar":  # noqa: ARG002 - only plays use it
        """Return the session after its next fact. Raises OutOfSequence."""
        if not self.confirmed and not isinstance(fact, Confirmed):
            raise OutOfSequence("play_not_confirmed")
        if self.over and not isinstance(fact, RiichiTakenBack):
            raise OutOfSequence("play_session_over")
        match fact:
            case RiichiTakenBack():
                if not self.entries or self.entries[-1].number != fact.entry:
                    raise OutOfSequence("play_entry_differs")
            case RiichiRecorded():
                self._check_recorded(fact)
            case Declared():
                self._check_hand(fact.deal)
        return self.with_fact(fact)

    def with_fact(self, fact: Fact) -> "SessionSoFar":
        """Return the session after a fact that counts, whether or not it is in sequence."""
        match fact:
            case Confirmed():
                return replace(self, confirmed=True, declared=())
            case Declared():
                return replace(self, declared=tuple(one.seat for one in fact.presses))
            case RiichiRecorded():
                declared = self.declared if fact.event.kind == "minor_fault" else ()
                entry = Entry(fact.entry, fact.deal, fact.event.kind)
                return replace(self, confirmed=True, entries=(*self.entries, entry), declared=declared)
            case RiichiTakenBack():
                left = tuple(one for one in self.entries if one.number < fact.entry)
                return replace(self, entries=left, declared=())
        return self

    def _check_hand(self, hand: int) -> None:
        """Refuse a hand that is neither that of the last entry, which may not have ended it, nor the next one."""
        if self.entries and hand not in (self.entries[-1].hand, self.entries[-1].hand + 1):
            raise OutOfSequence("play_hand_differs")

    def _check_recorded(self, fact: RiichiRecorded) -> None:
        if self.entries and fact.entry != self.entries[-1].number + 1:
            raise OutOfSequence("play_entry_differs")
        self._check_hand(fact.deal)
        won = set(fact.event.wins) if fact.event.kind in ("ron", "tsumo") else set[Seat]()
        if won and won != _first_of(self.declared, fact.declared_on, fact.event.loser):
            raise OutOfSequence("play_winners_differ")


SoFar = PlaySoFar | SessionSoFar


class TableSequence:
    """All plays of one table, in the order of its plan.

    `sessions` are the rounds in which it plays a riichi session. `passed` returns whether arbiters have ever ruled on
    the play of a round, in which case the table may have been told to skip it. `nearest`: if several declare only the
    first in turn order wins.
    """

    def __init__(
        self,
        rounds: Sequence[int],
        sessions: frozenset[int] = frozenset(),
        passed: Callable[[int], bool] = lambda _round: False,
        *,
        nearest: bool = False,
    ) -> None:
        self._rounds, self._sessions, self._passed, self._nearest = rounds, sessions, passed, nearest
        self._index = {round_: at for at, round_ in enumerate(rounds)}
        self._finished = 0
        """Number of plays at the start of the plan that are over."""
        self._open: set[int] = set()
        self.plays: dict[int, SoFar] = {}

    def play(self, round_: int) -> SoFar:
        """Return the state of one play."""
        return self.plays.get(round_) or (SessionSoFar() if round_ in self._sessions else PlaySoFar())

    def end(self, round_: int, play: PlaySoFar) -> bool:
        """Record the final state of a play without its facts; return False, changing nothing, if it is not its turn."""
        index = self._index.get(round_)
        is_next = index == self._finished
        if round_ in self.plays or round_ in self._sessions or not (is_next or self.in_turn(round_)):
            return False
        self.plays[round_] = play
        self._finished += index == self._finished
        return True

    def are_next(self, rounds: list[int]) -> bool:
        """Return whether these rounds come next, in this order, without any fact so far."""
        due = [*self._rounds[self._finished : self._finished + len(rounds)]]
        return due == rounds and self.plays.keys().isdisjoint(rounds) and self._sessions.isdisjoint(rounds)

    def end_next(self, plays: Sequence[PlaySoFar]) -> None:
        """Record the final states of the next plays."""
        first, self._finished = self._finished, self._finished + len(plays)
        self.plays.update(zip(self._rounds[first : self._finished], plays, strict=True))

    def follow(self, fact: Fact) -> None:
        """Process the table's next fact. Raises OutOfSequence, leaving the state unchanged."""
        play = self.play(fact.round)
        forward = isinstance(fact, Overridden) and BROUGHT_FORWARD in fact.guards
        if not (play.begun or forward or self.in_turn(fact.round)):
            raise OutOfSequence("play_out_of_turn")
        self._set(fact.round, play.after(fact, nearest=self._nearest))

    def add(self, fact: Fact) -> None:
        """Process a fact that counts, whether or not it is in sequence."""
        self._set(fact.round, self.play(fact.round).with_fact(fact))

    def leave_open(self, first: int, last: int) -> None:
        """Assume that the plays of these rounds, inclusive, may be over, because one of their facts cannot be read."""
        self._open.update(round_ for round_ in self._rounds if first <= round_ <= last)

    def in_turn(self, round_: int) -> bool:
        """Return whether every play before this one is over or has been ruled on."""
        index = self._index.get(round_, 0)
        while self._finished < index and self._is_finished(self._rounds[self._finished]):
            self._finished += 1
        return self._finished >= index

    def _is_finished(self, round_: int) -> bool:
        return self.play(round_).over or round_ in self._open or self._passed(round_)

    def _set(self, round_: int, play: SoFar) -> None:
        self.plays[round_] = play
        if self._finished and not play.over:  # it may have been reopened
            self._finished = min(self._finished, self._index.get(round_, 0))
