"""The value of an MCR hand: the one function through which all hands are counted."""

from dataclasses import dataclass

from broker.rules.errors import RuleError
from broker.rules.fan.catalogue import Ruleset, place, value
from broker.rules.fan.green_book import by_green_book
from broker.rules.fan.hand import Hand, Situation
from broker.rules.fan.library import fan_ids
from broker.rules.fan.shape import wins
from broker.rules.fan.situation import check


@dataclass(frozen=True, slots=True)
class Element:
    """One fan of a hand: its id in fan.toml, and what it is worth in the book by which it was counted."""

    id: str
    fan: int


@dataclass(frozen=True, slots=True)
class Count:
    """A hand's value: the sum of its elements, which are in order of value, one for each time a fan is counted."""

    fan: int
    elements: tuple[Element, ...]


def count(hand: Hand, situation: Situation, ruleset: Ruleset = "green-book") -> Count:
    """Count a hand. It may be worth less than a profile's minimum: `at_least` asks for that.

    Raises RuleError with the codes of `situation.check`, `not_winning`, `unknown_ruleset`, `fan_counter_missing` or
    `fan_counter_failed`.
    """
    check(hand, situation)
    if not wins(hand.standing):
        raise RuleError("not_winning", "these tiles are not a winning hand")
    ids = fan_ids(hand, situation)
    if ruleset == "green-book":
        ids = by_green_book(ids, hand, situation)
    elements = [Element(fan_id, value(fan_id, ruleset)) for fan_id in ids]
    elements.sort(key=lambda element: (-element.fan, place(element.id)))
    return Count(sum(element.fan for element in elements), tuple(elements))


def at_least(minimum: int, counted: Count) -> None:
    """Raise RuleError `below_minimum` where a hand is not worth enough to win."""
    if counted.fan < minimum:
        raise RuleError("below_minimum", f"the hand is worth {counted.fan}, under the minimum of {minimum}")
