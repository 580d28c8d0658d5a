"""Loading profiles of both rule books: shipped ones by id, an event's own from its TOML text."""

import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, TypeVar

from broker.errors import RuleError
from broker.i18n import N_
from broker.rules.profile import Profile
from broker.rules.profile_check import examine_profile, read_profile
from broker.rules.riichi import RiichiProfile

DEFAULT_MCR: Final = "oedmc-2020"


def shipped_mcr() -> tuple[str, ...]:
    """Return the ids of the shipped MCR profiles."""
    return _ids_in(mcr_folder())


def _ids_in(folder: Traversable) -> tuple[str, ...]:
    return tuple(sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml")))


@cache
def load_mcr(profile_id: str = DEFAULT_MCR) -> Profile:
    """Return a shipped MCR profile. Raises RuleError `unknown_profile`."""
    if profile_id not in shipped_mcr():
        what = f"{profile_id!r} is of riichi" if profile_id.startswith("riichi-") else f"no profile {profile_id!r}"
        raise RuleError("unknown_profile", N_("{what}; available: {known}", what=what, known=", ".join(shipped_mcr())))
    return parse_mcr((mcr_folder() / f"{profile_id}.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=16)
def parse_mcr(text: str) -> Profile:
    """Read an MCR profile from TOML. Raises RuleError `bad_profile`, whose text lists every mistake."""
    profile, problems = examine_profile(text)
    if profile is None:
        raise RuleError("bad_profile", "; ".join(map(str, problems)))
    return profile


def parse_own_mcr(text: str) -> Profile:
    """Read an event's own MCR profile. Raises RuleError `bad_profile`, also if it alters a shipped one."""
    return _unless_alters_shipped(parse_mcr(text))


def mcr_folder() -> Traversable:
    """Return the folder of the shipped MCR profiles."""
    return files("broker.rules") / "profiles"


RIICHI_PREFIX: Final = "riichi-"
"""The prefix of the riichi profiles' ids; `montreal` is short for `riichi-montreal`."""

DEFAULT_RIICHI: Final = "riichi-montreal"


def shipped_riichi() -> tuple[str, ...]:
    """Return the ids of the shipped riichi profiles."""
    return _ids_in(riichi_folder())


@cache
def load_riichi(profile_id: str = DEFAULT_RIICHI) -> RiichiProfile:
    """Return a shipped riichi profile, by its id or its id without prefix. Raises RuleError `unknown_profile`."""
    full = profile_id if profile_id.startswith(RIICHI_PREFIX) else RIICHI_PREFIX + profile_id
    if full not in shipped_riichi():
        text = N_(
            "no riichi profile {profile}; there are: {known}",
            profile=repr(profile_id[:40]),
            known=", ".join(shipped_riichi()),
        )
        raise RuleError("unknown_profile", text)
    return parse_riichi(riichi_profile_text(full))


def riichi_profile_text(profile_id: str) -> str:
    """Return the TOML text of a shipped riichi profile."""
    return (riichi_folder() / f"{profile_id}.toml").read_text(encoding="utf-8")


@lru_cache(maxsize=16)
def parse_riichi(text: str) -> RiichiProfile:
    """Read a riichi profile from TOML. Raises RuleError `bad_profile`, whose text lists every mistake."""
    profile, problems = read_profile(RiichiProfile, text)
    if profile is None:
        raise RuleError("bad_profile", "; ".join(map(str, problems)))
    return profile


def riichi_folder() -> Traversable:
    """Return the folder of the shipped riichi profiles."""
    return files("broker.rules.riichi") / "profiles"


Rules = Profile | RiichiProfile
R = TypeVar("R", Profile, RiichiProfile, Rules)

RIICHI_PARTS: Final = frozenset({"hand", "fu", "session", "play"})
"""Tables that only riichi profiles have."""


def shipped_profiles() -> tuple[str, ...]:
    """Return the ids of all shipped profiles."""
    return (*shipped_mcr(), *shipped_riichi())


def same_rule_book(profile: Rules) -> tuple[str, ...]:
    """Return the ids of the shipped profiles of the same rule book."""
    return shipped_riichi() if isinstance(profile, RiichiProfile) else shipped_mcr()


def load_of_same_book(profile: Rules, profile_id: str) -> Rules:
    """Return another shipped profile of the same rule book. Plays under one book cannot be scored by the other.

    Raises RuleError `unknown_profile`.
    """
    if profile_id not in same_rule_book(profile):
        shown = repr(profile_id[:40])
        what = f"{shown} is of another rule book" if profile_id in shipped_profiles() else f"no profile {shown}"
        raise RuleError(
            "unknown_profile", N_("{what}; available: {known}", what=what, known=", ".join(same_rule_book(profile)))
        )
    return load_rules(profile_id)


@cache
def load_rules(profile_id: str) -> Rules:
    """Return a shipped profile of either rule book. Raises RuleError `unknown_profile`."""
    return load_riichi(profile_id) if profile_id in shipped_riichi() else load_mcr(profile_id)


def counts_red_fives(profile: Rules) -> bool:
    """Return whether these rules count red fives, so that deals must contain them."""
    return isinstance(profile, RiichiProfile) and profile.hand.red_fives.value


@lru_cache(maxsize=16)
def parse_rules(text: str) -> Rules:
    """Read a profile of either rule book from TOML. Raises RuleError `bad_profile`, whose text lists every mistake."""
    return parse_riichi(text) if is_riichi_text(text) else parse_mcr(text)


def parse_own_rules(text: str) -> Rules:
    """Read an event's own profile. Raises RuleError `bad_profile`, also if it alters a shipped one."""
    return _unless_alters_shipped(parse_rules(text))


def _unless_alters_shipped(profile: R) -> R:
    if profile.id in shipped_profiles() and profile != load_rules(profile.id):
        raise RuleError("bad_profile", f'id: found "{profile.id}"; allowed: another: one that ships says otherwise')
    return profile


def is_riichi_text(text: str) -> bool:
    """Return whether the text is a riichi profile, whatever mistakes it has. False for text that is not TOML."""
    try:
        return not RIICHI_PARTS.isdisjoint(tomllib.loads(text))
    except (ValueError, RecursionError):  # ValueError is also raised for a number of thousands of digits
        return False
