"""Who may rule: the arbiter, once let in at the table by PIN or by the desk."""

from kiosk.table.errors import NotNow
from kiosk.table.state import Table


def arbiter_of(state: Table) -> str:
    """Give the name of the arbiter who is at the table. Raises NotNow `arbiter_needed`."""
    if state.arbiter is None:
        raise NotNow("arbiter_needed", "by PIN, or let in by the desk")
    return state.arbiter
