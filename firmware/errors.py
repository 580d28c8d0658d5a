"""What can be wrong with the things on the table. Each has a stable code (docs/codes.md)."""

from broker.errors import CodedError


class FirmwareError(CodedError, code="firmware_error"):
    """Base of all."""


class BadAddress(FirmwareError, ValueError, code="bad_device_address"):
    """An address in the configuration that no device answers to."""


class PinInUse(FirmwareError, ValueError, code="pin_in_use"):
    """One pin is wired to two things."""


class DeviceMissing(FirmwareError, OSError, code="device_missing"):
    """The device is not there, or not allowed to us."""


class ButtonStuck(FirmwareError, code="button_stuck"):
    """A button is closed for longer than a finger would, or was so when we first looked."""


class ButtonDisconnected(FirmwareError, code="button_disconnected"):
    """Neither contact of a button with two is closed: its cable is off."""


class ButtonShorted(FirmwareError, code="button_shorted"):
    """Both contacts of a button with two are closed: wires touch."""


class ButtonChatters(FirmwareError, code="button_chatters"):
    """A contact gives pulse after pulse that no finger makes: it is loose or worn, or its cable picks up noise."""


class PinReserved(FirmwareError, ValueError, code="pin_reserved"):
    """The Pi needs this pin for itself."""


class DeviceUnplugged(DeviceMissing, code="device_unplugged"):
    """The device was there and is not any more."""


class DeviceInUse(DeviceMissing, code="device_in_use"):
    """Another program has the device open for itself alone."""


class DeviceForbidden(DeviceMissing, code="device_forbidden"):
    """The device is there, but this user may not open it."""


class BoxSilent(FirmwareError, code="box_silent"):
    """Nothing comes from the button box, though the line is open."""


class BoxReset(FirmwareError, code="box_reset"):
    """The button box has restarted: what it had not handed on is lost."""


class BoxVersion(FirmwareError, code="box_version"):
    """The button box was flashed for another version of this program."""


class BoxOverflow(FirmwareError, code="box_overflow"):
    """The button box had no room for more edges: presses may be missing."""


class LightTells(FirmwareError, code="light_tells"):
    """A light on the board shows what the machine does, and so that somebody has pressed."""


class Undervoltage(FirmwareError, code="undervoltage"):
    """The board gets too little power, or got too little since it started."""


class TooHot(FirmwareError, code="too_hot"):
    """The board is so hot that it will slow down, or has."""


class ClockUnset(FirmwareError, code="clock_unset"):
    """Nobody has told this machine the time of day since it started."""


class UnknownKeyboard(FirmwareError, code="unknown_keyboard"):
    """A keyboard is plugged in that the table's configuration does not name. Told; nothing raises it."""
