"""Forms for a win: the value of each declared hand, and whose tile it was; for riichi han and fu. Pure functions.

If several have declared, the form first asks, in the order of the presses, on which tile each did.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeVar

from broker.protocol import SEATS, RiichiEvent, RiichiWin, Seat, play_sequence

DIGITS: Final = frozenset("0123456789")
"""Not `isdigit`, which accepts more digits than `int` does."""

SEAT_KEYS: Final[dict[str, Seat]] = {seat[0]: seat for seat in SEATS}

MOST_VALUE: Final = 400
"""No hand in the rule book comes near: the highest, all honours with four kongs, has some 330 fan."""


@dataclass(frozen=True, slots=True)
class TilesForm:
    """Declarations in their order and, if there are several, the tile on which each was made."""

    declared: tuple[Seat, ...]
    tiles: tuple[Seat, ...] = field(default=(), kw_only=True)
    """The answers so far, in order: the seat whose tile it was. The declarer's own seat means self-drawn."""

    @property
    def whose_tile(self) -> Seat | None:
        """The seat that is asked on which tile it declared; None if only one has declared, or all have answered."""
        answered = len(self.tiles)
        return self.declared[answered] if 1 < len(self.declared) > answered else None

    @property
    def declared_on(self) -> dict[Seat, Seat]:
        """The seat on whose tile each declared, as far as answered."""
        return dict(zip(self.declared, self.tiles, strict=False))

    @property
    def valued(self) -> tuple[Seat, ...]:
        """The seats whose hands are valued: those that declared on the earliest tile."""
        return play_sequence.winning_tile(self.declared_on)[1] if self.tiles else self.declared

    @property
    def overtaken(self) -> tuple[Seat, ...]:
        """The seats that declared on a later tile, which was therefore never discarded."""
        return () if self.whose_tile else tuple(seat for seat in self.declared if seat not in self.valued)


@dataclass(frozen=True, slots=True)
class Form(TilesForm):
    """The input so far for a win under MCR."""

    values: tuple[int, ...] = ()
    digits: str = ""
    least: int = 1
    """The lowest hand value that wins."""

    @property
    def seat(self) -> Seat | None:
        """The seat whose value is asked for; None while tiles are asked for, and when all values are there."""
        done = len(self.values)
        return self.valued[done] if self.whose_tile is None and done < len(self.valued) else None


@dataclass(frozen=True, slots=True)
class Won:
    """A complete form; without a discarder, the win was self-drawn."""

    winners: dict[Seat, int]
    discarder: Seat | None
    declared_on: dict[Seat, Seat] = field(default_factory=dict)


AnyTilesForm = TypeVar("AnyTilesForm", bound=TilesForm)


def press_form_key(form: Form, key: str) -> Form | Won | str:
    """Handle a key; return the form, or the code of a refusal. A key without meaning leaves the form as it is."""
    if form.whose_tile is not None:
        return _form_back(form) if key == "back" else _ask_tile(form, form.whose_tile, key)
    if form.seat is None:
        return _ask_discarder(form, key)
    return _ask_value(form, key)


def _ask_tile(form: AnyTilesForm, seat: Seat, key: str) -> AnyTilesForm | str:
    owner = seat if key == "d" else SEAT_KEYS.get(key)
    if owner is None or (owner == seat and key != "d"):
        return form
    answered = replace(form, tiles=(*form.tiles, owner))
    drawn = answered.whose_tile is None and play_sequence.winning_tile(answered.declared_on)[0] is None
    return "several_self_drawn" if drawn else answered


def _ask_value(form: Form, key: str) -> Form | Won | str:
    if key in DIGITS:
        digits = (form.digits + key).lstrip("0")
        return "above_maximum" if int(digits or 0) > MOST_VALUE else replace(form, digits=digits)
    if key == "enter" and form.digits:
        if int(form.digits) < form.least:
            return "below_minimum"
        return _with_value(form, int(form.digits))
    if key == "clear":
        return replace(form, digits="")
    return _form_back(form) if key == "back" else form


def _with_value(form: Form, value: int) -> Form | Won:
    valued = replace(form, values=(*form.values, value), digits="")
    if valued.seat is not None or not valued.tiles:
        return valued
    winners = dict(zip(valued.valued, valued.values, strict=True))
    return Won(winners, play_sequence.winning_tile(valued.declared_on)[0], valued.declared_on)


def _form_back(form: Form) -> Form:
    if form.digits:
        return replace(form, digits=form.digits[:-1])
    if form.values:
        return replace(form, values=form.values[:-1])
    return replace(form, tiles=form.tiles[:-1])


def _ask_discarder(form: Form, key: str) -> Form | Won:
    winners = dict(zip(form.declared, form.values, strict=True))
    if key == "d":
        return Won(winners, None)
    if key in SEAT_KEYS and SEAT_KEYS[key] not in winners:
        return Won(winners, SEAT_KEYS[key])
    return _form_back(form) if key == "back" else form


def goes_back(form: "Form | WinForm") -> bool:
    """Return whether a form has anything to go back to."""
    return (_back(form) if isinstance(form, WinForm) else _form_back(form)) != form


MOST_DIGITS: Final = 3

HAN_WITHOUT_FU: Final = 5
"""From so many han, fu do not matter."""

SEVEN_PAIRS_FU: Final = 25
LEAST_FU: Final = 20

MOST_HAN: Final = 99
MOST_YAKUMAN: Final = 6

WinStep = Literal["han", "fu", "yakuman", "responsible", "discarder", "riichi_tile", "live_kan"]


