"""The sentences of the screen, in the table's language: gettext catalogues, one file a language.

A sentence has a name (its `msgctxt`), by which screens ask for it, and its English source (its `msgid`).
"""

import gettext
import io
from functools import cache
from importlib.resources import files
from typing import Final

import polib

from kiosk.errors import BadConfiguration

SOURCE: Final = "en"

FOLDER: Final = files("kiosk.screens") / "languages"


def languages() -> tuple[str, ...]:
    """Give the languages that there are: the source, and every catalogue beside it."""
    found = (name.removesuffix(".po") for one in FOLDER.iterdir() if (name := one.name).endswith(".po"))
    return (SOURCE, *sorted(found))


class Words:
    """One language. Calling it gives a sentence with its names filled in."""

    def __init__(self, language: str = SOURCE) -> None:
        """Raise BadConfiguration where there is no such language."""
        if language not in languages():
            raise BadConfiguration(f"language {language}: there are {', '.join(languages())}")
        self.language = language
        self._sentences = {entry.msgctxt: entry for entry in catalogue(SOURCE)}
        self._translated = _translations(language)

    def __call__(self, name: str, **names: object) -> str:
        """Give a sentence. One that has a plural takes it from the `count` that is filled in."""
        entry, count = self._sentences[name], names.get("count")
        if entry.msgid_plural and isinstance(count, int):
            text = self._translated.npgettext(name, entry.msgid, entry.msgid_plural, count)
        else:
            text = self._translated.pgettext(name, entry.msgid)
        return text.format(**names)

    def __contains__(self, name: str) -> bool:
        return name in self._sentences

    def problem(self, code: str) -> str:
        """Say what was refused at the keyboard: in a sentence where there is one, by its code where not."""
        name = f"problem_{code}"
        return self(name) if name in self else self("problem", code=code)

    def seat(self, seat: str) -> str:
        """Give a seat's or wind's name."""
        return self(seat)


@cache
def catalogue(language: str) -> polib.POFile:
    """Read a language's catalogue; the source's is the template of all others."""
    name = "homologue.pot" if language == SOURCE else f"{language}.po"
    return polib.pofile((FOLDER / name).read_text(encoding="utf-8"))


@cache
def _translations(language: str) -> gettext.NullTranslations:
    if language == SOURCE:
        return gettext.NullTranslations()
    return gettext.GNUTranslations(io.BytesIO(catalogue(language).to_binary()))
