"""The pairing screen: keys, scanner and camera bring an offer, a thread asks the desk, one loop alone shows it."""

import logging
import queue
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from broker.contract.pairing import Offer, Pairing, read_offer
from firmware.reports import NotScanned, Report
from firmware.scanner_addresses import open_scanner
from kiosk.errors import KioskError, PairingRefused
from kiosk.own import Own
from kiosk.pairing import form as forms
from kiosk.pairing.exchange import pair
from kiosk.pairing.form import PairingForm
from kiosk.pairing.keep import keep
from kiosk.pairing.seeing import Seeing
from kiosk.screens.shown import Line, Shown
from kiosk.screens.window import QUIT, Window
from kiosk.screens.words import Words
from kiosk.today import hours_and_minutes, version

log = logging.getLogger("homologue.kiosk")

ROUND_S: Final = 1 / 30
SHOWN_S: Final = 2.0
"""How long it is shown which table this is, before the table's own screen comes."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The desk was asked, and it came to nothing."""

    code: str


Item = Offer | Pairing | Failed
Ask = Callable[[Offer], Pairing]


class PairingDesk:
    """What the pairing screen does. `put` may be called from any thread; everything else from the loop."""

    def __init__(self, folder: Path, address: str, ask: Ask = pair) -> None:
        self._folder, self._ask = folder, ask
        self._queue: queue.SimpleQueue[Item] = queue.SimpleQueue()
        self.form: PairingForm = forms.begun(address)
        self._last: Offer | None = None
        """What the camera goes on seeing is asked about once."""
        self.done = False

    def put(self, item: Item) -> None:
        """Take in what came from another thread."""
        self._queue.put(item)

    def scanned(self, report: Report) -> None:
        """Take in what a scanner has read: the code of a pairing is none of a tile."""
        if isinstance(report, NotScanned) and (offer := read_offer(report.text)) is not None:
            self.put(offer)

    def key(self, key: str) -> None:
        """Take one key in."""
        after = forms.press(self.form, key)
        if isinstance(after, Offer):
            self._begin(after)
        else:
            self.form = after

    def step(self, timeout: float) -> None:
        """Take in what has come. Raises BadConfiguration where a pairing cannot be kept."""
        try:
            item = self._queue.get(timeout=timeout)
        except queue.Empty:
            return
        match item:
            case Offer():
                if self.form.ask in ("address", "code") and item != self._last:
                    self._begin(item)
            case Pairing():
                keep(self._folder, item)
                log.info("paired with %s, table %s", item.event, item.table)
                self.form, self.done = forms.paired(self.form, item.event, item.table), True
            case Failed(code):
                self.form = forms.refused(self.form, code)

    def _begin(self, offer: Offer) -> None:
        self.form, self._last = forms.asking(self.form, offer), offer
        threading.Thread(target=partial(self._try, offer), name="pairing", daemon=True).start()

    def _try(self, offer: Offer) -> None:
        try:
            self.put(self._ask(offer))
        except PairingRefused as refusal:
            self.put(Failed(refusal.why))
        except KioskError as error:
            log.info("%s: %s", error.code, error)
            self.put(Failed(error.code))


def screen(form: PairingForm, clock: str) -> Shown:
    """Give what is to be seen."""
    return Shown(table=form.table, state="waiting", line=Line(clock=clock, version=version(), apart=True), pairing=form)


def pair_at_the_table(own: Own, stop: threading.Event, picture: Path | None = None) -> bool:
    """Show the pairing screen until the device is paired, or told to stop; say which. Raises KioskError."""
    desk = PairingDesk(own.paired, own.desk)
    with ExitStack() as opened:
        window = opened.enter_context(Window(own.screen, Words(own.language)))
        window.show(screen(desk.form, hours_and_minutes()))  # before what takes long to load
        if own.devices.scanner:
            opened.enter_context(open_scanner(own.devices.scanner, desk.scanned))
        from vision.live.cameras import check_address, open_camera  # noqa: PLC0415 - numpy: after the first picture

        check_address(own.camera)
        seeing = Seeing(partial(open_camera, own.camera), desk.put)
        opened.callback(seeing.stop)
        seeing.start()
        _run(desk, window, stop, picture)
    return desk.done


def _run(desk: PairingDesk, window: Window, stop: threading.Event, picture: Path | None) -> None:
    done_at = None
    while not stop.is_set() and (done_at is None or time.monotonic() < done_at + SHOWN_S):
        desk.step(ROUND_S)
        if desk.done and done_at is None:
            done_at = time.monotonic()
        for key in window.pressed():
            if key == QUIT:
                stop.set()
            else:
                desk.key(key)
        if window.show(screen(desk.form, hours_and_minutes())) and picture:
            window.picture(str(picture))
