"""Pictures of trays read, and the screen drawn anew for each: what ten a second take (bar: 80 % of a core)."""

import os
import time
from typing import Final

os.environ["SDL_VIDEODRIVER"] = "dummy"

from kiosk.config import Screen
from kiosk.eyes import checked
from kiosk.screens.shown import Line, shown
from kiosk.screens.window import Window
from kiosk.screens.words import Words
from kiosk.table.events import TrayChecked
from kiosk.table.state import Phase
from tests.kiosk.tables import TABLE, sitting_in
from vision.live.cameras import open_camera
from vision.reader import read_picture
from vision.twins.world import Laid, TrayTwin

PICTURES: Final = 30
A_SECOND: Final = 10


def main() -> None:
    """Read and draw."""
    sitting, world = sitting_in(Phase.RESTORING), TrayTwin()
    rows = [[*row] for row in sitting.play.order["east"]]
    rows[0][0], rows[1][1] = rows[1][1], rows[0][0]
    world.lay([[Laid(set=1, serial=serial) for serial in row] for row in rows])
    with open_camera("sim://tray", world=world) as camera:
        pictures = [camera.frame() for _ in range(5)]
    with Window(Screen(driver="dummy"), Words("en")) as window:
        reading = drawing = 0.0
        for number in range(-3, PICTURES):
            began = time.process_time()
            check = checked(read_picture(pictures[number % len(pictures)]), sitting.play, sitting.wait())
            read = time.process_time()
            if isinstance(check, TrayChecked):
                sitting.take(check)
            window.show(shown(TABLE, sitting.table, None, Line(unsent=number), None))
            if number >= 0:  # the first pictures load networks and fonts
                reading, drawing = reading + read - began, drawing + time.process_time() - read
    both = (reading + drawing) / PICTURES
    print(f"  a picture of {'x'.join(str(one) for one in reversed(pictures[0].shape[:2]))}: ", end="")
    print(f"{reading / PICTURES * 1e3:.0f} ms to read, {drawing / PICTURES * 1e3:.1f} ms to draw")
    print(f"  {A_SECOND} a second: {both * A_SECOND:.0%} of a core; {0.8 / both:.1f} a second take 80 %")
