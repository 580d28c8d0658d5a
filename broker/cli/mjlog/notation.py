"""A record in Tenhou's format (mjlog: XML without nesting, often gzipped): its tags, numbers, tiles and melds."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple
from xml.parsers import expat

from msgspec.structs import replace

from broker.rules import COPIES, KINDS, RuleError, Setting
from broker.rules.riichi import PLAYERS, PlayerNo, RiichiProfile
from broker.rules.riichi.hand import RiichiHandMeld

LONGEST: Final = 4_000_000
"""Maximum size of an unpacked record, in bytes: many times the size of a long game."""

MOST_TAGS: Final = 20_000

GZIP: Final = b"\x1f\x8b"
GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS


class MjlogTag(NamedTuple):
    """One element: its name and its attributes."""

    name: str
    attributes: Mapping[str, str]


def tags_of(content: bytes) -> tuple[MjlogTag, ...]:
    """Return the tags of a record in order. Raises RuleError `not_a_record` or `record_too_large`."""
    found: list[MjlogTag] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        if len(found) == MOST_TAGS:
            raise RuleError("record_too_large", f"more than {MOST_TAGS} tags")
        found.append(MjlogTag(name, attributes))

    # Players' names may be in another encoding than the declared one. What we read is plain ASCII.
    parser = expat.ParserCreate(encoding="utf-8")
    parser.StartElementHandler = begin
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(_unpacked(content), True)  # noqa: FBT003 - expat's signature
    except expat.ExpatError as error:
        raise RuleError("not_a_record", f"not XML: {error}") from None
    if not found or found[0].name != "mjloggm":
        raise RuleError("not_a_record", "not a record of Tenhou: it does not begin with <mjloggm>")
    return tuple(found[1:])


def _unpacked(content: bytes) -> bytes:
    """Unpack gzip, but never more than is allowed. Raises RuleError as `tags_of`."""
    if content.startswith(GZIP):
        try:
            content = zlib.decompressobj(GZIP_WINDOW).decompress(content, LONGEST + 1)
        except zlib.error as error:
            raise RuleError("not_a_record", f"the gzip file is damaged: {error}") from None
    if len(content) > LONGEST:
        raise RuleError("record_too_large", f"more than {LONGEST} bytes")
    return content


def _refuse_doctype(*_: object) -> None:
    """Refuse a document type: it can declare entities that expand without limit or read other files."""
    raise RuleError("not_a_record", "the file declares a document type, which a record does not have")


MOST_DIGITS: Final = 9
"""Limit on digits, above that of any number in a record."""


def numbers(tag: MjlogTag, name: str) -> list[int]:
    """Parse a list of numbers, which is empty if the attribute is missing. Raises RuleError `bad_record`."""
    text = tag.attributes.get(name, "")
    parts = text.split(",") if text else []
    if not all(map(_is_number, parts)):
        raise RuleError("bad_record", f"{tag.name[:20]}: {name} must be a list of numbers, not {text[:40]!r}")
    return [int(part) for part in parts]


def _is_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS


def exact_numbers(tag: MjlogTag, name: str, count: int) -> list[int]:
    """Parse a list of exactly `count` numbers. Raises RuleError `bad_record`."""
    found = numbers(tag, name)
    if len(found) != count:
        raise RuleError("bad_record", f"{tag.name[:20]}: {name} must be a list of {count} numbers")
    return found


def one_number(tag: MjlogTag, name: str) -> int:
    """Parse an attribute that is a single number. Raises RuleError `bad_record`."""
    return exact_numbers(tag, name, 1)[0]


def first_number(tag: MjlogTag, name: str, at: int = 0) -> int:
    """Return the first number of a list, or the one at an index. Raises RuleError `bad_record`."""
    found = numbers(tag, name)
    if len(found) <= at:
        raise RuleError("bad_record", f"{tag.name[:20]}: {name} has too few numbers")
    return found[at]


def player_number(tag: MjlogTag, name: str) -> PlayerNo:
    """Parse a player's number. Raises RuleError `bad_record`."""
    found = one_number(tag, name)
    if found not in PLAYERS:
        raise RuleError("bad_record", f"{tag.name[:20]}: {name} must be a player from 0 to 3")
    return found


