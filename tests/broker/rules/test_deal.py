"""Deals and sets of 136 tiles, none lost or doubled, and the hash of their order."""

import hashlib
from random import Random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import SEATS, Seat
from broker.rules import (
    FULL_SET,
    KINDS,
    RED,
    Deal,
    RuleError,
    SerialTray,
    form_hash,
    in_rows,
    new_deal,
    new_set,
    seat_wind,
    serial_order,
)
from broker.rules.deal import RED_SET, is_full_set

SEED = st.integers(0, 2**32)


def mixed(seed: int) -> Deal:
    return new_deal(1, "east", "south", Random(seed))


def registry(seed: int) -> dict[int, str]:
    """Return a set, as the face of each serial."""
    faces = list(FULL_SET)
    Random(seed).shuffle(faces)
    return dict(enumerate(faces, 1))


def in_turn(start: int = 1) -> dict[Seat, SerialTray]:
    """Return the 136 serials in order, from `start` on."""
    serials = [(serial + start - 2) % 136 + 1 for serial in range(1, 137)]
    return {seat: in_rows(serials[at * 34 : at * 34 + 34]) for at, seat in enumerate(SEATS)}


def flat(order: dict[Seat, SerialTray]) -> list[int]:
    return [serial for seat in SEATS for row in order[seat] for serial in row]


def test_a_set_has_four_tiles_of_each_of_34_faces() -> None:
    assert (len(KINDS), len(set(KINDS)), len(FULL_SET)) == (34, 34, 136)
    assert {FULL_SET.count(face) for face in KINDS} == {4}


@given(SEED)
def test_shuffling_loses_no_tile(seed: int) -> None:
    deal = mixed(seed)
    assert {len(tray) for tray in deal.faces.values()} == {34}
    assert sorted(face for seat in SEATS for face in deal.faces[seat]) == sorted(FULL_SET)


@given(SEED)
def test_a_new_set_gives_each_serial_a_face_and_each_face_four_serials(seed: int) -> None:
    made = new_set(Random(seed))
    assert list(made) == list(range(1, 137))
    assert sorted(made.values()) == sorted(FULL_SET)


def test_a_new_deal_keeps_the_planned_number_wind_and_dealer() -> None:
    deal = new_deal(7, "north", "west", Random(1))
    assert (deal.number, deal.prevalent_wind, deal.dealer) == (7, "north", "west")


@given(SEED, SEED)
def test_a_serial_order_has_the_faces_of_its_deal(of_deal: int, of_set: int) -> None:
    deal, faces = mixed(of_deal), registry(of_set)
    order = serial_order(deal, faces)
    assert sorted(flat(order)) == list(range(1, 137))
    assert {seat: tuple(faces[s] for row in order[seat] for s in row) for seat in SEATS} == dict(deal.faces)


@given(SEED)
def test_the_serial_order_of_a_deal_is_reproducible(seed: int) -> None:
    assert serial_order(mixed(seed), registry(seed)) == serial_order(mixed(seed), registry(seed))


def test_serials_do_not_reveal_their_tray() -> None:
    laid = [flat(serial_order(mixed(seed), registry(1))) for seed in range(200)]
    means = [mean(serial for order in laid for serial in order[at : at + 34]) for at in range(0, 136, 34)]
    # With 6800 serials per tray, the mean is off 68.5 by 0.4 on average. Lowest first, it would be 37, 58, 79 and 100.
    assert [abs(one - 68.5) < 2 for one in means] == [True] * 4


def test_the_order_of_equal_tiles_differs_between_deals() -> None:
    faces = registry(1)
    pair = [serial for serial in faces if faces[serial] == "1m"][:2]
    laid = [flat(serial_order(mixed(seed), faces)) for seed in range(200)]
    first = sum(order.index(pair[0]) < order.index(pair[1]) for order in laid)
    assert 70 < first < 130


def test_the_rows_of_a_tray_are_the_hand_and_two_rows_of_wall() -> None:
    assert in_rows(range(1, 35)) == (tuple(range(1, 14)), tuple(range(14, 25)), tuple(range(25, 35)))


def test_the_hash_of_a_known_order_is_pinned() -> None:
    # Plays of a deal are compared by this value across devices and releases: it must never change.
    assert form_hash(in_turn()) == "722a7960920d6f00cf0eec448940ee579d0ea0e648b2861a9764bc7bda07d476"


@given(st.permutations(range(1, 137)), st.integers(0, 135), st.integers(0, 135))
def test_two_orders_have_the_same_hash_exactly_if_they_are_equal(serials: list[int], one: int, other: int) -> None:
    changed = list(serials)
    changed[one], changed[other] = changed[other], changed[one]
    first = {seat: in_rows(serials[at * 34 : at * 34 + 34]) for at, seat in enumerate(SEATS)}
    second = {seat: in_rows(changed[at * 34 : at * 34 + 34]) for at, seat in enumerate(SEATS)}
    assert (form_hash(first) == form_hash(second)) == (one == other)


