"""The camera at the table: looks on a thread of its own while trays are being restored, and tells the loop."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from broker.contract.messages import PlannedPlay
from broker.contract.words import SEATS, Seat
from kiosk.table.events import Misplaced, TrayChecked
from vision.errors import VisionError
from vision.reading import Fault, Reading
from vision.verdict import compare

if TYPE_CHECKING:
    from vision.live.camera import Camera

log = logging.getLogger("homologue.eyes")

PAUSE_S: Final = 0.2
"""Between two looks."""

AGAIN_S: Final = 2.0
"""Between two tries with a camera that fails."""


@dataclass(frozen=True, slots=True)
class CameraHealth:
    """What is wrong with the camera; None where all is well."""

    code: str | None


class Eyes:
    """Looks at trays for one play at a time. `tell` is called on the eyes' own thread: it only queues."""

    def __init__(
        self,
        camera: "Callable[[], Camera]",
        tell: Callable[[TrayChecked | CameraHealth], None],
        clock: Callable[[], int],
    ) -> None:
        self._camera, self._tell, self._clock = camera, tell, clock
        self._play: PlannedPlay | None = None
        self._wanted = threading.Event()
        self._stopped = threading.Event()
        self._before: TrayChecked | None = None
        self._thread = threading.Thread(target=self._run, name="eyes", daemon=True)

    def start(self) -> None:
        """Begin; nothing is looked at until `look_for`."""
        self._thread.start()

    def stop(self) -> None:
        """End; may be called twice."""
        self._stopped.set()
        self._wanted.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def look_for(self, play: PlannedPlay | None) -> None:
        """Look at the trays of this play from now on, or at nothing."""
        self._play = play
        if play is None:
            self._wanted.clear()
        else:
            self._wanted.set()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                with self._camera() as camera:
                    self._tell(CameraHealth(None))
                    self._watch(camera)
            except VisionError as error:
                self._tell(CameraHealth(error.code))
                self._stopped.wait(AGAIN_S)
            except Exception:  # a picture that breaks the reader must not leave the table blind for good
                log.exception("the eyes have failed; they try again")
                self._tell(CameraHealth("camera_failed"))
                self._stopped.wait(AGAIN_S)

    def _watch(self, camera: "Camera") -> None:
        while not self._stopped.is_set():
            self._wanted.wait()
            play = self._play
            if play is not None and not self._stopped.is_set():
                self._look(camera, play)
            self._stopped.wait(PAUSE_S)

    def _look(self, camera: "Camera", play: PlannedPlay) -> None:
        """A right tray counts at once; a wrong one when two looks agree, for hands move while one looks."""
        from vision.reader import read_picture  # noqa: PLC0415 - OpenCV and networks: half a second, on this thread

        found = checked(read_picture(camera.frame()), play, self._clock())
        steady = found is not None and self._before is not None and _same(found, self._before)
        if found is not None and (steady or found.rows == play.order[found.seat]):
            self._tell(found)
        self._before = found


def checked(reading: Reading, play: PlannedPlay, now: int) -> TrayChecked | None:
    """Hold a reading against the play: which seat's tray it is, and what is wrong with it. None: no tray."""
    read = {serial for row in reading.rows for serial in row if serial is not None}
    if not read:
        return None
    seat = max(SEATS, key=lambda one: len(read & _serials(play, one)))
    wrong = tuple(_misplaced(fault) for fault in compare(reading, play.order[seat], play.set))
    return TrayChecked(at=now, seat=seat, rows=reading.rows, wrong=wrong)


def _serials(play: PlannedPlay, seat: Seat) -> set[int]:
    return {serial for row in play.order[seat] for serial in row}


def _misplaced(fault: Fault) -> Misplaced:
    return Misplaced(
        kind=fault.type, row=fault.row, col=fault.col, expected=fault.expected, found=fault.found, other=fault.with_
    )


def _same(one: TrayChecked, other: TrayChecked) -> bool:
    return (one.seat, one.rows, one.wrong) == (other.seat, other.rows, other.wrong)
