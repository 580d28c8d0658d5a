"""The pairing screen: keys, scanner and camera bring an offer, a thread asks the desk, a single loop shows the state.

The camera looks for the desk's QR code on a thread of its own.
"""

import queue
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from broker.daemon import ServiceNotifier
from broker.discovery import DeskFinder, FoundDesk
from broker.logs import get_logger
from broker.protocol import SigningKey
from broker.protocol.pairing import Pairing, PairingOffer, read_pairing
from broker.version import program_version
from firmware import reports, scanners
from kiosk.config import KEY_FILE, UnpairedConfig, open_device_key, store_pairing
from kiosk.errors import BadConfiguration, KioskError, PairingRefused
from kiosk.pairing import form as forms
from kiosk.pairing.exchange import request_pairing
from kiosk.screens import QUIT, PairingView, ScreenView, ScreenWindow, StatusLine, open_keyboards, translator
from kiosk.status import time_of_day

if TYPE_CHECKING:
    from vision.cameras.camera import Camera
    from vision.geometry import Picture

log = get_logger("homologue.kiosk")

ROUND_S: Final = 1 / 30
SHOWN_S: Final = 2.0
"""Seconds for which the table's number is shown before its own screen opens."""


@dataclass(frozen=True, slots=True)
class PairingFailed:
    """The desk did not pair the device."""

    code: str


MOST_TRIES, BUSY_PAUSE_S = 20, 1.0
"""Tries at a desk that is busy with too many requests, and the pause between them."""

Item = PairingOffer | Pairing | PairingFailed | tuple[FoundDesk, ...]
Request = Callable[[PairingOffer, SigningKey], Pairing]


