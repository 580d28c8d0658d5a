"""Looks through the table's camera for the desk's QR code, on a thread of its own."""

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from broker.contract.pairing import Offer, read_offer

if TYPE_CHECKING:
    from vision.geometry import Picture
    from vision.live.camera import Camera

log = logging.getLogger("homologue.kiosk")

AGAIN_S: Final = 1.0
BETWEEN_S: Final = 0.2
"""Between two looks: somebody holds a telephone still for longer."""


class Seeing:
    """Tells each offer that comes into view. Without a camera it sees nothing, and goes on trying."""

    def __init__(self, camera: "Callable[[], Camera]", tell: Callable[[Offer], None]) -> None:
        self._camera, self._tell = camera, tell
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="seeing", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """End, and let the camera go; may be called twice."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(timeout=20)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._look()
            except Exception as error:  # noqa: BLE001 - a camera may fail as it likes: the code can be typed
                log.info("camera: %s", getattr(error, "code", type(error).__name__))
            self._stopped.wait(AGAIN_S)

    def _look(self) -> None:
        with self._camera() as camera:
            while not self._stopped.is_set() and not camera.ended:
                if (offer := seen_in(camera.frame())) is not None:
                    self._tell(offer)
                self._stopped.wait(max(BETWEEN_S, camera.pause))


def seen_in(picture: "Picture") -> Offer | None:
    """Give the offer that a picture shows, if it shows one."""
    import zxingcpp  # noqa: PLC0415 - numpy: on this thread, after the first picture of the screen

    found = zxingcpp.read_barcodes(picture, formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode))
    offers = (read_offer(one.text) for one in found)
    return next((offer for offer in offers if offer is not None), None)
