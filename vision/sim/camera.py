"""`sim://tray`: a camera over a simulated table, with the flaws of real ones: tilt, noise, blur, drifting light.

Its address sets the optics, the light, and when which mishap happens.
"""

import math
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import urlsplit

import cv2
import numpy as np

from vision.cameras.camera import Camera, setting_number, split_camera_query
from vision.errors import CameraAddressError, CameraUnpluggedError
from vision.geometry import Homography, Picture
from vision.sim.scene import SCALE, TABLE_SIZE, TRAY_SIZE, draw_table
from vision.sim.table import EMPTY_TRAY, CameraView, SimulatedTable, deal_tiles

_LIMITS = {
    "seed": (0.0, 2.0**31),
    "width": (64.0, 4096.0),
    "height": (64.0, 4096.0),
    "fps": (0.1, 240.0),
    "noise": (0.0, 60.0),
    "blur": (0.0, 10.0),
    "tilt": (0.0, 40.0),
    "deal": (0.0, 2.0**31),
    "glare": (0.0, 4000.0),
}
_WHOLE = {"seed", "width", "height", "deal"}
_NEVER = range(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedOptics:
    """A simulated camera, its light, and its mishaps. Ranges are of frames, counted from 0."""

    seed: Annotated[int, "Other noise."] = 0
    width: Annotated[int, "Pixels."] = 1600
    height: Annotated[int, "Pixels."] = 900
    fps: Annotated[float, "Pictures a second."] = 10.0
    noise: Annotated[float, "Levels."] = 2.0
    blur: Annotated[float, "Pixels."] = 0.5
    tilt: Annotated[float, "Degrees."] = 3.0
    deal: Annotated[int | None, "34 tiles by chance lie in the tray from the start: their seed."] = None
    glare: Annotated[float, "Levels that a lamp adds on some tiles; more than 255 burns them out."] = 0.0
    unplugged: Annotated[range, "Frames from 0, such as `30-60`, without a camera."] = _NEVER
    dark: Annotated[range, "Frames without light."] = _NEVER
    covered: Annotated[range, "Frames with a hand over the tray."] = _NEVER


def parse_optics(address: str) -> SimulatedOptics:
    """Parse an address such as `sim://tray?seed=7&covered=20-40`. Raises CameraAddressError."""
    try:
        parts = urlsplit(address)
    except ValueError as error:
        raise CameraAddressError(f"{address!r} is no address") from error
    if parts.netloc != "tray" or parts.path not in {"", "/"} or parts.fragment:
        raise CameraAddressError(f"{address!r}: only sim://tray is simulated")
    _, query = split_camera_query("?" + parts.query)
    unknown = sorted(set(query) - set(SimulatedOptics.__dataclass_fields__))
    if unknown:
        raise CameraAddressError(f"a simulated camera has no setting {unknown[0]!r}")
    numbers = {name: setting_number(name, text, *_LIMITS[name]) for name, text in query.items() if name in _LIMITS}
    whole = {name: _whole(name, numbers[name]) for name in _WHOLE & set(numbers)}
    spans = {name: _span(name, text) for name, text in query.items() if name not in _LIMITS}
    return SimulatedOptics(**{**numbers, **whole, **spans})  # type: ignore[arg-type]  # the names were checked against the fields above


def _whole(name: str, number: float) -> int:
    if not number.is_integer():
        raise CameraAddressError(f"{name}={number:g}: it is a whole number")
    return int(number)


def _span(name: str, text: str) -> range:
    """Parse a range such as `20-40`, both ends included, or a single number."""
    first, _, last = text.partition("-")
    start = _whole(name, setting_number(name, first, 0, math.inf))
    end = _whole(name, setting_number(name, last or first, start, math.inf))
    return range(start, end + 1)


_DISTANCE = 520.0  # mm from lens to table
_DRIFT = 0.06  # largest drift of brightness, as a share


class SimulatedCamera(Camera):
    """A camera over a simulated tray; `world` is the table that it shows."""

    def __init__(self, address: str, *, world: SimulatedTable | None = None) -> None:
        super().__init__()
        self.optics = parse_optics(address)
        self.world = world if world is not None else SimulatedTable()
        if self.optics.deal is not None and self.world.view.rows == EMPTY_TRAY:
            self.world.lay(deal_tiles(self.optics.deal))
        self.pause = 1 / self.optics.fps
        self._chance = np.random.default_rng(self.optics.seed)
        self._drift = 0.0
        self._stops, self._upcoming = 0, [0]  # the current exposure, and those of the next frames
        self.settling = 2
        self._glare = self._reflection() if self.optics.glare else None
        self._noise = self._noise_field()
        self._drawn: tuple[CameraView, Picture] | None = None

    def expose(self, stops: int) -> bool:
        """Change the exposure to 2 ** stops times the light; like a real camera, from a later frame on."""
        self._upcoming = [self._stops] * self.settling + [stops]
        return True

    def _take(self) -> Picture:
        """Take a picture of the tray as it is now. Raises CameraUnpluggedError while the cable is out."""
        self._require_open()
        view = self._mishaps(self.world.view)
        if view.unplugged:
            raise CameraUnpluggedError("the camera's cable is out")
        if view.dark:
            return np.zeros((self.optics.height, self.optics.width, 3), dtype=np.uint8)
        return self._expose(self._clean_picture(view))

    def _mishaps(self, view: CameraView) -> CameraView:
        """Return the view with the mishaps that the address sets for this frame."""
        now, optics = self.world.next_frame(), self.optics
        return replace(
            view,
            unplugged=view.unplugged or now in optics.unplugged,
            dark=view.dark or now in optics.dark,
            covered=view.covered or now in optics.covered,
        )

    def _clean_picture(self, view: CameraView) -> Picture:
        """Return the picture without noise; it is redrawn only if the view has changed."""
        if self._drawn is None or self._drawn[0] != view:
            size = (self.optics.width, self.optics.height)
            scene = draw_table(view, self.optics.seed)
            still = cv2.warpPerspective(scene, _to_pixels(self.optics), size, borderMode=cv2.BORDER_REPLICATE)
            if self.optics.blur > 0:
                still = cv2.GaussianBlur(still, (0, 0), self.optics.blur)
            self._drawn = view, np.asarray(still, dtype=np.uint8)
        return self._drawn[1]

    def _expose(self, still: Picture) -> Picture:
        """Apply drifting light, exposure, glare and noise, which differ from frame to frame."""
        self._drift = float(np.clip(self._drift + self._chance.normal(0, _DRIFT / 4), -_DRIFT, _DRIFT))
        down, right = (int(shift) for shift in self._chance.integers(0, 64, 2))
        height, width = still.shape[:2]
        noise = self._noise[down : down + height, right : right + width]
        self._stops = self._upcoming.pop(0) if len(self._upcoming) > 1 else self._upcoming[0]
        gain = (1 + self._drift) * 2.0**self._stops
        if self._glare is not None:
            lit = np.clip((still + self._glare) * gain, 0, 255).astype(np.uint8)
        else:
            lit = cv2.convertScaleAbs(still, alpha=gain)
        return np.asarray(cv2.add(lit, noise, dtype=cv2.CV_8U), dtype=np.uint8)

    def _reflection(self) -> np.typing.NDArray[np.float32]:
        """Return the light that a lamp adds on some tiles of rows 0 and 1, in levels, shape (height, width, 1)."""
        height, width = self.optics.height, self.optics.width
        down, right = np.ogrid[:height, :width]
        away = np.hypot((right - 0.55 * width) / (0.1 * width), (down - 0.38 * height) / (0.14 * height))
        return np.asarray(self.optics.glare * np.clip(2 - 1.6 * away, 0, 1), dtype=np.float32)[:, :, None]

    def _noise_field(self) -> np.typing.NDArray[np.int16]:
        """Return noise larger than a frame, tiled from a quarter; each frame uses a different part of it."""
        shape = ((self.optics.height + 65) // 2, (self.optics.width + 65) // 2, 3)
        drawn = self._chance.standard_normal(shape, dtype=np.float32) * np.float32(self.optics.noise)
        return np.tile(np.rint(drawn).astype(np.int16), (2, 2, 1))


def _to_pixels(optics: SimulatedOptics) -> Homography:
    """Return the map from the scene's pixels to the camera's: a pinhole camera tilted about the tray's long axis."""
    angle = np.radians(optics.tilt)
    focal = _DISTANCE * min(optics.width / (TRAY_SIZE[0] * 1.06), optics.height / (TRAY_SIZE[1] * 1.1))
    lens = np.array([[focal, 0, optics.width / 2], [0, focal, optics.height / 2], [0, 0, 1]])
    pose = np.array([[1, 0, 0], [0, np.cos(angle), 0], [0, -np.sin(angle), _DISTANCE]])
    centred = np.array([[1 / SCALE, 0, -TABLE_SIZE[0] / 2], [0, 1 / SCALE, -TABLE_SIZE[1] / 2], [0, 0, 1]])
    return np.asarray(lens @ pose @ centred, dtype=np.float64)
