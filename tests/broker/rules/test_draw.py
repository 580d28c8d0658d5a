"""What comes of a draw's words: whole deals, each as likely as any other, all changed by everybody's words."""

import hashlib
import hmac
from collections import Counter
from itertools import islice
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.protocol import SEATS
from broker.rules import FULL_SET, Deal, RuleError, is_whole_registry
from broker.rules.deal import RED_SET
from broker.rules.draw import (
    Announcement,
    Beacon,
    Contributor,
    DrawnWords,
    SeededShuffler,
    announcement_text,
    drawn_deals,
    drawn_sets,
    normal_words,
    seed_of,
    words_hash,
)

WORDS: Final = DrawnWords("0" * 64, ("alpha beta", "gamma 西风"), "9f3c")
SETS_SECRET: Final = "1" * 64


def announced(words: DrawnWords = WORDS, **other: Any) -> Announcement:  # noqa: ANN401 - its fields
    made = Announcement(
        event="cup",
        number=1,
        deals=3,
        prevalent_winds=("east", "south"),
        dealers=SEATS,
        computer=words_hash(words.computer),
        computer_sets=words_hash(SETS_SECRET),
        people=tuple(Contributor(f"P{at}", words_hash(said)) for at, said in enumerate(words.people)),
        new_sets=(4, 9),
        beacon=Beacon("drand", "77") if words.beacon else None,
    )
    return replace(made, **other)


def drawn(words: DrawnWords = WORDS) -> list[tuple[Deal, str]]:
    return drawn_deals(announced(words), words)


def flat(deal: Deal) -> list[str]:
    return [face for seat in SEATS for face in deal.faces[seat]]


@given(st.binary(min_size=1, max_size=40), st.sampled_from([FULL_SET, RED_SET]))
def test_a_mixed_set_is_a_permutation_of_it(seed: bytes, tiles: tuple[str, ...]) -> None:
    mixed = list(tiles)
    SeededShuffler(seed, "deal 1").shuffle(mixed)
    assert sorted(mixed) == sorted(tiles)


def test_every_place_is_as_likely_for_every_tile() -> None:
    """Chi-square over 12 x 12 places of 6,000 mixed rows: 121 degrees of freedom, 99.9 % lie below 173.6."""
    rows, size = 6000, 12
    seen: Counter[tuple[str, int]] = Counter()
    for number in range(rows):
        row = [chr(ord("a") + at) for at in range(size)]
        SeededShuffler(b"a seed", f"deal {number}").shuffle(row)
        seen.update(zip(row, range(size), strict=True))
    expected = rows / size
    assert (
        sum((seen[chr(ord("a") + tile), place] - expected) ** 2 for tile in range(size) for place in range(size))
        / (expected)
        < 173.6
    )


def test_every_order_is_as_likely_as_any_other() -> None:
    """Chi-square over the 24 orders of four: 23 degrees of freedom, 99.9 % lie below 49.7."""
    rows = 4800
    seen: Counter[tuple[str, ...]] = Counter()
    for number in range(rows):
        row = list("abcd")
        SeededShuffler(b"a seed", f"deal {number}").shuffle(row)
        seen[tuple(row)] += 1
    assert len(seen) == 24
    assert sum((count - 200) ** 2 for count in seen.values()) / 200 < 49.7


def test_numbers_that_would_favour_somebody_are_passed_over() -> None:
    class Counted(SeededShuffler):
        def __init__(self, numbers: list[int]) -> None:
            self._numbers = iter(numbers)

    row = ["a", "b", "c"]
    Counted([65535, 65534, 3]).shuffle(row)  # 65535 is left over from runs of three
    assert row == ["a", "b", "c"]  # 65534 mod 3 is 2, and 3 mod 2 is 1: each stays


