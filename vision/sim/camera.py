"""`sim://tray`: a camera that looks at a TrayTwin, with the faults of real ones: tilt, noise, blur, drifting light."""

from dataclasses import replace

import cv2
import numpy as np

from vision.cameras.camera import Camera
from vision.errors import CameraUnpluggedError
from vision.geometry import Homography, Picture
from vision.sim.optics import SimulatedOptics, parse_optics
from vision.sim.scene import SCALE, TABLE_SIZE, TRAY_SIZE, draw_table
from vision.sim.table import EMPTY_TRAY, CameraView, SimulatedTable, deal_tiles

_DISTANCE = 520.0  # mm from lens to table
_DRIFT = 0.06  # how far brightness wanders, as a share


class SimulatedCamera(Camera):
    """A camera over a simulated tray; `world` is what it looks at."""

    def __init__(self, address: str, *, world: SimulatedTable | None = None) -> None:
        super().__init__()
        self.optics = parse_optics(address)
        self.world = world if world is not None else SimulatedTable()
        if self.optics.deal is not None and self.world.view.rows == EMPTY_TRAY:
            self.world.lay(deal_tiles(self.optics.deal))
        self.pause = 1 / self.optics.fps
        self._chance = np.random.default_rng(self.optics.seed)
        self._drift = 0.0
        self._stops, self._coming = 0, [0]  # the exposure, and those of the next frames
        self.settling = 2
        self._glare = self._reflection() if self.optics.glare else None
        self._noise = self._noise_field()
        self._drawn: tuple[CameraView, Picture] | None = None

    def expose(self, stops: int) -> bool:
        """Take in 2 ** stops times the light, as a real camera does: from a later frame on."""
        self._coming = [self._stops] * self.settling + [stops]
        return True

    def _take(self) -> Picture:
        """Take a picture of the tray as it is now; raises CameraUnpluggedError while the cable is out."""
        self._require_open()
        view = self._mishaps(self.world.view)
        if view.unplugged:
            raise CameraUnpluggedError("the camera's cable is out")
        if view.dark:
            return np.zeros((self.optics.height, self.optics.width, 3), dtype=np.uint8)
        return self._expose(self._still(view))

    def _mishaps(self, view: CameraView) -> CameraView:
        """Add what the address says to happen at this frame."""
        now, optics = self.world.next_frame(), self.optics
        return replace(
            view,
            unplugged=view.unplugged or now in optics.unplugged,
            dark=view.dark or now in optics.dark,
            covered=view.covered or now in optics.covered,
        )

    def _still(self, view: CameraView) -> Picture:
        """Return the picture without noise; it is drawn again only when something has changed."""
        if self._drawn is None or self._drawn[0] != view:
            size = (self.optics.width, self.optics.height)
            scene = draw_table(view, self.optics.seed)
            still = cv2.warpPerspective(scene, _to_pixels(self.optics), size, borderMode=cv2.BORDER_REPLICATE)
            if self.optics.blur > 0:
                still = cv2.GaussianBlur(still, (0, 0), self.optics.blur)
            self._drawn = view, np.asarray(still, dtype=np.uint8)
        return self._drawn[1]

    def _expose(self, still: Picture) -> Picture:
        """Let the light wander and add noise, other noise for each frame."""
        self._drift = float(np.clip(self._drift + self._chance.normal(0, _DRIFT / 4), -_DRIFT, _DRIFT))
        down, right = (int(shift) for shift in self._chance.integers(0, 64, 2))
        height, width = still.shape[:2]
        noise = self._noise[down : down + height, right : right + width]
        self._stops = self._coming.pop(0) if len(self._coming) > 1 else self._coming[0]
        gain = (1 + self._drift) * 2.0**self._stops
        if self._glare is not None:
            lit = np.clip((still + self._glare) * gain, 0, 255).astype(np.uint8)
        else:
            lit = cv2.convertScaleAbs(still, alpha=gain)
        return np.asarray(cv2.add(lit, noise, dtype=cv2.CV_8U), dtype=np.uint8)

    def _reflection(self) -> np.typing.NDArray[np.float32]:
        """Return the light that a lamp adds, shape (height, width, 1): on some tiles of rows 0 and 1."""
        height, width = self.optics.height, self.optics.width
        down, right = np.ogrid[:height, :width]
        away = np.hypot((right - 0.55 * width) / (0.1 * width), (down - 0.38 * height) / (0.14 * height))
        return np.asarray(self.optics.glare * np.clip(2 - 1.6 * away, 0, 1), dtype=np.float32)[:, :, None]

    def _noise_field(self) -> np.typing.NDArray[np.int16]:
        """Draw noise for a quarter, and lay it out over more than a frame: frames cut it out at other corners."""
        shape = ((self.optics.height + 65) // 2, (self.optics.width + 65) // 2, 3)
        drawn = self._chance.standard_normal(shape, dtype=np.float32) * np.float32(self.optics.noise)
        return np.tile(np.rint(drawn).astype(np.int16), (2, 2, 1))


def _to_pixels(optics: SimulatedOptics) -> Homography:
    """Map the scene's pixels to the camera's: a pinhole tilted about the tray's long axis."""
    angle = np.radians(optics.tilt)
    focal = _DISTANCE * min(optics.width / (TRAY_SIZE[0] * 1.06), optics.height / (TRAY_SIZE[1] * 1.1))
    lens = np.array([[focal, 0, optics.width / 2], [0, focal, optics.height / 2], [0, 0, 1]])
    pose = np.array([[1, 0, 0], [0, np.cos(angle), 0], [0, -np.sin(angle), _DISTANCE]])
    centred = np.array([[1 / SCALE, 0, -TABLE_SIZE[0] / 2], [0, 1 / SCALE, -TABLE_SIZE[1] / 2], [0, 0, 1]])
    return np.asarray(lens @ pose @ centred, dtype=np.float64)
