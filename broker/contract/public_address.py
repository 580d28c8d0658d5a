"""Where players read at home what the desk publishes: the address under which the organiser makes it known."""

from typing import Annotated, Final

from msgspec import Meta

LONGEST: Final = 64
"""Characters: with a code behind it, what an ordinary screen shows as a QR code of four pixels a module."""

_NAME: Final = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_PORT: Final = "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
PATTERN: Final = rf"^(https?://{_NAME}(\.{_NAME}){{0,15}}(:{_PORT})?(/[A-Za-z0-9._~-]{{1,64}}){{0,8}})?$(?!\n)"
"""A host by name or in four numbers; a path may follow, no slash at the end, no query, nobody's password."""

PublicAddress = Annotated[
    str,
    Meta(max_length=LONGEST, pattern=PATTERN, description="where the desk is for everybody; empty: not made known"),
]


def receipt_link(address: str, code: str) -> str:
    """Give where a play's receipt is shown; empty where no address is made known."""
    return f"{address}/receipt/{code}" if address else ""
