"""The profile that a command is asked to use: one that ships, by its id, or a file."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from broker.errors import RuleError, reason
from broker.i18n import N_
from broker.protocol import LONGEST_PROFILE
from broker.rules import Profile, Rules, load_mcr, load_riichi, mcr_folder, parse_own_mcr, parse_riichi
from broker.rules import load_rules as either
from broker.rules import parse_own_rules as either_own
from broker.rules.riichi import RiichiProfile

FILE: Final = ".toml"
"""How a name ends that is a file."""


def load_profile_once(written: str) -> Callable[[], Profile]:
    """Return `load_profile` for a command that answers many lines: the first that needs the profile reads it."""
    return cache(lambda: load_profile(written))


def load_profile(written: str) -> Profile:
    """Return a shipped profile by its id, or read the file. Raises RuleError `unknown_profile`, `bad_profile`."""
    return parse_own_mcr(parse_profile(Path(written))) if written.endswith(FILE) else load_mcr(written)


def load_either_profile(written: str) -> Rules:
    """Return a profile of either rule book, for who only compares plays. Raises as `load_profile`."""
    return either_own(parse_profile(Path(written))) if written.endswith(FILE) else either(written)


def load_riichi_rules(written: str) -> RiichiProfile:
    """Return riichi rules by the id of a profile that ships (in short too: `tenhou`), or a file.

    Raises as `load_profile`.
    """
    if not written.endswith(FILE):
        return load_riichi(written)
    text = parse_profile(Path(written))
    either_own(text)  # refuses the id of one that ships, and says what is wrong
    return parse_riichi(text)


def riichi_rules_of_line(given: Callable[[], RiichiProfile], rules: str) -> RiichiProfile:
    """Return the riichi rules that a line names: what the command was given, by its id, or one that ships."""
    own = given()
    return own if rules == own.id else load_riichi(rules)


def read_profile_text(written: str) -> str:
    """Return the text of a profile that `load_profile` takes. Raises RuleError `bad_profile`."""
    return (
        parse_profile(Path(written))
        if written.endswith(FILE)
        else (mcr_folder() / f"{written}.toml").read_text(encoding="utf-8")
    )


def parse_profile(path: Path) -> str:
    """Read a profile's text. Raises RuleError `bad_profile`."""
    try:
        if path.stat().st_size > 4 * LONGEST_PROFILE:
            raise RuleError(
                "bad_profile",
                f"{path.name}: found {path.stat().st_size} bytes; allowed: at most {LONGEST_PROFILE} characters",
            )
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a name that can be none
        raise RuleError("bad_profile", N_("{where}: {problem}", where=path.name, problem=reason(error))) from None
