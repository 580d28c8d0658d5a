"""A record in words, for people."""

from collections.abc import Iterator

from broker.contract.words import SEATS
from broker.records.record import Record
from broker.records.steps import DOES, HU, Step

VERBS = {
    "draw": "takes",
    "discard": "discards",
    "chow": "chow around",
    "pung": "pung of",
    "melded_kong": "kong of",
    "concealed_kong": "concealed kong of",
    "added_kong": "adds to a kong",
}


def shown(record: Record) -> str:
    """Tell a play, a line a turn."""
    return "\n".join(_lines(record)) + "\n"


def _lines(record: Record) -> Iterator[str]:
    yield f"{record.event}, {record.date}: deal {record.board}, prevalent wind {record.prevalent_wind}"
    for seat in SEATS:
        hand = " ".join(record.hands[seat]) if record.hands else "hand not told"
        yield f"  {seat:5} {record.players[seat]}: {hand}"
    if record.steps is None:
        yield "  how it was played is not told"
    for number, step in enumerate(record.steps or (), 1):
        yield f"  {number:3}. {_step(step)}"
    for seat, value in record.winners.items():
        yield f"  {seat} wins with {value}"
    yield "  points: " + ", ".join(f"{seat} {record.points[seat]:+}" for seat in SEATS)
    for seat, imp in record.fines.items():
        yield f"  {seat} is fined {imp} IMP"


def _step(step: Step) -> str:
    if step.letter in DOES:
        return f"{step.seat} {VERBS[DOES[step.letter]]} {step.tile}"
    return f"{step.seat} declares hu" if step.letter == HU else "nobody wins"
