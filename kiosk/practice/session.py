"""One practice session: the program of a table in a folder that is thrown away."""

import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from firmware.buttons import SeatButtons
from firmware.scanner_addresses import open_scanner
from firmware.twins.fingers import Fingers
from kiosk import pin
from kiosk.config import Settings
from kiosk.eyes import Eyes, picture_room
from kiosk.journal import Journal, Whose
from kiosk.practice.hands import Hands, strip
from kiosk.practice.plan import EVENT, TABLE, plan
from kiosk.practice.scorer import PracticeScorer
from kiosk.practice.window import PracticeWindow
from kiosk.program import Program
from kiosk.round import Round
from kiosk.running import run
from kiosk.screens.words import Words
from vision.live.cameras import check_address, open_camera
from vision.twins.world import TrayTwin

PIN: Final = "0000"
"""The arbiter's: whoever practises has to let somebody in too."""

SIMULATED: Final = "sim://tray"
SIMULATED_SCANNER: Final = "sim://scanner"

CONFIG: Final = f"""
event = "{EVENT}"
table = {TABLE}
folder = "."
language = "{{language}}"
[broker]
host = "127.0.0.1"
port = 1
password_file = "password"
[devices]
buttons = "sim://buttons"
camera = "{SIMULATED}"
[screen]
width = {{width}}
height = {{height}}
hand = "{{hand}}"
text = "{{text}}"
dim_after_s = 0
"""


def practise(
    stop: threading.Event,
    *,
    language: str = "en",
    camera: str = SIMULATED,
    scanner: str = SIMULATED_SCANNER,
    size: str = "800x480",
    hand: str = "right",
    text: str = "normal",
) -> None:
    """Run until told to stop. Raises KioskError, FirmwareError, VisionError."""
    check_address(camera)
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="homologue-practice-")))
        width, _, height = size.partition("x")
        settings = _settings(folder, CONFIG.format(language=language, width=width, height=height, hand=hand, text=text))
        journal = Journal(folder / "table.sqlite", Whose(EVENT, TABLE))
        opened.callback(journal.close)
        rows = strip(camera=camera == SIMULATED, scanner=scanner == SIMULATED_SCANNER)
        window = PracticeWindow(settings.config.screen, Words(language), time.monotonic_ns, rows)
        opened.enter_context(window)
        program = Program(settings, journal, link=lambda tell: PracticeScorer(plan(), tell))
        trays, fingers = TrayTwin(), Fingers()
        buttons = opened.enter_context(SeatButtons(fingers.wiring, program.tell, factory=fingers.factory))
        scans = opened.enter_context(open_scanner(scanner, program.tell)).hand
        tiles = trays if camera == SIMULATED else None
        window.give(Hands(fingers, tiles, scans, lambda: program.state, program.shown))
        view = picture_room((settings.config.screen.width, settings.config.screen.height))
        eyes = Eyes(lambda: open_camera(camera, world=trays), program.seen, time.monotonic_ns, view)
        opened.callback(eyes.stop)
        eyes.start()
        run(program, stop, Round(program, window, eyes, buttons.show, stop))


def _settings(folder: Path, config: str) -> Settings:
    (folder / "password").write_text("practice", encoding="utf-8")
    (folder / "password").chmod(0o600)
    (folder / "table.toml").write_text(config, encoding="utf-8")
    pin.write(folder / "arbiter-pin", PIN)
    return Settings(folder / "table.toml")
