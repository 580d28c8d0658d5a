"""The names of yaku, items of fu and limits."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal, get_args

import msgspec
from msgspec import Struct

Language = Literal["ja", "en", "fr", "kanji", "zh"]
"""`ja`: Japanese terms in Latin letters; `kanji`: in Japanese script."""

LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)

Part = Literal["yaku", "fu", "limit"]


class RiichiNames(Struct, frozen=True, forbid_unknown_fields=True):
    """The names of one thing, as names.toml explains them."""

    ja: str
    en: str
    fr: str
    kanji: str
    zh: str
    library: int | None = None
    tenhou: int | None = None


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    yaku: dict[str, RiichiNames]
    fu: dict[str, RiichiNames]
    limit: dict[str, RiichiNames]


@cache
def riichi_names(part: Part) -> Mapping[str, RiichiNames]:
    """Return the names of all yaku, items of fu or limits by id, in the order in which they are listed."""
    text = (files("broker.rules.riichi") / "names.toml").read_text(encoding="utf-8")
    read = msgspec.toml.decode(text, type=_File)
    return {"yaku": read.yaku, "fu": read.fu, "limit": read.limit}[part]


@cache
def ids_by_number(of: Literal["library", "tenhou"]) -> Mapping[int, str]:
    """Return the id of each yaku by its number in the library, or in Tenhou's records."""
    numbered = ((getattr(names, of), yaku_id) for yaku_id, names in riichi_names("yaku").items())
    return {number: yaku_id for number, yaku_id in numbered if number is not None}


@cache
def yaku_index(yaku_id: str) -> int:
    """Return the index of a yaku in the order in which they are listed, from 0."""
    return list(riichi_names("yaku")).index(yaku_id)


def riichi_name(part: Part, of: str, language: Language = "ja") -> str:
    """Return the name of a yaku, an item of fu or a limit."""
    return str(getattr(riichi_names(part)[of], language))
