"""The sessions of an event: when its rounds are played."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from broker.contract.words import Name, PlayMinutes, RoundNo

STARTS: Final = r"^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]$(?!\n)"
"""Local time, to the minute, as a browser's field gives it."""


class Session(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Some rounds that are played without a long pause, and their clocks."""

    name: Name
    first_round: RoundNo
    last_round: RoundNo
    starts: Annotated[str, Meta(pattern=STARTS, description="date and time where it is played")] | None = None
    play_minutes: PlayMinutes | None = None
