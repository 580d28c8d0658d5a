"""Which riichi rules a command shall use: the id of a profile that ships, or a file."""

from pathlib import Path

from broker.calculators.profiles import FILE, read
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.profile_files import load, parse


def chosen(written: str) -> RiichiProfile:
    """Give the profile of an id (`montreal`), or of a file. Raises RuleError `unknown_profile`, `bad_profile`."""
    return parse(read(Path(written))) if written.endswith(FILE) else load(written)
