"""Keys to text: what a scanner types in each layout, with shift, Alt, Ctrl and the keypad."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.keyboard_layouts import ALT, ALT_GR, DOWN, KEYS_OF, LAYOUTS, UNREADABLE, UP, KeyTranslator
from tests.firmware.strokes import key_strokes

LEFT_SHIFT, LEFT_CTRL, CAPS_LOCK, ENTER, F1 = 42, 29, 58, 28, 59


def typed(layout: str, *events: tuple[int, int]) -> str:
    keyboard = KeyTranslator(LAYOUTS[layout])
    return "".join(keyboard.take(key, value) for key, value in events)


def tap(*keys: int) -> list[tuple[int, int]]:
    return [(key, value) for key in keys for value in (DOWN, UP)]


def held(key: int, *within: tuple[int, int]) -> list[tuple[int, int]]:
    return [(key, DOWN), *within, (key, UP)]


def test_a_us_keyboard_types_our_label_by_the_kernels_key_codes() -> None:
    events = held(LEFT_SHIFT, *tap(35, 50)) + tap(2, 12, 11, 9, 12, 2, 2, 8, ENTER)
    assert typed("us", *events) == "HM1-08-117\r"


def test_a_french_keyboard_types_our_label_with_shifted_digits() -> None:
    dash = tap(7)
    shifted = [held(LEFT_SHIFT, *tap(*keys)) for keys in ((35, 39, 2), (11, 9), (2, 2, 8))]
    assert typed("fr", *shifted[0], *dash, *shifted[1], *dash, *shifted[2]) == "HM1-08-117"


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@given(data=st.data())
def test_text_typed_in_a_layout_is_read_unchanged(layout: str, data: st.DataObject) -> None:
    text = data.draw(st.text(alphabet=sorted(KEYS_OF[layout]), max_size=20))
    assert typed(layout, *key_strokes(text, layout)) == text


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@given(number=st.integers(1, 255))
def test_alt_and_digits_of_the_keypad_type_a_character_in_every_layout(layout: str, number: int) -> None:
    keypad = dict(zip("0123456789", (82, 79, 80, 81, 75, 76, 77, 71, 72, 73), strict=True))
    events = held(ALT, *tap(*(keypad[digit] for digit in f"{number:04d}")))
    assert typed(layout, *events) == chr(number)


def test_only_the_last_four_digits_with_alt_count() -> None:
    assert typed("us", *held(ALT, *tap(*[73] * 1000, 82, 82, 77, 76))) == "A"


def test_the_keypad_types_digits_without_shift_in_every_layout() -> None:
    assert [typed(layout, *tap(79, 79, 71, 96)) for layout in LAYOUTS] == ["117\r"] * len(LAYOUTS)


def test_aim_identifiers_can_be_typed_in_french() -> None:
    assert typed("fr", *held(ALT_GR, *tap(12)), *tap(32), *held(LEFT_SHIFT, *tap(2))) == "]d1"


def test_control_characters_are_typed_with_ctrl() -> None:
    assert typed("us", *held(LEFT_CTRL, *tap(48, 46, 50))) == "\x02\x03\r"


def test_a_key_that_repeats_types_once() -> None:
    assert typed("us", (2, DOWN), (2, 2), (2, 2), (2, UP)) == "1"


def test_caps_lock_has_no_effect() -> None:
    assert typed("us", *tap(CAPS_LOCK, 30)) == "a"


@pytest.mark.parametrize("events", [tap(F1), held(LEFT_CTRL, *tap(2)), held(ALT, *tap(96)), held(ALT, *tap(82))])
def test_keys_that_no_code_contains_make_the_line_unreadable(events: list[tuple[int, int]]) -> None:
    assert typed("us", *events) == UNREADABLE


@given(st.lists(st.tuples(st.integers(0, 0x2FF), st.integers(-1, 3)), max_size=50), st.sampled_from(sorted(LAYOUTS)))
def test_any_keys_give_latin_1_text(events: list[tuple[int, int]], layout: str) -> None:
    text = typed(layout, *events)
    assert text.encode("latin-1").decode("latin-1") == text


def test_alt_alone_types_nothing() -> None:
    assert typed("us", *tap(ALT)) == ""
