"""Yakuman by their names, as people write them, and how many a hand is worth."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from broker.rules.errors import RuleError
from broker.rules.riichi.profile import HandRules

PAARENCHAN: Final = "paarenchan"

COUNTED: Final = "kazoe"

OF_OWN_VALUE: Final = ("renhou", "shiisanputa")
"""A yakuman in some clubs, a mangan in others."""

EIGHT: Final = 8
"""Counters after which a win is paarenchan: the word says it."""

WRITTEN: Final[Mapping[str, tuple[str, ...]]] = {
    "tenhou": ("tenho",),
    "chiihou": ("chiho", "chiiho", "chihou"),
    "renhou": ("renho",),
    "kokushi": ("kokushimusou", "kokushimuso"),
    "kokushi_thirteen_wait": ("kokushimusou13", "kokushi13", "kokushimusoujuusanmen", "daburukokushimusou"),
    "ryuuiisou": ("ryuiisou", "ryuuiiso"),
    "daisharin": (),
    "shiisanputa": (),
    "daisangen": (),
    "daisuushii": ("daisuushi", "daisushi", "daisuushiii"),
    "shousuushii": ("shousuushi", "shosushi"),
    "tsuuiisou": ("tsuiisou", "tsuuiso"),
    "chinroutou": ("chinroto",),
    "chuuren": ("chuurenpoutou", "chuurenpouto", "churenpoto"),
    "junsei_chuuren": ("junseichuurenpoutou", "daburuchuurenpoutou", "chuurenpoutou9"),
    "suuankou": ("suanko", "suuanko"),
    "suuankou_tanki": ("suuankoutankimachi", "suankotanki"),
    "suukantsu": ("sukantsu",),
    PAARENCHAN: ("parenchan",),
    COUNTED: ("kazoeyakuman", "kazoyakuman"),
}
"""Our name of each, and the other ways in which it is written. Spaces, hyphens and case do not matter."""


def _plain(written: str) -> str:
    return re.sub(r"[^a-z0-9]", "", written.lower())


NAMES: Final[Mapping[str, str]] = {_plain(way): name for name, ways in WRITTEN.items() for way in (name, *ways)}


def special(yaku: Iterable[str], rules: HandRules) -> tuple[str, ...]:
    """Give those of a hand's yaku that have a value of their own under these rules."""
    found = (NAMES.get(_plain(written)) for written in yaku)
    return tuple(name for name in found if name in OF_OWN_VALUE and _setting(name, rules) != "none")


def names(written: Iterable[str]) -> tuple[str, ...]:
    """Give our names of yakuman. Raises RuleError `unknown_yakuman`, `yakuman_named_twice`."""
    found = tuple(map(_name, written))
    if len({*found}) < len(found):
        raise RuleError("yakuman_named_twice", f"a yakuman is named twice in {', '.join(found)}")
    return found


def worth(name: str, rules: HandRules) -> int:
    """Count one yakuman by its name: 1, 2 where it is doubled, 0 where it is a hand of the value of a mangan.

    Raises RuleError `yakuman_not_played`.
    """
    setting = _setting(name, rules)
    if setting == "none":
        raise RuleError("yakuman_not_played", f"{name} is not played under these rules")
    if setting == "mangan":
        return 0
    return 2 if name in rules.double_yakuman.value else 1


def count(found: Iterable[str], rules: HandRules) -> int:
    """Count all yakuman of a hand. A counted yakuman is a last resort and adds nothing to others (MONTREAL)."""
    each = {name: worth(name, rules) for name in found}
    own = [number for name, number in each.items() if name != COUNTED and number]
    return together(own, rules) if own else each.get(COUNTED, 0)


def together(numbers: Iterable[int], rules: HandRules) -> int:
    """Count yakuman that one hand has for several reasons."""
    return sum(numbers) if rules.several_yakuman.value == "added" else max(numbers, default=0)


def _name(written: str) -> str:
    found = NAMES.get(_plain(written))
    if found is None:
        raise RuleError("unknown_yakuman", f"no yakuman is called {written[:40]!r}")
    return found


def _setting(name: str, rules: HandRules) -> str:
    special = {
        "renhou": rules.renhou.value,
        "shiisanputa": rules.shiisanputa.value,
        "daisharin": rules.daisharin.value,
        PAARENCHAN: rules.paarenchan.value,
    }
    return special.get(name, "yakuman")
