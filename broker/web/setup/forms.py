"""The forms of the set-up: the movement that is wished, and what has changed since a form was opened.

A form carries a mark of each part. Who would save over what has changed since is told of it first: what they have not
touched is shown as it is now, and what was typed stays, so that it can be sent again.

A movement may take a minute to make. It is made in a thread of its own, whoever waits for it or not.
"""

import hashlib
import threading
from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from typing import Final

import msgspec

from broker.errors import RuleError, ScorerError
from broker.event import PLAYERS, PROFILE, Plan, setup
from broker.event.deals import COMMITMENT
from broker.event.structure import Structure
from broker.i18n import N_, NP_, Message
from broker.web import Form, errors, forms, labels, read_number

HALL: Final = ("tables", "hours", "carriers", "sets")
"""What the organiser has said of the hall, to be offered formats."""

FORMAT: Final = ("rounds", "deals_per_round", "copies", "tables_each")
"""What a format that is chosen fills in; tables only where it is for fewer than all players need."""

STRUCTURE: Final = (*FORMAT, "halls_by", "sections", "final", "final_rounds", "carry_over")
"""What the organiser has typed of stages, which stays whatever is looked at meanwhile."""

MOST_MINUTES: Final = 100 * 60


def read_structure(form: Form) -> Structure:
    """Return which stages are wished. Raises RuleError `malformed`."""
    most = setup.MOST_ROUNDS
    numbers = [read_number(form.get(field, "").strip(), 3) for field in ("rounds", "sections", "final", "final_rounds")]
    rounds, sections, final, final_rounds = numbers
    if not (1 <= rounds <= most and final_rounds <= most):
        raise RuleError("malformed", N_("rounds must be from 1 to {most}", most=most))
    return Structure(
        rounds,
        sections or 1,
        final,
        final_rounds,
        form.get("carry_over", "").strip(),
        (form.get("qualification") or "Qualification", form.get("finale") or "Final"),
        deals_per_round=(deals := read_count(form, "deals_per_round")),
        copies=read_count(form, "copies") or (deals and 1),
        tables=read_count(form, "tables_each"),
    )


