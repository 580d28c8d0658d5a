"""The state of one table. It is frozen, and everything the kiosk shows or publishes is derived from it."""

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
"""Presses so soon after a change of phase do not count: a second push at a confirmation is no hu."""

Doubt = Literal["asked", "leaving", "denied"]
"""What the screen says about presses that may not be hu, which no press ever changes.

`asked`: whether they are; `leaving`: play resumes soon unless somebody answers; `denied`: four hu are impossible.
"""

Light = Literal["normal", "quiet"]
"""Brightness of the screens; quiet is for a dark hall."""


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
    Phase.CLAIMING: "playing",  # until the claim window closes, nothing about a press may show
    Phase.DECLARED: "declared",
    Phase.ACCEPTING: "accepting",
    Phase.RECORDED: "recorded",
    Phase.FINISHED: "finished",
}
MOST_KEPT: Final = 5
"""How often a play may be read: less often than the scorer accepts."""

QUIET: Final = (Phase.PLAYING, Phase.CLAIMING)
"""Phases in which nothing about a press may show."""


HOLD_NS: Final = 2_000_000_000
"""A press held for so long calls the arbiter."""


@dataclass(frozen=True, slots=True)
class WindowPress:
    """One press. It is `down` until its end is reported, and may become a call until then."""

    seat: Seat
    at: int
    down: bool = True


