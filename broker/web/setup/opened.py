"""What the set-up said when a form was opened: who would save over what has changed since is told of it first.

A form carries a mark of each part. What its sender has not touched is shown as it is now, and what was typed stays, so
that it can be sent again.
"""

import hashlib
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Final

import msgspec

from broker.errors import RuleError, ScorerError
from broker.event import PLAYERS, PROFILE, Plan, setup
from broker.event.deals import COMMITMENT
from broker.i18n import N_, NP_, Message
from broker.web import Form, labels

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
