"""What can be wrong with an event's folder."""


class ScorerError(Exception):
    """Base; `code` is stable and listed in docs/codes.md."""

    code = "scorer_error"


class BadEvent(ScorerError, ValueError):
    """The event's folder does not hold an event that can be played."""

    code = "bad_event"


class NoDeviceWaits(ScorerError, LookupError):
    """A table is to be handed over, and no second device has asked to serve it."""

    code = "no_device_waits"
    status = 409