def test_the_deals_are_those_that_the_document_describes() -> None:
    """By another road: the steps of docs/deals.md, written again."""
    beacon = "beacon drand\nbeacon_round 77\n"
    people = "".join(f"person {person.words} {person.name}\n" for person in announced().people)
    head = f"computer {announced().computer}\ncomputer_sets {announced().computer_sets}\n{people}{beacon}"
    text = (
        "homologue-draw-v1\nevent cup\ndraw 1\nprevious none\ndeals 3\nprevalent_winds east south\n"
        f"dealers east south west north\nsets none\nnew_sets 4 9\nred_fives no\n{head}"
    )
    assert announcement_text(announced()) == text
    said = f"computer {'0' * 64}\nwords alpha beta\nwords gamma 西风\nbeacon 9f3c\n"
    seed = hashlib.sha256(f"homologue-seed-v1\nannouncement {announced().hash}\n{said}".encode()).digest()
    assert seed_of(announced(), WORDS) == seed
    stream = (byte for at in range(99) for byte in hmac.digest(seed, f"deal 2 block {at}".encode(), "sha256"))
    tiles = list(FULL_SET)
    for place in range(135, 0, -1):
        while (value := int.from_bytes(bytes(islice(stream, 2)), "big")) >= 65536 // (place + 1) * (place + 1):
            pass
        tiles[place], tiles[value % (place + 1)] = tiles[value % (place + 1)], tiles[place]
    deal, salt = drawn()[1]
    assert (deal.prevalent_wind, deal.dealer, flat(deal)) == ("south", "south", tiles)
    assert salt == hmac.digest(seed, b"deal 2 salt", "sha256").hex()


@pytest.mark.parametrize(
    "other",
    [
        replace(WORDS, computer="2" * 64),
        replace(WORDS, people=("alpha betb", WORDS.people[1])),
        replace(WORDS, people=(WORDS.people[0], "gamma 西北")),
        replace(WORDS, people=WORDS.people[::-1]),
        replace(WORDS, beacon="9f3d"),
        replace(WORDS, beacon=""),
    ],
)
def test_everybody_changes_every_deal_and_every_salt(other: DrawnWords) -> None:
    pairs = list(zip(drawn(), drawn(other), strict=True))
    assert [flat(one[0]) != flat(two[0]) and one[1] != two[1] for one, two in pairs] == [True] * 3


@pytest.mark.parametrize("changed", [{"event": "cup-2"}, {"number": 2}, {"previous": "f" * 64}, {"deals": 4}])
def test_another_announcement_gives_other_deals_of_the_same_words(changed: dict[str, Any]) -> None:
    other = drawn_deals(announced(**changed), WORDS)
    assert [flat(one[0]) == flat(two[0]) for one, two in zip(drawn(), other, strict=False)] == [False] * 3


def test_no_two_deals_and_no_two_salts_are_alike() -> None:
    assert len({tuple(flat(deal)) for deal, _ in drawn()}) == len({salt for _, salt in drawn()}) == 3


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (replace(WORDS, people=("alpha betta", WORDS.people[1])), "words_differ"),
        (replace(WORDS, people=WORDS.people[:1]), "words_differ"),
        (replace(WORDS, people=WORDS.people[::-1]), "words_differ"),
        (replace(WORDS, computer="2" * 64), "words_differ"),
        (replace(WORDS, beacon=""), "beacon_missing"),
    ],
)
def test_what_was_changed_after_the_announcement_is_refused(words: DrawnWords, code: str) -> None:
    with pytest.raises(RuleError) as refused:
        drawn_deals(announced(), words)
    assert refused.value.code == code


def test_a_refusal_names_the_person_and_never_the_words() -> None:
    with pytest.raises(RuleError) as refused:
        drawn_deals(announced(), replace(WORDS, people=("a secret", WORDS.people[1])))
    assert str(refused.value.text) == "these are not the words that P0 committed to"


@given(st.text(max_size=30))
def test_words_are_the_same_however_they_are_typed_or_scanned(words: str) -> None:
    assert words_hash(f"  {normal_words(words)}\r\n") == words_hash(words)


def test_new_sets_are_whole_and_need_the_second_secret() -> None:
    made = drawn_sets(announced(), replace(WORDS, computer=SETS_SECRET))
    assert [is_whole_registry(made[number]) for number in (4, 9)] == [True, True]
    assert made[4] != made[9]
    with pytest.raises(RuleError):
        drawn_sets(announced(), WORDS)
