"""The state of one table: frozen; everything else that the kiosk shows or publishes is derived from it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, Literal

from broker.protocol import SEATS, Assignment, Fact, Fine, PlannedPlay, Player, PublicState, Seat
from broker.rules import DEFAULT_MCR, TRAY, Outcome, Rules, load_rules, parse_rules, riichi
from kiosk.table.events import ButtonPressed, Misplaced, TrayChecked, Verdict
from kiosk.table.session import HandEnd, RiichiSession
from kiosk.table.trays import Work

SETTLE_NS: Final = 1_000_000_000
"""After a change of phase a press counts only from here on: a second push at a confirmation is no hu."""

Doubt = Literal["asked", "leaving", "denied"]
"""What the screen says of presses that may be no hu: the question, that the play goes on in a moment unless somebody
has answered it, or that four hu cannot be. It never changes by a press.
"""

Light = Literal["normal", "quiet"]
"""How bright screens are; quiet: for a dark hall."""


class NotNow(Exception):
    """An event that the table's state does not allow; the state stays as it was. `code` is in docs/codes.md."""

    def __init__(self, code: str, text: str = "") -> None:
        super().__init__(f"{code}: {text}" if text else code)
        self.code = code
        self.text = text


class Phase(Enum):
    """What a table is doing."""

    WAITING = "waiting"
    RESTORING = "restoring"
    SEATING = "seating"
    CONFIRMING = "confirming"
    PLAYING = "playing"
    CLAIMING = "claiming"
    DECLARED = "declared"
    ACCEPTING = "accepting"
    RECORDED = "recorded"
    FINISHED = "finished"


PUBLIC: Final[dict[Phase, PublicState]] = {
    Phase.WAITING: "waiting",
    Phase.RESTORING: "restoring",
    Phase.SEATING: "seating",
    Phase.CONFIRMING: "confirming",
    Phase.PLAYING: "playing",
    Phase.CLAIMING: "playing",  # until the claim window closes nothing about a press may show
    Phase.DECLARED: "declared",
    Phase.ACCEPTING: "accepting",
    Phase.RECORDED: "recorded",
    Phase.FINISHED: "finished",
}
MOST_KEPT: Final = 5
"""Times that a play is read: fewer than the scorer takes."""

QUIET: Final = (Phase.PLAYING, Phase.CLAIMING)
"""Where nothing may be seen of a press."""


HOLD_NS: Final = 2_000_000_000
"""Who holds so long calls the arbiter."""


@dataclass(frozen=True, slots=True)
class WindowPress:
    """One press; `down` while nothing has been heard of its end, so that it may yet become a call."""

    seat: Seat
    at: int
    down: bool = True


