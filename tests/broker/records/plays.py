"""Records for tests: of plays at random, and of the public examples."""

from functools import cache
from io import BytesIO
from typing import Final

from broker.records.errors import RecordError
from broker.records.played import recorded
from broker.records.reading import read
from broker.records.record import Record
from broker.records.writing import write_one
from broker.rules.profile_files import load
from broker.rules.referee.moves import apply
from broker.rules.referee.play import Play
from tests.broker.records.public import EXAMPLES
from tests.broker.rules.referee.playing import at_random, seldom

RULES: Final = load()


@cache
def played(seed: int) -> tuple[Play, Record]:
    """Play a deal at random; give how it ended, and its record."""
    steps = list(at_random(seed))
    last, action = steps[-1]
    deal = last.deal
    return apply(last, action, seldom), recorded(deal, [done for _, done in steps], RULES, seldom)


def of(text: str | bytes) -> list[Record | RecordError]:
    """Read a file."""
    return [found.record for found in read(BytesIO(text if isinstance(text, bytes) else text.encode()))]


def one(text: str | bytes) -> Record:
    """Read a file of one record, which must be good."""
    (found,) = of(text)
    assert isinstance(found, Record), vars(found)
    return found


def refused(text: str | bytes) -> tuple[str, int | None, int | None]:
    """Read a file of one record, which must be refused: code, line and step."""
    (found,) = of(text)
    assert isinstance(found, RecordError)
    return found.code, found.line, found.step


def examples() -> list[Record]:
    """Give the public examples."""
    return [one(text) for text in EXAMPLES.split("\n\n")]


def example(change: str = "", to: str = "") -> str:
    """Give a good record of ours as text, with the first of something changed to something else."""
    text = write_one(examples()[1])
    assert change in text
    return text.replace(change, to, 1)