@dataclass(frozen=True, slots=True)
class WinForm(TilesForm):
    """The input so far for a win under riichi rules."""

    riichi: tuple[Seat, ...] = ()
    wins: tuple[RiichiWin, ...] = ()
    asked: WinStep = "han"
    han: int = 0
    yakuman: int = 0
    digits: str = ""
    loser: Seat | None = None
    live_kan: bool = False
    """Whether a tsumo after a kan of a discard is paid by whoever discarded that tile."""

    @property
    def seat(self) -> Seat | None:
        """The seat whose hand is asked for; None while tiles are asked for, and when all hands are there."""
        done = len(self.wins)
        return self.valued[done] if self.whose_tile is None and done < len(self.valued) else None

    @property
    def entered(self) -> Mapping[Seat, RiichiWin]:
        """The hands entered so far, by winner."""
        return dict(zip(self.valued, self.wins, strict=False))


@dataclass(frozen=True, slots=True)
class WinEntered:
    """A complete form."""

    event: RiichiEvent
    on_riichi_tile: bool = False
    declared_on: dict[Seat, Seat] = field(default_factory=dict)


def press_win_key(form: WinForm, key: str) -> WinForm | WinEntered | str:
    """Handle a key; return the form, or the code of a refusal. A key without meaning leaves the form as it is."""
    if key == "back":
        return _back(form)
    if form.whose_tile is not None:
        return _ask_tile(form, form.whose_tile, key)
    if form.asked in ("han", "fu", "yakuman"):
        return _number(form, key)
    if form.asked == "responsible":
        return _responsible(form, key)
    return {"discarder": _discarder, "riichi_tile": _riichi_tile, "live_kan": _kan_from}[form.asked](form, key)


def _number(form: WinForm, key: str) -> WinForm | WinEntered | str:
    if key in DIGITS and len(form.digits) < MOST_DIGITS:
        return replace(form, digits=(form.digits + key).lstrip("0"))
    if key == "clear":
        return replace(form, digits="")
    if key == "enter" and form.digits:
        return _take_number(form, int(form.digits))
    if key == "y" and form.asked == "han":
        return replace(form, asked="yakuman", digits="1")
    return form


def _take_number(form: WinForm, number: int) -> WinForm | WinEntered | str:
    if form.asked == "yakuman":
        if number > MOST_YAKUMAN:
            return "impossible_value"
        return replace(form, yakuman=number, asked="responsible", digits="")
    if form.asked == "fu":
        possible = number == SEVEN_PAIRS_FU or (number >= LEAST_FU and number % 10 == 0)
        return _with_win(form, RiichiWin(han=form.han, fu=number)) if possible else "impossible_fu"
    if number < HAN_WITHOUT_FU:
        return replace(form, han=number, asked="fu", digits="")
    return _with_win(form, RiichiWin(han=number)) if number <= MOST_HAN else "impossible_value"


def _responsible(form: WinForm, key: str) -> WinForm | WinEntered:
    if key == "enter":
        return _with_win(form, RiichiWin(yakuman=form.yakuman))
    seat = SEAT_KEYS.get(key)
    return form if seat in (None, form.seat) else _with_win(form, RiichiWin(yakuman=form.yakuman, responsible=seat))


def _with_win(form: WinForm, win: RiichiWin) -> WinForm | WinEntered:
    """Ask for the next hand, or whose tile it was, which is already known if several have declared."""
    form = replace(form, wins=(*form.wins, win), asked="han", han=0, yakuman=0, digits="")
    if form.seat is not None:
        return form
    loser = play_sequence.winning_tile(form.declared_on)[0] if form.tiles else None
    return replace(form, asked="discarder") if loser is None else _on_discard(form, loser)


def _discarder(form: WinForm, key: str) -> WinForm | WinEntered:
    if key == "d":
        return WinEntered(RiichiEvent(kind="tsumo", wins=dict(form.entered)))
    if key == "k" and form.live_kan:
        return replace(form, asked="live_kan")
    seat = SEAT_KEYS.get(key)
    return form if seat is None or seat in form.declared else _on_discard(form, seat)


def _on_discard(form: WinForm, loser: Seat) -> WinForm | WinEntered:
    """If the discarder is in riichi, ask whether the tile was the one that declared it."""
    question = replace(form, loser=loser, asked="riichi_tile")
    return question if loser in form.riichi else _ron(question, on_riichi_tile=False)


def _kan_from(form: WinForm, key: str) -> WinForm | WinEntered:
    seat = SEAT_KEYS.get(key)
    if seat is None or seat in form.declared:
        return form
    return WinEntered(RiichiEvent(kind="tsumo", wins=dict(form.entered), kan_from=seat))


def _riichi_tile(form: WinForm, key: str) -> WinForm | WinEntered:
    return _ron(form, on_riichi_tile=key == "y") if key in ("y", "n") else form


def _ron(form: WinForm, *, on_riichi_tile: bool) -> WinEntered:
    event = RiichiEvent(kind="ron", wins=dict(form.entered), loser=form.loser)
    return WinEntered(event, on_riichi_tile, form.declared_on)


def _back(form: WinForm) -> WinForm:
    """Go back one step: a digit, a question, the previous hand, or a declarer's tile."""
    if form.digits and form.asked != "yakuman":
        return replace(form, digits=form.digits[:-1])
    if form.asked in ("fu", "yakuman", "responsible"):
        return replace(form, asked="han", han=0, yakuman=0, digits="")
    if form.asked in ("riichi_tile", "live_kan") and not form.tiles:
        return replace(form, asked="discarder", loser=None)
    if form.wins:
        return replace(form, wins=form.wins[:-1], asked="han", loser=None)
    return replace(form, tiles=form.tiles[:-1])