@dataclass(frozen=True, slots=True)
class ClaimWindow:
    """A claim window of `length` ns: the presses by their edges, and who has declared. It reads no clock.

    A press counts from its edge, but only when the finger lets go is it certain what it was: a hold of two seconds
    calls the arbiter and is no hu. So a press is stored silently, and removed again if it turns out to be a hold. When
    the window opened, when it closes and who is in it are always computed from the remaining presses, so that the same
    presses give the same window in whatever order they are reported. All times are ns of the table's clock.
    """

    length: int
    presses: tuple[WindowPress, ...] = ()
    """At most one press a seat, ordered by edge, then in turn order."""
    called_at: int | None = None
    """Edge of the latest press that became a call. The arbiter hears of it only when the window closes."""
    ended_at: int | None = None
    """When somebody reported that nobody won."""
    reopened_at: int | None = None
    """When a restart gave everybody the full window again."""

    # ---- derived values ---------------------------------------------------------------------

    @property
    def opened_at(self) -> int:
        """The first press or the report that nobody won, whichever is earlier; without either, the call."""
        starts = [one.at for one in self.presses[:1]]
        starts.extend([] if self.ended_at is None else [self.ended_at])
        return self._or_reopened(min(starts, default=self.called_at or 0))

    @property
    def deadline(self) -> int:
        """The time from which a press is too late."""
        return self.opened_at + self.length

    @property
    def declared(self) -> tuple[WindowPress, ...]:
        """The presses that declare, as far as known."""
        return tuple(one for one in self.presses if one.at < self.deadline)

    @property
    def closes_at(self) -> int:
        """When the outcome is certain: a finger still down at the deadline is waited for.

        If somebody reported that nobody won, the room knows when the window opened, and a longer wait would reveal a
        finger. So the window then always closes as if one had come down at the last instant.
        """
        if self.ended_at is not None:
            return self.deadline + HOLD_NS
        return max([self.deadline, *(one.at + HOLD_NS for one in self.declared if one.down)])

    @property
    def last_deadline(self) -> float:
        """The deadline if every finger now down becomes a call; infinite if nothing else has opened the window."""
        certain = [one.at for one in self.presses if not one.down]
        certain.extend([] if self.ended_at is None else [self.ended_at])
        return self._or_reopened(min(certain)) + self.length if certain else float("inf")

    # ---- changes ----------------------------------------------------------------------------

    def pressed(self, seat: Seat, at: int) -> "ClaimWindow":
        """Add a press. Raises NotNow `press_again`, `press_after_window`."""
        before = self._press_of(seat)
        if before is not None and before.at <= at:
            raise NotNow("press_again", f"{seat} has declared already")
        if at >= self.last_deadline:
            raise NotNow("press_after_window", f"{seat}, when the claim window was over")
        # A press that is reported after a later one has ended in between.
        return self._with(WindowPress(seat, at, down=before is None))

    def released(self, seat: Seat, at: int) -> "ClaimWindow":
        """Note that a finger has let go. A hold is reported earlier, so this press was a hu."""
        press = self._press_of(seat)
        if press is None or not press.down or at < press.at:
            return self
        return self._with(replace(press, down=False))

    def held(self, seat: Seat, at: int) -> "ClaimWindow":
        """Note a call: the press with that edge is no hu."""
        left = (one for one in self.presses if (one.seat, one.at) != (seat, at))
        called_at = at if self.called_at is None else max(self.called_at, at)
        return replace(self, presses=tuple(left), called_at=called_at)

    def ended(self, at: int) -> "ClaimWindow":
        """Note a report that nobody won; repeating it changes nothing."""
        return self if self.ended_at is not None else _pruned(replace(self, ended_at=at))

    def shortened(self, at: int) -> "ClaimWindow":
        """Let no press count from here on; repeating it changes nothing."""
        return _pruned(replace(self, length=max(1, min(self.length, at - self.opened_at))))

    def reopened(self, at: int) -> "ClaimWindow":
        """Reopen the window at its full length for everybody; it never ends earlier than it would have."""
        return replace(self, reopened_at=self._or_reopened(at))

    def moved(self, by: int) -> "ClaimWindow":
        """Move all times later by so many ns."""
        return replace(
            self,
            presses=tuple(replace(one, at=one.at + by) for one in self.presses),
            called_at=_later(self.called_at, by),
            ended_at=_later(self.ended_at, by),
            reopened_at=_later(self.reopened_at, by),
        )

    @property
    def latest(self) -> int:
        """The latest time in the window."""
        return max(self._times())

    # ---- internals --------------------------------------------------------------------------

    def _press_of(self, seat: Seat) -> WindowPress | None:
        return next((one for one in self.presses if one.seat == seat), None)

    def _with(self, new: WindowPress) -> "ClaimWindow":
        """Return the window with a press added or replaced."""
        others = (one for one in self.presses if one.seat != new.seat)
        return _pruned(replace(self, presses=_ordered((*others, new))))

    def _or_reopened(self, at: int) -> int:
        return at if self.reopened_at is None else max(at, self.reopened_at)

    def _times(self) -> Iterator[int]:
        yield from (one.at for one in self.presses)
        yield from (one for one in (self.called_at, self.ended_at, self.reopened_at) if one is not None)


def _ordered(contacts: Iterable[WindowPress]) -> tuple[WindowPress, ...]:
    return tuple(sorted(contacts, key=lambda one: (one.at, SEATS.index(one.seat))))


def _pruned(window: ClaimWindow) -> ClaimWindow:
    """Remove presses that are too late in any case."""
    return replace(window, presses=tuple(one for one in window.presses if one.at < window.last_deadline))


def _later(at: int | None, by: int) -> int | None:
    return None if at is None else at + by


