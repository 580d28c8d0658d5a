"""Entering how a hand of riichi was won: each winner's han and fu, whose tile it was, and what follows. Pure.

The keys: digits and `enter`, `y` (yakuman; yes), `n` (no), `x` (this declaration is false: a chombo), `d` (drawn by the
winner), `k` (drawn after a kan of a discard), `e s w n` (a seat), `back`, `clear`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from broker.contract.riichi import RiichiEvent, RiichiWin
from broker.contract.words import Seat
from kiosk.entry import DIGITS, SEAT_KEYS

LONGEST: Final = 3

FU_FROM: Final = 5
"""From so many han on fu do not matter."""

MOST_YAKUMAN: Final = 6

Asked = Literal["han", "fu", "yakuman", "responsible", "discarder", "riichi_tile", "live_kan"]


@dataclass(frozen=True, slots=True)
class WinForm:
    """What has been entered so far, for these declarations in their order."""

    declared: tuple[Seat, ...]
    riichi: tuple[Seat, ...] = ()
    wins: tuple[RiichiWin, ...] = ()
    asked: Asked = "han"
    han: int = 0
    yakuman: int = 0
    digits: str = ""
    loser: Seat | None = None
    live_kan: bool = False
    """Whether a tsumo after a kan of a discard is paid by who discarded it."""

    @property
    def seat(self) -> Seat | None:
        """Whose hand is asked about; None when all are there."""
        return self.declared[len(self.wins)] if len(self.wins) < len(self.declared) else None

    @property
    def entered(self) -> Mapping[Seat, RiichiWin]:
        """What is known of the winners."""
        return dict(zip(self.declared, self.wins, strict=False))


@dataclass(frozen=True, slots=True)
class Told:
    """The form is complete."""

    event: RiichiEvent
    on_riichi_tile: bool = False


def press(form: WinForm, key: str) -> WinForm | Told:
    """Take one key; one that means nothing here leaves the form as it is."""
    if key == "back":
        return _back(form)
    if form.asked in ("han", "fu", "yakuman"):
        return _number(form, key)
    if form.asked == "responsible":
        return _responsible(form, key)
    return {"discarder": _discarder, "riichi_tile": _riichi_tile, "live_kan": _kan_from}[form.asked](form, key)


def _number(form: WinForm, key: str) -> WinForm | Told:
    if key in DIGITS and len(form.digits) < LONGEST:
        return replace(form, digits=(form.digits + key).lstrip("0"))
    if key == "clear":
        return replace(form, digits="")
    if key == "enter" and form.digits:
        return _take_number(form, int(form.digits))
    if key == "y" and form.asked == "han":
        return replace(form, asked="yakuman", digits="1")
    if key == "x" and form.seat is not None:
        return Told(RiichiEvent(kind="chombo", offenders=(form.seat,)))
    return form


def _take_number(form: WinForm, number: int) -> WinForm:
    if form.asked == "yakuman":
        return replace(form, yakuman=number, asked="responsible", digits="") if number <= MOST_YAKUMAN else form
    if form.asked == "fu":
        return _with(form, RiichiWin(han=form.han, fu=number))
    if number < FU_FROM:
        return replace(form, han=number, asked="fu", digits="")
    return _with(form, RiichiWin(han=number)) if number < 100 else form  # noqa: PLR2004 - two digits


def _responsible(form: WinForm, key: str) -> WinForm:
    if key == "enter":
        return _with(form, RiichiWin(yakuman=form.yakuman))
    seat = SEAT_KEYS.get(key)
    return form if seat in (None, form.seat) else _with(form, RiichiWin(yakuman=form.yakuman, responsible=seat))


def _with(form: WinForm, win: RiichiWin) -> WinForm:
    """Ask for the next hand, or whose tile it was."""
    wins = (*form.wins, win)
    asked: Asked = "han" if len(wins) < len(form.declared) else "discarder"
    return replace(form, wins=wins, asked=asked, han=0, yakuman=0, digits="")


def _discarder(form: WinForm, key: str) -> WinForm | Told:
    if key == "d" and len(form.wins) == 1:
        return Told(RiichiEvent(kind="tsumo", wins=dict(form.entered)))
    if key == "k" and len(form.wins) == 1 and form.live_kan:
        return replace(form, asked="live_kan")
    seat = SEAT_KEYS.get(key)
    if seat is None or seat in form.declared:
        return form
    asked = replace(form, loser=seat, asked="riichi_tile")
    return asked if seat in form.riichi else _ron(asked, on_riichi_tile=False)


def _kan_from(form: WinForm, key: str) -> WinForm | Told:
    seat = SEAT_KEYS.get(key)
    if seat is None or seat in form.declared:
        return form
    return Told(RiichiEvent(kind="tsumo", wins=dict(form.entered), kan_from=seat))


def _riichi_tile(form: WinForm, key: str) -> WinForm | Told:
    return _ron(form, on_riichi_tile=key == "y") if key in ("y", "n") else form


def _ron(form: WinForm, *, on_riichi_tile: bool) -> Told:
    return Told(RiichiEvent(kind="ron", wins=dict(form.entered), loser=form.loser), on_riichi_tile)


def _back(form: WinForm) -> WinForm:
    """Go one step back: a digit, a question, or the hand before."""
    if form.digits and form.asked != "yakuman":
        return replace(form, digits=form.digits[:-1])
    if form.asked in ("fu", "yakuman", "responsible"):
        return replace(form, asked="han", han=0, yakuman=0, digits="")
    if form.asked in ("riichi_tile", "live_kan"):
        return replace(form, asked="discarder", loser=None)
    return replace(form, wins=form.wins[:-1], asked="han")
