"""The sentences of `homologue camera`, in three languages."""

import tomllib
from importlib.resources import files
from typing import Final

from vision.live.mount.hints import Hint


def _read() -> dict[str, dict[str, str]]:
    return tomllib.loads((files("vision.live.mount") / "words.toml").read_text(encoding="utf-8"))


CATALOGUE: Final = _read()
"""By language, each sentence by its key."""


class Words:
    """One language."""

    def __init__(self, language: str) -> None:
        self._sentences = CATALOGUE[language]

    def __call__(self, key: str, **names: object) -> str:
        """Give a sentence with its names filled in."""
        return self._sentences[key].format(**names)

    def hint(self, hint: Hint) -> str:
        """Give what to change, in a sentence."""
        names = dict(hint.names)
        if "where" in names:
            names["where"] = self(f"where_{names['where']}")
        return self(hint.code, **names)
