"""Commitments to deals, and the draw of deals, so that anybody can later verify that no deal was chosen or changed.

Before the event each deal is hashed (SHA-256) with its own salt of 256 random bits, without which the hash reveals
nothing of the deal. The root is the hash over the list of those hashes.

In a draw several people contribute words, so that no one person can choose the result. The draw is announced before
anybody reveals their words. The announcement has the draw's number, what is to be drawn, the hashes of each person's
words and of two secrets of the computer's, and a public value that does not exist yet. It also names the announcement
before it, so that a second draw cannot pass for the first. The deals follow from the words alone. Tile sets come from
the second secret, which is never published, because a set is used again after the event.

What is hashed is plain lines of text, so that `sha256sum` alone can verify it. docs/deals.md describes these texts and
the draw for people, and tests check that both agree.
"""

import hashlib
import hmac
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from broker.errors import RuleError
from broker.i18n import N_
from broker.protocol import SEATS, EventName, Hash, Seat, SetNo, Wind
from broker.rules.deal import Deal, new_deal, new_set

DEAL_HEAD: Final = "homologue-deal-v1"
ROOT_HEAD: Final = "homologue-commitment-v1"
DRAWN_HEAD: Final = "homologue-commitment-v2"
"""First lines, so that a text of one kind can never be one of another kind or version."""


def deal_text(event: str, deal: Deal, salt: str) -> str:
    """Return the lines whose SHA-256 is a deal's hash: one text for one deal in one event.

    `salt` is 64 hexadecimal digits. Raises RuleError `bad_event_name` or `bad_salt`.
    """
    trays = (f"{seat} {' '.join(deal.faces[seat])}" for seat in SEATS)
    return _lines(
        DEAL_HEAD,
        f"event {checked_name(event)}",
        f"deal {deal.number}",
        f"prevalent_wind {deal.prevalent_wind}",
        f"dealer {deal.dealer}",
        *trays,
        f"salt {_checked_salt(salt)}",
    )


class DrawName(Struct, frozen=True, forbid_unknown_fields=True):
    """The draw that deals come from: its number, and the hash of its announcement."""

    number: Annotated[int, Meta(ge=1)]
    announcement: Hash


def root_text(event: str, hashes: Mapping[int, str], draw: DrawName | None = None) -> str:
    """Return the lines whose SHA-256 is the root: the deals' hashes by number. Raises RuleError `bad_event_name`."""
    head, draw_line = (DRAWN_HEAD, [f"draw {draw.number} {draw.announcement}"]) if draw else (ROOT_HEAD, [])
    deal_lines = (f"deal {number} {hashes[number]}" for number in sorted(hashes))
    return _lines(head, f"event {checked_name(event)}", *draw_line, *deal_lines)


@dataclass(frozen=True, slots=True)
class Commitment:
    """What is published before the event. It contains no face and no salt."""

    event: str
    hashes: Mapping[int, str]
    draw: DrawName | None = None

    @property
    def root(self) -> str:
        """The hash over the whole commitment (hex)."""
        return _sha256(root_text(self.event, self.hashes, self.draw))

    def check(self, event: str, deal: Deal, salt: str) -> None:
        """Raise RuleError `other_event`, `deal_not_committed` or `deal_differs` unless this deal was committed to."""
        if event != self.event:
            raise RuleError("other_event", f"revealed for event {event}, committed to for event {self.event}")
        if deal.number not in self.hashes:
            raise RuleError("deal_not_committed", N_("deal {deal} is not in the commitment", deal=deal.number))
        if _sha256(deal_text(event, deal, salt)) != self.hashes[deal.number]:
            raise RuleError("deal_differs", N_("deal {deal} is not what was committed to", deal=deal.number))


def commit_deals(event: str, deals: Iterable[tuple[Deal, str]], draw: DrawName | None = None) -> Commitment:
    """Commit to deals, each with its salt. Raises RuleError as `deal_text` does."""
    return Commitment(event, {deal.number: _sha256(deal_text(event, deal, salt)) for deal, salt in deals}, draw)


