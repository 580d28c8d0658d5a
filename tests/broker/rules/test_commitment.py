"""A commitment hides every deal until it is revealed, and then accepts only that deal."""

import hashlib
import hmac
from collections import Counter
from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from broker.protocol import SEATS
from broker.rules import FULL_SET, Deal, RuleError, is_whole_registry, new_deal
from broker.rules.commitment import (
    Announcement,
    Beacon,
    Commitment,
    Contributor,
    DrawnWords,
    SeededShuffler,
    announcement_text,
    commit_deals,
    deal_text,
    drawn_deals,
    drawn_sets,
    normal_words,
    root_text,
    seed_of,
    words_hash,
)
from broker.rules.deal import RED_SET

SALTS = st.integers(0, 2**256 - 1).map(lambda bits: f"{bits:064x}")
PLACE = st.integers(0, 135)

GOLDEN_DEAL = Deal(7, "south", "west", {seat: FULL_SET[at * 34 : at * 34 + 34] for at, seat in enumerate(SEATS)})
GOLDEN_SALT = "00112233445566778899aabbccddeeff" * 2


@st.composite
def deals(draw: st.DrawFn) -> Deal:
    """Return any deal."""
    mixed = new_deal(draw(st.integers(1, 9999)), "east", "east", Random(draw(st.integers(0, 2**32))))
    return replace(mixed, prevalent_wind=draw(st.sampled_from(SEATS)), dealer=draw(st.sampled_from(SEATS)))


def code(commitment: Commitment, event: str, deal: Deal, salt: str) -> str:
    with pytest.raises(RuleError) as refused:
        commitment.check(event, deal, salt)
    return refused.value.code


def exchanged(deal: Deal, one: int, other: int) -> Deal:
    """Return a deal with two tiles exchanged."""
    faces = [face for seat in SEATS for face in deal.faces[seat]]
    faces[one], faces[other] = faces[other], faces[one]
    return replace(deal, faces={seat: tuple(faces[at * 34 : at * 34 + 34]) for at, seat in enumerate(SEATS)})


def test_the_hashed_texts_are_those_of_the_documents() -> None:
    m, p, s, z = (
        " ".join(f"{rank}{suit}" for rank in range(1, last + 1) for _ in range(4))
        for suit, last in (("m", 9), ("p", 9), ("s", 9), ("z", 7))
    )
    tiles = f"{m} {p} {s} {z}".split()
    text = "homologue-deal-v1\nevent cup\ndeal 7\nprevalent_wind south\ndealer west\n"
    for seat in ("east", "south", "west", "north"):
        text += f"{seat} {' '.join(tiles[:34])}\n"
        del tiles[:34]
    text += "salt 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n"
    of_deal = hashlib.sha256(text.encode()).hexdigest()
    root = hashlib.sha256(f"homologue-commitment-v1\nevent cup\ndeal 7 {of_deal}\n".encode()).hexdigest()
    made = commit_deals("cup", [(GOLDEN_DEAL, GOLDEN_SALT)])
    assert (dict(made.hashes), made.root) == ({7: of_deal}, root)
    assert (of_deal, root) == (
        "aed0f70d8b10d8569dda9e9fa46cd02025d6539fa37e8bab71e0af7541baf160",
        "cf3cd18a5c2f37e932da8b26ed2504e9c1649a7e7eb3997477549195d3d3d8f8",
    )


def test_the_root_lists_deals_by_number() -> None:
    hashes = {10: "a" * 64, 9: "b" * 64}
    assert root_text("cup", hashes) == (f"homologue-commitment-v1\nevent cup\ndeal 9 {'b' * 64}\ndeal 10 {'a' * 64}\n")


@given(deals(), SALTS)
def test_a_committed_deal_is_accepted(deal: Deal, salt: str) -> None:
    commit_deals("cup", [(deal, salt)]).check("cup", deal, salt)


@given(deals(), SALTS, PLACE, PLACE)
def test_no_two_tiles_can_be_exchanged(deal: Deal, salt: str, one: int, other: int) -> None:
    changed = exchanged(deal, one, other)
    commitment = commit_deals("cup", [(deal, salt)])
    if changed == deal:
        commitment.check("cup", changed, salt)
    else:
        assert code(commitment, "cup", changed, salt) == "deal_differs"


