"""What a table's buttons and keys do: each is an event, or fills in a form or the arbiter's panel.

A press counts from its edge. One that agrees, or says tenpai, counts when it is released, as a hold would call instead.
A claim window stays open until every press made in time has been reported.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Final, Protocol

from broker.protocol import AT_THE_TABLE, ArbiterPin, PinAnswer, PinMark, Seat, WinKind
from broker.protocol.arbiter_session import is_unproven, nonce_of, unproven_session
from broker.rules import Profile
from firmware.presses import MS
from firmware.reports import Held, Pressed, Released
from kiosk.arbiter_pin import SealedTry
from kiosk.input.forms import Form, WinForm, Won, press_form_key
from kiosk.input.panel import (
    ArbiterPanel,
    Decided,
    PanelClosed,
    PinGiven,
    is_current,
    opened_panel,
    panel_after_pin,
    panel_draft,
    panel_from_draft,
    panel_on_claim,
    press_panel_key,
    ruling_event,
)
from kiosk.input.riichi import RiichiForm, RiichiKeys, plain_event, riichi_draft, riichi_form_from_draft
from kiosk.table import SETTLE_NS, Event, NotNow, Phase, Table, events, refuse_locked_pin

AGREEING: Final = (Phase.RESTORING, Phase.SEATING, Phase.CONFIRMING, Phase.ACCEPTING)


GRACE_NS: Final = 150 * MS
"""Time for edges that are still on their way; a button box reports every tenth of a second."""

RELEASE_NS: Final = 1_000 * MS
"""Time for the end of a press while a finger is down: on a slow line it is known late whether that was a call."""

RECONNECT_NS: Final = 1_000 * MS
"""Time for a box that is back to report the presses it has kept."""

LONGEST_OPEN_NS: Final = 10_000 * MS
"""The longest that a window stays open after its time: a box that is not back by then may never be."""


class TableButtons:
    """The four buttons of one table: the events they make, and when a claim window may be closed."""

    def __init__(self, shown_at: int) -> None:
        """Note when the screen last asked something new: a box may have kept presses from before a restart."""
        self._shown_at = shown_at
        self._agreeing: dict[Seat, int] = {}
        """Seats that are pressing to agree, and since when."""
        self._heard_at = 0
        """When a press made in time was last reported."""
        self._reconnected_at: int | None = None
        self._disconnected = False

    def event(self, report: Pressed | Released | Held, state: Table, now: int) -> Event | None:
        """Return the event of a report, if it makes one yet. An in-time report means that others may be on their way.

        A press counts only if its player had seen the current question: a slow device must not turn a confirmation into
        a hu. A press from a window that has since closed is for the table to judge.
        """
        if state.closes_at is not None and report.at < state.closes_at:
            self._heard_at = now
        tenpai = state.phase is Phase.DECLARED and state.hand.asks_tenpai and report.at >= (state.closed_at or 0)
        event = self._event_of(report, agrees=state.phase in AGREEING or tenpai)
        return event if event is None or self.accepts(event, state) else None

    def _event_of(self, report: Pressed | Released | Held, *, agrees: bool) -> Event | None:
        since = self._agreeing.pop(report.seat, None)
        match report:
            case Pressed(seat, at) if agrees:
                self._agreeing[seat] = at
                return None
            case Pressed(seat, at):
                return events.ButtonPressed(at=at, seat=seat)
            case Held(seat, at):
                return events.ButtonHeld(at=at, seat=seat)
            case Released(seat, at) if since is None:
                return events.ButtonReleased(at=at, seat=seat)
            case Released(seat):
                return events.ButtonPressed(at=since, seat=seat)

    def accepts(self, event: Event, state: Table) -> bool:
        """Return whether a press was made after the current question could be read. Other events always count."""
        if not isinstance(event, events.ButtonPressed) or event.at >= self._shown_at + SETTLE_NS:
            return True
        return state.closed_at is not None and event.at < state.closed_at

    def screen_changed(self, now: int) -> None:
        """Note that the screen asks something new from now on."""
        self._shown_at = now

    def health(self, code: str | None, now: int) -> None:
        """Note whether the buttons work."""
        if self._disconnected and code is None:
            self._reconnected_at = now
        self._disconnected = code is not None

    def may_close(self, state: Table, now: int) -> bool:
        """Return whether a claim window is open and may be closed, as all reports about it must have arrived."""
        if state.closes_at is None:
            return False
        if now >= state.closes_at + LONGEST_OPEN_NS:
            return True
        quiet_since = max(state.closes_at, self._heard_at) + (RELEASE_NS if state.finger_down else GRACE_NS)
        caught_up = self._reconnected_at is None or now >= self._reconnected_at + RECONNECT_NS
        return not self._disconnected and caught_up and now >= quiet_since


IDLE_NS: Final = 120_000_000_000
"""An arbiter who has touched nothing for so long is taken to have gone, as is whoever was asked for the PIN."""

CHECK_NS: Final = 2_000_000_000
"""How long the scorer may take to check a PIN. After that the arbiter goes on, and it is checked later."""


class PinChecker(Protocol):
    """What the keyboard needs to know about the arbiters' PIN."""

    @property
    def known(self) -> bool:
        """Whether a PIN is set."""

    @property
    def mark(self) -> PinMark | None:
        """A mark that tells PINs apart without revealing them."""

    def submit(self, pin: str) -> SealedTry:
        """Seal a typed PIN, and ask the scorer if possible."""

    def take(self, said: ArbiterPin) -> None:
        """Accept the scorer's message about the PIN."""


