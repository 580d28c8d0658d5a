"""The form "What happened?" of the arbiter's panel: walls as counted, whose turn it was, who claims what.

Pure functions.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final, Literal

from broker.protocol import SEATS, Seat
from broker.rules import Profile, mcr
from kiosk.input.forms import DIGITS, SEAT_KEYS
from kiosk.table import Table

SceneStep = Literal["walls", "turn", "phase", "claimants", "claim", "sets", "answer"]

ANSWERS_SHOWN: Final = 3
"""Answers on a page; the next key shows more."""


@dataclass(frozen=True, slots=True)
class SceneForm:
    """The input so far."""

    dealer: Seat
    one_winner: bool = False
    """Whether only the nearest seat in turn order wins on a discard here."""
    pressed: tuple[str, ...] = ()
    """The keys that have led here."""
    digits: str = ""
    walls: tuple[int, ...] = ()
    """Number of tiles left in each wall, in the order of the seats."""
    turn: Seat | None = None
    phase: mcr.Phase | None = None
    claimants: tuple[Seat, ...] = ()
    all_named: bool = False
    """Whether all claimants have been named."""
    claims: tuple[mcr.ActionKind, ...] = ()
    """What each claimant claims, in their order."""
    asks_sets: bool = False
    sets: tuple[tuple[int, ...], ...] = ()
    """For each seat, the number of sets it has claimed from each seat, and finally its kongs."""
    counted: tuple[int, ...] = (0,) * (len(SEATS) + 1)
    """The same numbers for the seat in question."""
    page: int = 0
    """Page of the answers."""

    @property
    def step(self) -> SceneStep:
        """The current question, or that there is an answer."""
        if len(self.walls) < len(SEATS):
            return "walls"
        if self.turn is None:
            return "turn"
        if self.phase is None:
            return "phase"
        if self.phase in ("claim", "kong") and not self.all_named:
            return "claimants"
        if len(self.claims) < len(self.claimants):
            return "claim"
        return "sets" if self.asks_sets and len(self.sets) < len(SEATS) else "answer"

    @property
    def seat(self) -> Seat | None:
        """The seat whose wall, claim or sets are asked for."""
        match self.step:
            case "walls":
                return SEATS[len(self.walls)]
            case "claim":
                return self.claimants[len(self.claims)]
            case "sets":
                return SEATS[len(self.sets)]
        return None

    @property
    def answers(self) -> tuple[mcr.Answer, ...]:
        """The answers of the rules, once the input is complete."""
        if self.step != "answer" or self.turn is None or self.phase is None:
            return ()
        pairs = [(seat, other) for seat in SEATS for other in SEATS if other != seat]
        scene = mcr.Scene(
            walls=dict(zip(SEATS, self.walls, strict=True)),
            turn=self.turn,
            phase=self.phase,
            claims=dict(zip(self.claimants, self.claims, strict=True)),
            dealer=self.dealer,
            claimed_sets={pair: self._counted_of(*pair) for pair in pairs} if self.sets else None,
            kongs={seat: row[-1] for seat, row in zip(SEATS, self.sets, strict=False)},
        )
        return mcr.what_happened(scene, nearest_only=self.one_winner)

    def _counted_of(self, seat: Seat, other: Seat) -> int:
        return self.sets[SEATS.index(seat)][SEATS.index(other)]

    @property
    def answers_shown(self) -> tuple[mcr.Answer, ...]:
        """The answers on the current page."""
        return self.answers[self.page * ANSWERS_SHOWN :][:ANSWERS_SHOWN]

    @property
    def may_say_sets(self) -> bool:
        """Whether the walls can be judged only with the number of claimed sets."""
        return any(one.code == "sets_missing" for one in self.answers)


def scene_of(state: Table) -> SceneForm | None:
    """Return an empty form; None if no play is on whose turns these rules know."""
    rules = state.profile
    if not isinstance(rules, Profile) or state.play is None or state.public not in ("playing", "declared", "accepting"):
        return None
    return SceneForm(state.play.dealer, one_winner=rules.payments.several_hu.value == "nearest")


def press_scene_key(form: SceneForm, key: str) -> SceneForm:
    """Handle a key; one without meaning leaves the form as it is."""
    if key == "back" or (key == "clear" and form.step == "answer"):
        keys = form.pressed[:-1] if key == "back" else ()
        return reduce(press_scene_key, keys, SceneForm(form.dealer, one_winner=form.one_winner))
    result = _HANDLERS[form.step](form, key)
    return form if result == form else replace(result, pressed=(*form.pressed, key))


def _wall(form: SceneForm, key: str) -> SceneForm:
    if key == "enter" and form.digits:
        return replace(form, walls=(*form.walls, int(form.digits)), digits="")
    if key == "clear":
        return replace(form, digits="")
    digits = (form.digits + key).lstrip("0") or "0"
    return replace(form, digits=digits) if key in DIGITS and int(digits) <= mcr.WALL else form


def _turn(form: SceneForm, key: str) -> SceneForm:
    return replace(form, turn=SEAT_KEYS[key]) if key in SEAT_KEYS else form


def _phase(form: SceneForm, key: str) -> SceneForm:
    phases = dict(enumerate(mcr.PHASE_LABELS, 1))
    return replace(form, phase=phases[int(key)]) if key in DIGITS and int(key) in phases else form


def _claimants(form: SceneForm, key: str) -> SceneForm:
    if key == "enter":
        return replace(form, all_named=True)
    seat = SEAT_KEYS.get(key)
    if seat in (None, form.turn):
        return form
    chosen = {*form.claimants} ^ {seat}
    return replace(form, claimants=tuple(one for one in SEATS if one in chosen))


def _claim(form: SceneForm, key: str) -> SceneForm:
    claims = dict(enumerate(mcr.CLAIMS, 1))
    return replace(form, claims=(*form.claims, claims[int(key)])) if key in DIGITS and int(key) in claims else form


def _sets(form: SceneForm, key: str) -> SceneForm:
    if key == "enter":
        return replace(form, sets=(*form.sets, form.counted), counted=(0,) * len(form.counted))
    seat = SEAT_KEYS.get(key)
    if key != "k" and seat in (None, form.seat):
        return form
    at = len(SEATS) if seat is None else SEATS.index(seat)
    more = (form.counted[at] + 1) % (mcr.MOST_SETS + 1)
    return replace(form, counted=(*form.counted[:at], more, *form.counted[at + 1 :]))


def _answer_page(form: SceneForm, key: str) -> SceneForm:
    if key == "1":
        pages = -(-len(form.answers) // ANSWERS_SHOWN)
        return replace(form, page=(form.page + 1) % pages)
    return replace(form, asks_sets=True, page=0) if key == "2" and form.may_say_sets else form


_HANDLERS: Final[Mapping[SceneStep, Callable[[SceneForm, str], SceneForm]]] = {
    "walls": _wall,
    "turn": _turn,
    "phase": _phase,
    "claimants": _claimants,
    "claim": _claim,
    "sets": _sets,
    "answer": _answer_page,
}
