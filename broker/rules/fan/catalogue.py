"""The 81 fan: their values in both books, and their names."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from broker.rules.errors import RuleError

Ruleset = Literal["green-book", "1998"]
"""Which book: the Green Book of 2006 (international events), or the Chinese text of 1998 as PyMahjongGB counts it."""

RULESETS: Final[tuple[Ruleset, ...]] = get_args(Ruleset)

Language = Literal["en", "fr", "zh"]

LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)

Value = Annotated[int, Meta(ge=1, le=88)]


class Fan(Struct, frozen=True, forbid_unknown_fields=True):
    """One fan, as fan.toml explains it."""

    fan: Value
    en: str
    fr: str
    zh: str
    fan_1998: Value | None = None
    library: str | None = None


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    fan: dict[str, Fan]
    beside: dict[str, Fan]


@cache
def _file() -> _File:
    text = (files("broker.rules.fan") / "fan.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=_File)


def the_81() -> Mapping[str, Fan]:
    """Give the 81 fan by id, in the order of the book."""
    return _file().fan


@cache
def entries() -> Mapping[str, Fan]:
    """Give by id all that a count can hold: the 81 fan and what lies beside them."""
    return _file().fan | _file().beside


@cache
def ids_by_library_name() -> Mapping[str, str]:
    """Give the id for each English name of PyMahjongGB's."""
    return {fan.library or fan.en: fan_id for fan_id, fan in entries().items()}


@cache
def place(fan_id: str) -> int:
    """Give the place in the book, from 0."""
    return list(entries()).index(fan_id)


def value(fan_id: str, ruleset: Ruleset) -> int:
    """Give what a fan is worth in a book. Raises RuleError `unknown_ruleset`."""
    if ruleset not in RULESETS:
        raise RuleError("unknown_ruleset", f"no ruleset {ruleset!r}; there are: {', '.join(RULESETS)}")
    fan = entries()[fan_id]
    return fan.fan_1998 if ruleset == "1998" and fan.fan_1998 is not None else fan.fan


def name(fan_id: str, language: Language = "en") -> str:
    """Give the name of a fan in a language."""
    fan = entries()[fan_id]
    return {"en": fan.en, "fr": fan.fr, "zh": fan.zh}[language]
