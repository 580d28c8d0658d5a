"""Profiles from TOML: those that ship, and any text."""

from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from broker.rules.errors import RuleError
from broker.rules.profile import Profile
from broker.rules.profile_check import examined

DEFAULT: Final = "oedmc-2020"


def shipped() -> tuple[str, ...]:
    """Give the ids of the profiles that come with the product."""
    return tuple(sorted(path.name.removesuffix(".toml") for path in folder().iterdir() if path.name.endswith(".toml")))


@cache
def load(profile_id: str = DEFAULT) -> Profile:
    """Give a shipped profile. Raises RuleError `unknown_profile`."""
    if profile_id not in shipped():
        what = f"{profile_id!r} is of riichi" if profile_id.startswith("riichi-") else f"no profile {profile_id!r}"
        raise RuleError("unknown_profile", f"{what}; there are: {', '.join(shipped())}")
    return parse((folder() / f"{profile_id}.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=16)
def parse(text: str) -> Profile:
    """Read a profile from TOML. Raises RuleError `bad_profile`, every mistake in its text."""
    profile, problems = examined(text)
    if profile is None:
        raise RuleError("bad_profile", "; ".join(map(str, problems)))
    return profile


def own(text: str) -> Profile:
    """Read a profile that somebody has written. Raises RuleError `bad_profile`, also for a shipped one's id."""
    profile = parse(text)
    if profile.id in shipped() and profile != load(profile.id):
        raise RuleError("bad_profile", f'id: found "{profile.id}"; allowed: another: one that ships says otherwise')
    return profile


def folder() -> Traversable:
    """Give where the shipped profiles lie."""
    return files("broker.rules") / "profiles"
