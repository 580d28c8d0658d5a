"""How much of a play's time is left, as its table shows it: from the confirmation on, without pauses. Pure.

A table tells how long its pauses were and not what is left: so nothing has to be told while time goes on.
"""

from typing import Final

from broker.scorer.view import TableView

MINUTE_MS: Final = 60_000

PLAYING: Final = ("playing", "declared", "accepting")


def up_at(table: TableView) -> int | None:
    """Give when the time of a play that goes on is up (ms since 1970).

    None in a pause, where the plan gives the play no time, where none goes on, and where it is not known since when.
    """
    allowed = _allowed_ms(table)
    if allowed is None or table.paused or table.playing_since is None or table.stood_ms is None:
        return None
    return table.playing_since + table.stood_ms + allowed


def stands_ms(table: TableView) -> int | None:
    """Give what is left while the arbiter's pause lasts, below zero what it was over when that began; None as above."""
    allowed = _allowed_ms(table)
    return None if allowed is None or not table.paused or table.played_ms is None else allowed - table.played_ms


def left_ms(table: TableView, now: int) -> int | None:
    """Give what is left at a moment (ms since 1970), in a pause or not; None as above."""
    up = up_at(table)
    return stands_ms(table) if up is None else up - now


def whole_minutes(left: int) -> int:
    """Give the minutes of a time that is left (ms), one that has begun counted; below zero those that it is over."""
    return -(-left // MINUTE_MS)


def _allowed_ms(table: TableView) -> int | None:
    if table.minutes is None or table.state not in PLAYING:
        return None
    return (table.minutes + table.extra_min) * MINUTE_MS
