"""Which marks count: sure ones, each serial once."""

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from vision.finder import DetectedTile, Detections
from vision.geometry import Picture, Quad, rectangle
from vision.marks import TileMark, read
from vision.marks.digits import BLANK, FACE, LABEL, NOTHING, NUMBER, DigitLook
from vision.marks.label import DismissTiles
from vision.marks.read import (
    SURE,
    FirstLooks,
    drop_duplicate_tiles,
    is_sure,
    stand_mark_up,
    withhold_if_few_read,
    withhold_print_on_paper,
    withhold_prints,
    withhold_repeated_serials,
    withhold_strays,
    withhold_unsure,
)


def mark(serial: int | None, *, named: str | None = None, confidence: float = 1.0) -> TileMark:
    return TileMark(serial, named, turned=False, confidence=confidence, spot=np.array([0.0, 0.1]))


def test_unsure_marks_are_withheld() -> None:
    marks = withhold_unsure((mark(5, confidence=SURE - 1e-6), mark(6, confidence=SURE), None))
    assert [one.serial if one else None for one in marks] == [None, 6, None]


def test_a_mark_with_a_serial_is_sure_from_the_threshold_on() -> None:
    either = TileMark(None, None, None, SURE, np.zeros(2), either=(60, 90))
    assert is_sure(mark(5, confidence=SURE))
    assert is_sure(either)
    assert not is_sure(mark(5, confidence=SURE - 1e-6))
    assert not is_sure(mark(None))
    assert not is_sure(None)


def seen_at(*lefts: float) -> Detections:
    """Return tiles 50 pixels wide with their middles at these distances to the right."""
    tiles = [
        DetectedTile(rectangle(np.array([left, 100.0]), 50.0, 68.0), face_up=False, likelihood=1.0) for left in lefts
    ]
    return Detections(tuple(tiles), np.zeros((1, 1), np.uint8), 8.0)


@pytest.mark.parametrize(("apart", "kept"), [(0.0, 1), (29.9, 1), (30.0, 2), (60.0, 2)])
def test_tiles_with_one_serial_within_six_tenths_of_a_width_are_one(apart: float, kept: int) -> None:
    found, marks = drop_duplicate_tiles(seen_at(100.0, 100.0 + apart), (mark(5, confidence=0.96), mark(5)))
    assert (len(found.tiles), len(marks)) == (kept, kept)
    assert marks[-1] is not None
    assert marks[-1].confidence == 1.0  # the surer one stays


def test_overlapping_tiles_with_different_or_no_serials_stay_in_order() -> None:
    marks = (mark(5, confidence=0.5), mark(6), mark(None), None, mark(None))
    found = seen_at(100.0, 101.0, 102.0, 103.0, 104.0)
    assert drop_duplicate_tiles(found, marks)[1] == marks


def test_only_strays_lose_their_serials() -> None:
    marks = withhold_strays((mark(5), mark(6), None), frozenset({1, 2}))
    assert [one and one.serial for one in marks] == [5, None, None]


def test_a_repeated_serial_is_withheld_and_named_as_a_clash() -> None:
    marks = withhold_repeated_serials((mark(5), mark(6), mark(5)), [False] * 3)
    assert [(one.serial, one.clash) for one in marks if one] == [(None, 5), (6, None), (None, 5)]


@pytest.mark.parametrize("named", ["C", "03"])
def test_one_serial_in_two_sets_is_two_tiles(named: str) -> None:
    marks = withhold_repeated_serials((mark(5, named=named), mark(5, named="K")), [False, False])
    assert [one.serial for one in marks if one] == [5, 5]


def test_without_a_set_name_a_back_of_another_colour_is_of_another_set() -> None:
    marks = withhold_repeated_serials((mark(5), mark(5)), [False, True])
    assert [one.serial for one in marks if one] == [5, 5]


def test_unread_tiles_do_not_clash() -> None:
    marks = withhold_repeated_serials((mark(None), mark(None), None, None), [False] * 4)
    assert [one.clash for one in marks if one] == [None, None]


