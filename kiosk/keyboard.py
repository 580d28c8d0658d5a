"""What keys do: each is an event of the table, or fills the form in."""

from collections.abc import Callable

from broker.contract.words import WinKind
from kiosk.entry import Form, FoundFalse, Won, press
from kiosk.riichi_keys import RiichiKeys
from kiosk.table.events import (
    CallToggled,
    Event,
    FalseHuRuled,
    NextDealCalled,
    PlayEndedDrawn,
    ResultRefused,
    ValueEntered,
)
from kiosk.table.state import Phase, Table


class Keyboard:
    """One table's keyboard. `apply` gives the code with which the table refuses an event, or None."""

    def __init__(self, apply: Callable[[Event], str | None]) -> None:
        self._apply = apply
        self.form: Form | None = None
        """What is being filled in; there is a form while a declaration waits for its value."""
        self.problem: str | None = None
        """Code of what was refused last."""
        self.riichi = RiichiKeys(apply)
        """At a table that plays riichi."""

    def follow(self, state: Table) -> None:
        """Begin a form, or drop it, where the declarations have changed."""
        if state.session is not None:
            self.riichi.follow(state)
            return
        declared = tuple(one.seat for one in state.declarations) if state.phase is Phase.DECLARED else ()
        if not declared:
            self.form = None
        elif self.form is None or self.form.declared != declared:
            self.form = Form(declared, state.profile.false_hu.fines.value)

    def key(self, key: str, state: Table, now: int) -> None:
        """Take one key in."""
        plain: dict[tuple[Phase, str], Event] = {
            (Phase.PLAYING, "d"): PlayEndedDrawn(at=now),
            (Phase.CLAIMING, "d"): PlayEndedDrawn(at=now),
            (Phase.ACCEPTING, "r"): ResultRefused(at=now),
            (Phase.RECORDED, "enter"): NextDealCalled(at=now),
        }
        if key == "c":
            seen = state.calling and not state.discreet
            self.problem = self._apply(CallToggled(at=now, open=not seen))
        elif state.session is not None:
            self.riichi.key(key, state, now)
            self.problem = self.riichi.problem
        elif event := plain.get((state.phase, key)):
            self.problem = self._apply(event)
        elif self.form is not None:
            self._fill(self.form, key, now)

    def _fill(self, form: Form, key: str, now: int) -> None:
        filled = press(form, key)
        self.form = filled if isinstance(filled, Form) else None
        self.problem = None if isinstance(filled, Form) else self._apply(_event(filled, now))


def _event(filled: Won | FoundFalse, now: int) -> Event:
    if isinstance(filled, FoundFalse):
        return FalseHuRuled(at=now, seat=filled.seat, imp=filled.imp, reason="false hu")
    win: WinKind = "discard" if filled.discarder else "self_drawn"
    return ValueEntered(at=now, win=win, winners=filled.winners, discarder=filled.discarder)
