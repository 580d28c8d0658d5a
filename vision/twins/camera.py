"""`sim://tray`: a camera that looks at a TrayTwin, with the faults of real ones: tilt, noise, blur, drifting light."""

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

import cv2
import numpy as np

from vision.camera_base import OpenOrClosed
from vision.errors import CameraAddressError, CameraUnpluggedError
from vision.geometry import Homography, Picture
from vision.twins.scene import TABLE, TRAY, draw_scene
from vision.twins.stamps import SCALE
from vision.twins.world import TrayTwin, View

_DISTANCE = 520.0  # mm from lens to table
_DRIFT = 0.06  # how far brightness wanders, as a share
_MOST = {"width": 4096.0, "height": 4096.0, "noise": 60.0, "blur": 10.0, "tilt": 40.0, "seed": 2.0**31}


@dataclass(frozen=True, slots=True, kw_only=True)
class Optics:
    """What the address can set: size in pixels, noise in levels, blur in pixels, tilt in degrees."""

    seed: int = 0
    width: int = 1600
    height: int = 900
    noise: float = 2.0
    blur: float = 0.5
    tilt: float = 3.0

    def __post_init__(self) -> None:
        for name, most in _MOST.items():
            least = 64 if name in {"width", "height"} else 0
            if not least <= getattr(self, name) <= most:
                raise CameraAddressError(f"{name} lies between {least} and {most:g}")


def parse_optics(address: str) -> Optics:
    """Read `sim://tray?seed=7&width=1600`; raises CameraAddressError for another thing than a tray or a setting."""
    parts = urlsplit(address)
    if parts.netloc != "tray" or parts.path not in {"", "/"}:
        raise CameraAddressError(f"{address!r}: only sim://tray is simulated")
    try:
        told = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
        return Optics(
            seed=int(told.pop("seed", 0)),
            width=int(told.pop("width", 1600)),
            height=int(told.pop("height", 900)),
            noise=float(told.pop("noise", 2.0)),
            blur=float(told.pop("blur", 0.5)),
            tilt=float(told.pop("tilt", 3.0)),
            **told,
        )
    except (TypeError, ValueError) as error:
        raise CameraAddressError(f"{address!r} sets something that a simulated camera has not") from error


class SimulatedCamera(OpenOrClosed):
    """A camera over a simulated tray; `world` is what it looks at."""

    def __init__(self, address: str, *, world: TrayTwin | None = None) -> None:
        super().__init__()
        self.world = world if world is not None else TrayTwin()
        self.optics = parse_optics(address)
        self._chance = np.random.default_rng(self.optics.seed)
        self._drift = 0.0
        self._noise = self._noise_field()
        self._drawn: tuple[View, Picture] | None = None

    def frame(self) -> Picture:
        """Take a picture of the tray as it is now; raises CameraUnpluggedError while the cable is out."""
        self._require_open()
        view = self.world.view
        if view.unplugged:
            raise CameraUnpluggedError("the camera's cable is out")
        if view.dark:
            return np.zeros((self.optics.height, self.optics.width, 3), dtype=np.uint8)
        return self._expose(self._still(view))

    def _still(self, view: View) -> Picture:
        """Give the picture without noise; it is drawn anew only when something has changed."""
        if self._drawn is None or self._drawn[0] != view:
            size = (self.optics.width, self.optics.height)
            scene = draw_scene(view, self.optics.seed)
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
        lit = cv2.convertScaleAbs(still, alpha=1 + self._drift)
        return np.asarray(cv2.add(lit, noise, dtype=cv2.CV_8U), dtype=np.uint8)

    def _noise_field(self) -> np.typing.NDArray[np.int16]:
        """Draw noise once, larger than a frame: frames cut it out at other corners, which is cheap."""
        shape = (self.optics.height + 64, self.optics.width + 64, 3)
        return np.asarray(np.round(self._chance.normal(0, self.optics.noise, shape)), dtype=np.int16)


def _to_pixels(optics: Optics) -> Homography:
    """Map the scene's pixels to the camera's: a pinhole tilted about the tray's long axis."""
    angle = np.radians(optics.tilt)
    focal = _DISTANCE * min(optics.width / (TRAY[0] * 1.06), optics.height / (TRAY[1] * 1.1))
    lens = np.array([[focal, 0, optics.width / 2], [0, focal, optics.height / 2], [0, 0, 1]])
    pose = np.array([[1, 0, 0], [0, np.cos(angle), 0], [0, -np.sin(angle), _DISTANCE]])
    centred = np.array([[1 / SCALE, 0, -TABLE[0] / 2], [0, 1 / SCALE, -TABLE[1] / 2], [0, 0, 1]])
    return np.asarray(lens @ pose @ centred, dtype=np.float64)