@dataclass(frozen=True, slots=True)
class Checking:
    """A PIN that the scorer is checking."""

    attempt: SealedTry
    panel: ArbiterPanel
    """The panel to return to once the PIN has been checked."""
    until: int
    """When to stop waiting, in ns."""


class KeyboardDrafts(Protocol):
    """Saves what was typed so far, so that no key need be pressed again after a power cut."""

    draft: str
    panel: str

    def with_drafts(self, **drafts: str) -> AbstractContextManager[None]:
        """Save these drafts in one transaction with an event in the block."""


class Keyboard:
    """The keyboard of one table. `apply` returns the code with which the table refuses an event, or None."""

    def __init__(self, apply: Callable[[Event], str | None], pins: PinChecker, drafts: KeyboardDrafts) -> None:
        self._apply, self._pins, self._drafts = apply, pins, drafts
        self.pin = pins.mark
        """The mark of the arbiters' PIN."""
        self._typed: tuple[str, ...] = ()
        self._restored_draft = drafts.draft
        """What was typed before the program started, until it is clear whether it is still asked for."""
        self._riichi_saved = self._restored_draft
        self.form: Form | None = None
        """The form being filled in; there is one while a declaration waits for its value."""
        self._panel: ArbiterPanel | None = None
        self._restored_panel = drafts.panel
        """The panel that was open before the program started, until the table's state is known."""
        self._checking: Checking | None = None
        self._proved = ""
        """The last PIN found right among those given while the scorer could not be asked."""
        self._active_at: int | None = None
        """When the arbiter, let in or asked for the PIN, last touched something."""
        self.problem: str | None = None
        """Code of the last refusal."""
        self.riichi = RiichiKeys(apply)
        """The keys of a table that plays riichi."""

    @property
    def panel(self) -> ArbiterPanel | None:
        """The arbiter's panel, while it is open."""
        return self._panel

    @panel.setter
    def panel(self, panel: ArbiterPanel | None) -> None:
        if panel_draft(panel) != panel_draft(self._panel):
            self._drafts.panel = panel_draft(panel)
        self._panel = panel

    def _apply_with(self, panel: ArbiterPanel | None, event: Event) -> str | None:
        """Apply an event and save the next panel with it, so that a ruling already made is not asked for again."""
        with self._drafts.with_drafts(panel=panel_draft(panel)):
            problem = self._apply(event)
        if self._drafts.panel == panel_draft(panel):
            self._panel = panel
        self.panel = panel
        return problem

    def take_pin(self, said: ArbiterPin, state: Table, now: int) -> None:
        """Accept the scorer's message about the PIN, and its answer about the last one given here."""
        self._pins.take(said)
        self.pin = self._pins.mark
        if said.answer is not None:
            self._take_answer(said.answer, state, now)

    def unproven(self, state: Table) -> bool:
        """Return whether the arbiter at the table has given a PIN that is still unchecked."""
        session = state.arbiter_session
        return session is not None and is_unproven(session) and nonce_of(session) != self._proved

    @property
    def filled_in(self) -> Form | RiichiForm | None:
        """The open form, of MCR or riichi."""
        return self.form or self.riichi.form

    def follow(self, state: Table) -> None:
        """Begin or drop a form if the declarations have changed."""
        if self._restored_panel:
            self._panel, self._restored_panel = panel_from_draft(self._restored_panel, state), ""
        if state.play is None:
            self.panel = None  # the screen shows no panel without a play
        elif self.panel is not None and self.panel.ask not in ("pin", "checking"):
            self.panel = None if state.arbiter is None else self._renewed(self.panel, state)
        if state.session is not None or state.planned_riichi:
            self._follow_riichi(state)
            return
        declared = tuple(one.seat for one in state.declarations) if state.phase is Phase.DECLARED else ()
        if not declared:
            self.form = None
            self._forget()
        elif self.form is None or self.form.declared != declared:
            self._begin(Form(declared, least=_least(state)))

    def _follow_riichi(self, state: Table) -> None:
        self.riichi.follow(state)
        if self._restored_draft:
            self.riichi.form = riichi_form_from_draft(self._restored_draft, self.riichi.form, state.phase)
            self._restored_draft = ""
        if (text := riichi_draft(self.riichi.form)) != self._riichi_saved:
            self._drafts.draft = self._riichi_saved = text

    def _renewed(self, panel: ArbiterPanel, state: Table) -> ArbiterPanel:
        """Start over if the possible rulings or the play have changed."""
        return panel if is_current(panel, state) else opened_panel(state)

    def idle(self, state: Table, now: int) -> None:
        """Let an arbiter go who has been idle too long; stop waiting for a scorer that is too slow."""
        if self._checking is not None and now >= self._checking.until:
            checking, self._checking = self._checking, None
            self.problem = self._begin_unproven(checking.panel, checking.attempt, state, now)
        if state.arbiter is None and self.panel is None:
            self._active_at = None
        elif self._active_at is None:
            self._active_at = now
        elif now >= self._active_at + IDLE_NS:
            self.problem, self._active_at = None, None
            self._apply_with(None, events.ArbiterLeft(at=now))

    def key(self, key: str, state: Table, now: int) -> None:
        """Handle a key."""
        if self.panel is not None and key != "c":
            self._rule(self.panel, key, state, now)
            return
        if key == "c":
            seen = state.calling and not state.discreet
            self.problem = self._apply(events.CallToggled(at=now, open=not seen))
        elif key == "a":
            self._open(state, ArbiterPanel("pin"))
        elif state.paused:  # the screen shows only the pause, so no key has a meaning
            self.problem = None
        elif key == "x" and (seat := self._seat_in_question(state)):
            self._open(state, panel_on_claim(seat))
        else:
            self._type(key, state, now)

    def _type(self, key: str, state: Table, now: int) -> None:
        """Handle a key that answers the current question, or belongs to the phase."""
        if state.doubt in ("asked", "leaving"):
            self.problem = self._apply(events.NoHuMeant(at=now)) if key == "n" else None
        elif state.session is not None or state.planned_riichi:
            with self._drafts.with_drafts(draft=""):
                self.riichi.key(key, state, now)
            self._riichi_saved = self._drafts.draft
            self.problem = self.riichi.problem
        elif event := plain_event(key, state, now):
            self.problem = self._apply(event)
        elif self.form is not None:
            self._fill(self.form, key, now)

    # ---- the form ---------------------------------------------------------------------------

    def _begin(self, form: Form) -> None:
        """Begin a form, with what was typed into it before a power cut."""
        of, _, keys = self._restored_draft.partition(":")
        self._typed, self._restored_draft = (), ""
        for key in keys.split() if of == ",".join(form.declared) else ():
            filled = press_form_key(form, key)
            if isinstance(filled, Form):
                form, self._typed = filled, (*self._typed, key)
        self.form = form

    def _fill(self, form: Form, key: str, now: int) -> None:
        filled = press_form_key(form, key)
        if isinstance(filled, Won):
            self.problem = self._apply(_event(filled, now))
            if self.problem is None:
                self.form = None
                self._forget()
        elif isinstance(filled, Form):
            self._store_typed(filled, key)
            self.problem = None
        else:
            self.problem = filled

    def _forget(self) -> None:
        """Discard what was typed: it is now an event, or no longer asked for."""
        if self._typed or self._restored_draft:
            self._drafts.draft = ""
        self._typed, self._restored_draft = (), ""

    def _store_typed(self, form: Form, key: str) -> None:
        if form != self.form:
            self._typed = (*self._typed, key)
            self._drafts.draft = f"{','.join(form.declared)}:{' '.join(self._typed)}"
        self.form = form

    # ---- the arbiter's panel ----------------------------------------------------------------

    def _open(self, state: Table, panel: ArbiterPanel) -> None:
        """Open a panel, after the PIN unless an arbiter is already let in. Without a play, none opens."""
        self.problem, self._active_at = None, None
        if state.play is None:
            return
        if state.arbiter is not None:
            self.panel = panel_after_pin(panel, state)
        elif self._pins.known:
            self.panel = panel
        else:
            self.problem = "arbiter_needed"

    def _seat_in_question(self, state: Table) -> Seat | None:
        """Return the seat whose tile or value is asked for. In a riichi session, faults have keys of their own."""
        form = self.riichi.form if state.planned_riichi else self.form
        return form.whose_tile or form.seat if isinstance(form, Form | WinForm) else None

    def _rule(self, panel: ArbiterPanel, key: str, state: Table, now: int) -> None:
        self.problem, self._active_at = None, None
        match press_panel_key(panel, key):
            case ArbiterPanel() as next_panel:
                self.panel = next_panel
            case PinGiven(pin):
                self.problem = self._try_pin(panel, pin, state, now)
                if self.problem:
                    self.panel = replace(panel, digits="")
            case Decided() as decided:
                self.problem = self._apply_with(None, ruling_event(decided, state, now))
            case PanelClosed() if state.arbiter is not None:
                self._apply_with(None, events.ArbiterLeft(at=now))
            case PanelClosed():
                self.panel = self._checking = None

    def _try_pin(self, panel: ArbiterPanel, pin: str, state: Table, now: int) -> str | None:
        """Have a PIN checked, or go on if nobody can check it; return a code if wrong ones impose a wait."""
        try:
            refuse_locked_pin(state, now)
        except NotNow as refusal:
            return refusal.code
        attempt = self._pins.submit(pin)
        if not attempt.sent:
            return self._begin_unproven(panel, attempt, state, now)
        self._checking = Checking(attempt, replace(panel, digits=""), now + CHECK_NS)
        self.panel = replace(panel, ask="checking", digits="")
        return None

    def _begin_unproven(self, panel: ArbiterPanel, attempt: SealedTry, state: Table, now: int) -> str | None:
        """Let an arbiter in whose PIN is checked later; the rulings count if it was right."""
        session = unproven_session(attempt.session)
        admitted = events.ArbiterAdmitted(at=now, by=AT_THE_TABLE, session=session, sealed=attempt.sealed)
        return self._apply_with(panel_after_pin(panel, state), admitted)

    def _take_answer(self, answer: PinAnswer, state: Table, now: int) -> None:
        """Let an arbiter in whose PIN is right; dismiss one who went on with a wrong one."""
        checking = self._checking
        if checking is not None and checking.attempt.session == answer.asked:
            self._checking = None
            if answer.session is not None:
                admitted = events.ArbiterAdmitted(at=now, by=AT_THE_TABLE, session=answer.session)
                self.problem = self._apply_with(panel_after_pin(checking.panel, state), admitted)
            else:
                self._refuse_pin(checking.panel, answer, now)
        elif state.arbiter_session == unproven_session(answer.asked):
            if answer.session is not None:
                self._proved = answer.asked
            else:
                self._apply(events.ArbiterLeft(at=now))
                self._refuse_pin(None, answer, now)

    def _refuse_pin(self, panel: ArbiterPanel | None, answer: PinAnswer, now: int) -> None:
        self.panel, self.problem = panel, answer.code
        if answer.code == NotNow("pin_wrong").code:
            self._apply(events.PinRefused(at=now))


def _least(state: Table) -> int:
    """Return the lowest hand value that wins here."""
    rules = state.profile
    return rules.payments.minimum.value if isinstance(rules, Profile) else 1


def _event(filled: Won, now: int) -> Event:
    win: WinKind = "discard" if filled.discarder else "self_drawn"
    winners, tiles = filled.winners, filled.declared_on
    return events.ValueEntered(at=now, win=win, winners=winners, discarder=filled.discarder, declared_on=tiles)