@dataclass(frozen=True, slots=True)
class ClaimWindow:
    """One claim window of `length` ns: presses by their edges, and who has declared when it is over. It reads no clock.

    A press counts from its edge, but what it was is known only when the finger lets go: a hold of two seconds calls the
    arbiter and is no hu. So a press is kept here, silently, and taken out again if it turns out to be a hold. What
    follows (when the window opened, when it closes, who is in it) is always reckoned from the presses that are left: in
    whatever order seats are heard of, the same presses give the same window. All times are ns of the table's clock.
    """

    length: int
    contacts: tuple[WindowPress, ...] = ()
    """One a seat at most, by edge; those of the same instant in turn order."""
    called_at: int | None = None
    """Edge of the latest press that became a call: the arbiter is told when the window closes, not before."""
    ended_at: int | None = None
    """When it was said that nobody won."""
    reopened_at: int | None = None
    """When a restart gave everybody the whole window again."""

    # ---- what follows from it ---------------------------------------------------------------

    @property
    def opened_at(self) -> int:
        """The first press, or that nobody won; a call opens it only where there is neither."""
        starts = [one.at for one in self.contacts[:1]]
        starts.extend([] if self.ended_at is None else [self.ended_at])
        return self._or_reopened(min(starts, default=self.called_at or 0))

    @property
    def deadline(self) -> int:
        """The instant from which a press is too late."""
        return self.opened_at + self.length

    @property
    def declared(self) -> tuple[WindowPress, ...]:
        """Who has declared, as far as known."""
        return tuple(one for one in self.contacts if one.at < self.deadline)

    @property
    def closes_at(self) -> int:
        """When the outcome is certain: after the deadline, a finger that is still down is waited for.

        Where somebody said that nobody won, the room knows when the window opened; it could then tell a finger by the
        waiting. So there it closes as late as if one had come down at the last instant, whether or not one has.
        """
        if self.ended_at is not None:
            return self.deadline + HOLD_NS
        return max([self.deadline, *(one.at + HOLD_NS for one in self.declared if one.down)])

    @property
    def last_deadline(self) -> float:
        """The deadline if all fingers that are down make calls; with nothing else there is no telling yet."""
        certain = [one.at for one in self.contacts if not one.down]
        certain.extend([] if self.ended_at is None else [self.ended_at])
        return self._or_reopened(min(certain)) + self.length if certain else float("inf")

    # ---- what happens to it -----------------------------------------------------------------

    def pressed(self, seat: Seat, at: int) -> "ClaimWindow":
        """Take a press in. Raises NotNow `press_again`, `press_after_window`."""
        before = self._of(seat)
        if before is not None and before.at <= at:
            raise NotNow("press_again", f"{seat} has declared already")
        if at >= self.last_deadline:
            raise NotNow("press_after_window", f"{seat}, when the claim window was over")
        # A press that is told after one that followed it has ended in between.
        return self._with(WindowPress(seat, at, down=before is None))

    def released(self, seat: Seat, at: int) -> "ClaimWindow":
        """Take in that a finger has let go. A hold is told before that, so its press was a hu."""
        contact = self._of(seat)
        if contact is None or not contact.down or at < contact.at:
            return self
        return self._with(replace(contact, down=False))

    def held(self, seat: Seat, at: int) -> "ClaimWindow":
        """Take a call in: the press of that edge is no hu."""
        left = (one for one in self.contacts if (one.seat, one.at) != (seat, at))
        called_at = at if self.called_at is None else max(self.called_at, at)
        return replace(self, contacts=tuple(left), called_at=called_at)

    def ended(self, at: int) -> "ClaimWindow":
        """Take in that somebody said nobody won; said again it changes nothing."""
        return self if self.ended_at is not None else _pruned(replace(self, ended_at=at))

    def shortened(self, at: int) -> "ClaimWindow":
        """Let no press count from here on; said again it changes nothing."""
        return _pruned(replace(self, length=max(1, min(self.length, at - self.opened_at))))

    def reopened(self, at: int) -> "ClaimWindow":
        """Reopen the window at its full length for everybody; it never ends earlier than it would have."""
        return replace(self, reopened_at=self._or_reopened(at))

    def moved(self, by: int) -> "ClaimWindow":
        """Move everything later by so many ns."""
        return replace(
            self,
            contacts=tuple(replace(one, at=one.at + by) for one in self.contacts),
            called_at=_later(self.called_at, by),
            ended_at=_later(self.ended_at, by),
            reopened_at=_later(self.reopened_at, by),
        )

    @property
    def latest(self) -> int:
        """The latest time in it."""
        return max(self._times())

    # ---- its own ----------------------------------------------------------------------------

    def _of(self, seat: Seat) -> WindowPress | None:
        return next((one for one in self.contacts if one.seat == seat), None)

    def _with(self, new: WindowPress) -> "ClaimWindow":
        """Put a press in its place."""
        others = (one for one in self.contacts if one.seat != new.seat)
        return _pruned(replace(self, contacts=_ordered((*others, new))))

    def _or_reopened(self, at: int) -> int:
        return at if self.reopened_at is None else max(at, self.reopened_at)

    def _times(self) -> Iterator[int]:
        yield from (one.at for one in self.contacts)
        yield from (one for one in (self.called_at, self.ended_at, self.reopened_at) if one is not None)


def _ordered(contacts: Iterable[WindowPress]) -> tuple[WindowPress, ...]:
    return tuple(sorted(contacts, key=lambda one: (one.at, SEATS.index(one.seat))))


def _pruned(window: ClaimWindow) -> ClaimWindow:
    """Remove presses that came too late for any window."""
    return replace(window, contacts=tuple(one for one in window.contacts if one.at < window.last_deadline))


def _later(at: int | None, by: int) -> int | None:
    return None if at is None else at + by


@dataclass(frozen=True, slots=True)
class Declaration:
    """One press in the claim window, by its edge time."""

    seat: Seat
    at: int


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of the arbiter's, ns; `until` None while it lasts."""

    since: int
    until: int | None = None

    @property
    def length(self) -> int:
        """How long it was, ns; nothing yet while it lasts."""
        return 0 if self.until is None else self.until - self.since


