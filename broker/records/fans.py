"""The tag Fan: what each winner's hand was worth, by numbers of fan."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from broker.rules.errors import RuleError
from broker.rules.fan.catalogue import place, the_81, value
from broker.rules.fan.count import Count

NOT_TOLD: Final = 0
"""Our number for a hand value whose fan are not told; PMN has none."""

KONGS: Final = "concealed_kong_and_melded_kong"
"""PMN's number 82, beside the 81 of the book."""

CHOSEN: Final = {**dict.fromkeys(range(69, 73), 69), **dict.fromkeys(range(77, 80), 77)}
"""Fan of one point among which the winner may choose, each with the first of its kind: pairs of chows, of which a chow
joins only some, and the wait (the 3 that ends 1233 is an edge wait and a single wait). Another choice is no mistake."""

LAST: Final = 82
MOST: Final = 999

ENTRY: Final = re.compile(r"(?P<number>[0-9]{1,2})(?:/(?P<fan>[0-9]{1,3}))?/(?P<times>[0-9]{1,2})")
"""Number, value, times. PMN's first release had no value; it is then that of the Green Book."""


class Fan(Struct, frozen=True):
    """One fan of a hand: its PMN number, its value in fan points, how often it counts."""

    number: int
    fan: int
    times: int = 1

    def __str__(self) -> str:
        """Write it as PMN does."""
        return f"{self.number}/{self.fan}/{self.times}"


def told(hand_value: int) -> tuple[Fan, ...]:
    """Give a hand value without its fan."""
    return (Fan(NOT_TOLD, hand_value),)


def of_count(counted: Count) -> tuple[Fan, ...]:
    """Give a counted hand's fan, in the order of their numbers."""
    times = Counter((number_of(element.id), element.fan) for element in counted.elements)
    return tuple(Fan(number, fan, count) for (number, fan), count in sorted(times.items()))


def number_of(fan_id: str) -> int:
    """Give PMN's number of a fan: its place in the book, from 1."""
    return place(fan_id) + 1


def hand_value(fans: tuple[Fan, ...]) -> int:
    """Add up."""
    return sum(fan.fan * fan.times for fan in fans)


def names_other(named: tuple[Fan, ...], right: tuple[Fan, ...]) -> bool:
    """Say whether fan are named that the hand does not have, or too often."""
    return bool(_kinds(fan for fan in named if fan.number != NOT_TOLD) - _kinds(right))


def _kinds(fans: Iterable[Fan]) -> Counter[tuple[int, int]]:
    kinds: Counter[tuple[int, int]] = Counter()
    for fan in fans:
        kinds[CHOSEN.get(fan.number, fan.number), fan.fan] += fan.times
    return kinds


def read_fans(written: str) -> tuple[Fan, ...]:
    """Read one winner's fan: `39/8/1.62/2/1`. Raises RuleError `bad_tag`."""
    fans = tuple(_read(entry) for entry in written.split("."))
    if not 0 < hand_value(fans) <= MOST:
        raise RuleError("bad_tag", f"a hand value of {hand_value(fans)} cannot be")
    return fans


def _read(entry: str) -> Fan:
    found = ENTRY.fullmatch(entry)
    if not found or int(found["number"]) > LAST:
        raise RuleError("bad_tag", f"{entry[:20]!r} is no fan: number/value/times, numbers up to {LAST}")
    number = int(found["number"])
    if found["fan"] is None and number == NOT_TOLD:
        raise RuleError("bad_tag", "a hand value whose fan are not told is written 0/VALUE/1")
    fan = int(found["fan"]) if found["fan"] else value([*the_81(), KONGS][number - 1], "green-book")
    return Fan(number, fan, int(found["times"]))


def write_fans(fans: tuple[Fan, ...]) -> str:
    """Write one seat's fan; `None` for who has not won."""
    return ".".join(map(str, fans)) if fans else "None"
