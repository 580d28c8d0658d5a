"""The draw of an event's deals: several people give words, and what comes of all words no one person can have chosen.

Before anybody says a word the draw is announced: its number, what is to be made, the hash of each person's words and of
two secrets of the computer's, and a public value that is still to come. The announcement names the one before it, so
that a second draw cannot pass for the first. Only then are the words said; the deals follow from them alone, step by
step as docs/deals.md describes it, with nothing but SHA-256 and HMAC: a test holds the document's own program to this.

Tile sets come of a second secret that is never published: a set is played with again after the event.
"""

import hashlib
import hmac
import unicodedata
from collections.abc import Iterator, MutableSequence, Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from broker.errors import RuleError
from broker.i18n import N_
from broker.protocol import EventName, Hash, Seat, SetNo, Wind
from broker.rules.deal import Deal, new_deal, new_set

ANNOUNCEMENT_HEAD: Final = "homologue-draw-v1"
WORDS_HEAD: Final = "homologue-words-v1"
SEED_HEAD: Final = "homologue-seed-v1"
"""First lines, so that no text of one kind is ever one of another."""

LineOfText = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"\A\S(?:[^\x00-\x1f\x7f]*\S)?\Z")]
"""One line; no blanks around it."""


class Contributor(Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody who gives words to a draw, and what was announced of them."""

    name: LineOfText
    words: Hash


class Beacon(Struct, frozen=True, forbid_unknown_fields=True):
    """A public value that nobody knows when the draw is announced: where it will be read, and which one it is."""

    source: LineOfText
    round: LineOfText


class Announcement(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is published before the words are said. It tells nothing of the deals."""

    event: EventName
    number: Annotated[int, Meta(ge=1)]
    deals: Annotated[int, Meta(ge=1, le=9999)]
    prevalent_winds: Annotated[tuple[Wind, ...], Meta(min_length=1)]
    dealers: Annotated[tuple[Seat, ...], Meta(min_length=1)]
    """Both are taken in turn."""
    computer: Hash
    computer_sets: Hash
    people: Annotated[tuple[Contributor, ...], Meta(min_length=1)]
    sets: tuple[SetNo, ...] = ()
    """Taken in turn; none: deal 7 lies in set 7."""
    new_sets: tuple[SetNo, ...] = ()
    """Those of which the draw also decides which serial is on which face."""
    red_fives: bool = False
    beacon: Beacon | None = None
    previous: Hash | None = None
    """The hash of the announcement before this one of the same event."""

    @property
    def hash(self) -> str:
        """Its SHA-256 (hex): what is published of it, where there is little room."""
        return hashlib.sha256(announcement_text(self).encode()).hexdigest()


def announcement_text(announced: Announcement) -> str:
    """Return the lines whose SHA-256 is the hash of an announcement."""
    beacon = announced.beacon
    return _lines(
        ANNOUNCEMENT_HEAD,
        f"event {announced.event}",
        f"draw {announced.number}",
        f"previous {announced.previous or 'none'}",
        f"deals {announced.deals}",
        f"prevalent_winds {' '.join(announced.prevalent_winds)}",
        f"dealers {' '.join(announced.dealers)}",
        f"sets {_numbers(announced.sets)}",
        f"new_sets {_numbers(announced.new_sets)}",
        f"red_fives {'yes' if announced.red_fives else 'no'}",
        f"computer {announced.computer}",
        f"computer_sets {announced.computer_sets}",
        *(f"person {person.words} {person.name}" for person in announced.people),
        f"beacon {beacon.source}" if beacon else "beacon none",
        *([f"beacon_round {beacon.round}"] if beacon else []),
    )


def normal_words(typed: str) -> str:
    """Return words as they are hashed: in small letters, one blank between two. A scanner's line end is none of it."""
    return " ".join(unicodedata.normalize("NFC", typed).lower().split())


def words_hash(words: str) -> str:
    """Return what is announced of words (SHA-256, hex): `printf` and `sha256sum` find it too."""
    return hashlib.sha256(_lines(WORDS_HEAD, normal_words(words)).encode()).hexdigest()


class DrawnWords(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the deals of a draw come from. Until all of them are played it is a secret."""

    computer: str
    people: tuple[str, ...]
    """In the order of the announcement."""
    beacon: str = ""

    def __repr__(self) -> str:
        """Return no secret."""
        return f"DrawnWords(of {len(self.people)} people)"


def seed_of(announced: Announcement, words: DrawnWords) -> bytes:
    """Return the 32 bytes from which all follows.

    Raises RuleError `words_differ`, naming the person, if something is not what was announced; `beacon_missing`.
    """
    return _seed(announced, words, announced.computer)


def _seed(announced: Announcement, words: DrawnWords, computer: str) -> bytes:
    if words_hash(words.computer) != computer:
        raise RuleError("words_differ", N_("the computer’s secret is not the one that was announced"))
    if len(words.people) != len(announced.people):
        raise RuleError("words_differ", N_("the words of {count} people are needed", count=len(announced.people)))
    for person, said in zip(announced.people, words.people, strict=True):
        check_words(person, said)
    if bool(announced.beacon) != bool(words.beacon):
        raise RuleError("beacon_missing", N_("exactly the public value that was announced is needed"))
    text = _lines(
        SEED_HEAD,
        f"announcement {announced.hash}",
        f"computer {normal_words(words.computer)}",
        *(f"words {normal_words(said)}" for said in words.people),
        f"beacon {normal_words(words.beacon) or 'none'}",
    )
    return hashlib.sha256(text.encode()).digest()


def check_words(person: Contributor, words: str) -> None:
    """Raise RuleError `words_differ` unless these are the words of which the hash was announced."""
    if words_hash(words) != person.words:
        raise RuleError("words_differ", N_("these are not the words that {person} committed to", person=person.name))


class SeededShuffler:
    """Mixes as a seed and a label have it, always the same; every order is equally likely."""

    def __init__(self, seed: bytes, label: str) -> None:
        self._numbers = _numbers_of(seed, label)

    def shuffle(self, x: MutableSequence[str], /) -> None:
        """Mix in place (Fisher and Yates, from the last place to the second)."""
        for place in range(len(x) - 1, 0, -1):
            other = self._below(place + 1)
            x[place], x[other] = x[other], x[place]

    def _below(self, bound: int) -> int:
        """Return the next number that favours none below `bound`: those of an incomplete last run are passed over."""
        runs = NUMBERS - NUMBERS % bound
        return next(number for number in self._numbers if number < runs) % bound


NUMBERS: Final = 2**16
"""How many numbers two bytes make."""


def _numbers_of(seed: bytes, label: str) -> Iterator[int]:
    block = 0
    while True:
        digest = hmac.digest(seed, f"{label} block {block}".encode(), "sha256")
        yield from (int.from_bytes(digest[at : at + 2], "big") for at in range(0, len(digest), 2))
        block += 1


def drawn_deals(announced: Announcement, words: DrawnWords) -> list[tuple[Deal, str]]:
    """Return all deals of a draw, each with the salt of its commitment. Raises RuleError as `seed_of`."""
    seed, winds, dealers = seed_of(announced, words), announced.prevalent_winds, announced.dealers
    return [
        (
            new_deal(
                number,
                winds[(number - 1) % len(winds)],
                dealers[(number - 1) % len(dealers)],
                SeededShuffler(seed, f"deal {number}"),
                red=announced.red_fives,
            ),
            hmac.digest(seed, f"deal {number} salt".encode(), "sha256").hex(),
        )
        for number in range(1, announced.deals + 1)
    ]


def drawn_sets(announced: Announcement, words: DrawnWords) -> dict[int, dict[int, str]]:
    """Return the new sets of a draw, serial to face; `words.computer` is the computer's second secret.

    Raises RuleError as `seed_of`.
    """
    seed = _seed(announced, words, announced.computer_sets)
    return {
        number: new_set(SeededShuffler(seed, f"set {number}"), red=announced.red_fives) for number in announced.new_sets
    }


def _numbers(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers)) or "none"


def _lines(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)
