"""What can be wrong with an event's folder or the scorer's store."""


class ScorerError(Exception):
    """Base; `code` is stable and listed in docs/codes.md."""

    code = "scorer_error"


class BadEvent(ScorerError, ValueError):
    """The event's folder does not hold an event that can be played."""

    code = "bad_event"


class StoreInUse(ScorerError, OSError):
    """Another scorer has this event's store open."""

    code = "store_in_use"


class StoreBroken(ScorerError, OSError):
    """The store is not one of this event, or of a newer version."""

    code = "store_broken"
