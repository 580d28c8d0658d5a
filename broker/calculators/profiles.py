"""Which profile a command shall use: the id of one that ships, or a file."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from broker.contract.words import LONGEST_PROFILE
from broker.rules.errors import RuleError
from broker.rules.profile import Profile
from broker.rules.profile_files import folder, load, own
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.profile_files import load as load_riichi
from broker.rules.riichi.profile_files import parse as parse_riichi
from broker.rules.rule_books import Rules
from broker.rules.rule_books import load as either
from broker.rules.rule_books import own as either_own

FILE: Final = ".toml"
"""How a name ends that is a file."""


def once(written: str) -> Callable[[], Profile]:
    """Give `chosen` for a command that answers many lines: a profile is read with the first line that needs it."""
    return cache(lambda: chosen(written))


def chosen(written: str) -> Profile:
    """Give a shipped profile by its id, or read the file. Raises RuleError `unknown_profile`, `bad_profile`."""
    return own(read(Path(written))) if written.endswith(FILE) else load(written)


def compared_by(written: str) -> Rules:
    """Give a profile of either rule book, for who only compares plays. Raises as `chosen`."""
    return either_own(read(Path(written))) if written.endswith(FILE) else either(written)


def riichi(written: str) -> RiichiProfile:
    """Give riichi rules by the id of a profile that ships (in short too: `tenhou`), or a file. Raises as `chosen`."""
    if not written.endswith(FILE):
        return load_riichi(written)
    text = read(Path(written))
    either_own(text)  # refuses the id of one that ships, and says what is wrong
    return parse_riichi(text)


def load_or(given: Callable[[], RiichiProfile], rules: str) -> RiichiProfile:
    """Give the riichi rules that a line names: what the command was given, by its id, or one that ships."""
    own = given()
    return own if rules == own.id else load_riichi(rules)


def text_of(written: str) -> str:
    """Give the text of a profile that `chosen` takes. Raises RuleError `bad_profile`."""
    return read(Path(written)) if written.endswith(FILE) else (folder() / f"{written}.toml").read_text(encoding="utf-8")


def read(path: Path) -> str:
    """Read a profile's text. Raises RuleError `bad_profile`."""
    try:
        if path.stat().st_size > 4 * LONGEST_PROFILE:
            raise RuleError(
                "bad_profile",
                f"{path.name}: found {path.stat().st_size} bytes; allowed: at most {LONGEST_PROFILE} characters",
            )
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a name that can be none
        raise RuleError("bad_profile", f"{path.name}: {error}") from None
