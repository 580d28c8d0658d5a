"""The rules of an event, of whichever rule book: those that ship by their id, an own profile by its text."""

import tomllib
from functools import cache, lru_cache
from typing import Final

from broker.rules import profile_files as mcr
from broker.rules.errors import RuleError
from broker.rules.profile import Profile
from broker.rules.riichi import profile_files as riichi
from broker.rules.riichi.profile import RiichiProfile

Rules = Profile | RiichiProfile

OF_RIICHI: Final = frozenset({"hand", "fu", "session", "play"})
"""Parts that riichi profiles alone have."""


def shipped() -> tuple[str, ...]:
    """Give the ids of all profiles that come with the product."""
    return (*mcr.shipped(), *riichi.shipped())


def book_of(profile: Rules) -> tuple[str, ...]:
    """Give the ids of the profiles that ship of the same rule book."""
    return riichi.shipped() if isinstance(profile, RiichiProfile) else mcr.shipped()


def beside(profile: Rules, profile_id: str) -> Rules:
    """Give another shipped profile of the same rule book: plays of one say nothing of the other.

    Raises RuleError `unknown_profile`.
    """
    if profile_id not in book_of(profile):
        shown = repr(profile_id[:40])
        what = f"{shown} is of another rule book" if profile_id in shipped() else f"no profile {shown}"
        raise RuleError("unknown_profile", f"{what}; there are: {', '.join(book_of(profile))}")
    return load(profile_id)


@cache
def load(profile_id: str) -> Rules:
    """Give a shipped profile. Raises RuleError `unknown_profile`."""
    return riichi.load(profile_id) if profile_id in riichi.shipped() else mcr.load(profile_id)


def counts_red(profile: Rules) -> bool:
    """Say whether red fives count under these rules, so that the deals have them."""
    return isinstance(profile, RiichiProfile) and profile.hand.red_fives.value


@lru_cache(maxsize=16)
def parse(text: str) -> Rules:
    """Read a profile from TOML. Raises RuleError `bad_profile`, every mistake in its text."""
    return riichi.parse(text) if is_riichi(text) else mcr.parse(text)


def own(text: str) -> Rules:
    """Read a profile that somebody has written. Raises RuleError `bad_profile`, also for a shipped one's id."""
    profile = parse(text)
    if profile.id in shipped() and profile != load(profile.id):
        raise RuleError("bad_profile", f'id: found "{profile.id}"; allowed: another: one that ships says otherwise')
    return profile


def is_riichi(text: str) -> bool:
    """Say which rule book a profile is of, however faulty it is besides; what is no TOML is none of riichi."""
    try:
        return not OF_RIICHI.isdisjoint(tomllib.loads(text))
    except (ValueError, RecursionError):  # ValueError: also a number of thousands of digits
        return False