WITHOUT_RED, CLOSED_TANYAO, TWO_ROUNDS, THREE_PLAYERS = 0x2, 0x4, 0x8, 0x10
"""Bits of the kind of game."""

SOURCE: Final = "the record's kind of game"


@dataclass(frozen=True, slots=True)
class GameKind:
    """The kind of game in a record's first tags: red fives, open tanyao, and rounds (1: east only; 2: south too)."""

    red: bool = True
    open_tanyao: bool = True
    rounds: int = 2


ANY: Final = GameKind()
"""The kind of most games, for a record that does not state it."""


def game_kind(tag: MjlogTag) -> GameKind:
    """Decode the kind of game. Raises RuleError `bad_record` for a game of three."""
    bits = one_number(tag, "type")
    if bits & THREE_PLAYERS:
        raise RuleError("bad_record", "a game of three players; only games of four are checked")
    return GameKind(not bits & WITHOUT_RED, not bits & CLOSED_TANYAO, 2 if bits & TWO_ROUNDS else 1)


def profile_as_played(profile: RiichiProfile, kind: GameKind) -> RiichiProfile:
    """Return the profile with the rules that the record states itself."""
    hand = replace(profile.hand, red_fives=Setting(kind.red, SOURCE), open_tanyao=Setting(kind.open_tanyao, SOURCE))
    length = replace(profile.session.length, rounds=Setting(kind.rounds, SOURCE))
    return replace(profile, hand=hand, session=replace(profile.session, length=length))


RED: Final = {16: "0m", 52: "0p", 88: "0s"}
"""Numbers of the red fives, in games that have them."""

FROM, CHII, PON, ADDED_KAN, NORTH = 0x3, 0x4, 0x8, 0x10, 0x20
"""Bits of a meld: the player from whom the tile came (0: a closed kan), and the kind of meld."""

CHII_OF_A_SUIT: Final = 7


def decode_tile(number: int, *, red: bool) -> str:
    """Return the tile with a number. Raises RuleError `bad_record`."""
    if not 0 <= number < COPIES * len(KINDS):
        raise RuleError("bad_record", f"there is no tile of number {number}")
    return RED[number] if red and number in RED else KINDS[number // COPIES]


def decode_meld(bits: int, *, red: bool) -> RiichiHandMeld:
    """Return the meld encoded in 16 bits. Raises RuleError `bad_record`, or with the codes of `Meld`."""
    if not 0 <= bits < 1 << 16:
        raise RuleError("bad_record", f"there is no meld {bits}")
    if bits & CHII:
        return _meld("chii", _chii(bits), red=red)
    if bits & (PON | ADDED_KAN):
        return _of_pon(bits, red=red)
    if bits & NORTH:
        raise RuleError("bad_record", "a north set aside: only games of four are checked")
    first = bits >> 8 & ~3
    return _meld("kan", [first + copy for copy in range(COPIES)], red=red, is_open=bool(bits & FROM))


def _chii(bits: int) -> list[int]:
    low = (bits >> 10) // 3
    kind = low // CHII_OF_A_SUIT * 9 + low % CHII_OF_A_SUIT
    return [COPIES * (kind + step) + (bits >> 3 + 2 * step & 3) for step in range(3)]


def _of_pon(bits: int, *, red: bool) -> RiichiHandMeld:
    first = (bits >> 9) // 3 * COPIES
    if bits & ADDED_KAN:
        return _meld("kan", [first + copy for copy in range(COPIES)], red=red)
    return _meld("pon", [first + copy for copy in range(COPIES) if copy != bits >> 5 & 3], red=red)


def _meld(kind: str, numbers: list[int], *, red: bool, is_open: bool = True) -> RiichiHandMeld:
    return RiichiHandMeld(kind, tuple(decode_tile(number, red=red) for number in numbers), is_open)
