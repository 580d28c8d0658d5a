"""A form of a ruling as somebody filled it in, read into a draft. Pure; every mistake is refused by code."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec import ValidationError
from msgspec.structs import replace

from broker.contract.rulings import (
    Adjusted,
    AnyDecision,
    Award,
    Correct,
    Deadline,
    DealPlayed,
    FineRuled,
    Fouled,
    SeatsPlayed,
    Substitute,
    Undo,
    Void,
    Withdrawn,
)
from broker.contract.wire import Refused
from broker.contract.words import LONGEST_REASON, SEATS, Seat
from broker.desk.errors import TablesUnreadable
from broker.desk.ranges import tables_of
from broker.desk.rulings.mistakes import refusal
from broker.desk.rulings.riichi_hand import hand_of
from broker.rules.errors import RuleError
from broker.rules.outcomes import paid
from broker.rules.riichi.duplicate import scored
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.rule_books import Rules
from broker.scorer.rulings.entry import Draft
from broker.scorer.rulings.laying import Laid

Form = Mapping[str, str]

NUMBER: Final = re.compile(r"-?[0-9]{1,9}")
MINUTE_MS: Final = 60_000

OF_PLAY: Final = ("correct", "adjusted", "void", "award", "fine", "seats_played", "deal_played")
OF_EVENT: Final = ("award", "fine", "substitute", "withdrawn", "deadline")


def number(form: Form, field: str) -> int | None:
    """Give a whole number; None where the field is empty. Raises Refused `number_unreadable`."""
    text = form.get(field, "").strip().replace("\N{MINUS SIGN}", "-").removeprefix("+")
    if not text:
        return None
    if not NUMBER.fullmatch(text):
        raise Refused("number_unreadable", f"{text[:20]!r} is no whole number")
    return int(text)


def _minutes(form: Form) -> int:
    minutes = number(form, "minutes")
    if minutes is None or minutes < 0:
        raise Refused("deadline_out_of_range", "minutes from now are 0 or more: corrections cannot end in the past")
    return minutes


@dataclass(frozen=True, slots=True)
class By:
    """What the outcome of a play pays by: the event's rules, and who dealt."""

    rules: Rules
    dealer: Seat


def draft_of(form: Form, laid: Laid | None, by: By, now: int) -> Draft:
    """Give the ruling of a form. `laid`: the play as it counts now. Raises Refused."""
    decisions: dict[str, Callable[[], AnyDecision]] = {
        "void": Void,
        "adjusted": lambda: Adjusted(gives=_gifts(form, laid)),
        "award": lambda: Award(gives=_gifts(form, laid)),
        "fine": lambda: FineRuled(takes=_fines(form, laid)),
        "fouled": lambda: Fouled(groups=groups(form.get("groups", ""))),
        "deadline": lambda: Deadline(at=now + _minutes(form) * MINUTE_MS),
        "substitute": lambda: Substitute(**_absent(form), name=" ".join(form.get("name", "").split())),
        "withdrawn": lambda: Withdrawn(**_absent(form), fault=form.get("fault", "own")),  # type: ignore[arg-type]  # looked at below
        "undo": lambda: Undo(ruling=form.get("undo", "")),
    }
    if laid is not None:
        decisions["correct"] = lambda: _correct(form, by)
        decisions["seats_played"] = lambda: SeatsPlayed(players={seat: form.get(f"seat-{seat}", "") for seat in SEATS})
        decisions["deal_played"] = lambda: DealPlayed(played=number(form, "played") or 0, result=laid.result)
    make = decisions.get(form.get("kind", ""))
    if make is None:
        raise Refused("ruling_kind_missing", "the form does not say what is to be ruled")
    said: dict[str, Any] = {
        "id": form.get("id", ""),
        "after": form.get("after") or None,
        "table": laid.table if laid else None,
        "round": laid.round if laid else None,
        "deal": number(form, "deal"),
        "decision": msgspec.to_builtins(make()),
        "reason": _reason(form),
    }
    try:
        return msgspec.convert(said, Draft)
    except ValidationError as error:
        raise refusal(error) from None


def _reason(form: Form) -> str:
    reason = " ".join(form.get("reason", "").split())
    if not 1 <= len(reason) <= LONGEST_REASON:
        raise Refused("reason_wrong", f"a reason has 1 to {LONGEST_REASON} characters")
    return reason


def _absent(form: Form) -> dict[str, Any]:
    """Give who is gone, and from which round on."""
    return {"player": form.get("player", "").strip(), "first_round": number(form, "first_round") or 0}


def _correct(form: Form, by: By) -> Correct:
    said = _riichi(form, by, by.rules) if isinstance(by.rules, RiichiProfile) else _by_value(form)
    try:
        return replace(said, points=paid(said, by.dealer, by.rules))
    except RuleError as error:
        raise Refused("impossible_result", error.text) from error


def _by_value(form: Form) -> Correct:
    win, discarder = form.get("win", ""), form.get("discarder") or None
    winners = {seat: value for seat in SEATS if (value := number(form, f"hv-{seat}")) is not None}
    if win not in {"discard", "self_drawn", "draw"} or discarder not in {None, *SEATS}:
        raise Refused("ending_missing", "the form does not say how the play ended")
    replaces = form.get("replaces") or None
    return Correct(replaces=replaces, win=win, winners=winners, discarder=discarder, points={})  # type: ignore[arg-type]  # looked at above


def _riichi(form: Form, by: By, rules: RiichiProfile) -> Correct:
    hand = hand_of(form, number)
    try:
        outcome, _ = scored(hand, by.dealer, rules)
    except RuleError as error:
        raise Refused("impossible_result", error.text) from error
    return Correct(
        replaces=form.get("replaces") or None,
        win=outcome.win,
        winners=dict(outcome.winners),
        discarder=outcome.discarder,
        points={},
        hand=hand,
    )


def _players(form: Form, laid: Laid | None) -> dict[str, str]:
    """Give the players whom fields are of, by the field's ending: four seats, or the one who is named."""
    return (
        {str(seat): player for seat, player in laid.players.items()}
        if laid
        else {"player": form.get("player", "").strip()}
    )


def _gifts(form: Form, laid: Laid | None) -> dict[str, Any]:
    gifts: dict[str, Any] = {}
    for field, player in _players(form, laid).items():
        imp, word = number(form, f"imp-{field}"), form.get(f"fault-{field}", "")
        if imp is not None or word:
            gifts[player] = word if imp is None else imp
    return gifts


def _fines(form: Form, laid: Laid | None) -> dict[str, int]:
    found = {player: number(form, f"fine-{field}") for field, player in _players(form, laid).items()}
    return {player: fine for player, fine in found.items() if fine}


def groups(text: str) -> tuple[tuple[int, ...], ...]:
    """Read groups of tables: a line a group, `1 2 5-9`. Raises Refused `tables_unreadable`."""
    try:
        return tuple(tuple(tables_of(line)) for line in text.splitlines() if line.strip())
    except TablesUnreadable as error:
        raise Refused(error.code, str(error)) from None