@pytest.mark.parametrize(("repeated", "told"), [(4, [100]), (5, [])])
def test_many_repeated_serials_are_print_and_none_counts(repeated: int, told: list[int]) -> None:
    twice = [replace(mark(None), clash=serial) for serial in range(1, repeated + 1)] * 2
    marks = withhold_prints((*twice, mark(100), mark(None), None))
    assert [one.serial for one in marks if one is not None and one.serial] == told
    assert [one and one.clash for one in marks] == [one and one.clash for one in (*twice, mark(100), mark(None), None)]


@pytest.mark.parametrize(
    ("sides", "told"),
    [([4], [1]), ([3], []), ([4, 3], [1]), ([4, 4, 3], [1, 2, 3]), ([4, 3, 3], [1]), ([], [])],
)
def test_numbers_beside_trays_without_edges_are_print_unless_most_have_edges(
    monkeypatch: pytest.MonkeyPatch, sides: list[int], told: list[int]
) -> None:
    """The numbers lie beside trays, with tiles that are not read; 100 lies in a tray."""
    monkeypatch.setattr(read, "sides_with_edges", lambda _: np.array(sides))
    beside = [replace(mark(number), pitch=0.2) for number in range(1, len(sides) + 1)]
    marks = (*beside, mark(None), None, replace(mark(100), pitch=0.2))
    found = seen_at(*(100.0 * number for number in range(len(marks))))
    left = withhold_print_on_paper(np.zeros((200, 200, 3), np.uint8), found, marks, frozenset(range(len(marks) - 1)))
    assert [one.serial for one in left if one and one.serial] == [*told, 100]


@pytest.mark.parametrize(("turned", "serial", "spot"), [(False, 60, 0.1), (True, 90, -0.1)])
def test_a_number_that_reads_both_ways_up_gets_its_serial_from_the_way_up(
    *, turned: bool, serial: int, spot: float
) -> None:
    torn = TileMark(None, None, None, 1.0, np.array([0.0, 0.1]), either=(60, 90), rivals=(50, 61, 91))
    told = stand_mark_up(torn, turned=turned)
    assert (told.serial, told.turned, told.either, told.spot[1]) == (serial, turned, None, spot)
    assert told.rivals == (50, serial + 1)


@pytest.mark.parametrize(("sure", "asked"), [(1, True), (2, False)])
def test_labels_are_searched_if_less_than_a_fifth_are_numbers(
    monkeypatch: pytest.MonkeyPatch, sure: int, *, asked: bool
) -> None:
    questions: list[int] = []

    def note(_: Picture, quads: list[Quad], *, askew: bool) -> bool:
        questions.append(len(quads) + askew)
        return False

    kind = np.zeros(5, dtype=np.float32)
    told = [SimpleNamespace(mark=mark(at + 1 if at < sure else None), kind=kind) for at in range(9)]
    monkeypatch.setattr(read, "is_labelled", lambda *_: False)
    monkeypatch.setattr(read, "_looks", lambda *_: dict(enumerate(told)))
    monkeypatch.setattr(read, "is_labelled_closely", note)
    quads = [rectangle(np.array([50.0, 50.0]), 10.0, 10.0)] * 9
    read._read(np.zeros((9, 9, 3), dtype=np.uint8), quads)
    assert questions == ([9] if asked else [])


def printed(serial: int | None) -> TileMark:
    return TileMark(serial, None, turned=False, confidence=0.99, spot=np.zeros(2), pitch=0.2)


UNREAD = replace(printed(None), confidence=0.4)


@pytest.mark.parametrize(
    ("read_ones", "backs", "confidence", "kept"),
    [
        (6, 34, 1.0, 0),
        (7, 34, 0.994, 0),
        (7, 34, 0.995, 7),
        (11, 34, 0.994, 0),
        (12, 34, 0.994, 12),
        (1, 10, 1.0, 0),
        (2, 10, 1.0, 2),
        (1, 9, 0.95, 1),
        (34, 34, 0.95, 34),
        (0, 34, 1.0, 0),
    ],
)
def test_if_few_numbers_are_read_only_the_surest_count_and_of_hardly_any_none(
    read_ones: int, backs: int, confidence: float, kept: int
) -> None:
    """The limits are a fifth and a third of the backs."""
    sure = [replace(printed(serial), confidence=confidence) for serial in range(1, read_ones + 1)]
    marks = (*sure, *[UNREAD] * (backs - read_ones), None, None)
    assert sum(one is not None and one.serial is not None for one in withhold_if_few_read(marks)) == kept


