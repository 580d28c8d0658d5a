"""Contact sheets of the table's screen: `python -m tests.kiosk.screens.gallery FOLDER` (`make screens`).

Every scene, in every language and size, one sheet each; the scenes of the pages for staff and players, in the page's
language; and the picture at the head of the README. The scenes are in `scenes.py`.
"""

import os
import sys
from pathlib import Path
from typing import Final

from broker.i18n import Translator, languages

os.environ["SDL_VIDEODRIVER"] = "dummy"

import pygame
from PIL import Image

from kiosk.screens import TableScreen, TextPen, drawing
from kiosk.screens.drawing import USUAL, Appearance
from tests.kiosk.screens.riichi_scenes import ALL_SCENES as SCENES

SIZES: Final = ((800, 480), (1280, 720), (1920, 1080), (720, 1280))
WIDTH: Final = 400
UPRIGHT_WIDTH: Final = 240
"""Width of one upright picture on a sheet, in pixels."""
ACROSS: Final = 5
UPRIGHT_ACROSS: Final = 8
CAPTION: Final = 22
AT_THE_HEAD: Final = "declared, one value"
SHOWN: Final = {
    "restore": ("restoring, heap", "restoring, one fault"),
    "play": ("confirming", "declared, one value", "accepting"),
}
"""Scenes that pages show side by side: `staff.md` and `player.md`."""
COLOURS: Final = 128
"""Flat pictures need no more, and the files stay small."""


def sheet(language: str, size: tuple[int, int], look: Appearance = USUAL) -> pygame.Surface:
    """Draw all scenes, with their names."""
    width, across = (WIDTH, ACROSS) if size[0] > size[1] else (UPRIGHT_WIDTH, UPRIGHT_ACROSS)
    height = width * size[1] // size[0]
    down = -(-len(SCENES) // across)
    made = pygame.Surface((across * (width + 8) + 8, down * (height + CAPTION + 8) + 8))
    made.fill((90, 90, 90))
    screen, pen = TableScreen(Translator(language), size, look), TextPen("en", (480, 480))
    for at, (name, scene) in enumerate(SCENES.items()):
        x, y = 8 + at % across * (width + 8), 8 + at // across * (height + CAPTION + 8)
        surface = pygame.Surface(size)
        screen.draw(surface, scene())
        pen.write(made, name, (x, y), 0.04, drawing.TEXT, width)
        made.blit(pygame.transform.smoothscale(surface, (width, height)), (x, y + CAPTION))
    return made


def strip(language: str, names: tuple[str, ...]) -> pygame.Surface:
    """Draw some scenes side by side."""
    width, height = 2 * WIDTH, 2 * WIDTH * SIZES[0][1] // SIZES[0][0]
    made = pygame.Surface((len(names) * (width + 8) - 8, height))
    made.fill((90, 90, 90))
    for at, name in enumerate(names):
        surface = pygame.Surface(SIZES[0])
        TableScreen(Translator(language), SIZES[0]).draw(surface, SCENES[name]())
        made.blit(pygame.transform.smoothscale(surface, (width, height)), (at * (width + 8), 0))
    return made


def save(made: pygame.Surface, path: Path) -> None:
    """Write a picture with few colours."""
    picture = Image.frombytes("RGB", made.get_size(), pygame.image.tobytes(made, "RGB"))
    picture.quantize(COLOURS).save(path, optimize=True)


def main(folder: Path) -> None:
    """Write the sheets."""
    pygame.display.init()
    pygame.font.init()
    for language in languages():
        for size in SIZES:
            save(sheet(language, size), folder / f"screens-{language}-{size[0]}x{size[1]}.png")
        for name, scenes in SHOWN.items():
            save(strip(language, scenes), folder / f"{name}-{language}.png")
    save(sheet("en", SIZES[0], Appearance(quiet=True)), folder / "quiet.png")
    one = pygame.Surface(SIZES[0])
    TableScreen(Translator(), SIZES[0]).draw(one, SCENES[AT_THE_HEAD]())
    save(one, folder / "kiosk.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
