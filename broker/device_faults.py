"""Names of a table device's parts and of their faults, as shown at the table and at the desk.

The keys are the codes in `health`. Where a table's screen has less room, it has shorter texts of its own
(`kiosk/screens/texts.py`).
"""

from collections.abc import Mapping
from typing import Final

from broker.i18n import N_, NP_, Message

PART: Final[Mapping[str, Message]] = {
    "buttons": N_("Buttons"),
    "lamps": N_("Lamps"),
    "scanner": N_("Scanner"),
    "camera": N_("Camera"),
    "screen": N_("Screen"),
    "disk": N_("Card"),
    "broker": N_("Broker"),
    "wire": N_("Message to table"),
    "plan": N_("Plan"),
    "board": N_("Device"),
    "self_test": N_("Self-test"),
    "pin": N_("Arbiters’ PIN"),
    "facts": N_("Record of the play"),
    "keyboard": N_("Keyboard"),
    "other_keyboard": N_("Other keyboard"),
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
    "button_exchanged": N_("another seat’s button responded"),
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
    "scanner_beeps": N_("beeps"),
    "scanner_silent": N_("reads nothing"),
    "camera_failed": N_("failed"),
    "camera_missing": NP_("camera", "not found"),
    "camera_driver_missing": N_("its program is missing"),
    "camera_unplugged": NP_("camera", "unplugged"),
    "camera_closed": N_("closed"),
    "picture_wrong": N_("picture not usable"),
    "picture_empty": N_("no picture"),
    "picture_too_large": N_("picture too large"),
    "picture_unreadable": N_("pictures damaged"),
    "camera_no_tiles": N_("no tiles seen"),
    "camera_dark": N_("too dark"),
    "camera_bright": N_("too bright"),
    "camera_glare": N_("lamp reflection"),
    "camera_soft": N_("out of focus"),
    "camera_tilted": N_("tilted"),
    "camera_noisy": N_("noisy picture"),
    "disk_low": N_("nearly full"),
    "journal_full": N_("full"),
    "card_refuses": N_("cannot be written; everything is kept elsewhere"),
    "broker_refused": N_("rejects this table"),
    "device_unknown": N_("not accepted at the desk yet"),
    "receipt_unproven": N_("not signed by this event’s scorer"),
    "screen_black": N_("stays black"),
    "screen_unplugged": NP_("screen", "unplugged"),
    "undervoltage": N_("not enough power"),
    "too_hot": N_("too hot"),
    "clock_unset": N_("clock not set"),
    "light_tells": N_("its light reveals presses"),
    "press_told_late": N_("reported late"),
    "self_test_failed": N_("found a problem"),
    "self_test_skipped": N_("skipped"),
    "pin_guessed": N_("wrong PINs entered"),
    "journal_newer": N_("the program went back to an older version: this play begins again"),
    "fact_unexpected": N_("the last report does not fit the play so far: an arbiter has to check it"),
    "unknown_keyboard": N_("does not belong to this table; its input is ignored"),
}
