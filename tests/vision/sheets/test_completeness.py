"""Whether a set is complete, for any pictures in any order."""

import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from vision.sheets.completeness import Completeness, PictureTiles, SetTile, judge_set

NAMES = st.sampled_from(["03", "04", "C", None])
TILES = st.builds(SetTile, NAMES, st.integers(1, 136))
LOOKS = st.lists(
    st.builds(PictureTiles, st.lists(TILES, max_size=12).map(tuple), st.integers(0, 3), st.integers(0, 2)), max_size=5
)
WHOLE = tuple(SetTile("03", serial) for serial in range(1, 137))


@given(LOOKS, NAMES, st.randoms(use_true_random=False))
def test_the_order_of_pictures_and_tiles_does_not_matter(
    looks: list[PictureTiles], named: str | None, chance: random.Random
) -> None:
    mixed = [replace(look, tiles=tuple(chance.sample(look.tiles, len(look.tiles)))) for look in looks]
    chance.shuffle(mixed)
    assert judge_set(mixed, named) == judge_set(looks, named)


@given(LOOKS, NAMES)
def test_the_same_pictures_twice_give_the_same_result(looks: list[PictureTiles], named: str | None) -> None:
    once, twice = judge_set(looks, named), judge_set([*looks, *looks], named)
    assert replace(twice, unread=0, face_up=0) == replace(once, unread=0, face_up=0)


@given(LOOKS, st.sampled_from(["03", "04", "C"]), LOOKS)
def test_another_picture_never_adds_a_missing_tile_or_removes_a_fault(
    looks: list[PictureTiles], named: str, further: list[PictureTiles]
) -> None:
    before, after = judge_set(looks, named), judge_set([*looks, *further], named)
    assert set(after.missing) <= set(before.missing)
    assert set(after.double) >= set(before.double)
    assert set(after.foreign) >= set(before.foreign)


@given(LOOKS, st.sampled_from(["03", "04", "C"]))
def test_each_tile_is_missing_or_was_seen_and_foreign_tiles_are_listed(looks: list[PictureTiles], named: str) -> None:
    found = judge_set(looks, named)
    tiles = [tile for look in looks for tile in look.tiles]
    seen = {tile.serial for tile in tiles if tile.set == named}
    assert set(found.missing) == set(range(1, 137)) - seen
    assert set(found.foreign) == {tile for tile in tiles if tile.set not in {named, None}}
    assert found.unread == sum(look.unread for look in looks) + sum(tile.set is None for tile in tiles)


@given(st.sets(st.integers(1, 136)), st.sets(st.integers(1, 136)))
def test_a_set_is_complete_if_all_pictures_together_show_it(first: set[int], second: set[int]) -> None:
    looks = [PictureTiles(tuple(SetTile("03", serial) for serial in shown)) for shown in (first, second)]
    assert judge_set(looks, "03").complete == (first | second == set(range(1, 137)))


def test_a_serial_is_double_only_if_one_picture_shows_it_twice() -> None:
    assert judge_set([PictureTiles(WHOLE), PictureTiles(WHOLE[:50])], "03").complete
    found = judge_set([PictureTiles((*WHOLE, WHOLE[16]))], "03")
    assert (found.double, found.missing, found.complete) == ((17,), (), False)


def test_a_foreign_tile_makes_a_whole_set_incomplete() -> None:
    found = judge_set([PictureTiles((*WHOLE, SetTile("04", 17)))], "03")
    assert (found.foreign, found.missing, found.complete) == ((SetTile("04", 17),), (), False)


def test_a_tile_without_a_set_name_does_not_count_in_a_named_set() -> None:
    found = judge_set([PictureTiles((*WHOLE[1:], SetTile(None, 1)))], "03")
    assert (found.missing, found.unread) == ((1,), 1)


def test_by_default_the_set_is_the_one_that_most_tiles_name() -> None:
    assert judge_set([PictureTiles((*WHOLE, SetTile("04", 17)))]) == judge_set(
        [PictureTiles((*WHOLE, SetTile("04", 17)))], "03"
    )


def test_a_set_without_a_name_is_judged_by_its_numbers() -> None:
    found = judge_set([PictureTiles(tuple(SetTile(None, serial) for serial in range(2, 137)))])
    assert found == Completeness(None, (1,), (), (), 0, 0)


def test_without_pictures_all_tiles_are_missing() -> None:
    assert judge_set([]) == Completeness(None, (*range(1, 137),), (), (), 0, 0)
