"""The page's sentences in three languages, and which language a reader gets."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal, NamedTuple, get_args

from markupsafe import Markup, escape

Language = Literal["en", "fr", "zh"]
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)
TAGS: Final[dict[Language, str]] = {"en": "en", "fr": "fr", "zh": "zh-Hans"}
"""What `<html lang>` says; Chinese is written in simplified characters."""


class Catalogue(NamedTuple):
    """One language's sentences."""

    language: Language
    sentences: Mapping[str, str]

    @property
    def tag(self) -> str:
        """The language as `<html lang>` names it."""
        return TAGS[self.language]

    def say(self, key: str, **values: object) -> Markup:
        """Give a sentence, safe for HTML: what is put into it is escaped unless it is Markup. Raises KeyError."""
        return escape(self.sentences[key]).format(**values)


def spaced(language: Language, text: str) -> str:
    """Give a sentence as it is set: in French no line begins with a colon, nor ends with an opening quotation mark."""
    if language != "fr":
        return text
    return re.sub(r" (?=[:;?!»])|(?<=«) ", "\N{NO-BREAK SPACE}", text)


@cache
def catalogues() -> dict[Language, Catalogue]:
    """Read `catalogue.toml`, and the words of single pages in `words/`. A key has one place (a test holds it)."""
    folder = files("broker.desk")
    paths = [folder / "catalogue.toml", *sorted((folder / "words").iterdir(), key=lambda path: path.name)]
    tables = [tomllib.loads(path.read_text(encoding="utf-8")) for path in paths if path.name.endswith(".toml")]
    return {
        language: Catalogue(
            language, {key: spaced(language, text) for table in tables for key, text in table[language].items()}
        )
        for language in LANGUAGES
    }


def choose(wish: str | None, accept_language: str) -> Catalogue:
    """Give the language asked for by `?lang=`, else the browser's best, else English."""
    for tag in (wish or "", *_by_preference(accept_language)):
        for language in LANGUAGES:
            if tag.lower().split("-")[0] == language:
                return catalogues()[language]
    return catalogues()["en"]


def _by_preference(accept_language: str) -> list[str]:
    weighed = []
    for entry in accept_language.split(","):
        tag, _, parameter = entry.strip().partition(";")
        weighed.append((_weight(parameter), tag.strip()))
    return [tag for weight, tag in sorted(weighed, key=lambda pair: -pair[0]) if weight > 0]


def _weight(parameter: str) -> float:
    name, _, number = parameter.partition("=")
    try:
        return float(number) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0
