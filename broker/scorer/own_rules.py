"""Rule profiles that an event has of its own: `profile.toml` for its plays, `profiles/ID.toml` for riichi sessions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from broker.rules.errors import RuleError
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.profile_files import load as load_riichi
from broker.rules.rule_books import Rules, load, own
from broker.scorer.errors import BadEvent

PROFILE: Final = "profile.toml"

PROFILES: Final = "profiles"
"""A folder: a session may be played by other rules than the one beside it."""


@dataclass(frozen=True, slots=True)
class OwnRules:
    """The texts of an event's own profiles: that of its plays, and by their ids those of its sessions."""

    plays: str | None = None
    sessions: Mapping[str, str] = field(default_factory=dict)

    def of_plays(self, profile_id: str) -> Rules:
        """Give the rules of the plays; an own profile's id must be the plan's. Raises RuleError."""
        return load(profile_id) if self.plays is None else _named(self.plays, profile_id, PROFILE)

    def text(self, profile_id: str) -> str | None:
        """Give a session's own profile, which may be that of the plays too; None for one that ships."""
        if profile_id in self.sessions:
            return self.sessions[profile_id]
        return self.plays if self.plays is not None and own(self.plays).id == profile_id else None

    def of_session(self, profile_id: str) -> RiichiProfile:
        """Give the rules of a riichi session. Raises RuleError `unknown_profile`, `bad_profile`."""
        text = self.text(profile_id)
        rules = _shipped(profile_id) if text is None else _named(text, profile_id, f"{PROFILES}/{profile_id}.toml")
        if not isinstance(rules, RiichiProfile):
            raise RuleError("bad_profile", f"{profile_id!r} has no rules for a session of riichi")
        return rules


NONE: Final = OwnRules()


def read_own(folder: Path, sessions: Iterable[str]) -> OwnRules:
    """Read an event's own profiles; `sessions`: the ids that its sessions name. Raises BadEvent."""
    texts = {named: _text(folder / PROFILES / f"{named}.toml") for named in {*sessions}}
    return OwnRules(_text(folder / PROFILE), {named: text for named, text in texts.items() if text is not None})


def _shipped(profile_id: str) -> RiichiProfile:
    profile = load_riichi(profile_id)
    if profile.id != profile_id:
        raise RuleError("bad_profile", f'found "{profile_id}"; allowed: "{profile.id}", in full')
    return profile


def _named(text: str, profile_id: str, file: str) -> Rules:
    profile = own(text)
    if profile.id != profile_id:
        raise RuleError(
            "bad_profile", f'{file}: id: found "{profile.id}"; allowed: "{profile_id}", as the event has it'
        )
    return profile


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadEvent(f"{path.name}: {error}") from None
