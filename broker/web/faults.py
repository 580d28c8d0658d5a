"""What is wrong with a table's device, and in spite of what a play goes on: in words, the code beside them.

Codes come from devices of any version: one that has no words here is shown as it came.
"""

from collections.abc import Mapping
from typing import Final

from markupsafe import Markup

from broker.device_faults import DEVICE_FAULT, PART, PART_FAULT
from broker.i18n import N_, SEAT_NAMES, Message
from broker.web.i18n import HtmlTranslator

SEPARATOR: Final = Markup(" · ")


def fault_message(_: HtmlTranslator, part: str, code: str) -> Markup:
    """Return which part it is and what is wrong with it. `part` as health names it: `camera`, `button-east`."""
    known = DEVICE_FAULT.get(code) or PART_FAULT.get(part)
    if known is None:
        return _("{part}: {fault}", part=device_part_name(_, part), fault=code)
    said = _("{part}: {fault}", part=device_part_name(_, part), fault=_(known))
    return _with_code(said, code)


def device_part_name(_: HtmlTranslator, part: str) -> Markup:
    """Name a part of a device."""
    kind, *seat = part.split("-", 1)
    if kind not in PART or (seat and seat[0] not in SEAT_NAMES):
        return Markup("{}").format(part)
    return _(PART[kind], seat=_(SEAT_NAMES[seat[0]]) if seat else "")


def health_change(_: HtmlTranslator, what: str) -> Markup:
    """Return what an alert tells: `camera: camera_dark; lamps: box_silent`, or parts that are well again."""
    parts = [one.partition(": ") for one in what.split("; ")]
    return SEPARATOR.join(fault_message(_, one[0], one[2]) if one[2] else device_part_name(_, one[0]) for one in parts)


def overridden_guards(_: HtmlTranslator, guards: str) -> Markup:
    """Return what had stopped a play: `deal_played_here, out_of_order`."""
    return SEPARATOR.join(_guard(_, code) for code in guards.split(", "))


def _guard(_: HtmlTranslator, code: str) -> Markup:
    return _with_code(_(GUARD[code]), code) if code in GUARD else Markup("{}").format(code)


def _with_code(said: Markup, code: str) -> Markup:
    return Markup("{} <code>{}</code>").format(said, code)


GUARD: Final[Mapping[str, Message]] = {
    "deal_played_here": N_("this table played it before"),
    "player_played_deal": N_("a player there played it before"),
    "out_of_order": N_("played before its turn"),
    "declarations_corrected": N_("declaration corrected"),
}
