"""What a riichi table shows at its head and in its four seats: the round, the score, deposits, what is paid."""

from collections.abc import Iterator

from broker.contract.counting import RiichiValue
from broker.contract.riichi import RiichiWin
from broker.contract.words import Seat
from broker.rules.riichi.duplicate import HUNDRED
from kiosk.riichi_entry import WinForm
from kiosk.screens import style
from kiosk.screens.alone_shown import AloneShown
from kiosk.screens.pen import Said
from kiosk.screens.riichi_shown import SessionShown
from kiosk.screens.riichi_told import MINUS, signed
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words


def riichi_head(words: Words, shown: Shown) -> list[str]:
    """Give which hand it is, and what lies on the table; nothing at other tables."""
    session = shown.session
    if session is None or shown.prevalent_wind is None:
        return []
    hand = words("riichi_hand", wind=words.seat(shown.prevalent_wind), number=session.dealer)
    return [hand, words("riichi_on_table", counters=session.counters, deposits=session.deposits)]


def riichi_seat(words: Words, shown: Shown, session: SessionShown, seat: Seat) -> Iterator[Said]:
    """Give the lines of one seat."""
    yield from _said(words, shown, session, seat)
    if seat in session.places:
        yield Said(words("riichi_place", place=session.places[seat]), 0.055, style.GOOD)
    if paid := session.paid.get(seat):
        yield Said(signed(paid), 0.07, style.TEXT)
    if seat in session.scores:
        score = str(session.scores[seat]).replace("-", MINUS)
        yield Said(score, 0.05 if session.paid else 0.075, style.QUIET if session.paid else style.TEXT)


def alone_seat(words: Words, shown: Shown, alone: AloneShown, seat: Seat) -> Iterator[Said]:
    """Give the lines of one seat where a hand is scored alone: what was said, or the points of the result."""
    if win := alone.worth(seat):
        yield worth(words, win)
    elif seat in shown.declared:
        yield Said(words("has_declared"), 0.055, style.ATTENTION)
    if seat in alone.marked:
        yield Said(words("riichi_is_tenpai"), 0.05, style.GOOD)
    if shown.result is not None:
        yield Said(signed(shown.result.points[seat] * HUNDRED), 0.085, style.TEXT)
    elif seat in shown.marked:
        yield Said(words(f"{shown.state}_marked"), 0.05, style.GOOD)


def worth(words: Words, win: RiichiWin | RiichiValue) -> Said:
    """Give what a hand is worth."""
    named = "riichi_yakuman" if win.yakuman else "riichi_han_fu" if win.fu else "riichi_han"
    return Said(words(named, han=win.han, fu=win.fu, count=win.yakuman), 0.05, style.TEXT)


def _said(words: Words, shown: Shown, session: SessionShown, seat: Seat) -> Iterator[Said]:
    """Give what this player has said: riichi, a win and its value, tenpai, to be ready."""
    if seat in session.riichi:
        yield Said(words("riichi_laid"), 0.05, style.ATTENTION)
    if isinstance(session.form, WinForm) and (win := session.form.entered.get(seat)):
        yield worth(words, win)
    elif seat in shown.declared:
        yield Said(words("has_declared"), 0.055, style.ATTENTION)
    if shown.state == "confirming" and seat in shown.marked:
        yield Said(words("riichi_seated"), 0.05, style.GOOD)
    if seat in session.marked:
        yield Said(words("riichi_is_tenpai"), 0.05, style.GOOD)