def checked_name(event: str) -> str:
    """Return an event's name unchanged. Raises RuleError `bad_event_name` if it could not be part of a topic."""
    try:
        return msgspec.convert(event, EventName)
    except msgspec.ValidationError:
        raise RuleError("bad_event_name", f"{event[:40]!r} cannot be an event's name") from None


def _checked_salt(salt: str) -> str:
    try:
        return msgspec.convert(salt, Hash)
    except msgspec.ValidationError:
        raise RuleError("bad_salt", "a salt is 64 hexadecimal digits") from None  # never quoted: it may be secret


def _lines(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


ANNOUNCEMENT_HEAD: Final = "homologue-draw-v1"
WORDS_HEAD: Final = "homologue-words-v1"
SEED_HEAD: Final = "homologue-seed-v1"
"""First lines, so that a text of one kind can never be one of another."""

LineOfText = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"\A\S(?:[^\x00-\x1f\x7f]*\S)?\Z")]
"""One line of text without leading or trailing blanks."""


class Contributor(Struct, frozen=True, forbid_unknown_fields=True):
    """A person who contributes words to a draw, and the hash of those words."""

    name: LineOfText
    words: Hash


class Beacon(Struct, frozen=True, forbid_unknown_fields=True):
    """A public value that nobody knows when the draw is announced: where it will be read, and which one it is."""

    source: LineOfText
    round: LineOfText


