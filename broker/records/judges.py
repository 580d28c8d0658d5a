"""Who says what a hand on record is worth: the fan counter, or the record itself."""

from collections.abc import Callable
from typing import Final, Literal, get_args

from msgspec import Struct

from broker.records.fans import Fan, of_count
from broker.records.record import Record
from broker.rules.errors import RuleError
from broker.rules.fan.catalogue import Ruleset
from broker.rules.fan.declared import count_hu
from broker.rules.referee.judge import Hu, Judge


class JudgeOf(Struct, frozen=True):
    """Who judges a record's hands: the referee asks `of(record)` what a hu is worth."""

    of: Callable[[Record], Judge]
    fans: Callable[[Hu], tuple[Fan, ...]] | None = None
    """The fan of a winner's hand; None where hands are not counted."""


How = Literal["green-book", "1998", "declared"]

HOWS: Final[tuple[How, ...]] = get_args(How)


def judged(how: How) -> JudgeOf:
    """Give the judge by its name: a book by which hands are counted, or `declared`."""
    return declared if how == "declared" else counted(how)


def _declared(record: Record) -> Judge:
    def judge(hu: Hu) -> int:
        if hu.seat not in record.winners:
            raise RuleError("other_winners", f"{hu.seat} declares hu, and Fan has nothing of it")
        return record.winners[hu.seat]

    return judge


declared: Final = JudgeOf(_declared)
"""Believe the record: each winner's hand is worth what Fan says of it."""


def counted(ruleset: Ruleset) -> JudgeOf:
    """Count each hand anew."""

    def judge(hu: Hu) -> int:
        return count_hu(hu, ruleset).fan

    return JudgeOf(lambda _: judge, lambda hu: of_count(count_hu(hu, ruleset)))
