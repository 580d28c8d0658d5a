"""Hands in short notation: tiles `123m 44z`, melds `123m`, `888p`, `8888p` and `(8888p)` (concealed)."""

import re
from collections.abc import Iterable

from broker.rules.mcr import FanCount, McrHand, McrMeld, McrSituation, Ruleset, count_fan, fan_name


def tiles(text: str) -> tuple[str, ...]:
    """Parse tiles written as `123m 44z`."""
    return tuple(rank + group[-1] for group in re.findall(r"[0-9]+[a-z]", text) for rank in group[:-1])


def meld(text: str) -> McrMeld:
    """Parse one meld."""
    held = tiles(text)
    kind = "chow" if len(set(held)) > 1 else {3: "pung", 4: "kong"}[len(held)]
    return McrMeld(kind, held, concealed=text.startswith("("))


def hand(concealed: str, winning_tile: str, *melds: str) -> McrHand:
    """Parse a hand."""
    return McrHand(tiles(concealed), winning_tile, tuple(meld(text) for text in melds))


def situation(text: str = "", *, seat: str = "south", prevalent: str = "east") -> McrSituation:
    """Parse a situation: any of `drawn`, `last_of_kind`, `last_tile`, `kong`. Empty is a plain discard."""
    words = set(text.split())
    assert words <= {"drawn", "last_of_kind", "last_tile", "kong"}
    return McrSituation(
        self_drawn="drawn" in words,
        seat_wind=seat,
        prevalent_wind=prevalent,
        last_of_kind="last_of_kind" in words,
        last_tile="last_tile" in words,
        kong="kong" in words,
    )


def written_count(counted: FanCount) -> str:
    """Return a count as `24 Seven Pairs + 2 All Simples`."""
    assert counted.fan == sum(element.fan for element in counted.elements)
    return " + ".join(f"{element.fan} {fan_name(element.id)}" for element in counted.elements)


def worth(held: McrHand, how: McrSituation | None = None, ruleset: Ruleset = "green-book") -> str:
    """Return the written count of a hand, by default won on a plain discard."""
    return written_count(count_fan(held, how or situation(), ruleset))


def ids(counted: FanCount) -> list[str]:
    """Return the ids of a count's elements."""
    return [element.id for element in counted.elements]


def without(held: Iterable[str], tile: str) -> tuple[str, ...]:
    """Return the tiles without one `tile`."""
    rest = list(held)
    rest.remove(tile)
    return tuple(rest)
