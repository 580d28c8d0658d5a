"""What is wrong with a table's device, and in spite of what a play goes on: in words, the code beside them.

Codes come from devices of any version: one that has no words here is shown as it came.
"""

from collections.abc import Mapping
from typing import Final

from markupsafe import Markup

from broker.i18n import N_, NP_, Message
from broker.terms import SEAT_NAMES
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


PART: Final[Mapping[str, Message]] = {
    "buttons": N_("Buttons"),
    "lamps": N_("Lamps"),
    "scanner": N_("Scanner"),
    "camera": N_("Camera"),
    "disk": N_("Card"),
    "broker": N_("Broker"),
    "wire": N_("Message to table"),
    "plan": N_("Plan"),
    "board": N_("Device"),
    "self_test": N_("Self-test"),
    "pin": N_("Arbiters’ PIN"),
    "refused": N_("Message from table"),
    "button": N_("Button {seat}"),
    "contact": N_("Button {seat}"),
    "press": N_("Press of {seat}"),
}

PART_FAULT: Final[Mapping[str, Message]] = {
    "wire": N_("not understood by the receiver"),
    "plan": N_("not accepted by the receiver"),
    "refused": N_("refused"),
}

DEVICE_FAULT: Final[Mapping[str, Message]] = {
    "button_silent": N_("no signal"),
    "button_exchanged": N_("another seat's button responded"),
    "button_stuck": N_("stays pressed"),
    "button_disconnected": N_("cable off"),
    "button_shorted": N_("wires touch"),
    "button_chatters": N_("loose contact"),
    "box_silent": N_("box not responding"),
    "box_reset": N_("box restarted"),
    "box_version": N_("box has a different version"),
    "box_overflow": N_("some presses may be lost"),
    "device_missing": N_("not found"),
    "device_unplugged": N_("unplugged"),
    "device_in_use": N_("in use by another program"),
    "device_forbidden": N_("no permission to use it"),
    "evdev_missing": N_("driver not installed"),
    "scanner_beeps": N_("beeps"),
    "scanner_silent": N_("reads nothing"),
    "camera_failed": N_("failed"),
    "camera_missing": NP_("camera", "not found"),
    "camera_unplugged": NP_("camera", "unplugged"),
    "camera_closed": N_("closed"),
    "picture_wrong": N_("picture not usable"),
    "camera_no_tiles": N_("no tiles seen"),
    "camera_dark": N_("too dark"),
    "camera_bright": N_("too bright"),
    "camera_glare": N_("lamp reflection"),
    "camera_soft": N_("out of focus"),
    "camera_tilted": N_("tilted"),
    "camera_noisy": N_("noisy picture"),
    "disk_low": N_("nearly full"),
    "journal_full": N_("full"),
    "broker_refused": N_("rejects this table"),
    "undervoltage": N_("not enough power"),
    "too_hot": N_("too hot"),
    "clock_unset": N_("clock not set"),
    "light_tells": N_("its light reveals presses"),
    "press_told_late": N_("reported late"),
    "self_test_failed": N_("found a problem"),
    "self_test_skipped": N_("skipped"),
    "pin_guessed": N_("wrong PINs entered"),
}

GUARD: Final[Mapping[str, Message]] = {
    "deal_played_here": N_("this table played it before"),
    "player_played_deal": N_("a player there played it before"),
    "out_of_order": N_("played before its turn"),
    "declarations_corrected": N_("declaration corrected"),
}