@pytest.mark.parametrize(
    ("doubted", "made_out", "confidence", "counts"),
    [(8, 0.5, 0.95, True), (9, 0.5, 0.974, False), (9, 0.5, 0.975, True), (9, 0.49, 0.95, True)],
)
def test_if_less_than_half_of_the_legible_marks_are_sure_numbers_must_be_surer(
    doubted: int, made_out: float, confidence: float, *, counts: bool
) -> None:
    sure = [replace(printed(at), confidence=confidence) for at in range(1, 9)]
    marks = (*sure, *[replace(printed(None), confidence=made_out)] * doubted)
    counted = [mark for mark in withhold_if_few_read(marks) if mark is not None and mark.serial is not None]
    assert len(counted) == (8 if counts else 0)


def test_an_undecided_number_counts_as_read_and_is_withheld_like_the_others() -> None:
    either = TileMark(None, None, None, 0.99, np.zeros(2), either=(60, 90), pitch=0.2)
    assert withhold_if_few_read((either, *map(printed, range(1, 5)), *[UNREAD] * 5))[0] == either
    withheld = withhold_if_few_read((either, *[UNREAD] * 9))[0]
    assert withheld is not None
    assert withheld.either is None


def test_labels_count_however_few_are_read() -> None:
    marks = (mark(5, named="08"), *[printed(None)] * 33)
    assert withhold_if_few_read(marks)[0] is marks[0]


def seen_as(shares: dict[int, float], told: TileMark | None = None) -> SimpleNamespace:
    """Return a look at a back with these likelihoods of kinds, and its number."""
    kind = np.zeros(5, dtype=np.float32)
    kind[list(shares)] = list(shares.values())
    return SimpleNamespace(mark=told or mark(None, confidence=0.0), kind=kind)


