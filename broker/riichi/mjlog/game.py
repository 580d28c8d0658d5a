"""The kind of game that a record is of, and the rules with what it says of them."""

from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from broker.riichi.mjlog.attributes import number
from broker.riichi.mjlog.tags import Tag
from broker.rules.errors import RuleError
from broker.rules.profile import Stated
from broker.rules.riichi.profile import RiichiProfile

WITHOUT_RED, CLOSED_TANYAO, TWO_ROUNDS, THREE_PLAYERS = 0x2, 0x4, 0x8, 0x10
"""Bits of the kind of game."""

SOURCE: Final = "the record's kind of game"


@dataclass(frozen=True, slots=True)
class Kind:
    """What the first tags of a record say: red fives, open tanyao, an east round alone or a south one too."""

    red: bool = True
    open_tanyao: bool = True
    rounds: int = 2


ANY: Final = Kind()
"""Where a record does not say it: what most games are."""


def kind_of(tag: Tag) -> Kind:
    """Read the kind of game. Raises RuleError `bad_record` for a game of three."""
    bits = number(tag, "type")
    if bits & THREE_PLAYERS:
        raise RuleError("bad_record", "a game of three players; only games of four are checked")
    return Kind(not bits & WITHOUT_RED, not bits & CLOSED_TANYAO, 2 if bits & TWO_ROUNDS else 1)


def as_played(profile: RiichiProfile, kind: Kind) -> RiichiProfile:
    """Give the profile with what the record says of its own rules."""
    hand = replace(profile.hand, red_fives=Stated(kind.red, SOURCE), open_tanyao=Stated(kind.open_tanyao, SOURCE))
    length = replace(profile.session.length, rounds=Stated(kind.rounds, SOURCE))
    return replace(profile, hand=hand, session=replace(profile.session, length=length))
