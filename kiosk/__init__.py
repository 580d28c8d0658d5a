"""The program that runs one table. Importing it rules out sound (MIL): pygame is loaded without its mixer."""

import os
import sys
from typing import Any, Final

NUMPY: Final = "pygame.surfarray"
"""Blocked, as it imports numpy, which takes a quarter of a second. Images come as bytes (`pygame.image.frombuffer`)."""

SOUNDS: Final = ("pygame.mixer", "pygame.mixer_music", "pygame._sdl2.audio", "pygame._sdl2.mixer", "pygame.sndarray")

_modules: dict[str, Any] = sys.modules
for _name in (*SOUNDS, NUMPY):
    _modules.setdefault(_name, None)  # None in sys.modules makes the import fail; pygame carries on without the module
os.environ["SDL_AUDIODRIVER"] = "dummy"
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # keep pygame's greeting out of our log