@given(deals(), SALTS, st.data())
def test_wind_dealer_and_seats_cannot_be_changed(deal: Deal, salt: str, data: st.DataObject) -> None:
    other = st.sampled_from(SEATS)
    changed = data.draw(
        st.one_of(
            other.filter(lambda seat: seat != deal.prevalent_wind).map(lambda seat: replace(deal, prevalent_wind=seat)),
            other.filter(lambda seat: seat != deal.dealer).map(lambda seat: replace(deal, dealer=seat)),
            st.just(
                replace(
                    deal,
                    faces={seat: deal.faces[after] for seat, after in zip(SEATS, SEATS[1:] + SEATS[:1], strict=True)},
                )
            ),
        )
    )
    assert code(commit_deals("cup", [(deal, salt)]), "cup", changed, salt) == "deal_differs"


@given(deals(), SALTS, SALTS)
def test_a_deal_is_refused_with_another_salt_number_or_event(deal: Deal, salt: str, other: str) -> None:
    commitment = commit_deals("cup", [(deal, salt)])
    if other != salt:
        assert code(commitment, "cup", deal, other) == "deal_differs"
    assert code(commitment, "cap", deal, salt) == "other_event"
    assert code(commitment, "cup", replace(deal, number=deal.number % 9999 + 1), salt) == "deal_not_committed"


@given(deals(), deals(), SALTS, SALTS)
def test_two_deals_cannot_exchange_numbers(one: Deal, other: Deal, salt: str, other_salt: str) -> None:
    first, second = replace(one, number=1), replace(other, number=2)
    commitment = commit_deals("cup", [(first, salt), (second, other_salt)])
    if one.faces != other.faces:
        assert code(commitment, "cup", replace(second, number=1), other_salt) == "deal_differs"


@given(deals(), SALTS, SALTS)
def test_the_same_deals_with_other_salts_have_no_hash_in_common(deal: Deal, salt: str, other: str) -> None:
    one, two = commit_deals("cup", [(deal, salt)]), commit_deals("cup", [(deal, other)])
    assert (one.root == two.root) == (one.hashes == two.hashes) == (salt == other)


@given(st.dictionaries(st.integers(1, 9999), st.sampled_from(["a" * 64, "b" * 64]), min_size=1, max_size=5), st.data())
def test_the_root_depends_on_every_hash_every_number_and_the_event(hashes: dict[int, str], data: st.DataObject) -> None:
    root = Commitment("cup", hashes).root
    at = data.draw(st.sampled_from(sorted(hashes)))
    fewer = {number: one for number, one in hashes.items() if number != at}
    assert root not in {
        Commitment("cap", hashes).root,
        Commitment("cup", fewer).root,
        Commitment("cup", {**hashes, at: "c" * 64}).root,
        Commitment("cup", {**fewer, 10_000: hashes[at]}).root,
    }


def test_the_root_does_not_depend_on_the_order_of_the_deals() -> None:
    deals = [(new_deal(number, "east", "east", Random(number)), GOLDEN_SALT) for number in (3, 1, 2)]
    assert commit_deals("cup", deals).root == commit_deals("cup", sorted(deals, key=lambda one: one[0].number)).root


@pytest.mark.parametrize("event", ["", "Cup", "a b", "a\ndeal 1", "cup\n", "é", "x" * 33, "-a"])
def test_an_event_name_that_could_break_a_line_is_refused(event: str) -> None:
    with pytest.raises(RuleError) as refused:
        deal_text(event, GOLDEN_DEAL, GOLDEN_SALT)
    assert refused.value.code == "bad_event_name"


@pytest.mark.parametrize("salt", ["", "0" * 63, "0" * 65, "A" * 64, "0" * 64 + "\n", "g" * 64])
def test_a_salt_is_64_hexadecimal_digits_and_a_refusal_does_not_quote_it(salt: str) -> None:
    with pytest.raises(RuleError) as refused:
        deal_text("cup", GOLDEN_DEAL, salt)
    assert (refused.value.code, refused.value.text) == ("bad_salt", "a salt is 64 hexadecimal digits")


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
        people=tuple(Contributor(f"P{at}", words_hash(spoken)) for at, spoken in enumerate(words.people)),
        new_sets=(4, 9),
        beacon=Beacon("drand", "77") if words.beacon else None,
    )
    return structs.replace(made, **other)


def drawn(words: DrawnWords = WORDS) -> list[tuple[Deal, str]]:
    return drawn_deals(announced(words), words)


def flat(deal: Deal) -> list[str]:
    return [face for seat in SEATS for face in deal.faces[seat]]


