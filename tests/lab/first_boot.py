"""From a new card to a result at the scorer, and a restart."""

import os
from typing import Final

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("SDL_NO_SIGNAL_HANDLERS", "1")  # handles signals that end the laboratory

import numpy as np
import pygame

from broker.i18n import Translator
from kiosk.config import ScreenSettings
from kiosk.pairing.form import new_pairing_form
from kiosk.screens import ScreenView, TableScreen
from kiosk.screens.views import PairingView, StatusLine
from tests.lab.machine import is_picture
from tests.lab.report import Report
from tests.lab.table import LabTable
from vision.geometry import Picture

LIKE: Final = 6.0
"""Most that a screen may differ from the expected one, in grey levels on average."""

STATUS: Final = 60
"""Pixels at the bottom of the screen, with clock and version."""


def drawn(view: ScreenView) -> Picture:
    """Return a screen as the table's program draws it, BGR."""
    pygame.display.init()
    pygame.font.init()
    size = (ScreenSettings().width, ScreenSettings().height)
    surface = pygame.Surface(size)
    TableScreen(Translator(), size).draw(surface, view)
    return np.frombuffer(pygame.image.tobytes(surface, "RGB"), np.uint8).reshape(size[1], size[0], 3)[:, :, ::-1]


def pairing_screen() -> Picture:
    """Return the screen of a table that is not paired."""
    return drawn(ScreenView(0, PairingView(new_pairing_form("")), StatusLine(unpaired=True)))


def difference(seen: Picture, expected: Picture) -> float:
    """Return the mean difference of two screens in grey levels, without the bottom."""
    if seen.shape != expected.shape:
        return 255.0
    return float(np.abs(seen[:-STATUS].astype(int) - expected[:-STATUS].astype(int)).mean())


def run(table: LabTable, report: Report) -> None:
    """Switch a machine on for the first time, and play a deal."""
    asking = pairing_screen()
    with report.check("a machine that was never on before comes up, and the table's program with it"):
        table.machine.wait_until_up()
        table.set_clock()
        table.wait_for_kiosk()
    with report.check("its screen shows a picture, and that is the pairing screen"):
        table.machine.wait_for("a picture", lambda: is_picture(table.machine.screen()))
        table.machine.wait_for("the pairing screen", lambda: difference(table.machine.screen(), asking) < LIKE)
    with report.check("it is paired by the desk's address and code, typed on its keyboard"):
        table.pair()
    with report.check("a tray is read from its camera"):
        table.in_state("restoring")
        table.read_tray(1, "east")
    with report.check("the other trays are restored by scanner, and four presses on pins begin the play"):
        table.begin(1)
    with report.check("a press, a value and four acceptances are the result at the scorer outside"):
        result = table.win("south", "east", 12)
        points = {seat: line["points"] for seat, line in result["seats"].items()}
        assert (result["win"], result["discarder"], sum(points.values())) == ("discard", "east", 0), result
        assert max(points, key=lambda seat: points[seat]) == "south", points
    with report.check("the table is well: nothing is wrong but the clock, for which there is no time server"):
        health = set(table.outside.table()["health"].values()) - {"clock_unset"}
        assert not health, health
    with report.check("after a restart it comes up by itself, as the same table, in the same state"):
        before = table.record()
        table.machine.restart()
        table.set_clock()
        table.wait_for_kiosk()
        table.in_state("recorded")
        assert table.record().safe >= before.safe