class Announcement(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is published before any words are revealed. It says nothing about the deals."""

    event: EventName
    number: Annotated[int, Meta(ge=1)]
    deals: Annotated[int, Meta(ge=1, le=9999)]
    prevalent_winds: Annotated[tuple[Wind, ...], Meta(min_length=1)]
    dealers: Annotated[tuple[Seat, ...], Meta(min_length=1)]
    """Prevalent winds and dealers are assigned to the deals in turn, starting again after the last."""
    computer: Hash
    computer_sets: Hash
    people: Annotated[tuple[Contributor, ...], Meta(min_length=1)]
    sets: tuple[SetNo, ...] = ()
    """Sets assigned to the deals in turn. If empty, deal 7 lies in set 7, and so on."""
    new_sets: tuple[SetNo, ...] = ()
    """Sets for which the draw also decides which serial is on which face."""
    red_fives: bool = False
    beacon: Beacon | None = None
    previous: Hash | None = None
    """The hash of the same event's previous announcement."""

    @property
    def hash(self) -> str:
        """The announcement's SHA-256 (hex), which is published where there is little room."""
        return hashlib.sha256(announcement_text(self).encode()).hexdigest()


def announcement_text(announcement: Announcement) -> str:
    """Return the lines whose SHA-256 is the hash of an announcement."""
    beacon = announcement.beacon
    return _lines(
        ANNOUNCEMENT_HEAD,
        f"event {announcement.event}",
        f"draw {announcement.number}",
        f"previous {announcement.previous or 'none'}",
        f"deals {announcement.deals}",
        f"prevalent_winds {' '.join(announcement.prevalent_winds)}",
        f"dealers {' '.join(announcement.dealers)}",
        f"sets {_numbers(announcement.sets)}",
        f"new_sets {_numbers(announcement.new_sets)}",
        f"red_fives {'yes' if announcement.red_fives else 'no'}",
        f"computer {announcement.computer}",
        f"computer_sets {announcement.computer_sets}",
        *(f"person {person.words} {person.name}" for person in announcement.people),
        f"beacon {beacon.source}" if beacon else "beacon none",
        *([f"beacon_round {beacon.round}"] if beacon else []),
    )


def normal_words(typed: str) -> str:
    """Return words in the form that is hashed: in lower case, with single blanks, and no line end of a scanner."""
    return " ".join(unicodedata.normalize("NFC", typed).lower().split())


def words_hash(words: str) -> str:
    """Return the hash of words (SHA-256, hex) that is announced. `printf` and `sha256sum` can compute it too."""
    return hashlib.sha256(_lines(WORDS_HEAD, normal_words(words)).encode()).hexdigest()


class DrawnWords(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the deals of a draw are computed from. It is secret until all of them have been played."""

    computer: str
    people: tuple[str, ...]
    """In the order of the announcement."""
    beacon: str = ""

    def __repr__(self) -> str:
        """Return a text without the secrets."""
        return f"DrawnWords(of {len(self.people)} people)"


def seed_of(announcement: Announcement, words: DrawnWords) -> bytes:
    """Return the 32 bytes from which the whole draw follows.

    Raises RuleError `words_differ`, naming the person, if something is not what was announced, or `beacon_missing`.
    """
    return _seed(announcement, words, announcement.computer)


def _seed(announcement: Announcement, words: DrawnWords, computer: str) -> bytes:
    if words_hash(words.computer) != computer:
        raise RuleError("words_differ", N_("the computer’s secret is not the one that was announced"))
    if len(words.people) != len(announcement.people):
        raise RuleError(
            "words_differ", N_("the number of people whose words are needed: {count}", count=len(announcement.people))
        )
    for person, spoken in zip(announcement.people, words.people, strict=True):
        check_words(person, spoken)
    if bool(announcement.beacon) != bool(words.beacon):
        raise RuleError("beacon_missing", N_("enter exactly the public value that was announced"))
    text = _lines(
        SEED_HEAD,
        f"announcement {announcement.hash}",
        f"computer {normal_words(words.computer)}",
        *(f"words {normal_words(spoken)}" for spoken in words.people),
        f"beacon {normal_words(words.beacon) or 'none'}",
    )
    return hashlib.sha256(text.encode()).digest()


def check_words(person: Contributor, words: str) -> None:
    """Raise RuleError `words_differ` unless these are the words whose hash was announced."""
    if words_hash(words) != person.words:
        raise RuleError("words_differ", N_("these are not the words that {person} committed to", person=person.name))


class SeededShuffler:
    """A shuffler that is determined by a seed and a label. Every order is equally likely."""

    def __init__(self, seed: bytes, label: str) -> None:
        self._numbers = _numbers_of(seed, label)

    def shuffle(self, x: MutableSequence[str], /) -> None:
        """Shuffle in place (Fisher and Yates, from the last place to the second)."""
        for place in range(len(x) - 1, 0, -1):
            other = self._below(place + 1)
            x[place], x[other] = x[other], x[place]

    def _below(self, bound: int) -> int:
        """Return an unbiased number below `bound`, skipping numbers past the last whole multiple of `bound`."""
        runs = NUMBERS - NUMBERS % bound
        return next(number for number in self._numbers if number < runs) % bound


NUMBERS: Final = 2**16
"""The number of values that two bytes can have."""


def _numbers_of(seed: bytes, label: str) -> Iterator[int]:
    block = 0
    while True:
        digest = hmac.digest(seed, f"{label} block {block}".encode(), "sha256")
        yield from (int.from_bytes(digest[at : at + 2], "big") for at in range(0, len(digest), 2))
        block += 1


def drawn_deals(announcement: Announcement, words: DrawnWords) -> list[tuple[Deal, str]]:
    """Return all deals of a draw, each with the salt of its commitment. Raises RuleError as `seed_of` does."""
    seed, winds, dealers = seed_of(announcement, words), announcement.prevalent_winds, announcement.dealers
    return [
        (
            new_deal(
                number,
                winds[(number - 1) % len(winds)],
                dealers[(number - 1) % len(dealers)],
                SeededShuffler(seed, f"deal {number}"),
                red=announcement.red_fives,
            ),
            hmac.digest(seed, f"deal {number} salt".encode(), "sha256").hex(),
        )
        for number in range(1, announcement.deals + 1)
    ]


def drawn_sets(announcement: Announcement, words: DrawnWords) -> dict[int, dict[int, str]]:
    """Return the new sets of a draw, serial to face. `words.computer` must be the computer's second secret.

    Raises RuleError as `seed_of` does.
    """
    seed = _seed(announcement, words, announcement.computer_sets)
    return {
        number: new_set(SeededShuffler(seed, f"set {number}"), red=announcement.red_fives)
        for number in announcement.new_sets
    }


def _numbers(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers)) or "none"
