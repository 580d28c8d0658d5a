"""What was entered so far at a table that plays riichi, written down for a power cut. Pure."""

from typing import Final

import msgspec

from kiosk.riichi_entry import WinForm
from kiosk.riichi_keys import RiichiForm, asked_in
from kiosk.riichi_questions import Question
from kiosk.table.state import Phase

_KINDS: Final[dict[str, type[RiichiForm]]] = {"win": WinForm, "question": Question}


def kept(form: RiichiForm | None) -> str:
    """Write a form down; "" for none, and for one that nobody has touched."""
    if form is None or form == untouched(form):
        return ""
    kind = "win" if isinstance(form, WinForm) else "question"
    return f"{kind} {msgspec.json.encode(form).decode()}"


def untouched(form: RiichiForm) -> RiichiForm | None:
    """Give a form as it was when it began; a question is there only because somebody has asked for it."""
    return WinForm(form.declared, form.riichi, live_kan=form.live_kan) if isinstance(form, WinForm) else None


def reopened(text: str, begun: RiichiForm | None, phase: Phase) -> RiichiForm | None:
    """Give the form of before a power cut where the table still asks for it, else the one that has just begun."""
    kind, _, written = text.partition(" ")
    try:
        form = msgspec.json.decode(written, type=_KINDS[kind])
    except (KeyError, msgspec.DecodeError, UnicodeError):
        return begun
    if isinstance(form, Question):
        return form if phase in asked_in(form.about) else begun
    return form if begun is not None and untouched(form) == begun else begun
