"""Errors and faults of the devices on the table, each with a stable code (docs/codes.md)."""

from collections.abc import Mapping
from typing import Final

from broker.errors import CodedError


class FirmwareError(CodedError, code="firmware_error"):
    """Base of all firmware errors."""


class BadAddress(FirmwareError, ValueError, code="bad_device_address"):
    """An address in the configuration that does not name a device."""


class PinInUse(FirmwareError, ValueError, code="pin_in_use"):
    """One pin is wired to two things."""


class DeviceMissing(FirmwareError, OSError, code="device_missing"):
    """The device is missing, or this user may not access it."""


class PinReserved(FirmwareError, ValueError, code="pin_reserved"):
    """The Pi itself needs this pin."""


class DeviceUnplugged(DeviceMissing, code="device_unplugged"):
    """The device was connected and has disappeared."""


class DeviceInUse(DeviceMissing, code="device_in_use"):
    """Another program has exclusive access to the device."""


class DeviceForbidden(DeviceMissing, code="device_forbidden"):
    """The device exists, but this user may not open it."""


FAULT_CODES: Final[Mapping[str, str]] = {
    "box_overflow": "The button box had no room for more edges: presses may be missing.",
    "box_reset": "The button box has restarted: edges that it had not sent yet are lost.",
    "box_silent": "Nothing is received from the button box, although the line is open.",
    "box_version": "The button box was flashed for another version of this program.",
    "button_chatters": "A contact gives repeated pulses too short for a finger: it is loose or worn, or its cable "
    "picks up noise.",
    "button_disconnected": "Neither contact of a button with two is closed: its cable is unplugged.",
    "button_shorted": "Both contacts of a button with two are closed: a short circuit.",
    "button_stuck": "A button has been closed for longer than a finger would hold it, or was closed at the start.",
    "clock_unset": "This machine's clock has not been set since it started.",
    "light_tells": "A light on the board shows the machine's activity, and so reveals presses.",
    "too_hot": "The board is so hot that it slows down, or is about to.",
    "undervoltage": "The supply voltage of the board is too low, or has been since it started.",
    "unknown_keyboard": "A keyboard is plugged in that the table's configuration does not name.",
}
"""Fault codes reported for parts of the device, and their meaning. They are never raised."""
