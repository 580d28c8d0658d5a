"""The arbiter's panel: the PIN, the ruling, its seats and reason; and the resulting event. Pure functions."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import msgspec

from broker.protocol import SEATS, Seat
from broker.rules.infractions import FALSE_HU, Choice, Measure, choices_of, infractions_of
from kiosk.input.forms import DIGITS, SEAT_KEYS
from kiosk.input.what_happened import SceneForm, press_scene_key, scene_of
from kiosk.table import Event, Phase, Table, active_guards, events, in_play

Act = Literal[
    "pause",
    "resume",
    "extra_time",
    "override",
    "forward",
    "swap",
    "declared",
    "false_hu",
    "infraction",
    "reopen",
    "adjust",
    "void",
    "what_happened",
    "self_test",
]
PanelStep = Literal[
    "pin", "checking", "act", "minutes", "seats", "fine", "infraction", "penalty", "reason", "sure", "scene"
]

REASONS: Final = (
    "the hand was not valid",
    "entered wrongly",
    "a button or the camera failed",
    "tiles lay wrong",
    "a tile was seen",
    "a player was missing or late",
    "the time is over",
    "another reason, given to the desk",
)
"""As they are written in the record. The screen shows them in its own language, by number."""

DISCARDS_PLAY: Final[tuple[Act, ...]] = ("forward", "adjust", "void")
"""Rulings that discard the state of a play, including its trays: they are confirmed once more, with what is lost."""

PIN_LONGEST: Final = 12
SEATS_OF: Final[dict[Act, tuple[int, int]]] = {
    "swap": (2, 2),
    "declared": (0, 4),
    "false_hu": (1, 1),
    "infraction": (1, 4),
    "adjust": (0, 4),
}
"""The fewest and the most seats that a ruling names."""

FIRST_ASKED: Final[dict[Act, PanelStep]] = {"extra_time": "minutes", "what_happened": "scene"}
AFTER_SEATS: Final[dict[Act, PanelStep]] = {"false_hu": "fine", "infraction": "infraction"}
"""The question after the seats, if it is not the reason."""

INFRACTIONS_SHOWN: Final = 5
"""Infractions on a page; the next key shows more."""


@dataclass(frozen=True, slots=True)
class Offence:
    """An infraction in the rules here: its names by language, and its penalties, beginning with a first offence's."""

    id: str
    names: tuple[tuple[str, str], ...]
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class ArbiterPanel:
    """The choices made so far."""

    ask: PanelStep
    acts: tuple[Act, ...] = ()
    """The rulings that are possible now."""
    about: tuple[str, ...] = ()
    """The round of the play, and who sits there."""
    fines: tuple[int, ...] = ()
    offences: tuple[Offence, ...] = ()
    """What may be ruled as an infraction."""
    act: Act | None = None
    digits: str = field(default="", repr=False)
    seats: tuple[Seat, ...] = ()
    fine: int = 0
    minutes: int = 0
    reason: str = ""
    page: int = 0
    """Page of the infractions."""
    offence: int = 0
    """Index of the chosen infraction."""
    scene: SceneForm | None = None
    """The form for questions to the rules, where there can be any."""

    @property
    def offences_shown(self) -> tuple[Offence, ...]:
        """The infractions on the current page."""
        return self.offences[self.page * INFRACTIONS_SHOWN :][:INFRACTIONS_SHOWN]


@dataclass(frozen=True, slots=True)
class PinGiven:
    """A PIN has been typed."""

    pin: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Decided:
    """A ruling is complete."""

    act: Act
    seats: tuple[Seat, ...] = ()
    amount: int = 0
    """Minutes, or the IMP of a fine."""
    reason: str = ""
    infraction: str = ""
    measure: Measure = "fine"


@dataclass(frozen=True, slots=True)
class PanelClosed:
    """The arbiter has finished."""


PanelResult = ArbiterPanel | PinGiven | Decided | PanelClosed


def possible_acts(state: Table) -> tuple[Act, ...]:
    """Return the rulings that are possible now. An open claim window gives the same ones as the play before it.

    Faults, aborted hands and take-backs in a riichi session have their own keys, and its hands are never voided. No
    time is added between plays, as the next one would begin without it. Rulings that end nothing come last, beside the
    button that leaves.
    """
    if state.play is None:
        return ()
    first: tuple[Act, ...] = ("resume",) if state.paused else ()
    time: tuple[Act, ...] = ("extra_time",) if state.unfinished else ()
    last: tuple[Act, ...] = time if state.paused else (*time, "pause")
    test: tuple[Act, ...] = () if in_play(state) else ("self_test",)
    asks: tuple[Act, ...] = ("what_happened",) if scene_of(state) else ()
    return (*first, *(() if state.session is not None else _acts_of_play(state)), *test, *last, *asks)


