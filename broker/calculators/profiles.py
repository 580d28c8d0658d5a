"""Which profile a command shall use: the id of one that ships, or a file."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from broker.contract.words import LONGEST_PROFILE
from broker.rules.errors import RuleError
from broker.rules.profile import Comparison, Profile
from broker.rules.profile_files import folder, load, own
from broker.rules.riichi.profile_files import load as load_riichi
from broker.rules.riichi.profile_files import shipped as riichi_profiles

FILE: Final = ".toml"
"""How a name ends that is a file."""


def once(written: str) -> Callable[[], Profile]:
    """Give `chosen` for a command that answers many lines: a profile is read with the first line that needs it."""
    return cache(lambda: chosen(written))


def chosen(written: str) -> Profile:
    """Give a shipped profile by its id, or read the file. Raises RuleError `unknown_profile`, `bad_profile`."""
    return own(read(Path(written))) if written.endswith(FILE) else load(written)


def compared_by(written: str) -> Comparison:
    """Give `chosen`, or a shipped riichi profile by its id, for who only compares plays."""
    return load_riichi(written) if written in riichi_profiles() else chosen(written)


def text_of(written: str) -> str:
    """Give the text of a profile that `chosen` takes. Raises RuleError `bad_profile`."""
    return read(Path(written)) if written.endswith(FILE) else (folder() / f"{written}.toml").read_text(encoding="utf-8")


def read(path: Path) -> str:
    """Read a profile's text. Raises RuleError `bad_profile`."""
    try:
        if path.stat().st_size > 4 * LONGEST_PROFILE:
            raise RuleError(
                "bad_profile",
                f"{path.name}: {path.stat().st_size} bytes; a profile has at most {LONGEST_PROFILE} characters",
            )
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a name that can be none
        raise RuleError("bad_profile", f"{path.name}: {error}") from None
