"""A QR code on the table's screen: black on white whatever the screen's colours, so that every telephone reads it."""

from functools import lru_cache
from typing import Any, Final

import pygame

QUIET: Final = 4
"""Modules of white around it, as ISO/IEC 18004 wants."""

LEAST: Final = 3
"""Pixels of a module: below it a telephone at arm's length does not tell two apart, and no code is drawn."""

BLACK: Final = (0, 0, 0)
WHITE: Final = (255, 255, 255)


@lru_cache(4)
def drawn(text: str, room: int) -> pygame.Surface | None:
    """Give the code as large as a room's height lets it be, in pixels; None where it would be too small to be read."""
    import zxingcpp  # noqa: PLC0415 - nobody needs it before the first play is recorded

    # A screen has no stains: with error correction L (7 %) the modules are as large as they can be.
    code = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode, ec_level="L")
    image: Any = zxingcpp.write_barcode_to_image(code, add_quiet_zones=False)  # a buffer, which its types do not say
    rows: Any = memoryview(image).tolist()
    modules: list[list[int]] = rows
    side = len(modules) + 2 * QUIET
    scale = room // side
    if scale < LEAST:
        return None
    small = pygame.Surface((side, side))
    small.fill(WHITE)
    for y, row in enumerate(modules):
        for x, light in enumerate(row):
            if not light:
                small.set_at((x + QUIET, y + QUIET), BLACK)
    return pygame.transform.scale(small, (side * scale, side * scale))