class PairingDesk:
    """The logic of the pairing screen. `put` may be called from any thread, everything else from the loop."""

    def __init__(
        self,
        folder: Path,
        address: str,
        request: Request = request_pairing,
        *,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._folder, self._request, self._pause = folder, request, pause
        self._queue: queue.SimpleQueue[Item] = queue.SimpleQueue()
        self.form: forms.PairingForm = forms.new_pairing_form(address)
        self._last: PairingOffer | None = None
        """The last offer, so that one that stays in view is used only once."""
        self.done = False

    def put(self, item: Item) -> None:
        """Queue an item from another thread."""
        self._queue.put(item)

    def scanned(self, report: reports.Report) -> None:
        """Handle a scan. A pairing code is not the code of a tile."""
        if isinstance(report, reports.NotScanned) and (offer := read_pairing(report.text)) is not None:
            self.put(offer)

    def key(self, key: str) -> None:
        """Handle a key."""
        after = forms.press_pairing_key(self.form, key)
        if isinstance(after, PairingOffer):
            self._begin(after)
        else:
            self.form = after

    def step(self, timeout: float) -> None:
        """Handle the next item. Raises BadConfiguration if a pairing cannot be stored."""
        try:
            item = self._queue.get(timeout=timeout)
        except queue.Empty:
            return
        match item:
            case PairingOffer():
                if self.form.step in ("address", "code") and item != self._last:
                    self._begin(item)
            case Pairing():
                store_pairing(self._folder, item)
                log.info("paired", event_name=item.event, table=item.table)
                self.form = replace(self.form, step="paired", event=item.event, table=item.table, problem=None)
                self.done = True
            case tuple():
                self.form = forms.with_found(self.form, item)
            case PairingFailed(code):
                self.form = replace(self.form, step="code", code="", problem=code)

    def _begin(self, offer: PairingOffer) -> None:
        host = f"[{offer.host}]" if ":" in offer.host else offer.host
        self.form = replace(self.form, step="asking", address=f"{host}:{offer.port}", code="", problem=None)
        self._last = offer
        threading.Thread(target=partial(self._try, offer), name="pairing", daemon=True).start()

    def _try(self, offer: PairingOffer) -> None:
        try:
            self.put(self._answer(offer, open_device_key(self._folder / KEY_FILE)))
        except PairingRefused as refusal:
            self.put(PairingFailed(refusal.why))
        except KioskError as error:
            log.info(error.code, why=str(error))
            self.put(PairingFailed(error.code))
        except OSError as error:
            log.warning("key_not_kept", why=str(error))
            self.put(PairingFailed(BadConfiguration.code))

    def _answer(self, offer: PairingOffer, key: SigningKey) -> Pairing:
        """Ask the desk, and again while it has too many requests. Raises KioskError."""
        for _ in range(MOST_TRIES - 1):
            try:
                return self._request(offer, key)
            except PairingRefused as refusal:
                if refusal.why != "pairing_busy":
                    raise
                self._pause(BUSY_PAUSE_S)
        return self._request(offer, key)


def pairing_view(form: forms.PairingForm, clock: str) -> ScreenView:
    """Return the view of the pairing screen."""
    return ScreenView(form.table, PairingView(form), StatusLine(clock=clock, version=program_version(), unpaired=True))


def pair_at_the_table(settings: UnpairedConfig, stop: threading.Event, picture: Path | None = None) -> bool:
    """Show the pairing screen until the device is paired, or told to stop; return which. Raises KioskError."""
    desk = PairingDesk(Path(settings.paired), settings.desk)
    with ExitStack() as opened:
        window = opened.enter_context(ScreenWindow(settings.screen, translator(settings.language)))
        window.show(pairing_view(desk.form, time_of_day()))  # before the slow imports
        opened.enter_context(open_keyboards(settings.devices, window, lambda _: None))
        if settings.devices.scanner:
            opened.enter_context(scanners.open_scanner(settings.devices.scanner, desk.scanned))
        from vision.cameras.addresses import check_camera_address, open_camera  # noqa: PLC0415 - numpy: after the first picture

        check_camera_address(settings.devices.camera)
        camera = OfferCamera(partial(open_camera, settings.devices.camera), desk.put)
        opened.callback(camera.stop)
        camera.start()
        if not settings.desk and not settings.devices.buttons.startswith("sim:"):  # a simulated table is in no hall
            opened.callback(DeskFinder(desk.put).close)
        _run(desk, window, stop, picture)
    return desk.done


def _run(desk: PairingDesk, window: ScreenWindow, stop: threading.Event, picture: Path | None) -> None:
    done_at, service = None, ServiceNotifier()
    while not stop.is_set() and (done_at is None or time.monotonic() < done_at + SHOWN_S):
        desk.step(ROUND_S)
        if desk.done and done_at is None:
            done_at = time.monotonic()
        for key in window.pressed():
            if key == QUIT:
                stop.set()
            else:
                desk.key(key)
        if window.show(pairing_view(desk.form, time_of_day())) and picture:
            window.picture(str(picture))
        service.alive()


RETRY_S: Final = 1.0
LOOK_EVERY_S: Final = 0.2
"""Seconds between two looks: somebody holds a phone still for longer."""


class OfferCamera:
    """Reports each offer that comes into view; a missing camera is tried again."""

    def __init__(self, camera: "Callable[[], Camera]", tell: Callable[[PairingOffer], None]) -> None:
        self._camera, self._tell = camera, tell
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="seeing", daemon=True)

    def start(self) -> None:
        """Start to look."""
        self._thread.start()

    def stop(self) -> None:
        """Stop, and release the camera; may be called twice."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(timeout=20)

    def _run(self) -> None:
        logged = ""
        while not self._stopped.is_set():
            try:
                self._look()
            except Exception as error:  # noqa: BLE001 - whatever fails, the code can still be typed
                if (wrong := getattr(error, "code", type(error).__name__)) != logged:
                    log.info("camera", code=wrong)
                logged = wrong
            self._stopped.wait(RETRY_S)

    def _look(self) -> None:
        with self._camera() as camera:
            while not self._stopped.is_set() and not camera.ended:
                if (offer := find_offer(camera.frame())) is not None:
                    self._tell(offer)
                self._stopped.wait(max(LOOK_EVERY_S, camera.pause))


def find_offer(picture: "Picture") -> PairingOffer | None:
    """Return the offer in a picture, or None."""
    import zxingcpp  # noqa: PLC0415 - numpy: on this thread, after the screen's first picture

    found = zxingcpp.read_barcodes(picture, formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode))
    offers = (read_pairing(code.text) for code in found)
    return next((offer for offer in offers if offer is not None), None)
