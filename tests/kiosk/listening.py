"""A process that runs a whole kiosk on simulated devices, presses, and reports anything that could make a sound.

`python -m tests.kiosk.listening FOLDER` prints a line of JSON.
"""

import ctypes
import json
import re
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from firmware.button_addresses import OpenedButtons, open_buttons
from kiosk import command
from kiosk.config import KioskSettings
from kiosk.journal import TableJournal
from kiosk.program import TableProgram
from kiosk.table import Phase
from tests.kiosk.at_the_box import played
from tests.kiosk.journals import OURS
from tests.kiosk.standing import CONFIG
from tests.patience import PATIENCE_S

VIDEO, AUDIO = 0x20, 0x10
"""SDL's subsystems (SDL.h)."""

SOUND: Final = re.compile(r"mixer|audio|sound|snd|alsa|asound|pulse|pipewire|jack|(?<!l)oss", re.IGNORECASE)


def main(folder: Path) -> None:
    """Press, and inspect the process while the window is open."""
    (folder / "password").write_text("secret", encoding="utf-8")
    (folder / "password").chmod(0o600)
    path = folder / "table.toml"
    path.write_text(CONFIG + '[screen]\ndriver = "dummy"\n', encoding="utf-8")
    journal = TableJournal(folder / "table.sqlite", OURS)
    played(journal, Phase.PLAYING)
    journal.close()
    opened = Opened()
    stop = Stop(opened)
    with ThreadPoolExecutor(1) as watcher, patch.object(command, "open_buttons", opened):
        found = watcher.submit(_press_and_look, opened, stop)
        try:
            command.serve(KioskSettings(path), stop)
        finally:
            stop.set()
        print(json.dumps(found.result()))


class Opened:
    """Opens the kiosk's buttons, and keeps them with the program to which they report."""

    buttons: OpenedButtons | None = None
    program: TableProgram | None = None

    def __call__(self, address: str, tell: Any, on_short: Any) -> OpenedButtons:  # noqa: ANN401 - passed on as they are
        self.program, self.buttons = tell.__self__, open_buttons(address, tell, on_short)
        return self.buttons


class Stop(threading.Event):
    """Ends the kiosk. Its loop asks this first, and fails if the buttons were opened elsewhere."""

    def __init__(self, opened: Opened) -> None:
        super().__init__()
        self._opened = opened

    def is_set(self) -> bool:
        assert self._opened.buttons is not None, "the kiosk's loop runs, and kiosk.command.open_buttons was not called"
        return super().is_set()


def _press_and_look(opened: Opened, stop: Stop) -> dict[str, object]:
    last = time.monotonic() + PATIENCE_S
    try:
        while opened.buttons is None or opened.program is None or opened.buttons.fingers is None:
            assert not stop.wait(0.01), "the kiosk has ended before it opened its buttons"
        opened.buttons.fingers.press("west")
        while (phase := opened.program.state.phase) is not Phase.CLAIMING:
            assert not stop.wait(0.01), f"the kiosk has ended: {phase}"
            assert time.monotonic() < last, f"no claim window was opened: {phase}"
        return {"phase": phase.value, **_look()}
    finally:
        stop.set()


def _look() -> dict[str, object]:
    libraries = {Path(one).name for one in _mapped()}
    links = [*_open_files()]
    (sdl,) = [one for one in _mapped() if re.search(r"/libSDL2-", one)]
    was_init = ctypes.CDLL(sdl).SDL_WasInit
    return {
        "sound_devices": [one for one in links if one.startswith(("/dev/snd", "/dev/dsp", "/dev/audio"))],
        "sound_libraries": sorted(one for one in libraries if SOUND.search(one)),
        "sound_modules": _imported(),
        "sdl_video": bool(was_init(VIDEO)),
        "sdl_audio": bool(was_init(AUDIO)),
    }


def _imported() -> list[str]:
    """Return the names of modules that could make a sound, from a copy, as the main thread may be importing."""
    return sorted(name for name, module in sys.modules.copy().items() if module and SOUND.search(name))


def _open_files() -> Iterator[str]:
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # other threads close files meanwhile
            yield str(link.readlink())


def _mapped() -> set[str]:
    return set(re.findall(r"/\S+\.so\S*", Path("/proc/self/maps").read_text(encoding="utf-8")))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