@dataclass(frozen=True, slots=True)
class TrayProblem:
    """The last look at a tray that was found wrong."""

    seat: Seat
    wrong: tuple[Misplaced, ...]
    unread: int = 0
    """Places where a tile lies that could not be read."""
    deal: int | None = None
    """The deal whose tray this is, where it is one of another deal of this table."""
    aside: TrayChecked | None = None
    """The look itself, where the tray is of no deal that this table knows; its time is taken out."""

    @property
    def of_another_set(self) -> bool:
        """Whether most of the tiles in a tray that is not ours are of another set."""
        foreign = sum(wrong.kind == "foreign" for wrong in self.wrong)
        return self.aside is not None and 2 * foreign > TRAY


@dataclass(frozen=True, slots=True)
class FinishedPlay:
    """A play that is over for this table, and who sat there."""

    round: int
    deal: int
    players: frozenset[str]


def profile_of(assignment: Assignment) -> Rules:
    """Return the rules of a plan: those that it brings, or those that ship. Raises RuleError."""
    return load_rules(assignment.profile) if assignment.rules is None else parse_rules(assignment.rules)


@dataclass(frozen=True, slots=True)
class PlayClock:
    """A play that is going on: when it was confirmed, and how long it stood still in pauses that are over, ns."""

    confirmed_at: int
    paused_ns: int = 0

    def after(self, pause_ns: int) -> "PlayClock":
        """Take in that a pause of this length is over."""
        return replace(self, paused_ns=self.paused_ns + pause_ns)

    def played_ns(self, until: int) -> int:
        """Return how long the play has gone on at a moment (ns), without the pauses that are over."""
        return max(0, until - self.confirmed_at - self.paused_ns)


