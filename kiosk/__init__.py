"""One table's program. Whatever imports the kiosk can make no sound (MIL): pygame comes without its mixer."""

import os
import sys
from typing import Any, Final

NUMPY: Final = "pygame.surfarray"
"""Imports numpy, which takes a quarter of a second; pictures come as bytes (`pygame.image.frombuffer`)."""

SOUNDS: Final = ("pygame.mixer", "pygame.mixer_music", "pygame._sdl2.audio", "pygame._sdl2.mixer", "pygame.sndarray")

_modules: dict[str, Any] = sys.modules
for _name in (*SOUNDS, NUMPY):
    _modules.setdefault(_name, None)  # so Python has it: importing it fails, and pygame goes on without
os.environ["SDL_AUDIODRIVER"] = "dummy"
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # nothing of pygame's own in our log