def _acts_of_play(state: Table) -> tuple[Act, ...]:
    """Return the possible rulings on the play itself."""
    acts: list[Act] = ["override"] if active_guards(state) else []
    if state.check is not None and state.check.deal is not None:
        acts.append("forward")
    if state.public in ("restoring", "seating", "confirming"):
        acts.append("swap")
    if state.public in ("playing", "declared", "accepting"):
        acts.append("declared")
    if state.phase is Phase.DECLARED and state.declarations:
        acts.append("false_hu")
    if state.phase is Phase.RECORDED and state.outcome is not None:
        acts.append("reopen")
    return (*acts, "infraction", "adjust", "void")


def opened_panel(state: Table) -> ArbiterPanel:
    """Return the panel for an arbiter who is let in. A riichi session has its own rules, and no fines in IMP."""
    if state.session is not None:
        return ArbiterPanel("act", possible_acts(state), _about(state))
    profile = state.profile
    offences = tuple(
        Offence(id_, tuple(one.names.items()), choices_of(profile, id_))
        for id_, one in infractions_of(profile).items()
        if id_ != FALSE_HU
    )
    fines = profile.false_hu.fines.value
    return ArbiterPanel("act", possible_acts(state), _about(state), fines, offences, scene=scene_of(state))


def _about(state: Table) -> tuple[str, ...]:
    return (str(state.play.round), *(player.id for player in state.players.values())) if state.play else ()


def is_current(panel: ArbiterPanel, state: Table) -> bool:
    """Return whether a panel still offers the possible rulings, for the play and people for which it was opened."""
    return (panel.acts, panel.about) == (possible_acts(state), _about(state))


def panel_on_claim(seat: Seat) -> ArbiterPanel:
    """Return a panel that asks for the PIN of an arbiter who comes to rule that a seat's declaration is false."""
    return ArbiterPanel("pin", act="false_hu", seats=(seat,))


def panel_after_pin(panel: ArbiterPanel, state: Table) -> ArbiterPanel:
    """Return the first panel after the PIN: the fine for the declaration in question, or the list of rulings.

    The declaration may have been dropped meanwhile.
    """
    first = opened_panel(state)
    possible = panel.act in first.acts and {*panel.seats} <= {one.seat for one in state.declarations}
    return replace(first, ask="fine", act=panel.act, seats=panel.seats) if panel.act and possible else first


def panel_draft(panel: ArbiterPanel | None) -> str:
    """Return the choices as text for a power cut. For a PIN, only that it is asked for, and no digit."""
    if panel is None:
        return ""
    asks_pin = panel.ask in ("pin", "checking")
    return msgspec.json.encode(replace(panel, ask="pin", digits="") if asks_pin else panel).decode()


def panel_from_draft(text: str, state: Table) -> ArbiterPanel | None:
    """Return the panel that was open before a power cut, if its arbiter and its rulings are still the same.

    A PIN is asked for again from its first digit.
    """
    try:
        panel = msgspec.json.decode(text or "null", type=ArbiterPanel | None)
    except (msgspec.DecodeError, UnicodeError):
        return None
    if panel is None or panel.ask == "pin":
        return panel and (replace(panel, digits="") if state.arbiter is None else None)
    return panel if state.arbiter is not None and is_current(panel, state) else None


def press_panel_key(panel: ArbiterPanel, key: str) -> PanelResult:
    """Handle a key; one without meaning leaves the panel as it is."""
    if key == "back":
        return _back(panel)
    return _HANDLERS[panel.ask](panel, key)


def _back(panel: ArbiterPanel) -> PanelResult:
    if panel.digits:
        return replace(panel, digits=panel.digits[:-1])
    if panel.ask in ("pin", "checking", "act"):
        return PanelClosed()
    if panel.ask == "scene" and panel.scene and panel.scene.pressed:
        return replace(panel, scene=press_scene_key(panel.scene, "back"))
    return _acts_again(panel)


def _acts_again(panel: ArbiterPanel) -> ArbiterPanel:
    """Return to the list of rulings. The form for questions to the rules is kept for another ruling or question."""
    return ArbiterPanel("act", panel.acts, panel.about, panel.fines, panel.offences, scene=panel.scene)


def _pin(panel: ArbiterPanel, key: str) -> PanelResult:
    if key == "clear":
        return replace(panel, digits="")
    if key == "enter" and panel.digits:
        return PinGiven(panel.digits)
    return replace(panel, digits=panel.digits + key) if key in DIGITS and len(panel.digits) < PIN_LONGEST else panel


def _choose(panel: ArbiterPanel, key: str) -> PanelResult:
    at = (int(key) - 1) % 10 if key in DIGITS else -1
    if not 0 <= at < len(panel.acts):
        return panel
    act = panel.acts[at]
    if act in ("resume", "self_test"):
        return Decided(act)
    return replace(panel, ask=FIRST_ASKED.get(act, "seats" if act in SEATS_OF else "reason"), act=act)


def _minutes(panel: ArbiterPanel, key: str) -> PanelResult:
    if key in DIGITS and len(panel.digits) < 2:  # noqa: PLR2004 - sixty has two digits
        return replace(panel, digits=(panel.digits + key).lstrip("0"))
    if key == "enter" and panel.digits and panel.act:
        return replace(panel, ask="reason", digits="", minutes=min(int(panel.digits), 60))
    return replace(panel, digits="") if key == "clear" else panel