def test_the_hash_depends_on_which_seat_has_which_tray() -> None:
    order = in_turn()
    assert form_hash({**order, "east": order["south"], "south": order["east"]}) != form_hash(order)


def test_the_hash_does_not_depend_on_the_order_in_which_seats_are_listed() -> None:
    order = in_turn()
    assert form_hash({seat: order[seat] for seat in reversed(SEATS)}) == form_hash(order)


def test_the_hash_depends_on_where_a_row_ends() -> None:
    order = in_turn()
    hand, far, near = order["east"]
    assert form_hash({**order, "east": (hand + far[:1], far[1:], near)}) != form_hash(order)


def test_seat_winds_are_counted_from_the_dealer_who_is_east() -> None:
    assert {dealer: [seat_wind(seat, dealer) for seat in SEATS] for dealer in SEATS} == {
        "east": ["east", "south", "west", "north"],
        "south": ["north", "east", "south", "west"],
        "west": ["west", "north", "east", "south"],
        "north": ["south", "west", "north", "east"],
    }


def trays(faces: list[str]) -> dict[Seat, tuple[str, ...]]:
    return {seat: tuple(faces[at * 34 : at * 34 + 34]) for at, seat in enumerate(SEATS)}


@pytest.mark.parametrize(
    "faces",
    [
        {},
        dict.fromkeys(SEATS, ()),
        trays(list(FULL_SET[:-1])),
        trays([*FULL_SET[:-1], "1m"]),
        trays([*FULL_SET[:-1], "8z"]),
        trays([*FULL_SET[:-1], "0m"]),
        {seat: tray for seat, tray in trays(list(FULL_SET)).items() if seat != "north"},
        {**trays(list(FULL_SET)), "east": FULL_SET[:33], "south": FULL_SET[33:68]},
    ],
)
def test_a_deal_must_be_four_trays_of_a_whole_set(faces: dict[Seat, tuple[str, ...]]) -> None:
    with pytest.raises(RuleError) as refused:
        Deal(3, "east", "east", faces)
    assert refused.value.code == "not_a_deal"
    assert refused.value.text.startswith("deal 3: ")


@pytest.mark.parametrize(
    "faces",
    [
        {},
        dict(enumerate(FULL_SET)),
        dict(enumerate(FULL_SET[:-1], 1)),
        dict(enumerate([*FULL_SET[:-1], "1m"], 1)),
        dict(enumerate([*FULL_SET, "1m"], 1)),
    ],
    ids=["none", "from 0", "one missing", "five of a face", "137"],
)
def test_a_registry_that_is_not_a_whole_set_is_refused(faces: dict[int, str]) -> None:
    with pytest.raises(RuleError) as refused:
        serial_order(mixed(1), faces)
    assert refused.value.code == "not_a_set"


def test_a_full_set_is_recognised_in_any_order() -> None:
    assert is_full_set(FULL_SET[::-1])
    assert not is_full_set(FULL_SET[1:])
    assert not is_full_set([*FULL_SET, "1m"])


def test_the_hash_of_a_form_is_that_of_its_documented_line() -> None:
    """The bytes are documented in docs/restoring.md."""
    order = {seat: in_rows([*range(1 + 34 * at, 35 + 34 * at)]) for at, seat in enumerate(SEATS)}
    east = "east:" + ",".join(map(str, range(1, 14))) + "/" + ",".join(map(str, range(14, 25)))
    line = ";".join(
        f"{seat}:" + "/".join(",".join(str(serial) for serial in row) for row in order[seat])
        for seat in ("east", "south", "west", "north")
    )
    assert line.startswith(east + "/25,")
    assert form_hash(order) == hashlib.sha256(line.encode("ascii")).hexdigest()


def test_a_deal_with_red_fives_needs_a_set_with_red_fives() -> None:
    deal = new_deal(1, "east", "east", Random(1), red=True)
    faces = [face for seat in SEATS for face in deal.faces[seat]]
    assert sorted(faces) == sorted(RED_SET)
    registry = new_set(Random(2), red=True)
    laid = serial_order(deal, registry)
    assert [registry[serial] for seat in SEATS for row in laid[seat] for serial in row] == faces
    with pytest.raises(RuleError) as refused:
        serial_order(deal, new_set(Random(2)))
    assert refused.value.code == "no_red_fives"


def test_red_fives_of_a_set_serve_as_fives_in_a_deal_without_them() -> None:
    deal, registry = new_deal(1, "east", "east", Random(1)), new_set(Random(2), red=True)
    laid = serial_order(deal, registry)
    laid_faces = [RED.get(registry[serial], registry[serial]) for seat in SEATS for row in laid[seat] for serial in row]
    assert laid_faces == [face for seat in SEATS for face in deal.faces[seat]]


@pytest.mark.parametrize("change", [("0m", "5m"), ("5m", "0m"), ("0p", "0s"), ("1m", "0m")])
def test_a_set_has_one_red_five_of_each_suit_or_none(change: tuple[str, str]) -> None:
    faces = [*RED_SET]
    faces[faces.index(change[0])] = change[1]
    assert not is_full_set(faces)