@dataclass(frozen=True, slots=True)
class Table:
    """One table. `since` is the time of the event that began what the room sees: for a claim window, the play."""

    phase: Phase = Phase.WAITING
    assignment: Assignment | None = None
    index: int = 0
    since: int = 0
    work: Work = field(default_factory=Work)
    """What is known of the trays while they are being restored."""
    check: TrayProblem | None = None
    taken_apart: bool = False
    """Staff lay this deal from the tiles of a carrier that holds none of it."""
    refusals: int = 0
    agreed: frozenset[Seat] = frozenset()
    """Seats that have confirmed their tiles, or accepted the result."""
    window: ClaimWindow | None = None
    """The open claim window."""
    closed_at: int | None = None
    """The deadline of the window that was closed last in this play."""
    declarations: tuple[Declaration, ...] = ()
    """Who has declared; while the window is open, as far as known."""
    asked: tuple[Declaration, ...] = ()
    """Who has pressed and may not have meant hu: whoever did presses once more, and nobody is named."""
    doubt: Doubt | None = None
    outcome: Outcome | None = None
    declared_on: dict[Seat, Seat] = field(default_factory=dict)
    """Where several have declared, on whose tile each did, as it was entered with the outcome."""
    fines: dict[Seat, Fine] = field(default_factory=dict)
    dead: frozenset[Seat] = frozenset()
    """Whose hand the arbiter has ruled dead in this play."""
    calling: bool = False
    calls: int = 0
    """How many were made in this play."""
    discreet: bool = False
    """The call was made by a long press: the arbiter knows of it, the table is not shown it."""
    pause: Pause | None = None
    """The arbiter's pause, or the last one that there was in this play."""
    play_clock: PlayClock | None = None
    """Of the present play or session, from its confirmation; None too where a power cut has left it unknown."""
    extra_min: int = 0
    """Minutes that the arbiter has added to the present play, or to the session."""
    played: tuple[FinishedPlay, ...] = ()
    """What this table has behind it, oldest first."""
    seating: dict[Seat, Player] = field(default_factory=dict)
    """Who really sits where; empty until it differs from the plan with the arbiter's approval."""
    arrived: frozenset[Seat] = frozenset()
    """Seats whose player has checked in."""
    allowed: frozenset[str] = frozenset()
    """What would stop this play and the arbiter has overridden, by code."""
    ruled: Literal["void", "adjusted"] | None = None
    """What the arbiter has ruled at the table in place of a result."""
    reopened: bool = False
    """Whether a result of this play was taken back."""
    arbiter: str | None = None
    """The arbiter who is at the table, let in by PIN or by the desk."""
    arbiter_session: str | None = None
    """What that arbiter's facts name."""
    pins_wrong: int = 0
    """Wrong PINs since the last right one."""
    pin_wrong_at: int = 0
    """When the last one was given, ns."""
    kept: int = 0
    """How often it was read what lay there after this play."""
    ordered: int = 0
    """`seq` of the last order that was carried out or refused."""
    obeyed: tuple[tuple[int, str], ...] = ()
    """`seq` and id of the last orders that were carried out or refused, oldest first."""
    refused: dict[int, str] = field(default_factory=dict)
    """Which of them were refused: the code of why, by `seq`."""
    session: RiichiSession | None = None
    """The riichi session, at a table that plays one."""
    light: Light | None = None
    """The light that the desk has ordered last; None: as the device is configured."""
    hand: HandEnd = field(default_factory=HandEnd)
    """Under riichi rules, what was said of the end of the present hand."""
    self_test: Verdict | Literal["running"] | None = None
    """How the last self-test of the hardware ended; None: there was none yet."""

    @property
    def profile(self) -> Rules:
        """The rules that this table plays by."""
        return profile_of(self.assignment) if self.assignment else load_rules(DEFAULT_MCR)

    @property
    def play(self) -> PlannedPlay | None:
        """The present play, or the present hand of a session; None before the first and after the last."""
        if self.session is not None:
            return self.session.play
        if self.assignment is None or self.index >= len(self.assignment.plays):
            return None
        return self.assignment.plays[self.index]

    @property
    def may_keep(self) -> bool:
        """Whether it may be read now how the play went: it has a result of MCR, and the event wishes it."""
        wished = self.assignment is not None and self.assignment.keep_plays and self.session is None
        recorded = self.phase is Phase.RECORDED and self.outcome is not None and self.ruled is None
        return wished and recorded and not self.alone and self.kept < MOST_KEPT

    @property
    def unfinished(self) -> bool:
        """Whether there is a play whose time counts; that of a riichi session goes on from hand to hand."""
        if self.session is not None:
            return not self.session.state.over
        return self.play is not None and self.phase is not Phase.RECORDED

    @property
    def dead_hands(self) -> frozenset[Seat]:
        """Who can no longer declare in this play: after a false hu, or by a ruling."""
        return self.dead | self.fines.keys()

    @property
    def claim_ms(self) -> int:
        """How long a claim window is open."""
        rules = self.profile
        return rules.play.ron_ms.value if isinstance(rules, riichi.RiichiProfile) else rules.claim_window_ms.value

    @property
    def alone(self) -> bool:
        """Whether planned deals are played under riichi rules here: hands scored alone."""
        return self.session is None and isinstance(self.profile, riichi.RiichiProfile)

    @property
    def players(self) -> dict[Seat, Player]:
        """Who really sits where in the present play; nobody if there is none."""
        return self.seating or (dict(self.play.players) if self.play else {})

    @property
    def verified(self) -> frozenset[Seat]:
        """The trays that are right."""
        return self.work.verified

    @property
    def ended(self) -> bool:
        """Somebody at the table has reported that nobody won; the claim window decides."""
        return self.window is not None and self.window.ended_at is not None

    @property
    def paused(self) -> bool:
        """The arbiter has paused the table."""
        return self.pause is not None and self.pause.until is None

    @property
    def finger_down(self) -> bool:
        """Whether a press in the claim window may still become a call."""
        return self.window is not None and any(one.down for one in self.window.declared)

    @property
    def closes_at(self) -> int | None:
        """When the open claim window can be closed, ns: the deadline, or later where a finger is still down."""
        return None if self.window is None or self.paused else self.window.closes_at

    @property
    def public(self) -> PublicState:
        """What may be told of the phase."""
        return PUBLIC[self.phase]

    @property
    def unlaid(self) -> bool:
        """Whether a tray is still to be laid right."""
        return len(self.verified) < len(SEATS)

    @property
    def unverified(self) -> tuple[Seat, ...]:
        """The trays that are still to be shown to the camera, in turn order."""
        return tuple(seat for seat in SEATS if seat not in self.verified) if self.phase is Phase.RESTORING else ()


Step = tuple[Table, tuple[Fact, ...]]
"""The state that follows an event, and the facts that it tells."""


