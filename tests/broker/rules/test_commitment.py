"""A commitment hides every deal until it is revealed, and then admits that deal and no other."""

import hashlib
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import SEATS
from broker.rules import FULL_SET, Deal, RuleError, new_deal
from broker.rules.commitment import Commitment, commit_deals, deal_text, root_text

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


def test_the_texts_that_are_hashed_are_those_of_the_documents() -> None:
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
def test_what_was_committed_to_is_admitted(deal: Deal, salt: str) -> None:
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
def test_neither_wind_dealer_nor_seats_can_be_changed(deal: Deal, salt: str, data: st.DataObject) -> None:
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
def test_a_deal_cannot_take_another_salt_number_or_event(deal: Deal, salt: str, other: str) -> None:
    commitment = commit_deals("cup", [(deal, salt)])
    if other != salt:
        assert code(commitment, "cup", deal, other) == "deal_differs"
    assert code(commitment, "cap", deal, salt) == "other_event"
    assert code(commitment, "cup", replace(deal, number=deal.number % 9999 + 1), salt) == "deal_not_committed"


@given(deals(), deals(), SALTS, SALTS)
def test_two_deals_cannot_change_numbers(one: Deal, other: Deal, salt: str, other_salt: str) -> None:
    first, second = replace(one, number=1), replace(other, number=2)
    commitment = commit_deals("cup", [(first, salt), (second, other_salt)])
    if one.faces != other.faces:
        assert code(commitment, "cup", replace(second, number=1), other_salt) == "deal_differs"


@given(deals(), SALTS, SALTS)
def test_with_other_salts_the_same_deals_have_nothing_in_common(deal: Deal, salt: str, other: str) -> None:
    one, two = commit_deals("cup", [(deal, salt)]), commit_deals("cup", [(deal, other)])
    assert (one.root == two.root) == (one.hashes == two.hashes) == (salt == other)


@given(st.dictionaries(st.integers(1, 9999), st.sampled_from(["a" * 64, "b" * 64]), min_size=1, max_size=5), st.data())
def test_the_root_changes_with_any_hash_any_number_and_the_event(hashes: dict[int, str], data: st.DataObject) -> None:
    root = Commitment("cup", hashes).root
    at = data.draw(st.sampled_from(sorted(hashes)))
    fewer = {number: one for number, one in hashes.items() if number != at}
    assert root not in {
        Commitment("cap", hashes).root,
        Commitment("cup", fewer).root,
        Commitment("cup", {**hashes, at: "c" * 64}).root,
        Commitment("cup", {**fewer, 10_000: hashes[at]}).root,
    }


def test_the_root_does_not_depend_on_the_order_of_making() -> None:
    deals = [(new_deal(number, "east", "east", Random(number)), GOLDEN_SALT) for number in (3, 1, 2)]
    assert commit_deals("cup", deals).root == commit_deals("cup", sorted(deals, key=lambda one: one[0].number)).root


@pytest.mark.parametrize("event", ["", "Cup", "a b", "a\ndeal 1", "cup\n", "é", "x" * 33, "-a"])
def test_a_name_that_could_blur_the_lines_is_refused(event: str) -> None:
    with pytest.raises(RuleError) as refused:
        deal_text(event, GOLDEN_DEAL, GOLDEN_SALT)
    assert refused.value.code == "bad_event_name"


@pytest.mark.parametrize("salt", ["", "0" * 63, "0" * 65, "A" * 64, "0" * 64 + "\n", "g" * 64])
def test_a_salt_is_64_hexadecimal_digits_and_a_refusal_does_not_tell_it(salt: str) -> None:
    with pytest.raises(RuleError) as refused:
        deal_text("cup", GOLDEN_DEAL, salt)
    assert (refused.value.code, refused.value.text) == ("bad_salt", "a salt is 64 hexadecimal digits")
