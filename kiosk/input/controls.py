"""What buttons and keys of a table do: each is an event, or fills in a form or the arbiter's panel.

A press counts from its edge; one that agrees, or says tenpai, when it is let go: a hold calls, and does neither. A
claim window stays open until whoever pressed in time was heard.
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
"""For edges that are on their way; a box speaks every tenth of a second."""

END_NS: Final = 1_000 * MS
"""For how a press ends, where a finger is still down: with a slow line it comes late whether that was a call."""

BACK_NS: Final = 1_000 * MS
"""For what a box has kept, from when it is back."""

PATIENCE_NS: Final = 10_000 * MS
"""Longer than this after its time no window stays open: a box that is not back by then may never be."""


class TableButtons:
    """The four buttons of one table: what is done with them, and when a claim window may be closed."""

    def __init__(self, shown_at: int) -> None:
        """Take when the screen last asked for something else: a box may have kept presses from before a restart."""
        self._shown_at = shown_at
        self._agreeing: dict[Seat, int] = {}
        """Who is pressing to agree, and since when."""
        self._heard_at = 0
        """When a press that was in time was last reported."""
        self._back_at: int | None = None
        self._away = False

    def event(self, report: Pressed | Released | Held, state: Table, now: int) -> Event | None:
        """Return what has happened, if anything has yet. Where one speaks that was in time, others may be on their way.

        A press counts only of who had seen what is asked: a slow device must not make a hu of a confirmation. What was
        pressed in a claim window that is closed by now is the table's to judge.
        """
        if state.closes_at is not None and report.at < state.closes_at:
            self._heard_at = now
        tenpai = state.phase is Phase.DECLARED and state.hand.asking and report.at >= (state.closed_at or 0)
        event = self._happened(report, agrees=state.phase in AGREEING or tenpai)
        return event if event is None or self.counts(event, state) else None

    def _happened(self, report: Pressed | Released | Held, *, agrees: bool) -> Event | None:
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

    def counts(self, event: Event, state: Table) -> bool:
        """Return whether whoever pressed had seen what the screen asks now; what is no press always counts."""
        if not isinstance(event, events.ButtonPressed) or event.at >= self._shown_at + SETTLE_NS:
            return True
        return state.closed_at is not None and event.at < state.closed_at

    def screen_changed(self, now: int) -> None:
        """Take in that the screen asks for something else from now on."""
        self._shown_at = now

    def health(self, code: str | None, now: int) -> None:
        """Take in whether the buttons work."""
        if self._away and code is None:
            self._back_at = now
        self._away = code is not None

    def may_close(self, state: Table, now: int) -> bool:
        """Return whether there is a claim window that may be closed now, by how far the buttons have been heard."""
        if state.closes_at is None:
            return False
        if now >= state.closes_at + PATIENCE_NS:
            return True
        quiet_since = max(state.closes_at, self._heard_at) + (END_NS if state.finger_down else GRACE_NS)
        return not self._away and now >= quiet_since and (self._back_at is None or now >= self._back_at + BACK_NS)


STAYS_NS: Final = 120_000_000_000
"""An arbiter who has touched nothing for so long has gone, as has whoever was asked for the PIN."""

CHECK_NS: Final = 2_000_000_000
"""So long the scorer has to judge a PIN; then the arbiter goes on, and it is judged later."""


class PinChecker(Protocol):
    """What the keyboard needs of the arbiters' PIN."""

    @property
    def known(self) -> bool:
        """Whether there is one."""

    @property
    def mark(self) -> PinMark | None:
        """What tells one PIN from another without revealing it."""

    def give(self, pin: str) -> SealedTry:
        """Seal one that was typed, and ask the scorer if it can be asked."""

    def take(self, said: ArbiterPin) -> None:
        """Take in what the scorer says of it."""


@dataclass(frozen=True, slots=True)
class Checking:
    """A PIN that the scorer was asked about."""

    given: SealedTry
    panel: ArbiterPanel
    """What the arbiter had come for."""
    until: int
    """When not to wait any more, ns."""


class KeyboardDrafts(Protocol):
    """Keeps what was typed so far, so that no key is pressed twice after a power cut."""

    draft: str
    panel: str

    def beside(self, **drafts: str) -> AbstractContextManager[None]:
        """Write these with the event that happens meanwhile, as one."""


