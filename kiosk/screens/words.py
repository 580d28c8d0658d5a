"""The sentences of the screen, in the table's language."""

import tomllib
from importlib.resources import files
from typing import Any, Final

from kiosk.config import Language


class Words:
    """One language. Calling it gives a sentence with its names filled in."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self._sentences = CATALOGUE[language]

    def __call__(self, key: str, **names: object) -> str:
        """Give a sentence."""
        return self._sentences[key].format(**names)

    def problem(self, code: str) -> str:
        """Say what was refused at the keyboard: in a sentence where there is one, by its code where not."""
        return self._sentences.get(f"problem_{code}") or self("problem", code=code)

    def seat(self, seat: str) -> str:
        """Give a seat's or wind's name."""
        return self._sentences[seat]


def _read() -> dict[str, Any]:
    return tomllib.loads((files("kiosk.screens") / "words.toml").read_text(encoding="utf-8"))


CATALOGUE: Final[dict[str, dict[str, str]]] = _read()
