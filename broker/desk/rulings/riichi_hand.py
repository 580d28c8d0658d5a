"""How a hand of riichi ended, from an arbiter's form. Pure; every mistake is refused by code."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from broker.contract.riichi import RiichiEvent
from broker.contract.wire import Refused
from broker.contract.words import SEATS
from broker.desk.rulings.mistakes import refusal

Number = Callable[[Mapping[str, str], str], int | None]

OF_A_WIN: Final = ("han", "fu", "yakuman")

KINDS: Final = {"discard": "ron", "self_drawn": "tsumo", "draw": "draw", "abort": "abort"}
"""The kind of an event by the way in which the form says that the play ended."""


def hand_of(form: Mapping[str, str], number: Number) -> RiichiEvent:
    """Give the hand. Raises Refused `ending_missing`, `hand_value_out_of_range`, `bad_ruling`."""
    kind = KINDS.get(form.get("win", ""))
    if kind is None:
        raise Refused("ending_missing", "the form does not say how the play ended")
    told: dict[str, Any] = {"kind": kind}
    if kind in ("ron", "tsumo"):
        told |= {"wins": _wins(form, number), "loser": form.get("discarder") or None}
    if kind == "tsumo":  # a ron has its discarder: what the form was filled with before is not asked of it
        told["kan_from"] = form.get("kan_from") or None
    if kind == "draw":
        told |= {what: [seat for seat in SEATS if form.get(f"{what}-{seat}")] for what in ("tenpai", "nagashi")}
    if kind == "abort":
        told["reason"] = form.get("abort", "")
    try:
        return msgspec.convert(told, RiichiEvent)
    except msgspec.ValidationError as error:
        raise refusal(error) from None


def _wins(form: Mapping[str, str], number: Number) -> dict[str, Any]:
    wins: dict[str, Any] = {}
    for seat in SEATS:
        said = {what: value for what in OF_A_WIN if (value := number(form, f"{what}-{seat}")) is not None}
        if said:
            wins[seat] = said | {"responsible": form.get(f"responsible-{seat}") or None}
    return wins
