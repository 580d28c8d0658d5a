"""The QR code of a receipt on the table's screen: a phone can read it on every screen, or it is not shown."""

from typing import Final

import numpy as np
import pygame
import pytest
import zxingcpp

from broker.i18n import Translator
from kiosk.screens import TableScreen, table, with_receipt
from kiosk.screens.drawing import Appearance, Hand
from tests.kiosk.screens.scenes import LINK, LONG_LINK, RECEIPT, SCENES
from vision.geometry import Picture

SMALLEST: Final = 480, 320
"""The smallest screen that the configuration accepts."""

SCENE: Final = "recorded, with its QR code"

PLAIN: Final = LINK.partition("#")[0]
"""The link without its anchor."""


def codes_on(size: tuple[int, int], link: str, hand: Hand = "right") -> list[zxingcpp.Barcode]:
    """Return the codes that a reader finds on the screen."""
    surface = pygame.Surface(size)
    TableScreen(Translator("en"), size, Appearance(hand)).draw(surface, with_receipt(SCENES[SCENE](), RECEIPT, link))
    return zxingcpp.read_barcodes(pixels(surface))


def pixels(surface: pygame.Surface) -> Picture:
    """Return a surface as an array, (height, width, 3). pygame's own function needs numpy, which is blocked."""
    width, height = surface.get_size()
    return np.frombuffer(pygame.image.tobytes(surface, "RGB"), np.uint8).reshape(height, width, 3)


@pytest.mark.parametrize("hand", ["right", "left"])
@pytest.mark.parametrize("size", [SMALLEST, (800, 480), (1920, 1080)])
def test_the_code_can_be_read_from_every_screen(size: tuple[int, int], hand: Hand) -> None:
    assert [code.text for code in codes_on(size, LINK, hand)] == [LINK]


def test_the_longest_address_has_a_code_on_usual_screens_and_none_on_too_small_ones() -> None:
    assert [code.text for code in codes_on((800, 480), LONG_LINK)] == [LONG_LINK]
    assert codes_on(SMALLEST, LONG_LINK) == []


def test_without_room_for_the_anchor_the_link_is_shown_without_it() -> None:
    sizes = [(size * 3 // 2, size) for size in range(320, 481, 20)]
    found = [codes_on(size, LONG_LINK) for size in sizes]
    texts = list(dict.fromkeys(code.text for codes in found for code in codes))
    assert texts == [LONG_LINK.partition("#")[0], LONG_LINK]


def test_without_an_address_there_is_no_code() -> None:
    assert codes_on((800, 480), "") == []


@pytest.mark.parametrize("room", [110, 111, 147, 148, 400])
def test_modules_are_whole_pixels_at_least_three_with_a_white_margin(room: int) -> None:
    code = table.qr_code(PLAIN, room)
    side = 29 + 2 * table.QUIET_ZONE
    if room < table.SMALLEST_MODULE * side:
        assert code is None
        return
    assert code is not None
    scale = code.get_width() // side
    assert code.get_size() == (side * scale,) * 2
    shown = pixels(code)[:, :, 0]
    modules = shown[::scale, ::scale]
    assert np.array_equal(np.kron(modules, np.ones((scale, scale))), shown)
    inside = slice(table.QUIET_ZONE, -table.QUIET_ZONE)
    assert set(np.unique(modules)) == {0, 255}
    assert (modules == 0).sum() == (modules[inside, inside] == 0).sum()