def _seats(panel: ArbiterPanel, key: str) -> PanelResult:
    least, most = SEATS_OF[panel.act] if panel.act else (0, 0)
    if key in SEAT_KEYS:
        seat = SEAT_KEYS[key]
        chosen = {*panel.seats} ^ {seat}
        return replace(panel, seats=tuple(one for one in SEATS if one in chosen)) if len(chosen) <= most else panel
    if key == "enter" and len(panel.seats) >= least:
        return replace(panel, ask=AFTER_SEATS.get(panel.act, "reason") if panel.act else "reason")
    return panel


def _fine(panel: ArbiterPanel, key: str) -> PanelResult:
    chosen = key in DIGITS and int(key) in panel.fines
    return replace(panel, ask="reason", fine=int(key)) if chosen else panel


def _infraction(panel: ArbiterPanel, key: str) -> PanelResult:
    at = int(key) if key in DIGITS else 0
    if at == INFRACTIONS_SHOWN + 1:
        pages = -(-len(panel.offences) // INFRACTIONS_SHOWN)
        return replace(panel, page=(panel.page + 1) % max(pages, 1))
    if not 1 <= at <= len(panel.offences_shown):
        return panel
    return replace(panel, ask="penalty", offence=panel.page * INFRACTIONS_SHOWN + at - 1)


def _penalty(panel: ArbiterPanel, key: str) -> PanelResult:
    """Complete the ruling; the infraction is its reason."""
    offence = panel.offences[panel.offence]
    at = int(key) if key in DIGITS else 0
    if not 1 <= at <= len(offence.choices):
        return panel
    measure, imp = offence.choices[at - 1]
    return Decided("infraction", panel.seats, imp, infraction=offence.id, measure=measure)


def _scene(panel: ArbiterPanel, key: str) -> PanelResult:
    form = panel.scene
    if form is None or (form.step == "answer" and key == "enter"):
        return _acts_again(panel)
    return replace(panel, scene=press_scene_key(form, key))


def _reason(panel: ArbiterPanel, key: str) -> PanelResult:
    if panel.act is None or key not in DIGITS or not 1 <= int(key) <= len(REASONS):
        return panel
    given = replace(panel, ask="sure", reason=REASONS[int(key) - 1])
    return given if panel.act in DISCARDS_PLAY else _sure(given, YES)


YES: Final = "y"
"""Another key than the one that led to the question, so that a double push does not answer it."""


def _sure(panel: ArbiterPanel, key: str) -> PanelResult:
    if panel.act is None or key != YES:
        return panel
    return Decided(panel.act, panel.seats, panel.fine or panel.minutes, panel.reason)


_HANDLERS: Final[dict[PanelStep, Callable[[ArbiterPanel, str], PanelResult]]] = {
    "pin": _pin,
    "checking": lambda panel, _: panel,
    "act": _choose,
    "minutes": _minutes,
    "seats": _seats,
    "fine": _fine,
    "infraction": _infraction,
    "penalty": _penalty,
    "reason": _reason,
    "sure": _sure,
    "scene": _scene,
}


def ruling_event(decided: Decided, state: Table, now: int) -> Event:
    """Return the event of a ruling."""
    seats, amount, reason = decided.seats, decided.amount, decided.reason
    made: dict[Act, Callable[[], Event]] = {
        "pause": lambda: events.PauseRuled(at=now, begin=True, reason=reason),
        "resume": lambda: events.PauseRuled(at=now, begin=False, reason=reason),
        "extra_time": lambda: events.ExtraTimeGiven(at=now, minutes=amount, reason=reason),
        "override": lambda: events.GuardOverridden(at=now, reason=reason),
        "forward": lambda: events.DealBroughtForward(at=now, round=_round_here(state), reason=reason),
        "swap": lambda: events.SeatsSwapped(at=now, one=seats[0], other=seats[1], reason=reason),
        "declared": lambda: events.DeclarationsCorrected(at=now, seats=seats, reason=reason),
        "false_hu": lambda: events.FalseHuRuled(at=now, seat=seats[0], imp=amount, reason=reason),
        "infraction": lambda: events.InfractionRuled(
            at=now, seats=seats, infraction=decided.infraction, measure=decided.measure, imp=amount
        ),
        "reopen": lambda: events.Reopened(at=now, reason=reason),
        "adjust": lambda: events.PlayAdjusted(at=now, at_fault=seats, reason=reason),
        "void": lambda: events.PlayVoided(at=now, reason=reason),
        "self_test": lambda: events.SelfTestBegun(at=now, asked=True),
    }
    return made[decided.act]()


def _round_here(state: Table) -> int:
    """Return the round of the deal whose carrier is here; 1 if that is unknown, which the table refuses."""
    deal = state.check.deal if state.check else None
    plays = state.assignment.plays if state.assignment else ()
    return next((play.round for play in plays if play.deal == deal), 1)
