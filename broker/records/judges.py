"""Who says what a hand on record is worth: the fan counter, or the record itself."""

from collections.abc import Callable
from typing import Final, Literal, get_args

from broker.records.record import Record
from broker.rules.errors import RuleError
from broker.rules.fan.catalogue import Ruleset
from broker.rules.fan.count import Count, count
from broker.rules.fan.hand import Hand, Meld, Situation
from broker.rules.referee.judge import Hu, Judge

JudgeOf = Callable[[Record], Judge]
"""Gives the judge of a record's hands."""

How = Literal["green-book", "1998", "declared"]

HOWS: Final[tuple[How, ...]] = get_args(How)


def judged(how: How) -> JudgeOf:
    """Give the judge by its name: a book by which hands are counted, or `declared`."""
    return declared if how == "declared" else counted(how)


def declared(record: Record) -> Judge:
    """Believe the record: each winner's hand is worth what Fan says of it."""

    def judge(hu: Hu) -> int:
        if hu.seat not in record.winners:
            raise RuleError("other_winners", f"{hu.seat} declares hu, and Fan has nothing of it")
        return record.winners[hu.seat]

    return judge


def counted(ruleset: Ruleset) -> JudgeOf:
    """Count each hand anew."""

    def judge(hu: Hu) -> int:
        return count_of(hu, ruleset).fan

    return lambda _: judge


def count_of(hu: Hu, ruleset: Ruleset = "green-book") -> Count:
    """Count a declared hu. Raises RuleError where it is none."""
    melds = tuple(Meld(meld.kind, meld.tiles, meld.concealed) for meld in hu.melds)
    situation = Situation(
        self_drawn=hu.self_drawn,
        seat_wind=hu.seat_wind,
        prevalent_wind=hu.prevalent_wind,
        last_of_kind=hu.last_of_kind,
        last_tile=hu.last_tile,
        kong=hu.kong,
    )
    return count(Hand(hu.concealed, hu.winning_tile, melds), situation, ruleset)
