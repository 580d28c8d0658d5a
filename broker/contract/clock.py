"""How far a table's clock is off. Messages come late, never early: only one from the future tells.

A state of a time that is yet to come: the table's clock is ahead. One of a time before that of a receipt which its
table has already heard: it is behind. So a message that has waited for hours raises no alarm.
"""

from typing import Final

from broker.contract.messages import TableState

FAR_MS: Final = 120_000


def is_behind(at: int, heard: int | None) -> bool:
    """Say whether a clock that shows `at` is far behind the scorer's, which showed `heard` before. Ms since 1970."""
    return heard is not None and heard - at > FAR_MS


def off_by(state: TableState, now: int) -> int | None:
    """Give by how many ms a table's clock is far ahead (or, below 0, behind) of ours; 0: it is right; None: unknown."""
    if state.at is None:
        return None
    if state.at - now > FAR_MS:
        return state.at - now
    if state.heard is None:
        return None
    return state.at - state.heard if is_behind(state.at, state.heard) else 0