def with_format(form: Form) -> Form:
    """Return a form with the format that was chosen in it, to be looked at; its tables are shared among sections."""
    rounds, deals, copies, tables, *_ = (*form["action"].split()[1:5], "", "", "", "")
    each = str((read_number(tables, 3) or 0) // (read_count(form, "sections") or 1) or "")
    return {**form, **dict(zip(FORMAT, (rounds, deals, copies, each), strict=True)), "action": "look_movement"}


def read_count(form: Form, field: str) -> int | None:
    """Return a number of a form; None if there is none."""
    return read_number(form.get(field, "").strip(), 3) or None


def read_minutes(form: Form) -> int:
    """Return the hours of a form in minutes: 4, 4.5, 4,5 or 4:30. Raises RuleError `malformed`."""
    hours, _, minutes = form.get("hours", "").strip().replace(",", ".").partition(":")
    try:
        found = round(60 * float(hours)) + int(minutes or 0)
    except (ValueError, OverflowError):
        found = 0
    if not 0 < found <= MOST_MINUTES:
        raise RuleError("malformed", N_("hours must be more than 0 and at most {most}", most=MOST_MINUTES // 60))
    return found


MAKING_PATH: Final = "/setup/making"

AT_ONCE_S: Final = 1.0
"""A page waits so long for a movement before it shows how far that is: a small one is there by then."""


class Making:
    """One movement that is made, and what came of it."""

    def __init__(self, form: Form, wish: Structure) -> None:
        """`form`: what was typed, which is shown again where the movement is refused."""
        self.form, self.wish = form, wish
        self.percent = 0
        self.error: Exception | None = errors.DeskFailed("no movement was made; the desk's log says why")
        self.seen = False
        """Whether somebody has been shown what came of it."""
        self._ended = threading.Event()

    def start(self, make: Callable[[Callable[[float], None]], object]) -> None:
        """Make it: `make` is given what is told which part of its time is over."""
        threading.Thread(target=self._run, args=(make,), name="movement", daemon=True).start()

    def ended(self, within_s: float = 0) -> bool:
        """Return whether it is made, or refused, within so many seconds."""
        return self._ended.wait(within_s)

    def _run(self, make: Callable[[Callable[[float], None]], object]) -> None:
        try:
            make(self._tell)
            self.error = None
        except forms.REFUSALS as error:
            self.error = error
        finally:
            self._ended.set()

    def _tell(self, over: float) -> None:
        self.percent = int(100 * over)


OPENED: Final = "opened"
"""The field with the marks."""

LONGEST: Final = 60
"""Characters of what a field says now, where it is named."""

HEAD: Final[Mapping[str, Message]] = {
    "title": N_("Title"),
    "name": NP_("of an event", "Name"),
    "profile": N_("Rules"),
    "prizes": N_("Prizes (optional)"),
    "public_address": N_("Public address (optional)"),
    "keying": N_("Results from paper sheets"),
    "keep_plays": N_("Tables offer to keep each play: the camera reads the rivers, for replays"),
    "rules": N_("Rules of your own (a profile as TOML)"),
}
PARTS: Final[Mapping[str, Message]] = {
    **HEAD,
    "players": N_("Players"),
    "earlier": N_("Begin from the standings of an earlier event"),
    "movement": N_("3. Movement"),
    "deals": N_("4. Deals and sets"),
    "sessions": N_("5. Sessions and clocks"),
}
UNSAID: Final = ("keep_plays", "rules")
"""Fields of which it is not told what they say now."""

CONCERNS: Final[Mapping[str, tuple[str, ...]]] = {
    "head": tuple(HEAD),
    **dict.fromkeys(("check_players", "players"), ("players", "movement")),
    **dict.fromkeys(("check_earlier", "earlier", "no_earlier"), ("players", "earlier")),
    **dict.fromkeys(("make_movement", "check_movement", "movement", "uncompared"), ("players", "movement")),
    **dict.fromkeys(("deals", "own_deals", "seal", "take_out"), ("movement", "deals")),
    "sessions": ("sessions",),
}
"""The parts that each action replaces or builds on."""


def opened_with(folder: Path) -> tuple[Plan | None, str]:
    """Return the plan, None where it cannot be read, and the marks that a form is opened with."""
    plan = _plan(folder)
    return plan, msgspec.json.encode({part: _mark(text) for part, text in _parts(folder, plan).items()}).decode()


def refuse_changed(folder: Path, form: Form) -> None:
    """Raise RuleError `setup_changed` where something that a form replaces has changed since it was opened.

    What says by now what the form says has not.
    """
    was, parts = _marks(form), _parts(folder, _plan(folder))
    changed = [
        _described(part, parts[part])
        for part in CONCERNS.get(form.get("action", ""), ())
        if part in was and was[part] != _mark(parts[part]) != _mark(form.get(part, "") if part in HEAD else None)
    ]
    if changed:
        raise RuleError("setup_changed", reduce(_and, changed))


def changed_here(form: Form) -> Form:
    """Return a form without the fields that its sender has left as they were."""
    was = _marks(form)
    return {name: text for name, text in form.items() if name not in HEAD or was.get(name) != _mark(text)}


def _marks(form: Form) -> dict[str, str]:
    try:
        return msgspec.json.decode(form.get(OPENED, "{}"), type=dict[str, str])
    except msgspec.DecodeError:
        return {}


def _plan(folder: Path) -> Plan | None:
    try:
        return setup.plan_of(folder)
    except ScorerError:
        return None


def _parts(folder: Path, plan: Plan | None) -> dict[str, str]:
    """Return what each part says."""
    said = msgspec.to_builtins(plan) if plan else {}
    head = (setup.head_of(plan) if plan else setup.EventDetails())._replace(rules=text_of(folder / PROFILE))

    def of(*keys: str) -> str:
        return msgspec.json.encode([said.get(key) for key in keys]).decode()

    return head._asdict() | {
        "players": of("players", "teams") + text_of(folder / PLAYERS),
        "earlier": of("earlier"),
        "movement": of("plays", "stages", "uncompared"),
        "deals": f"{setup.deals_made(folder)} {text_of(folder / COMMITMENT)}",
        "sessions": of("sessions"),
    }


def text_of(path: Path) -> str:
    """Return what a file says; nothing where it is none of text."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _mark(text: str | None) -> str:
    """Return a mark of a text, however a browser writes the ends of its lines; "" of none."""
    plain = None if text is None else "\n".join(text.split("\r\n")).strip()
    return "" if plain is None else hashlib.blake2s(plain.encode(), digest_size=6).hexdigest()


def _described(part: str, text: str) -> Message:
    """Return what a part is called and, of a field, what it says now."""
    if part not in HEAD or part in UNSAID:
        return PARTS[part]
    said: str = {"profile": labels.PROFILE, "keying": labels.KEYING}.get(part, {}).get(text, " ".join(text.split()))
    value = said if isinstance(said, Message) else said[:LONGEST]
    return N_("{what}, now: {value}", what=PARTS[part], value=value or "–")


def _and(first: Message, second: Message) -> Message:
    return N_("{first}; {second}", first=first, second=second)