NINE = [rectangle(np.array([50.0 * at, 50.0]), 30.0, 40.0) for at in range(9)]
PLAIN = np.zeros((9, 9, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    ("blank", "label", "asked"),
    [(0, 0, (9, False)), (4, 0, (9, False)), (5, 0, (9, True)), (0, 2, (2, False)), (5, 1, (1, True))],
)
def test_labels_are_searched_where_the_network_sees_some_and_askew_if_most_backs_seem_blank(
    monkeypatch: pytest.MonkeyPatch, blank: int, label: int, asked: tuple[int, bool]
) -> None:
    kinds = [*[seen_as({LABEL: 0.51})] * label, *[seen_as({BLANK: 0.51})] * blank, *[seen_as({BLANK: 0.49})] * 9]
    questions: list[tuple[int, bool]] = []
    monkeypatch.setattr(read, "is_labelled", lambda *_: False)
    monkeypatch.setattr(read, "_looks", lambda *_: dict(enumerate(kinds[:9])))
    monkeypatch.setattr(read, "is_labelled_closely", lambda _, quads, *, askew: questions.append((len(quads), askew)))
    read._read(PLAIN, NINE)
    assert questions == [asked]


@pytest.mark.parametrize("numbers", [1, 2, 3])
def test_labels_or_numbers_count_whichever_are_read_more_often(monkeypatch: pytest.MonkeyPatch, numbers: int) -> None:
    looks = [seen_as({NUMBER: 0.9}, mark(at + 1, confidence=SURE)) for at in range(numbers)]
    tiles = [NINE[at % 9] for at in range(20)]
    monkeypatch.setattr(read, "is_labelled", lambda *_: False)
    monkeypatch.setattr(read, "is_labelled_closely", lambda *_, **__: True)
    monkeypatch.setattr(read, "_looks", lambda *_: dict(enumerate([*looks, *[seen_as({})] * (20 - numbers)])))
    labels = [mark(101, named="08"), mark(102, named="08"), *[mark(None)] * 18]
    monkeypatch.setattr(read, "read_labels", lambda *_: labels)
    assert (read._read(PLAIN, tiles)[0] == labels) == (numbers < 2)


@pytest.mark.parametrize(
    ("shares", "dismissed"),
    [({FACE: 0.81}, True), ({NOTHING: 0.4, NUMBER: 0.41}, True), ({NOTHING: 0.4, FACE: 0.39, LABEL: 0.21}, False)],
)
def test_labels_are_not_searched_on_what_is_certainly_something_else(
    monkeypatch: pytest.MonkeyPatch, shares: dict[int, float], *, dismissed: bool
) -> None:
    told: list[set[int]] = []

    def ask(_: Picture, __: list[Quad], dismiss: DismissTiles) -> list[TileMark]:
        told.append(dismiss([3, 4]))
        return []

    monkeypatch.setattr(read, "is_labelled", lambda *_: True)
    monkeypatch.setattr(read, "read_labels", ask)
    monkeypatch.setattr(read, "_looks", lambda *_: {3: seen_as(shares), 4: seen_as({LABEL: 1.0})})
    read._read(PLAIN, NINE)
    assert told == [{3} if dismissed else set()]


def test_six_unrecognised_tiles_are_tried_on_their_side(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def look(crops: Picture) -> list[SimpleNamespace]:
        asked.append(len(crops))
        return [seen_as({NUMBER: 1.0}, mark(at + 1, confidence=SURE - at % 2 * 1e-3)) for at in range(len(crops))]

    monkeypatch.setattr(read, "look_at_crops_closely", look)
    quads = list(NINE)
    before = [mark(99, confidence=0.31), *[mark(None, confidence=0.29) for _ in quads[1:]]]
    no_tile = {at: cast("DigitLook", seen_as({NOTHING: 0.51 if at == 2 else 0.49})) for at in range(len(quads))}
    marks, looks = list(before), dict(no_tile)
    read._try_on_their_side(PLAIN, quads, marks, looks)
    sure = [at for at, look in looks.items() if look is not no_tile[at]]
    assert (asked, sure) == ([6], [1, 4, 6])  # every second one that is tried: 1, 3, 4, 5, 6, 7
    for at, (quad, told) in enumerate(zip(quads, marks, strict=True)):
        assert quad.tolist() == (np.roll(NINE[at], 1, axis=0) if at in sure else NINE[at]).tolist()
        assert told is before[at] or (at in sure and told.serial == [1, 3, 4, 5, 6, 7].index(at) + 1)


def test_a_face_on_its_side_is_accepted_if_the_finder_is_sure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of tiles that seem to be nothing, 2 shows too little of a face, 3 shows some mark, and 4 may not be a tile."""
    turned = [seen_as({FACE: share, NOTHING: 1 - share}) for share in (0.91, 0.91, 0.89)]
    monkeypatch.setattr(read, "look_at_crops", lambda crops: turned[: len(crops)])
    tiles = tuple(
        DetectedTile(quad, face_up=False, likelihood=0.94 if at == 4 else 0.96) for at, quad in enumerate(NINE)
    )
    quads = list(NINE)
    looks = {at: cast("DigitLook", seen_as({NOTHING: 0.49 if at == 3 else 0.51})) for at in range(5)}
    read._accept_faces_on_their_side(PLAIN, Detections(tiles, PLAIN[:, :, 0], 8.0), quads, list(looks), looks)
    assert [at for at, look in looks.items() if look.kind[FACE] > 0] == [0, 1]
    assert [quad.tolist() for quad in quads] == [
        (np.roll(quad, 1, axis=0) if at < 2 else quad).tolist() for at, quad in enumerate(NINE)
    ]


def test_unread_tiles_are_read_again_like_the_pictures_other_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As labels if any mark names its set by a number. A face has no mark unless it is surely read."""
    looks = [
        seen_as({FACE: share}, mark(serial, confidence=0.99))
        for share, serial in ((0.49, None), (0.51, None), (0.51, 7))
    ]
    monkeypatch.setattr(read, "look_at_crops_closely", lambda *_: looks)
    labels = [mark(serial, named="08") for serial in (None, 31, 32)]
    told: list[int] = []

    def labels_again(*_: object, known_labels: list[TileMark]) -> list[TileMark]:
        told.append(len(known_labels))
        return labels

    monkeypatch.setattr(read, "read_labels", labels_again)
    first = FirstLooks(NINE[:3], np.zeros((3, 112, 80, 3), dtype=np.uint8), [])
    for named, again in (
        ("C", [looks[0].mark, None, looks[2].mark]),
        ("08", labels),
        (None, [looks[0].mark, None, looks[2].mark]),
    ):
        there = mark(5, named=named)
        assert read.read_again(PLAIN, first, (None, mark(None), there)) == again
    assert told == [1]  # the picture's labels, without its other marks
