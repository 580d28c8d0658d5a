"""What can be wrong with an event's folder."""


class ScorerError(Exception):
    """Base; `code` is stable and listed in docs/codes.md."""

    code = "scorer_error"


class BadEvent(ScorerError, ValueError):
    """The event's folder does not hold an event that can be played."""

    code = "bad_event"