@dataclass(frozen=True, slots=True)
class Declaration:
    """One press in the claim window, with its edge time."""

    seat: Seat
    at: int


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause by the arbiter, in ns; `until` is None while it lasts."""

    since: int
    until: int | None = None

    @property
    def length(self) -> int:
        """Length of the pause in ns; 0 while it lasts."""
        return 0 if self.until is None else self.until - self.since


@dataclass(frozen=True, slots=True)
class TrayProblem:
    """The last check of a tray that was found wrong."""

    seat: Seat
    wrong: tuple[Misplaced, ...]
    unread: int = 0
    """Number of places with a tile that could not be read."""
    deal: int | None = None
    """The deal to which the tray belongs, if that is another deal of this table."""
    unknown_look: TrayChecked | None = None
    """The check itself if the tray belongs to no deal known here, without its time."""

    @property
    def of_another_set(self) -> bool:
        """Whether most tiles of a tray that is not ours belong to another set."""
        foreign = sum(wrong.kind == "foreign" for wrong in self.wrong)
        return self.unknown_look is not None and 2 * foreign > TRAY


@dataclass(frozen=True, slots=True)
class FinishedPlay:
    """A play that is over for this table, and who sat there."""

    round: int
    deal: int
    players: frozenset[str]


def profile_of(assignment: Assignment) -> Rules:
    """Return the rules of a plan, its own or the shipped ones. Raises RuleError."""
    return load_rules(assignment.profile) if assignment.rules is None else parse_rules(assignment.rules)


@dataclass(frozen=True, slots=True)
class PlayClock:
    """The clock of a play: when it was confirmed, and the total of its finished pauses, in ns."""

    confirmed_at: int
    paused_ns: int = 0

    def after(self, pause_ns: int) -> "PlayClock":
        """Add a finished pause."""
        return replace(self, paused_ns=self.paused_ns + pause_ns)

    def played_ns(self, until: int) -> int:
        """Return how long the play has lasted at a time (ns), without its finished pauses."""
        return max(0, until - self.confirmed_at - self.paused_ns)


@dataclass(frozen=True, slots=True)
class Table:
    """One table. `since` is when the phase that the room sees began; in a claim window, that is the play."""

    phase: Phase = Phase.WAITING
    assignment: Assignment | None = None
    index: int = 0
    since: int = 0
    work: Work = field(default_factory=Work)
    """What is known of the trays while they are being restored."""
    check: TrayProblem | None = None
    taken_apart: bool = False
    """Whether staff are laying this deal from the tiles of a carrier that holds no deal."""
    refusals: int = 0
    agreed: frozenset[Seat] = frozenset()
    """Seats that have confirmed their tiles, or accepted the result."""
    window: ClaimWindow | None = None
    """The open claim window."""
    closed_at: int | None = None
    """The deadline of the last window closed in this play."""
    declarations: tuple[Declaration, ...] = ()
    """Who has declared; while the window is open, as far as known."""
    doubted: tuple[Declaration, ...] = ()
    """Presses that may not mean hu. Whoever meant it presses again; nobody is named."""
    doubt: Doubt | None = None
    outcome: Outcome | None = None
    declared_on: dict[Seat, Seat] = field(default_factory=dict)
    """If several declared, the seat on whose tile each did, as entered with the outcome."""
    fines: dict[Seat, Fine] = field(default_factory=dict)
    dead: frozenset[Seat] = frozenset()
    """Seats whose hand the arbiter has ruled dead in this play."""
    calling: bool = False
    calls: int = 0
    """Number of calls in this play."""
    discreet: bool = False
    """Whether the call was made by a long press: the arbiter hears of it, and the table does not show it."""
    pause: Pause | None = None
    """The arbiter's pause, or the last one in this play."""
    play_clock: PlayClock | None = None
    """The clock of the current play or session since its confirmation; None if a power cut has left it unknown."""
    extra_min: int = 0
    """Minutes that the arbiter has added to the current play, or to the session."""
    played: tuple[FinishedPlay, ...] = ()
    """Plays finished at this table, oldest first."""
    seating: dict[Seat, Player] = field(default_factory=dict)
    """Who really sits where, if that differs from the plan with the arbiter's approval; otherwise empty."""
    arrived: frozenset[Seat] = frozenset()
    """Seats whose player has checked in."""
    allowed: frozenset[str] = frozenset()
    """Codes of this play's guards that the arbiter has overridden."""
    ruled: Literal["void", "adjusted"] | None = None
    """The arbiter's ruling at the table in place of a result."""
    reopened: bool = False
    """Whether a result of this play was taken back."""
    arbiter: str | None = None
    """The arbiter at the table, let in by PIN or by the desk."""
    arbiter_session: str | None = None
    """The session that this arbiter's facts name."""
    pins_wrong: int = 0
    """Wrong PINs since the last right one."""
    pin_wrong_at: int = 0
    """When the last wrong PIN was entered, in ns."""
    kept: int = 0
    """How often the tiles were read after this play."""
    last_order: int = 0
    """`seq` of the last order that was carried out or refused."""
    handled_orders: tuple[tuple[int, str], ...] = ()
    """`seq` and id of the last orders that were carried out or refused, oldest first."""
    refused_orders: dict[int, str] = field(default_factory=dict)
    """Codes of those that were refused, by `seq`."""
    session: RiichiSession | None = None
    """The riichi session, at a table that plays one."""
    light: Light | None = None
    """The light that the desk ordered last; None: as the device is configured."""
    hand: HandEnd = field(default_factory=HandEnd)
    """Under riichi rules, what is known of the end of the current hand."""
    self_test: Verdict | Literal["running"] | None = None
    """How the last hardware self-test ended; None if there was none."""

    @property
    def profile(self) -> Rules:
        """The rules that this table plays by."""
        return profile_of(self.assignment) if self.assignment else load_rules(DEFAULT_MCR)

    @property
    def play(self) -> PlannedPlay | None:
        """The current play, or the current hand of a session; None before the first and after the last."""
        if self.session is not None:
            return self.session.play
        if self.assignment is None or self.index >= len(self.assignment.plays):
            return None
        return self.assignment.plays[self.index]

    @property
    def may_keep(self) -> bool:
        """Whether the play's tiles may be read now: it has a result under MCR, and the event keeps plays."""
        event_keeps = self.assignment is not None and self.assignment.keep_plays and self.session is None
        recorded = self.phase is Phase.RECORDED and self.outcome is not None and self.ruled is None
        return event_keeps and recorded and not self.planned_riichi and self.kept < MOST_KEPT

    @property
    def unfinished(self) -> bool:
        """Whether there is a play whose time counts. In a riichi session, time runs on from hand to hand."""
        if self.session is not None:
            return not self.session.state.over
        return self.play is not None and self.phase is not Phase.RECORDED

    @property
    def dead_hands(self) -> frozenset[Seat]:
        """Seats that can no longer declare in this play, after a false hu or by a ruling."""
        return self.dead | self.fines.keys()

    @property
    def claim_ms(self) -> int:
        """How long a claim window is open, in ms."""
        rules = self.profile
        return rules.play.ron_ms.value if isinstance(rules, riichi.RiichiProfile) else rules.claim_window_ms.value

    @property
    def planned_riichi(self) -> bool:
        """Whether planned deals are played here under riichi rules, each hand scored alone."""
        return self.session is None and isinstance(self.profile, riichi.RiichiProfile)

    @property
    def players(self) -> dict[Seat, Player]:
        """Who really sits where in the current play; empty if there is none."""
        return self.seating or (dict(self.play.players) if self.play else {})

    @property
    def verified(self) -> frozenset[Seat]:
        """The trays that are right."""
        return self.work.verified

    @property
    def ended(self) -> bool:
        """Whether somebody at the table has reported that nobody won; the claim window decides."""
        return self.window is not None and self.window.ended_at is not None

    @property
    def paused(self) -> bool:
        """Whether the arbiter has paused the table."""
        return self.pause is not None and self.pause.until is None

    @property
    def finger_down(self) -> bool:
        """Whether a press in the claim window may still become a call."""
        return self.window is not None and any(one.down for one in self.window.declared)

    @property
    def closes_at(self) -> int | None:
        """When the open claim window can be closed, in ns: the deadline, or later if a finger is still down."""
        return None if self.window is None or self.paused else self.window.closes_at

    @property
    def public(self) -> PublicState:
        """The phase as it may be published."""
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
"""The state that follows an event, and the facts to send."""


