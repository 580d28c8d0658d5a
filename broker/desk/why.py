"""Why something was refused, in the reader's language: a sentence by code, and beside it what was said with values.

What is refused is said in English wherever it is refused, with names, numbers and lines of files in it. That alone
tells most readers nothing, and the sentence alone not which line.
"""

from typing import Final

from markupsafe import Markup

from broker.desk.catalogue import Catalogue

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
    detail = Markup(' <span class="detail" lang="en">({})</span>').format(text[:LONGEST]) if text else Markup()
    return words.say(key if key in words.sentences else OTHER, wait=wait, detail=detail)
