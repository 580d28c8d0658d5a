"""Translation of texts for people: gettext catalogues in which the English text is the key.

Translate with `_("Table {table}", table=3)`, where `_` is a `Translator`. Text that is chosen in one place and
translated in another (the name of a state, the reason of an error) is a `Message`, written `N_("Paused")`: a string
with the English sentence, which also has the template and values behind it. `python -m broker.locale` collects all
texts.
"""

import gettext
import hashlib
import io
import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

SOURCE: Final = "en"
"""The language of the texts in the code."""

DOMAIN: Final = "homologue"

FOLDER: Final = files("broker") / "locale"

CONTEXT_END: Final = "\x04"
"""Separator between context and text in gettext's keys."""

ISOLATE: Final = "\N{FIRST STRONG ISOLATE}"
ISOLATE_END: Final = "\N{POP DIRECTIONAL ISOLATE}"
"""Text between these two has its own reading direction, and counts as one neutral character in the text around it."""

RIGHT_TO_LEFT: Final = frozenset({"R", "AL"})
"""Unicode's bidirectional classes of right-to-left letters."""

UNDATED: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""The date in every compiled catalogue, so that a release has the same bytes whenever it is built."""


class UnknownLanguage(ValueError):
    """There is no catalogue for this language."""


class Message(str):
    """An English text that can be translated later. As a string it is the English sentence with its values."""

    __slots__ = ("template", "values")

    template: str
    values: Mapping[str, object]

    def __new__(cls, template: str, /, **values: object) -> "Message":
        """Fill in `values` where there are any."""
        text = template.rpartition(CONTEXT_END)[2]
        self = super().__new__(cls, text.format(**values) if values else text)
        self.template, self.values = template, values
        return self


def N_(text: str, /, **values: object) -> Message:  # noqa: N802 - the name that every gettext tool knows
    """Mark a text for translation."""
    return Message(text, **values)


def NP_(context: str, text: str, /, **values: object) -> Message:  # noqa: N802
    """Mark a text that has several translations, with the context that tells them apart."""
    return Message(f"{context}{CONTEXT_END}{text}", **values)


class Translator:
    """Translates into one language. Raises UnknownLanguage if there is no catalogue for it."""

    def __init__(self, language: str = SOURCE) -> None:
        self.language = language
        self._texts = catalogue(language)
        self._cache: dict[str, str] = {}
        """Texts that were already looked up: the page of a hall has thousands of texts."""

    def __call__(self, text: str, /, **values: object) -> str:
        """Return a text, or a message with its values, in this language."""
        if isinstance(text, Message):
            values = {**text.values, **values}
            text = text.template
        found = self._cache.get(text)
        if found is None:
            found = self._cache[text] = self._prepared(self._texts.gettext(text).rpartition(CONTEXT_END)[2])
        return self._filled(found, values) if values else found

    def ngettext(self, one: str, many: str, /, *, count: int, **values: object) -> str:
        """Return the singular or plural form of a text, with the count filled in."""
        return self._filled(self._prepared(self._texts.ngettext(one, many, count)), {"count": count, **values})

    def pgettext(self, context: str, text: str, /, **values: object) -> str:
        """Return a text that has several translations, by its context."""
        return self(f"{context}{CONTEXT_END}{text}", **values)

    def _filled(self, text: str, values: Mapping[str, object]) -> str:
        """Fill in values; those that are messages are translated."""
        return text.format(**{name: self._value(value) for name, value in values.items()})

    def _value(self, value: object) -> object:
        return self(value) if isinstance(value, Message) else value

    def _prepared(self, text: str) -> str:
        return text

    def decimal(self, number: float, pattern: str = "#,##0.###") -> str:
        """Format a number for this language (`pattern` as in CLDR)."""
        from babel.numbers import format_decimal  # noqa: PLC0415 - slow to import; a table's screen needs no Babel

        return str(format_decimal(number, pattern, locale=self.language))


@cache
def languages() -> tuple[str, ...]:
    """Return the available languages: English, and each that has a catalogue in `broker/locale`."""
    found = (folder.name for folder in FOLDER.iterdir() if _file(folder.name, "po").is_file())
    return (SOURCE, *sorted(found))


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return the texts of a language. Raises UnknownLanguage."""
    if language == SOURCE:
        return gettext.NullTranslations()
    if language not in languages():
        raise UnknownLanguage(f"language {language}: there are {', '.join(languages())}")
    return gettext.GNUTranslations(io.BytesIO(_compiled(language)))


def _file(language: str, ending: str) -> Traversable:
    return FOLDER / language / "LC_MESSAGES" / f"{DOMAIN}.{ending}"