def cleared(state: Table, at: int) -> Table:
    """Return a table for a new play. An open call, a current pause, orders and an arbiter who is here stay.

    Wrong PINs stay counted, or each play would give three more free guesses.
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
        last_order=state.last_order,
        light=state.light,
        self_test=state.self_test,
        handled_orders=state.handled_orders,
        refused_orders=state.refused_orders,
    )


def riichi_session_of(state: Table) -> RiichiSession:
    """Return the riichi session. Raises NotNow `no_session`."""
    if state.session is None:
        raise NotNow("no_session", "this table plays no riichi session")
    return state.session


def in_play(state: Table) -> bool:
    """Return whether tiles are being played, so that buttons declare."""
    return state.phase in QUIET and not state.paused


def with_pause(state: Table, at: int) -> Table:
    """Begin a pause, unless there is one."""
    return state if state.paused else replace(state, pause=Pause(at))


def without_pause(state: Table, at: int) -> Table:
    """End the pause, if there is one. An open claim window resumes with its remaining time."""
    pause = state.pause
    if pause is None or not state.paused:
        return state
    over = replace(pause, until=max(at, pause.since))
    clock = state.play_clock and state.play_clock.after(over.length)
    return replace(state, pause=over, play_clock=clock, window=state.window and state.window.moved(over.length))


def in_play_time(state: Table, at: int) -> int:
    """Return a time adjusted for the latest pause: an earlier press reported after it moves like all others."""
    pause = state.pause
    return at + pause.length if pause is not None and at < pause.since else at


MINUTE_NS: Final = 60_000_000_000
MILLISECOND_NS: Final = 1_000_000


def minutes_left(state: "Table", now: int) -> int | None:
    """Return the whole minutes left, including one that has begun; negative once time is over.

    None if the plan sets no time, if no play is going on, or if its start is unknown because the device had no power
    meanwhile.
    """
    clock, allowed = _running(state), play_minutes(state)
    if clock is None or allowed is None:
        return None
    until = state.pause.since if state.pause is not None and state.paused else now
    left = (allowed + state.extra_min) * MINUTE_NS - clock.played_ns(until)
    return -(-left // MINUTE_NS)


def play_minutes(state: "Table") -> int | None:
    """Return the minutes that the plan gives the current play; None if it has no limit."""
    return state.assignment.minutes.get(state.play.round) if state.assignment and state.play else None


def paused_ms(state: "Table") -> int | None:
    """Return the total of the play's finished pauses; None if no play's time is running, or known."""
    clock = _running(state)
    return None if clock is None else clock.paused_ns // MILLISECOND_NS


def played_ms(state: "Table") -> int | None:
    """Return, in a pause, how long the play had lasted when it began; None if there is none, or as above."""
    clock, pause = _running(state), state.pause
    if clock is None or pause is None or not state.paused:
        return None
    return clock.played_ns(pause.since) // MILLISECOND_NS


def _running(state: "Table") -> PlayClock | None:
    return state.play_clock if state.unfinished else None


def arbiter_name(state: Table) -> str:
    """Return the name of the arbiter at the table. Raises NotNow `arbiter_needed`."""
    if state.arbiter is None:
        raise NotNow("arbiter_needed", "by PIN, or let in by the desk")
    return state.arbiter


def current_play(state: Table) -> PlannedPlay:
    """Return the current play. Raises NotNow `no_play`."""
    if state.play is None:
        raise NotNow("no_play", "nothing is being played here")
    return state.play


def check_settled(state: Table, event: ButtonPressed) -> None:
    """Refuse a press made before anybody could read the screen. Raises NotNow `press_too_soon`."""
    if event.at < state.since + SETTLE_NS:
        raise NotNow("press_too_soon", f"{event.seat}, while the screen changed")


def with_acceptance(state: Table, event: ButtonPressed) -> Table:
    """Return the table with one more seat that has accepted. Raises NotNow `press_too_soon`."""
    check_settled(state, event)
    return replace(state, agreed=state.agreed | {event.seat})
