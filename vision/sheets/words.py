"""The words on the sheets in three languages."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, get_args

Language = Literal["en", "fr", "zh"]
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)

Words = dict[str, Any]


@cache
def catalogue() -> dict[str, Words]:
    """Read `words.toml`, by language."""
    return tomllib.loads((files("vision.sheets") / "words.toml").read_text(encoding="utf-8"))


def face_name(words: Words, face: str) -> str:
    """Give what stands beside a face's code: the suit, or the honour's name."""
    rank, suit = int(face[0]), face[1]
    name: str = words["z"][rank - 1] if suit == "z" else words[suit]
    return name
