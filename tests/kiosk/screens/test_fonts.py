"""Names in any alphabet on the table's screen: complete, shaped, in their own direction, and never as boxes."""

import numpy as np
import pygame
import pytest

from broker.i18n import isolated, languages
from kiosk.screens.fonts import NO_LETTER, Fonts

SHARE = 0.1
LINE = 48
"""Least height of every font's lines, in pixels."""

WHITE = (255, 255, 255)


SOUTH_ASIAN = ("दीपक शर्मा", "শ্রেয়া ঘোষ", "தமிழ்ச்செல்வி", "ක්\u200dරිෂාන් පෙරේරා")


@pytest.fixture(scope="module", autouse=True)
def _fonts() -> None:
    pygame.font.init()


def ink(fonts: Fonts, text: str) -> "np.ndarray[tuple[int, int], np.dtype[np.uint8]]":
    """Return the drawn pixels of a text, column by column."""
    made = fonts.render(text, SHARE, WHITE)
    pixels = np.frombuffer(pygame.image.tobytes(made, "RGBA"), np.uint8).reshape(*reversed(made.get_size()), 4)
    drawn = pixels[..., 3].T
    return drawn[drawn.any(axis=1), :LINE]


def ink_height(fonts: Fonts, text: str) -> int:
    """Return the height of the drawn part of a text."""
    return fonts.render(text, SHARE, WHITE).get_bounding_rect().height


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize(
    "name",
    [
        "محمد صلاح",
        "שרה כהן",
        "สมชาย ใจดี",
        "Գարիկ",
        "გიორგი",
        "Łukasz 王",
        "김철수",
        "Ελένη Жданова",
        "Nguyễn",
        *SOUTH_ASIAN,
    ],
)
def test_a_name_is_written_in_its_own_letters(language: str, name: str) -> None:
    fonts = Fonts(language, 480)
    assert fonts.drawable(name) == name
    boxes = ink(fonts, NO_LETTER * len(name))
    assert ink(fonts, name).shape != boxes.shape or (ink(fonts, name) != boxes).any()


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Ana 👩🏽\u200d🎓 Ruiz", "Ana Ruiz"),
        ("plays East · 🐉", "plays East · dragon"),
        ("Zoé 🦊", "Zoé"),
        ("ಅರುಣ್", "?????"),
        ("Jo\u0301se\x00", "Jóse "),
    ],
)
def test_unavailable_letters_are_never_boxes(name: str, written: str) -> None:
    assert Fonts("en", 480).drawable(name) == written


@pytest.mark.parametrize(("first", "last"), [("ש", "ה"), ("د", "ر")])
def test_hebrew_and_arabic_run_from_right_to_left_after_other_text(first: str, last: str) -> None:
    fonts = Fonts("en", 480)
    end = ink(fonts, first)
    assert (ink(fonts, f"plays East · {first}{last}")[-len(end) :] == end).all()


def test_arabic_letters_are_joined() -> None:
    fonts = Fonts("en", 480)
    apart = sum(fonts.size(letter, SHARE)[0] for letter in "محمد")
    assert fonts.size("محمد", SHARE)[0] < 0.97 * apart


@pytest.mark.parametrize(("joined", "letters"), [("कि", "िक"), ("ক্ষ", "ক্  ষ"), ("கொ", "க   ொ")])
def test_letters_of_south_asia_are_shaped(joined: str, letters: str) -> None:
    fonts = Fonts("en", 480)
    assert fonts.size(joined, SHARE)[0] < fonts.size(letters, SHARE)[0]


@pytest.mark.parametrize("beside", ["", " Perera"])
def test_a_joiner_joins_its_neighbours(beside: str) -> None:
    fonts = Fonts("en", 480)
    joined, apart = (f"\u0d9a\u0dca{joiner}\u0dbb\u0dd2{beside}" for joiner in ("\u200d", ""))
    assert fonts.drawable(joined) == joined
    assert fonts.size(joined, SHARE)[0] < 0.95 * fonts.size(apart, SHARE)[0]


@pytest.mark.parametrize("letter", ["த", "क", "ক", "ක", "ก", "م", "ש", "王"])
def test_letters_of_each_alphabet_are_at_least_half_as_high_as_capitals(letter: str) -> None:
    fonts = Fonts("en", 480)
    high, capital = (ink_height(fonts, one) for one in (letter, "H"))
    assert high >= 0.55 * capital


def test_a_cut_arabic_name_has_its_ellipsis_at_its_end() -> None:
    fonts = Fonts("en", 480)
    end = ink(fonts, "د")
    assert (ink(fonts, "plays East · در…")[-len(end) :] == end).all()


@pytest.mark.parametrize("name", ["שרה (כהן)", "שרה 2", "דוד (Dan) לוי", "David (דוד)", "محمد!"])
def test_text_around_a_name_stays_on_its_side(name: str) -> None:
    fonts = Fonts("en", 480)
    parts = (ink(fonts, "("), ink(fonts, isolated(name)), ink(fonts, ")"))
    assert (ink(fonts, f"({isolated(name)})") == np.concatenate(parts)).all()


@pytest.mark.parametrize(("name", "first"), [("שרה (כהן)", "ש"), ("שרה 2 כהן", "ש"), ("دو!", "د"), ("ד (Dan) ל", "ד")])
def test_a_name_keeps_its_own_direction_with_marks_and_numbers(name: str, first: str) -> None:
    fonts = Fonts("en", 480)
    begin = ink(fonts, first)
    assert (ink(fonts, isolated(name))[-len(begin) :] == begin).all()


def test_a_bracket_that_ends_a_hebrew_name_is_at_its_left() -> None:
    fonts = Fonts("en", 480)
    whole, bare = ink(fonts, isolated("כהן (שרה)")), ink(fonts, isolated("כהן (שרה"))
    assert (whole[-len(bare) :] == bare).all()


def test_names_in_a_list_stay_in_order() -> None:
    fonts = Fonts("en", 480)
    parts = (ink(fonts, one) for one in ("שרה", ",", "דוד"))
    assert (ink(fonts, f"{isolated('שרה')}, {isolated('דוד')}") == np.concatenate([*parts])).all()
