"""The forms of the set-up: the wanted movement, and detection of changes made since a form was opened.

A form carries a mark for each part. Before it overwrites a newer change, its sender sees that change: untouched fields
show the current values, and typed ones are preserved to be sent again.

A movement may take a minute to make, so it is made in a thread of its own, whether or not anybody waits for it.
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
"""The hall's resources, for which formats are offered."""

FORMAT: Final = ("rounds", "deals_per_round", "copies", "tables_each")
"""Fields filled in by a chosen format; the tables only if it uses fewer than all players need."""

STRUCTURE: Final = (*FORMAT, "halls_by", "sections", "final", "final_rounds", "carry_over")
"""What the organiser has typed about stages; it is preserved while other things are previewed."""

MOST_MINUTES: Final = 100 * 60


def read_structure(form: Form) -> Structure:
    """Parse the wanted stages. Raises RuleError `malformed`."""
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
    """Return a form with the chosen format filled in, for a preview. Its tables are divided among the sections."""
    rounds, deals, copies, tables, *_ = (*form["action"].split()[1:5], "", "", "", "")
    each = str((read_number(tables, 3) or 0) // (read_count(form, "sections") or 1) or "")
    return {**form, **dict(zip(FORMAT, (rounds, deals, copies, each), strict=True)), "action": "look_movement"}


def read_count(form: Form, field: str) -> int | None:
    """Parse a number in a form; None if there is none."""
    return read_number(form.get(field, "").strip(), 3) or None


def read_minutes(form: Form) -> int:
    """Parse a form's hours into minutes: 4, 4.5, 4,5 or 4:30. Raises RuleError `malformed`."""
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
"""Seconds that a page waits for a movement before it shows the progress; small ones are ready by then."""


class MovementJob:
    """A movement being made, and its outcome."""

    def __init__(self, form: Form, structure: Structure) -> None:
        """`form` is what was typed; it is shown again if the movement is refused."""
        self.form, self.structure = form, structure
        self.percent = 0
        self.error: Exception | None = errors.DeskFailed("no movement was made; the desk's log says why")
        self.seen = False
        """Whether somebody has been shown the outcome."""
        self._ended = threading.Event()

    def start(self, make: Callable[[Callable[[float], None]], object]) -> None:
        """Start making it. `make` gets a function to which it reports the elapsed fraction of its time."""
        threading.Thread(target=self._run, args=(make,), name="movement", daemon=True).start()

    def ended(self, within_s: float = 0) -> bool:
        """Return whether it is made or refused, waiting up to `within_s` seconds."""
        return self._ended.wait(within_s)

    def _run(self, make: Callable[[Callable[[float], None]], object]) -> None:
        try:
            make(self._report)
            self.error = None
        except forms.REFUSALS as error:
            self.error = error
        finally:
            self._ended.set()

    def _report(self, over: float) -> None:
        self.percent = int(100 * over)


OPENED: Final = "opened"
"""The form field with the marks."""

LONGEST: Final = 60
"""Maximum length of a field's current value in a message."""

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
HIDDEN_VALUES: Final = ("keep_plays", "rules")
"""Fields whose current value is not shown in the refusal."""

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
    """Return the plan (None if it cannot be read) and the marks for a form that is being opened."""
    plan = _plan(folder)
    return plan, msgspec.json.encode({part: _mark(text) for part, text in _parts(folder, plan).items()}).decode()


def refuse_changed(folder: Path, form: Form) -> None:
    """Raise RuleError `setup_changed` if something that a form replaces has changed since the form was opened.

    A change to the same value as the form's does not count.
    """
    was, parts = _marks(form), _parts(folder, _plan(folder))
    changed = [
        _described(part, parts[part])
        for part in CONCERNS.get(form.get("action", ""), ())
        if part in was and was[part] != _mark(parts[part]) != _mark(form.get(part, "") if part in HEAD else None)
    ]
    if changed:
        raise RuleError("setup_changed", reduce(_join, changed))


def changed_here(form: Form) -> Form:
    """Return a form without the fields that its sender has not touched."""
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
    """Return the current content of each part."""
    fields = msgspec.to_builtins(plan) if plan else {}
    head = (setup.head_of(plan) if plan else setup.EventDetails())._replace(rules=text_of(folder / PROFILE))

    def of(*keys: str) -> str:
        return msgspec.json.encode([fields.get(key) for key in keys]).decode()

    return head._asdict() | {
        "players": of("players", "teams") + text_of(folder / PLAYERS),
        "earlier": of("earlier"),
        "movement": of("plays", "stages", "uncompared"),
        "deals": f"{setup.deals_made(folder)} {text_of(folder / COMMITMENT)}",
        "sessions": of("sessions"),
    }


def text_of(path: Path) -> str:
    """Return the text of a file; empty if it cannot be read as text."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _mark(text: str | None) -> str:
    """Return a text's mark, which does not depend on how browsers send line ends; "" for None."""
    plain = None if text is None else "\n".join(text.split("\r\n")).strip()
    return "" if plain is None else hashlib.blake2s(plain.encode(), digest_size=6).hexdigest()


def _described(part: str, text: str) -> Message:
    """Return the label of a part and, for a field, its current value."""
    if part not in HEAD or part in HIDDEN_VALUES:
        return PARTS[part]
    current: str = {"profile": labels.PROFILE, "keying": labels.KEYING}.get(part, {}).get(text, " ".join(text.split()))
    value = current if isinstance(current, Message) else current[:LONGEST]
    return N_("{what}, now: {value}", what=PARTS[part], value=value or "–")


def _join(first: Message, second: Message) -> Message:
    return N_("{first}; {second}", first=first, second=second)
