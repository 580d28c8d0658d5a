"""Sentences in three languages: the catalogue, why a request was refused, and what is wrong with a device.

A refusal is made in English, with names, numbers and lines of files in it. What is often said is recognised by its
English (`details.toml`), and its values are put into the reader's language; the rest stays English. Codes of devices
may be of any version: one without a sentence is shown as it came.
"""

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
        """Return a sentence, safe for HTML: what is put into it is escaped unless it is Markup. Raises KeyError."""
        return escape(self.sentences[key]).format(**values)


def spaced(language: Language, text: str) -> str:
    """A sentence as it is set: in French no line begins with a colon, nor ends with an opening quotation mark."""
    if language != "fr":
        return text
    return re.sub(r" (?=[:;?!»])|(?<=«) ", "\N{NO-BREAK SPACE}", text)


@cache
def catalogues() -> dict[Language, Catalogue]:
    """Read `catalogue.toml`, and the words of single pages in `words/`. A key has one place (a test holds it)."""
    folder = files("broker.web")
    paths = [folder / "catalogue.toml", *sorted((folder / "words").iterdir(), key=lambda path: path.name)]
    tables = [tomllib.loads(path.read_text(encoding="utf-8")) for path in paths if path.name.endswith(".toml")]
    return {
        language: Catalogue(
            language, {key: spaced(language, text) for table in tables for key, text in table[language].items()}
        )
        for language in LANGUAGES
    }


def choose_catalogue(wish: str | None, accept_language: str) -> Catalogue:
    """Return the language asked for by `?lang=`, else the browser's best, else English."""
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


SEPARATOR: Final = Markup(" · ")


def fault_message(words: Catalogue, part: str, code: str) -> Markup:
    """Return which part it is and what is wrong with it. `part` as health names it: `camera`, `button-east`."""
    known = next((key for key in (f"unwell_{code}", f"unwell_of_{part}") if key in words.sentences), None)
    if known is None:
        return words.say("unwell", part=device_part_name(words, part), fault=code)
    said = words.say("unwell", part=device_part_name(words, part), fault=words.say(known))
    return _with_code(said, code)


def device_part_name(words: Catalogue, part: str) -> Markup:
    """Name a part of a device."""
    kind, _, seat = part.partition("-")
    if f"part_{kind}" not in words.sentences or (seat and f"seat_{seat}" not in words.sentences):
        return Markup("{}").format(part)
    return words.say(f"part_{kind}", seat=words.say(f"seat_{seat}") if seat else "")


def health_change(words: Catalogue, what: str) -> Markup:
    """Return what an alert tells: `camera: camera_dark; lamps: box_silent`, or parts that are well again."""
    parts = [one.partition(": ") for one in what.split("; ")]
    return SEPARATOR.join(
        fault_message(words, part, code) if code else device_part_name(words, part) for part, _, code in parts
    )


def overridden_guards(words: Catalogue, guards: str) -> Markup:
    """Return what had stopped a play: `deal_played_here, out_of_order`."""
    return SEPARATOR.join(_guard(words, code) for code in guards.split(", "))


def _guard(words: Catalogue, code: str) -> Markup:
    key = f"guard_{code}"
    return _with_code(words.say(key), code) if key in words.sentences else Markup("{}").format(code)


def _with_code(said: Markup, code: str) -> Markup:
    return Markup("{} <code>{}</code>").format(said, code)


PROBLEM_KEY: Final = "problem_"
"""Keys of the catalogue that say a code in the reader's language."""

OTHER_PROBLEM: Final = f"{PROBLEM_KEY}other"

LONGEST_DETAIL: Final = 500
"""Characters of English beside a sentence: a program may name a thousand lines."""


def error_message(words: Catalogue, error: BaseException) -> Markup:
    """Return why something was refused; where the refusal has a cause that has a sentence, by that, which is finer."""
    text, wait = str(getattr(error, "text", error)), getattr(error, "wait_s", 0)
    codes = (getattr(one, "code", "") for one in (error.__cause__, error))
    return code_message(
        words, next((code for code in codes if f"{PROBLEM_KEY}{code}" in words.sentences), ""), text, wait
    )


def code_message(words: Catalogue, code: str, text: str, wait: int = 0) -> Markup:
    """Say a code; `text` is what was said of it in English, `wait` after how many seconds one may ask again."""
    key = f"{PROBLEM_KEY}{code}"
    return words.say(
        key if key in words.sentences else OTHER_PROBLEM, wait=wait, detail=detail_message(words, text[:LONGEST_DETAIL])
    )


class Detail(NamedTuple):
    """One thing that is said where something is refused: how it is known, and how each language says it."""

    known_by: re.Pattern[str]
    said: dict[str, str]


@cache
def details() -> tuple[Detail, ...]:
    """Read `details.toml`."""
    listed = tomllib.loads((files("broker.web") / "details.toml").read_text(encoding="utf-8"))["detail"]
    return tuple(Detail(_pattern(one["en"]), one) for one in listed)


def _pattern(english: str) -> re.Pattern[str]:
    parts = re.split(r"\{([a-z]+)\}", english)
    return re.compile("".join(f"(?P<{part}>.+?)" if at % 2 else re.escape(part) for at, part in enumerate(parts)))


def detail_message(words: Catalogue, text: str) -> Markup:
    """Return what stands beside a sentence: in the reader's language where that is known, else in English."""
    found = next((one for one in details() if words.language != "en" and one.known_by.fullmatch(text)), None)
    if not text or (found and not found.said[words.language]):
        return Markup()
    if found is None:
        return Markup('{}<span class="detail" lang="en">{}</span>').format(_gap(words), _bracketed(words, text))
    match = found.known_by.fullmatch(text)
    values = {name: _seat_name(words, value) for name, value in match.groupdict().items()} if match else {}
    said = spaced(words.language, found.said[words.language]).format(**values)
    return Markup('{}<span class="detail">{}</span>').format(_gap(words), _bracketed(words, said))


def _gap(words: Catalogue) -> str:
    """Return what stands between two sentences: Chinese has nothing there."""
    return "" if words.language == "zh" else " "


def _bracketed(words: Catalogue, text: str) -> Markup:
    return words.say("in_brackets", text=text)


def _seat_name(words: Catalogue, value: str) -> str:
    """Name a seat in the reader's language; anything else as it is."""
    return str(words.sentences.get(f"seat_{value}", value))
