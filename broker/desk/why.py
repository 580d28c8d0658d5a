"""Why something was refused, in the reader's language: a sentence by code, and beside it what was said with values.

What is refused is said in English wherever it is refused, with names, numbers and lines of files in it. That alone
tells most readers nothing, and the sentence alone not which line. So what is often said is known by its English
(`details.toml`), and its values are put into the reader's; the rest stays English.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from markupsafe import Markup

from broker.desk.catalogue import Catalogue, spaced

KNOWN: Final = "problem_"
"""Keys of the catalogue that say a code in the reader's language."""

OTHER: Final = f"{KNOWN}other"

LONGEST: Final = 500
"""Characters of English beside a sentence: a program may name a thousand lines."""


def told(words: Catalogue, error: BaseException) -> Markup:
    """Say why something was refused; where the refusal has a cause that has a sentence, by that, which is finer."""
    text, wait = str(getattr(error, "text", error)), getattr(error, "wait_s", 0)
    codes = (getattr(one, "code", "") for one in (error.__cause__, error))
    return sentence(words, next((code for code in codes if f"{KNOWN}{code}" in words.sentences), ""), text, wait)


def sentence(words: Catalogue, code: str, text: str, wait: int = 0) -> Markup:
    """Say a code; `text` is what was said of it in English, `wait` after how many seconds one may ask again."""
    key = f"{KNOWN}{code}"
    return words.say(key if key in words.sentences else OTHER, wait=wait, detail=detail(words, text[:LONGEST]))


class Detail(NamedTuple):
    """One thing that is said where something is refused: how it is known, and how each language says it."""

    known_by: re.Pattern[str]
    said: dict[str, str]


@cache
def details() -> tuple[Detail, ...]:
    """Read `details.toml`."""
    listed = tomllib.loads((files("broker.desk") / "details.toml").read_text(encoding="utf-8"))["detail"]
    return tuple(Detail(_pattern(one["en"]), one) for one in listed)


def _pattern(english: str) -> re.Pattern[str]:
    parts = re.split(r"\{([a-z]+)\}", english)
    return re.compile("".join(f"(?P<{part}>.+?)" if at % 2 else re.escape(part) for at, part in enumerate(parts)))


def detail(words: Catalogue, text: str) -> Markup:
    """Say what stands beside a sentence: in the reader's language where that is known, else in English."""
    found = next((one for one in details() if words.language != "en" and one.known_by.fullmatch(text)), None)
    if not text or (found and not found.said[words.language]):
        return Markup()
    if found is None:
        return Markup('{}<span class="detail" lang="en">{}</span>').format(_gap(words), _bracketed(words, text))
    match = found.known_by.fullmatch(text)
    values = {name: _named(words, value) for name, value in match.groupdict().items()} if match else {}
    said = spaced(words.language, found.said[words.language]).format(**values)
    return Markup('{}<span class="detail">{}</span>').format(_gap(words), _bracketed(words, said))


def _gap(words: Catalogue) -> str:
    """Give what stands between two sentences: Chinese has nothing there."""
    return "" if words.language == "zh" else " "


def _bracketed(words: Catalogue, text: str) -> Markup:
    return words.say("in_brackets", text=text)


def _named(words: Catalogue, value: str) -> str:
    """Name a seat in the reader's language; anything else as it is."""
    return str(words.sentences.get(f"seat_{value}", value))
