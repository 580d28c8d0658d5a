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


class DeviceUnplugged(DeviceMissing):
    """The device was there and is not any more."""

    code = "device_unplugged"


class DeviceInUse(DeviceMissing):
    """Another program has the device open for itself alone."""

    code = "device_in_use"


class DeviceForbidden(DeviceMissing):
    """The device is there, but this user may not open it."""

    code = "device_forbidden"


class EvdevMissing(FirmwareError, ImportError):
    """The library for scanners that type is not installed."""

    code = "evdev_missing"
