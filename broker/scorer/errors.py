"""What can be wrong with an event's folder."""

from collections.abc import Iterable

from broker.rules.errors import RuleError


class ScorerError(Exception):
    """Base; `code` is stable and listed in docs/codes.md."""

    code = "scorer_error"


class BadEvent(ScorerError, ValueError):
    """The event's folder does not hold an event that can be played; `found`: each problem of its plan by itself."""

    code = "bad_event"

    def __init__(self, text: str, found: Iterable[RuleError] = ()) -> None:
        super().__init__(text)
        self.found = tuple(found)


class NoDeviceWaits(ScorerError, LookupError):
    """A table is to be handed over, and no second device has asked to serve it."""

    code = "no_device_waits"
    status = 409


class CallAttended(ScorerError, ValueError):
    """An arbiter wants to go to a call, or not to go, and another one has said so first."""

    code = "call_attended"
    status = 409
