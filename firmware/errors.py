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


class PinReserved(FirmwareError, ValueError):
    """The Pi needs this pin for itself."""

    code = "pin_reserved"


class DeviceForbidden(DeviceMissing):
    """The device is there, but this user may not open it."""

    code = "device_forbidden"
