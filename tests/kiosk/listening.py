"""A process that runs a whole kiosk on simulated devices, presses, and tells what of it could make a sound.

`python -m tests.kiosk.listening FOLDER` prints a line of JSON.
"""

import ctypes
import json
import re
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from firmware.button_addresses import OpenedButtons, open_buttons
from kiosk import command
from kiosk.config import KioskSettings
from kiosk.journal import TableJournal
from kiosk.program import TableProgram
from kiosk.table import Phase
from tests.kiosk.at_the_box import played
from tests.kiosk.journals import OURS
from tests.kiosk.standing import CONFIG

VIDEO, AUDIO = 0x20, 0x10
"""SDL's subsystems (SDL.h)."""

SOUND: Final = re.compile(r"mixer|audio|sound|snd|alsa|asound|pulse|pipewire|jack|(?<!l)oss", re.IGNORECASE)


def main(folder: Path) -> None:
    """Press, and look when the window is open."""
    (folder / "password").write_text("secret", encoding="utf-8")
    (folder / "password").chmod(0o600)
    path = folder / "table.toml"
    path.write_text(CONFIG + '[screen]\ndriver = "dummy"\n', encoding="utf-8")
    journal = TableJournal(folder / "table.sqlite", OURS)
    played(journal, Phase.PLAYING)
    journal.close()
    stop = threading.Event()
    with ThreadPoolExecutor(1) as watcher:
        found = watcher.submit(_press_and_look, _capture(), stop)
        command.serve(KioskSettings(path), stop)
        print(json.dumps(found.result()))


def _capture() -> dict[str, Any]:
    """Keep what the kiosk opens, when it opens it."""
    kept: dict[str, Any] = {}

    def open_and_keep(address: str, tell: Any, on_short: Any) -> OpenedButtons:  # noqa: ANN401 - handed on as they are
        kept["buttons"], kept["program"] = open_buttons(address, tell, on_short), tell.__self__
        opened: OpenedButtons = kept["buttons"]
        return opened

    setattr(command, "open_buttons", open_and_keep)  # noqa: B010 - it is no name that the module gives away
    return kept


def _press_and_look(kept: dict[str, Any], stop: threading.Event) -> dict[str, object]:
    try:
        while "program" not in kept and not stop.wait(0.01):
            pass
        program: TableProgram = kept["program"]
        kept["buttons"].fingers.press("west")
        while program.state.phase is not Phase.CLAIMING and not stop.wait(0.01):
            pass
        return {"phase": program.state.phase.value, **_look()}
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
    """Return the names of modules that could make a sound. The main thread may be importing: look at a copy."""
    return sorted(name for name, module in sys.modules.copy().items() if module and SOUND.search(name))


def _open_files() -> Iterator[str]:
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # other threads close files meanwhile
            yield str(link.readlink())


def _mapped() -> set[str]:
    return set(re.findall(r"/\S+\.so\S*", Path("/proc/self/maps").read_text(encoding="utf-8")))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
