"""How a hand of riichi ended, and points, as they are written."""

from broker.contract.riichi import RiichiEvent
from kiosk.screens.words import Words

MINUS = "\N{MINUS SIGN}"


def how(words: Words, told: RiichiEvent | None) -> str:
    """Say how a hand ended."""
    if told is None:
        return ""
    if told.kind == "ron" and told.loser:
        return words("on_discard", seat=words.seat(told.loser))
    if told.kind == "abort" and told.reason:
        return words(f"riichi_{told.reason}")
    names = ", ".join(words.seat(seat) for seat in (*told.wins, *told.offenders))
    return words(f"riichi_{told.kind}", seats=names)


def signed(points: int) -> str:
    """Write points with their sign."""
    return f"+{points}" if points > 0 else str(points).replace("-", MINUS)
