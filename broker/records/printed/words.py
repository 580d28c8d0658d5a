"""The words of printed pages, in three languages."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal, get_args

Language = Literal["en", "fr", "zh"]
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)


class Words:
    """One language's sentences."""

    def __init__(self, language: Language, sentences: Mapping[str, str]) -> None:
        self.language, self._sentences = language, sentences

    def say(self, key: str, **values: object) -> str:
        """Give a sentence. Raises KeyError."""
        return self._sentences[key].format(**values)


@cache
def words(language: Language) -> Words:
    """Read `words.toml`."""
    tables = tomllib.loads((files("broker.records.printed") / "words.toml").read_text(encoding="utf-8"))
    return Words(language, tables[language])
