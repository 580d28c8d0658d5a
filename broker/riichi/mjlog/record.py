"""A record's file, checked as a whole: its wins counted again, its hands settled again."""

from dataclasses import dataclass

from broker.riichi.mjlog.check import Checked, checked_wins
from broker.riichi.mjlog.course import checked_hands
from broker.riichi.mjlog.tags import tags_of
from broker.rules.riichi.profile import RiichiProfile


@dataclass(frozen=True, slots=True)
class Record:
    """All wins and all hands of a record, in order."""

    wins: tuple[Checked, ...]
    hands: tuple[Checked, ...]


def checked(content: bytes, profile: RiichiProfile) -> Record:
    """Check a record's file. Raises RuleError `not_a_record`, `record_too_large` or `bad_record`."""
    tags = tags_of(content)
    return Record(tuple(checked_wins(tags, profile)), tuple(checked_hands(tags, profile)))
