"""Sheets of labels, rendered and read back."""

import numpy as np
import pytest

from broker.i18n import Translator, languages
from tests.vision.sheets.printed import PRINTED_FACES, Label, labels, pages, read, render, texts_in
from vision.geometry import Picture
from vision.marks.label_code import MODULE_COUNTS
from vision.sheets.formats import sheet_formats, with_margins
from vision.sheets.label import NUMBER_SIZES, NumberSize, lay_out_label
from vision.sheets.page import CHINESE, LATIN, font_runs, text_width, wrapped_lines
from vision.sheets.registry import FACES
from vision.sheets.sheet import SIDE, LabelOrder, labels_pdf, steps
from vision.sheets.stickers import face_name

DOTS = 300
MM = DOTS / 25.4


def cell_of(wanted: LabelOrder, mark: Label, dots: float) -> tuple[int, int]:
    """Return column and row of the sticker that contains the middle of a label."""
    sheet = wanted.sheet
    right, down = mark.centre / dots * 25.4
    column, row = int((right - sheet.left) // sheet.across), int((down - sheet.top) // sheet.down)
    left, top = sheet.corner_of(column, row)
    assert left < right < left + sheet.width
    assert top < down < top + sheet.height
    return column, row


def faces_drawn(wanted: LabelOrder, pdf: bytes, page: int) -> dict[tuple[int, int], str]:
    """Return the stickers that show a face, by the code written beside the drawing."""
    sheet = wanted.sheet
    cells = [(column, row) for row in range(sheet.rows) for column in range(sheet.columns)]
    boxes = [(*sheet.corner_of(*cell), sheet.width, sheet.height) for cell in cells]
    told = [[word for word in words.split() if word in PRINTED_FACES.values()] for words in texts_in(pdf, page, boxes)]
    return {cell: words[0] for cell, words in zip(cells, told, strict=True) if words}


def step_back(cell: tuple[int, int], labelled: dict[tuple[int, int], int], way: tuple[int, int]) -> tuple[int, int]:
    """Move back over stickers with labels to the one before them."""
    while cell in labelled:
        cell = cell[0] - way[0], cell[1] - way[1]
    return cell


@pytest.mark.parametrize("name", sheet_formats())
def test_each_label_follows_the_drawing_of_its_face(name: str) -> None:
    wanted = labels(name, number="none")
    pdf = labels_pdf(wanted)
    read_back: dict[int, str] = {}
    for page in range(1, pages(pdf)):
        placed = {cell_of(wanted, mark, 200): serial for serial, mark in read(render(pdf, page)).items()}
        guides = faces_drawn(wanted, pdf, page)
        for cell, serial in placed.items():
            before = {step_back(cell, placed, way) for way in ((1, 0), (0, 1))}
            (read_back[serial],) = (guides[guide] for guide in before & set(guides))
    assert read_back == PRINTED_FACES


@pytest.mark.parametrize("modules", MODULE_COUNTS)
@pytest.mark.parametrize("number", NUMBER_SIZES)
def test_each_kind_of_label_is_read(modules: int, number: NumberSize) -> None:
    pdf = labels_pdf(labels(modules=modules, number=number))
    read_back = read(render(pdf, 1))
    assert sorted(read_back) == [*range(1, 137)]
    assert {mark.modules for mark in read_back.values()} == {modules}


def dark(picture: Picture, left: float, top: float, width: float, height: float) -> tuple[float, float, float, float]:
    """Return the bounding box of everything black in a box: left, top, width, height, in millimetres."""
    x, y, across, down = (round(length * MM) for length in (left, top, width, height))
    ys, xs = np.nonzero(picture[y : y + down, x : x + across] < 128)
    ends = xs.min(), ys.min(), xs.max() + 1 - xs.min(), ys.max() + 1 - ys.min()
    return left + ends[0] / MM, top + ends[1] / MM, ends[2] / MM, ends[3] / MM


@pytest.mark.parametrize("scale", [1.0, 0.98])
@pytest.mark.parametrize("name", ["avery-l4730", "online-ol28"])
def test_modules_pitch_and_margins_have_their_size_on_paper(name: str, scale: float) -> None:
    wanted = labels(name, number="none", modules=14, scale=scale)
    sheet = wanted.sheet
    layout = lay_out_label(sheet.width, sheet.height, 14, "none")
    picture = render(labels_pdf(wanted), 1, DOTS)
    cells = [(1, 0), (2, 0), (1, 1)] if name == "avery-l4730" else [(0, 1), (1, 1), (0, 2)]
    boxes = []
    for cell in cells:
        left, top = sheet.corner_of(*cell)
        boxes.append(dark(picture, left * scale, top * scale, sheet.width * scale, sheet.height * scale))
    one, beside, below = boxes
    within = pytest.approx
    assert one[2:] == within((14 * layout.module * scale,) * 2, abs=0.1)
    assert (beside[0] - one[0], beside[1] - one[1]) == within((sheet.across * scale, 0), abs=0.1)
    assert (below[0] - one[0], below[1] - one[1]) == within((0, sheet.down * scale), abs=0.1)
    start = sheet.corner_of(*cells[0])
    assert one[:2] == within([(start[at] + layout.code[at]) * scale for at in (0, 1)], abs=0.1)


def test_changed_margins_move_every_label_by_as_much() -> None:
    usual = labels()
    moved = labels(sheet=with_margins(usual.sheet, 6.0, 12.0, 1.0))
    before, after = (read(render(labels_pdf(one), 1)) for one in (usual, moved))
    ways = [(after[serial].centre - before[serial].centre) / 200 * 25.4 for serial in before]
    assert np.ptp(ways, axis=0) == pytest.approx([0, 0], abs=0.3)
    assert np.mean(ways, axis=0) == pytest.approx([6.0 - 4.75, 12.0 - 13.5], abs=0.1)


@pytest.mark.parametrize("scale", [1.0, 1.01])
def test_the_test_pages_frame_is_100_millimetres_and_its_ruler_four_inches(scale: float) -> None:
    wanted = labels("plain-a4", scale=scale)
    picture = render(labels_pdf(wanted), 0, DOTS)
    middle = picture[:, round(75 * MM) : round(135 * MM)] < 128
    rows = np.flatnonzero(middle.mean(axis=1) > 0.99) / MM
    edges = rows[np.flatnonzero(np.diff(rows, prepend=-9) > 1)]
    assert edges[1] - edges[0] == pytest.approx(100 * scale, abs=0.2)
    ruler = np.flatnonzero(picture[round((edges[2] + 0.1) * MM), round(45 * MM) : round(165 * MM)] < 128) / MM
    assert np.ptp(ruler) == pytest.approx(4 * 25.4 * scale, abs=0.3)


def test_the_same_labels_give_the_same_bytes() -> None:
    assert labels_pdf(labels()) == labels_pdf(labels())


def test_only_lost_labels_are_printed_on_the_rest_of_a_sheet() -> None:
    lost = {serial: PRINTED_FACES[serial] for serial in (17, 93)}
    wanted = labels(faces=lost, start=171)
    read_back = read(render(labels_pdf(wanted), 1))
    assert sorted(read_back) == [17, 93]
    assert {cell_of(wanted, mark, 200)[1] for mark in read_back.values()} == {17}


@pytest.mark.parametrize("language", languages())
def test_each_honour_and_suit_has_its_own_name(language: str) -> None:
    assert len({face_name(Translator(language), face) for face in FACES}) == 3 + 7


@pytest.mark.parametrize("language", languages())
def test_wrapped_lines_fit_and_lose_only_spaces_at_their_ends(language: str) -> None:
    for step in steps(sheet_formats()["plain-a4"], Translator(language), 3):
        lines = wrapped_lines(step, 60, 3.4)
        assert [line for line in lines if text_width(line, 3.4) > 60] == []
        assert "".join(lines).replace(" ", "") == step.replace(" ", "")
        assert [line for line in lines if line[0] in " ，。：；）”;:%»\u00a0"] == []


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("name", ["avery-l4730", "online-ol1930", "plain-letter"])
def test_the_instructions_stay_inside_the_frame(language: str, name: str) -> None:
    picture = render(labels_pdf(labels(name, language=language, number="none")), 0, 100)
    sheet, dots = sheet_formats()[name], 100 / 25.4
    left, top = ((side - SIDE) / 2 for side in sheet.page)
    foot = top - 8 + SIDE
    below = picture[round((foot - 1.5) * dots) : round((foot - 0.5) * dots), round((left + 8) * dots) :]
    assert (below[:, : round((SIDE - 9) * dots)] < 200).sum() == 0


def test_chinese_characters_use_a_chinese_font() -> None:
    assert list(font_runs("第3套", bold=True)) == [(CHINESE, "第"), (LATIN, "3"), (CHINESE, "套")]


@pytest.mark.parametrize("language", languages())
def test_labels_are_the_same_in_all_languages(language: str) -> None:
    pdf = labels_pdf(labels(language=language))
    assert (pages(pdf), len(read(render(pdf, 1)))) == (2, 136)
