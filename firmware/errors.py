"""What can be wrong with the things on the table. Each has a stable code (docs/codes.md)."""


class FirmwareError(Exception):
    """Base of all."""

    code = "firmware_error"


class BadAddress(FirmwareError, ValueError):
    """An address in the configuration that no device answers to."""

    code = "bad_device_address"


class PinInUse(FirmwareError, ValueError):
    """One pin is wired to two things."""

    code = "pin_in_use"


class DeviceMissing(FirmwareError, OSError):
    """The device is not there, or not allowed to us."""

    code = "device_missing"


class ButtonStuck(FirmwareError):
    """A button is closed for longer than a finger would, or was so when we first looked."""

    code = "button_stuck"


class ButtonDisconnected(FirmwareError):
    """Neither contact of a button with two is closed: its cable is off."""

    code = "button_disconnected"


class ButtonShorted(FirmwareError):
    """Both contacts of a button with two are closed: wires touch."""

    code = "button_shorted"


class ButtonChatters(FirmwareError):
    """A contact gives pulse after pulse that no finger makes: it is loose or worn, or its cable picks up noise."""

    code = "button_chatters"


class PinReserved(FirmwareError, ValueError):
    """The Pi needs this pin for itself."""

    code = "pin_reserved"


class DeviceUnplugged(DeviceMissing):
    """The device was there and is not any more."""

    code = "device_unplugged"


class DeviceInUse(DeviceMissing):
    """Another program has the device open for itself alone."""

    code = "device_in_use"


class DeviceForbidden(DeviceMissing):
    """The device is there, but this user may not open it."""

    code = "device_forbidden"


class BoxSilent(FirmwareError):
    """Nothing comes from the button box, though the line is open."""

    code = "box_silent"


class BoxReset(FirmwareError):
    """The button box has started anew: what it had not handed on is lost."""

    code = "box_reset"


class BoxVersion(FirmwareError):
    """The button box was flashed for another version of this program."""

    code = "box_version"


class BoxOverflow(FirmwareError):
    """The button box had no room for more edges: presses may be missing."""

    code = "box_overflow"


class LightTells(FirmwareError):
    """A light on the board shows what the machine does, and so that somebody has pressed."""

    code = "light_tells"


class Undervoltage(FirmwareError):
    """The board gets too little power, or got too little since it started."""

    code = "undervoltage"


class TooHot(FirmwareError):
    """The board is so hot that it will slow down, or has."""

    code = "too_hot"


class ClockUnset(FirmwareError):
    """Nobody has told this machine the time of day since it started."""

    code = "clock_unset"


class UnknownKeyboard(FirmwareError):
    """A keyboard is plugged in that the table's configuration does not name. Told; nothing raises it."""

    code = "unknown_keyboard"