class Keyboard:
    """One table's keyboard. `apply` gives the code with which the table refuses an event, or None."""

    def __init__(self, apply: Callable[[Event], str | None], pins: PinChecker, drafts: KeyboardDrafts) -> None:
        self._apply, self._pins, self._drafts = apply, pins, drafts
        self.pin = pins.mark
        """What tells which PIN the arbiters have here."""
        self._typed: tuple[str, ...] = ()
        self._left = drafts.draft
        """What was typed before the program started, until it is known whether it is asked for still."""
        self._riichi_kept = self._left
        self.form: Form | None = None
        """What is being filled in; there is a form while a declaration waits for its value."""
        self._panel: ArbiterPanel | None = None
        self._panel_left = drafts.panel
        """The panel that was open before the program started, until the table has been seen."""
        self._checking: Checking | None = None
        self._proved = ""
        """The PIN that was judged right last, of those that were given while the scorer could not be asked."""
        self._seen_at: int | None = None
        """When the arbiter last touched something, let in or asked for the PIN."""
        self.problem: str | None = None
        """Code of what was refused last."""
        self.riichi = RiichiKeys(apply)
        """At a table that plays riichi."""

    @property
    def panel(self) -> ArbiterPanel | None:
        """The arbiter's, while it is open."""
        return self._panel

    @panel.setter
    def panel(self, panel: ArbiterPanel | None) -> None:
        if panel_draft(panel) != panel_draft(self._panel):
            self._drafts.panel = panel_draft(panel)
        self._panel = panel

    def _apply_with(self, panel: ArbiterPanel | None, event: Event) -> str | None:
        """Take an event in, and with it another panel: of a ruling that stands nobody is asked again."""
        with self._drafts.beside(panel=panel_draft(panel)):
            problem = self._apply(event)
        if self._drafts.panel == panel_draft(panel):
            self._panel = panel
        self.panel = panel
        return problem

    def take_pin(self, said: ArbiterPin, state: Table, now: int) -> None:
        """Take in what the scorer says of the PIN, and of the one that was given here last."""
        self._pins.take(said)
        self.pin = self._pins.mark
        if said.answer is not None:
            self._answered(said.answer, state, now)

    def unproven(self, state: Table) -> bool:
        """Return whether the arbiter who is here has given a PIN that nobody has judged yet."""
        session = state.arbiter_session
        return session is not None and is_unproven(session) and nonce_of(session) != self._proved

    @property
    def filled_in(self) -> Form | RiichiForm | None:
        """The form that is open, at whichever table."""
        return self.form or self.riichi.form

    def follow(self, state: Table) -> None:
        """Begin a form, or drop it, where the declarations have changed."""
        if self._panel_left:
            self._panel, self._panel_left = panel_from_draft(self._panel_left, state), ""
        if state.play is None:
            self.panel = None  # without a play the screen shows none
        elif self.panel is not None and self.panel.ask not in ("pin", "checking"):
            self.panel = None if state.arbiter is None else self._renewed(self.panel, state)
        if state.session is not None or state.alone:
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
        if self._left:
            self.riichi.form = riichi_form_from_draft(self._left, self.riichi.form, state.phase)
            self._left = ""
        if (text := riichi_draft(self.riichi.form)) != self._riichi_kept:
            self._drafts.draft = self._riichi_kept = text

    def _renewed(self, panel: ArbiterPanel, state: Table) -> ArbiterPanel:
        """Start over where something else can be ruled by now, or on another play."""
        return panel if is_current(panel, state) else opened_panel(state)

    def idle(self, state: Table, now: int) -> None:
        """Let an arbiter go who has touched nothing for a while; wait no longer than is bearable for the scorer."""
        if self._checking is not None and now >= self._checking.until:
            checking, self._checking = self._checking, None
            self.problem = self._begin_unproven(checking.panel, checking.given, state, now)
        if state.arbiter is None and self.panel is None:
            self._seen_at = None
        elif self._seen_at is None:
            self._seen_at = now
        elif now >= self._seen_at + STAYS_NS:
            self.problem, self._seen_at = None, None
            self._apply_with(None, events.ArbiterLeft(at=now))

    def key(self, key: str, state: Table, now: int) -> None:
        """Take one key in."""
        if self.panel is not None and key != "c":
            self._rule(self.panel, key, state, now)
            return
        if key == "c":
            seen = state.calling and not state.discreet
            self.problem = self._apply(events.CallToggled(at=now, open=not seen))
        elif key == "a":
            self._open(state, ArbiterPanel("pin"))
        elif state.paused:  # the screen shows the pause, and nothing that a key could mean
            self.problem = None
        elif key == "x" and (seat := self._asked_of(state)):
            self._open(state, panel_on_claim(seat))
        else:
            self._type(key, state, now)

    def _type(self, key: str, state: Table, now: int) -> None:
        """Take a key in that means the present question, or the phase."""
        if state.doubt in ("asked", "leaving"):
            self.problem = self._apply(events.NoHuMeant(at=now)) if key == "n" else None
        elif state.session is not None or state.alone:
            with self._drafts.beside(draft=""):
                self.riichi.key(key, state, now)
            self._riichi_kept = self._drafts.draft
            self.problem = self.riichi.problem
        elif event := plain_event(key, state, now):
            self.problem = self._apply(event)
        elif self.form is not None:
            self._fill(self.form, key, now)

    # ---- the form ---------------------------------------------------------------------------

    def _begin(self, form: Form) -> None:
        """Begin a form, with what was typed into it before a power cut."""
        of, _, keys = self._left.partition(":")
        self._typed, self._left = (), ""
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
            self._keep(filled, key)
            self.problem = None
        else:
            self.problem = filled

    def _forget(self) -> None:
        """Drop what was typed: it has become an event, or is asked for no more."""
        if self._typed or self._left:
            self._drafts.draft = ""
        self._typed, self._left = (), ""

    def _keep(self, form: Form, key: str) -> None:
        if form != self.form:
            self._typed = (*self._typed, key)
            self._drafts.draft = f"{','.join(form.declared)}:{' '.join(self._typed)}"
        self.form = form

    # ---- the arbiter's panel ----------------------------------------------------------------

    def _open(self, state: Table, come_for: ArbiterPanel) -> None:
        """Open it with what the arbiter has come for, behind the PIN where nobody is let in; never without a play."""
        self.problem, self._seen_at = None, None
        if state.play is None:
            return
        if state.arbiter is not None:
            self.panel = panel_after_pin(come_for, state)
        elif self._pins.known:
            self.panel = come_for
        else:
            self.problem = "arbiter_needed"

    def _asked_of(self, state: Table) -> Seat | None:
        """Return whose tile or value is asked. In a riichi session a fault is paid in points, by keys of its own."""
        form = self.riichi.form if state.alone else self.form
        return form.whose_tile or form.seat if isinstance(form, Form | WinForm) else None

    def _rule(self, panel: ArbiterPanel, key: str, state: Table, now: int) -> None:
        self.problem, self._seen_at = None, None
        match press_panel_key(panel, key):
            case ArbiterPanel() as further:
                self.panel = further
            case PinGiven(pin):
                self.problem = self._try(panel, pin, state, now)
                if self.problem:
                    self.panel = replace(panel, digits="")
            case Decided() as decided:
                self.problem = self._apply_with(None, ruling_event(decided, state, now))
            case PanelClosed() if state.arbiter is not None:
                self._apply_with(None, events.ArbiterLeft(at=now))
            case PanelClosed():
                self.panel = self._checking = None

    def _try(self, panel: ArbiterPanel, pin: str, state: Table, now: int) -> str | None:
        """Have a PIN judged, or go on without where nobody can; return the code where wrong ones make it wait."""
        try:
            refuse_locked_pin(state, now)
        except NotNow as refusal:
            return refusal.code
        given = self._pins.give(pin)
        if not given.asked:
            return self._begin_unproven(panel, given, state, now)
        self._checking = Checking(given, replace(panel, digits=""), now + CHECK_NS)
        self.panel = replace(panel, ask="checking", digits="")
        return None

    def _begin_unproven(self, panel: ArbiterPanel, given: SealedTry, state: Table, now: int) -> str | None:
        """Let somebody in whose PIN is judged later: what is ruled counts if it was right."""
        session = unproven_session(given.session)
        admitted = events.ArbiterAdmitted(at=now, by=AT_THE_TABLE, session=session, sealed=given.sealed)
        return self._apply_with(panel_after_pin(panel, state), admitted)

    def _answered(self, answer: PinAnswer, state: Table, now: int) -> None:
        """Let the arbiter in whose PIN is right; one who went on with a wrong one goes."""
        checking = self._checking
        if checking is not None and checking.given.session == answer.asked:
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
    """Return what a hand must be worth here to win."""
    rules = state.profile
    return rules.payments.minimum.value if isinstance(rules, Profile) else 1


def _event(filled: Won, now: int) -> Event:
    win: WinKind = "discard" if filled.discarder else "self_drawn"
    told, tiles = filled.winners, filled.declared_on
    return events.ValueEntered(at=now, win=win, winners=told, discarder=filled.discarder, declared_on=tiles)
