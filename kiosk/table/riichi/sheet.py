"""How the entries of a session are laid out on pages, to be looked at."""

from typing import Final

from kiosk.table.riichi.session import Session

LINES: Final = 8
"""Entries on a page."""


def pages_of(session: Session) -> int:
    """Give how many pages there are; a session without an entry has one."""
    return max(1, -(-len(session.entries) // LINES))
