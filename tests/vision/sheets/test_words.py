"""The sheets' words: the same in each language, broken where they may be, and all of them fit."""

import re

import pytest

from tests.vision.sheets.printed import labels, pages, read, render
from vision.sheets.check_page import SIDE
from vision.sheets.faces import FACES
from vision.sheets.formats import formats
from vision.sheets.lettering import CHINESE, LATIN, runs, width, wrapped
from vision.sheets.sheet import labels_pdf
from vision.sheets.words import LANGUAGES, catalogue, face_name


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_the_same_words_with_the_same_blanks(language: str) -> None:
    def blanks(words: dict[str, str | list[str]]) -> dict[str, list[list[str]]]:
        lists = {key: value if isinstance(value, list) else [value] for key, value in words.items()}
        return {key: [sorted(re.findall(r"{\w+}", text)) for text in value] for key, value in lists.items()}

    assert blanks(catalogue()[language]) == blanks(catalogue()["en"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_honour_and_each_suit_has_a_name_of_its_own(language: str) -> None:
    assert len({face_name(catalogue()[language], face) for face in FACES}) == 3 + 7


@pytest.mark.parametrize("language", LANGUAGES)
def test_lines_fit_and_lose_nothing_but_the_spaces_at_their_ends(language: str) -> None:
    for step in catalogue()[language]["steps"]:
        lines = wrapped(step, 60, 3.4)
        assert [line for line in lines if width(line, 3.4) > 60] == []
        assert "".join(lines).replace(" ", "") == step.replace(" ", "")
        assert [line for line in lines if line[0] in " ，。：；）”;:%»\u00a0"] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["avery-l4730", "online-ol1930", "plain-letter"])
def test_the_steps_stay_inside_the_frame(language: str, name: str) -> None:
    picture = render(labels_pdf(labels(name, language=language, number="none")), 0, 100)
    sheet, dots = formats()[name], 100 / 25.4
    left, top = ((side - SIDE) / 2 for side in sheet.page)
    foot = top - 8 + SIDE
    below = picture[round((foot - 1.5) * dots) : round((foot - 0.5) * dots), round((left + 8) * dots) :]
    assert (below[:, : round((SIDE - 9) * dots)] < 200).sum() == 0


def test_chinese_letters_are_written_in_a_chinese_font() -> None:
    assert list(runs("第3套", bold=True)) == [(CHINESE, "第"), (LATIN, "3"), (CHINESE, "套")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_labels_are_the_same_in_each_language(language: str) -> None:
    pdf = labels_pdf(labels(language=language))
    assert (pages(pdf), len(read(render(pdf, 1)))) == (2, 136)