def cleared(state: Table, at: int) -> Table:
    """Return a table that keeps only an open call, a pause that lasts, and the last order of the desk.

    Wrong PINs stay counted, or a new play would be three more free guesses; an arbiter who is here stays.
    """
    return Table(
        assignment=state.assignment,
        since=at,
        calling=state.calling,
        discreet=state.discreet,
        pause=state.pause if state.paused else None,
        arbiter=state.arbiter,
        arbiter_session=state.arbiter_session,
        pins_wrong=state.pins_wrong,
        pin_wrong_at=state.pin_wrong_at,
        ordered=state.ordered,
        light=state.light,
        self_test=state.self_test,
        obeyed=state.obeyed,
        refused=state.refused,
    )


def riichi_session_of(state: Table) -> RiichiSession:
    """Return the riichi session. Raises NotNow `no_session`."""
    if state.session is None:
        raise NotNow("no_session", "this table plays no riichi session")
    return state.session


def in_play(state: Table) -> bool:
    """Return whether tiles are being played with, and buttons declare."""
    return state.phase in QUIET and not state.paused


def with_pause(state: Table, at: int) -> Table:
    """Begin a pause, unless there is one."""
    return state if state.paused else replace(state, pause=Pause(at))


def without_pause(state: Table, at: int) -> Table:
    """End the pause, if there is one. An open claim window goes on with the time that was left of it."""
    pause = state.pause
    if pause is None or not state.paused:
        return state
    over = replace(pause, until=max(at, pause.since))
    clock = state.play_clock and state.play_clock.after(over.length)
    return replace(state, pause=over, play_clock=clock, window=state.window and state.window.moved(over.length))


def in_play_time(state: Table, at: int) -> int:
    """Return a time without the latest pause: what happened before it and is told after it moves as all else did."""
    pause = state.pause
    return at + pause.length if pause is not None and at < pause.since else at


MINUTE_NS: Final = 60_000_000_000
MILLISECOND_NS: Final = 1_000_000


def minutes_left(state: "Table", now: int) -> int | None:
    """Return the whole minutes that are left, one that has begun counted; below zero those that it is over.

    None where the plan gives a play no time, where none is going on, and where it is not known since when: the device
    was without power meanwhile, and nobody there can tell for how long.
    """
    clock, allowed = _running(state), play_minutes(state)
    if clock is None or allowed is None:
        return None
    until = state.pause.since if state.pause is not None and state.paused else now
    left = (allowed + state.extra_min) * MINUTE_NS - clock.played_ns(until)
    return -(-left // MINUTE_NS)


def play_minutes(state: "Table") -> int | None:
    """Return the time that the present play has, by the plan that the table goes by; None if it has no limit."""
    return state.assignment.minutes.get(state.play.round) if state.assignment and state.play else None


def paused_ms(state: "Table") -> int | None:
    """Return how long the play stood still in pauses that are over; None if no play's time runs, or is known."""
    clock = _running(state)
    return None if clock is None else clock.paused_ns // MILLISECOND_NS


def played_ms(state: "Table") -> int | None:
    """Return, in a pause, how long the play had gone on when it began; None if none is, or as above."""
    clock, pause = _running(state), state.pause
    if clock is None or pause is None or not state.paused:
        return None
    return clock.played_ns(pause.since) // MILLISECOND_NS


def _running(state: "Table") -> PlayClock | None:
    return state.play_clock if state.unfinished else None


def arbiter_name(state: Table) -> str:
    """Return the name of the arbiter who is at the table. Raises NotNow `arbiter_needed`."""
    if state.arbiter is None:
        raise NotNow("arbiter_needed", "by PIN, or let in by the desk")
    return state.arbiter


def current_play(state: Table) -> PlannedPlay:
    """Return the present play. Raises NotNow `no_play`."""
    if state.play is None:
        raise NotNow("no_play", "nothing is being played here")
    return state.play


def check_settled(state: Table, event: ButtonPressed) -> None:
    """Refuse a press at what nobody can have read yet. Raises NotNow `press_too_soon`."""
    if event.at < state.since + SETTLE_NS:
        raise NotNow("press_too_soon", f"{event.seat}, while the screen changed")


def with_acceptance(state: Table, event: ButtonPressed) -> Table:
    """Return the table with one more seat that has accepted. Raises NotNow `press_too_soon`."""
    check_settled(state, event)
    return replace(state, agreed=state.agreed | {event.seat})
