"""Riichi profiles from TOML: those that ship, and any text."""

from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from broker.rules.errors import RuleError
from broker.rules.profile_check import read_as
from broker.rules.riichi.profile import RiichiProfile

PREFIX: Final = "riichi-"
"""How the ids of shipped profiles begin; `montreal` is short for `riichi-montreal`."""

DEFAULT: Final = "riichi-montreal"


def shipped() -> tuple[str, ...]:
    """Give the ids of the riichi profiles that come with the product."""
    return tuple(sorted(path.name.removesuffix(".toml") for path in folder().iterdir() if path.name.endswith(".toml")))


@cache
def load(profile_id: str = DEFAULT) -> RiichiProfile:
    """Give a shipped profile, by its id or the short form of it. Raises RuleError `unknown_profile`."""
    full = profile_id if profile_id.startswith(PREFIX) else PREFIX + profile_id
    if full not in shipped():
        raise RuleError("unknown_profile", f"no riichi profile {profile_id[:40]!r}; there are: {', '.join(shipped())}")
    return parse(text_of(full))


def text_of(profile_id: str) -> str:
    """Give the file of a shipped profile."""
    return (folder() / f"{profile_id}.toml").read_text(encoding="utf-8")


@lru_cache(maxsize=16)
def parse(text: str) -> RiichiProfile:
    """Read a riichi profile from TOML. Raises RuleError `bad_profile`, every mistake in its text."""
    profile, problems = read_as(RiichiProfile, text)
    if profile is None:
        raise RuleError("bad_profile", "; ".join(map(str, problems)))
    return profile


def folder() -> Traversable:
    """Give where the shipped riichi profiles lie."""
    return files("broker.rules.riichi") / "profiles"