def _compiled(language: str) -> bytes:
    """Return the compiled catalogue: the file beside the source if made from this very source, else a new one."""
    source, target = _file(language, "po").read_bytes(), _file(language, "mo")
    stored = target.read_bytes() if target.is_file() else b""
    return stored if stored.endswith(hashlib.sha256(source).digest()) else compiled(language, source)


def compiled(language: str, source: bytes) -> bytes:
    """Compile a catalogue, and append the SHA-256 of its source, which readers of such files ignore."""
    from babel.messages import mofile, pofile  # noqa: PLC0415 - not needed if a compiled catalogue exists

    read, made = pofile.read_po(io.BytesIO(source), locale=language), io.BytesIO()
    read.creation_date = read.revision_date = UNDATED
    for message in read:
        texts = message.string or ""
        message.string = (
            typeset(language, texts) if isinstance(texts, str) else tuple(typeset(language, text) for text in texts)
        )
    mofile.write_mo(made, read)
    return made.getvalue() + hashlib.sha256(source).digest()


def typeset(language: str, text: str) -> str:
    """Return a text with no-break spaces, so that no line of French begins with `: ; ? ! » %` or ends with `«`."""
    return re.sub(r" (?=[:;?!»%])|(?<=«) ", "\N{NO-BREAK SPACE}", text) if language == "fr" else text


def isolated(text: str) -> str:
    """Return a name for use in a sentence. Right-to-left names are isolated, so text around them keeps its order."""
    if text.isascii() or not any(unicodedata.bidirectional(letter) in RIGHT_TO_LEFT for letter in text):
        return text
    return ISOLATE + text + ISOLATE_END


def duration(seconds: float) -> Message:
    """Return a duration in hours and minutes, rounded to the minute."""
    hours, left = divmod(round(seconds / 60), 60)
    return N_("{hours} h {minutes:02} min", hours=hours, minutes=left) if hours else N_("{minutes} min", minutes=left)


def search_key(text: str) -> str:
    """Return a text for searching and sorting: without accents and capitals, which nobody types on a telephone."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def name_key(name: str) -> str:
    """Return a name for comparison, independent of how its accents are encoded and of its capitals and spaces."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).split())


SEAT_NAMES: Final[Mapping[str, Message]] = {
    "east": N_("East"),
    "south": N_("South"),
    "west": N_("West"),
    "north": N_("North"),
}

SUIT_SIGNS: Final[Mapping[str, str]] = {"m": "萬", "p": "筒", "s": "索"}
HONOUR_SIGNS: Final = "東南西北白發中"


def tile_signs(face: str) -> tuple[str, str]:
    """Return what is drawn on a tile: its rank and the sign of its suit, or "" and the honour's sign."""
    rank, suit = face[0], face[1]
    return ("", HONOUR_SIGNS[int(rank) - 1]) if suit == "z" else (rank, SUIT_SIGNS[suit])


SEAT_LETTERS: Final[Mapping[str, Message]] = {
    "east": N_("E"),
    "south": N_("S"),
    "west": N_("W"),
    "north": N_("N"),
}


ZWJ: Final = "\N{ZERO WIDTH JOINER}"
JOINING: Final = f"{ZWJ}\N{VARIATION SELECTOR-16}\N{COMBINING ENCLOSING KEYCAP}"
"""Characters that join several pictographs, or modify one, to make a single pictograph."""


def without_pictographs(text: str, is_drawn: Callable[[str], bool]) -> str:
    """Return a text without pictographs, as it is read aloud. If nothing else is left, return their names instead.

    A person may have such a name. `is_drawn` returns whether a font has a glyph for a letter; signs with one stay.
    """
    pairs = zip(f" {text}", text, strict=False)
    left = "".join(letter for before, letter in pairs if not _is_pictograph(letter, before, is_drawn))
    if left == text:
        return text
    names = (unicodedata.name(letter, "").lower() for letter in text if not _is_unseen(letter, is_drawn))
    return " ".join(left.split()) or ", ".join(filter(None, names))


def _is_pictograph(letter: str, before: str, is_drawn: Callable[[str], bool]) -> bool:
    """Return whether a letter is a pictograph, part of one, or invisible. `before`: the letter before it."""
    if letter == ZWJ and before not in JOINING and unicodedata.category(before)[0] in "LM":
        return not is_drawn(letter)  # it joins letters, as in Sinhala
    if _is_unseen(letter, is_drawn):
        return True
    return unicodedata.category(letter) in {"So", "Sk"} and not (is_drawn(letter) and before != ZWJ)


def _is_unseen(letter: str, is_drawn: Callable[[str], bool]) -> bool:
    return letter in JOINING or (unicodedata.category(letter) == "Cf" and not is_drawn(letter))