@given(st.binary(min_size=1, max_size=40), st.sampled_from([FULL_SET, RED_SET]))
def test_a_shuffled_set_is_a_permutation_of_the_set(seed: bytes, tiles: tuple[str, ...]) -> None:
    mixed = list(tiles)
    SeededShuffler(seed, "deal 1").shuffle(mixed)
    assert sorted(mixed) == sorted(tiles)


def test_every_tile_is_equally_likely_at_every_place() -> None:
    """Chi-square test of 12 x 12 places in 6,000 shuffled rows: 99.9 % with 121 degrees of freedom is 173.6."""
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


def test_all_orders_are_equally_likely() -> None:
    """Chi-square test of the 24 orders of four: 99.9 % with 23 degrees of freedom is 49.7."""
    rows = 4800
    seen: Counter[tuple[str, ...]] = Counter()
    for number in range(rows):
        row = list("abcd")
        SeededShuffler(b"a seed", f"deal {number}").shuffle(row)
        seen[tuple(row)] += 1
    assert len(seen) == 24
    assert sum((count - 200) ** 2 for count in seen.values()) / 200 < 49.7


def test_random_numbers_that_would_bias_the_shuffle_are_skipped() -> None:
    class Counted(SeededShuffler):
        def __init__(self, numbers: list[int]) -> None:
            self._numbers = iter(numbers)

    row = ["a", "b", "c"]
    Counted([65535, 65534, 3]).shuffle(row)  # 65535 is skipped: 0 to 65534 hold each remainder equally often
    assert row == ["a", "b", "c"]  # 65534 mod 3 is 2, and 3 mod 2 is 1: each stays


def test_drawn_deals_are_those_that_the_document_describes() -> None:
    """Check against an independent implementation of the steps in docs/deals.md."""
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
        structs.replace(WORDS, computer="2" * 64),
        structs.replace(WORDS, people=("alpha betb", WORDS.people[1])),
        structs.replace(WORDS, people=(WORDS.people[0], "gamma 西北")),
        structs.replace(WORDS, people=WORDS.people[::-1]),
        structs.replace(WORDS, beacon="9f3d"),
        structs.replace(WORDS, beacon=""),
    ],
)
def test_every_contribution_changes_every_deal_and_every_salt(other: DrawnWords) -> None:
    pairs = list(zip(drawn(), drawn(other), strict=True))
    assert [flat(one[0]) != flat(two[0]) and one[1] != two[1] for one, two in pairs] == [True] * 3


@pytest.mark.parametrize("changed", [{"event": "cup-2"}, {"number": 2}, {"previous": "f" * 64}, {"deals": 4}])
def test_another_announcement_gives_other_deals_for_the_same_words(changed: dict[str, Any]) -> None:
    other = drawn_deals(announced(**changed), WORDS)
    assert [flat(one[0]) == flat(two[0]) for one, two in zip(drawn(), other, strict=False)] == [False] * 3


def test_all_deals_and_all_salts_of_a_draw_are_different() -> None:
    assert len({tuple(flat(deal)) for deal, _ in drawn()}) == len({salt for _, salt in drawn()}) == 3


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (structs.replace(WORDS, people=("alpha betta", WORDS.people[1])), "words_differ"),
        (structs.replace(WORDS, people=WORDS.people[:1]), "words_differ"),
        (structs.replace(WORDS, people=WORDS.people[::-1]), "words_differ"),
        (structs.replace(WORDS, computer="2" * 64), "words_differ"),
        (structs.replace(WORDS, beacon=""), "beacon_missing"),
    ],
)
def test_words_changed_after_the_announcement_are_refused(words: DrawnWords, code: str) -> None:
    with pytest.raises(RuleError) as refused:
        drawn_deals(announced(), words)
    assert refused.value.code == code


def test_a_refusal_names_the_person_and_never_the_words() -> None:
    with pytest.raises(RuleError) as refused:
        drawn_deals(announced(), structs.replace(WORDS, people=("a secret", WORDS.people[1])))
    assert str(refused.value.text) == "these are not the words that P0 committed to"


@given(st.text(max_size=30))
def test_spacing_and_line_ends_do_not_change_the_hash_of_words(words: str) -> None:
    assert words_hash(f"  {normal_words(words)}\r\n") == words_hash(words)


def test_new_sets_are_whole_and_need_the_second_secret() -> None:
    made = drawn_sets(announced(), structs.replace(WORDS, computer=SETS_SECRET))
    assert [is_whole_registry(made[number]) for number in (4, 9)] == [True, True]
    assert made[4] != made[9]
    with pytest.raises(RuleError):
        drawn_sets(announced(), WORDS)
