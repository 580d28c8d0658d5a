"""Records for tests: random plays and the public examples."""

from functools import cache
from io import BytesIO
from typing import Final

from broker.export.pmn.event import record_play
from broker.export.pmn.notation import read_records, write_record
from broker.export.pmn.record import PmnRecord, RecordError
from broker.rules import load_mcr
from broker.rules.mcr import PlayState, apply_action
from tests.broker.export.pmn.public import EXAMPLES
from tests.broker.rules.mcr.playing import at_random, seldom

RULES: Final = load_mcr()


@cache
def played(seed: int) -> tuple[PlayState, PmnRecord]:
    """Play a deal at random; return its final state and its record."""
    steps = list(at_random(seed))
    last, action = steps[-1]
    deal = last.deal
    return apply_action(last, action, seldom), record_play(deal, [done for _, done in steps], RULES, seldom)


def of(text: str | bytes) -> list[PmnRecord | RecordError]:
    """Read a file."""
    return [found.record for found in read_records(BytesIO(text if isinstance(text, bytes) else text.encode()))]


def one(text: str | bytes) -> PmnRecord:
    """Read a file with one valid record."""
    (found,) = of(text)
    assert isinstance(found, PmnRecord), vars(found)
    return found


def refused(text: str | bytes) -> tuple[str, int | None, int | None]:
    """Read a file with one invalid record; return the error's code, line and step."""
    (found,) = of(text)
    assert isinstance(found, RecordError)
    return found.code, found.line, found.step


def examples() -> list[PmnRecord]:
    """Return the public examples."""
    return [one(text) for text in EXAMPLES.split("\n\n")]


def example(change: str = "", to: str = "") -> str:
    """Return a valid record as text, with the first occurrence of `change` replaced by `to`."""
    text = write_record(examples()[1])
    assert change in text
    return text.replace(change, to, 1)
