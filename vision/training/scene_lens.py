"""What a camera makes of a lit scene: blur, motion, noise, clipping, sharpening, JPEG."""

import cv2
import numpy as np

from vision.geometry import Picture
from vision.training.scene_light import Field


def photograph(rng: np.random.Generator, lit: Field) -> Picture:
    """Take a picture of a lit scene, BGR uint8 of the same size."""
    seen = _vignette(rng, _motion(rng, _defocus(rng, lit)))
    noise = rng.choice([0.5, 2.5, 7.0], p=[0.5, 0.35, 0.15]) * rng.random()
    noisy = seen + rng.standard_normal(seen.shape, dtype=np.float32) * np.float32(noise)
    told = 255 * np.clip(noisy / 255, 0, 1) ** np.float32(rng.uniform(0.75, 1.35))
    if rng.random() < 0.3:
        told = told + np.float32(rng.uniform(0.2, 1.0)) * (told - cv2.GaussianBlur(told, (0, 0), 1.0))
    return _jpeg(rng, np.clip(told, 0, 255).astype(np.uint8))


def _defocus(rng: np.random.Generator, lit: Field) -> Field:
    """Blur; often more towards one end of the picture, as a tilted camera does."""
    sigma = float(rng.choice([0.3, rng.uniform(0.3, 1), rng.uniform(0.6, 3.5)], p=[0.35, 0.4, 0.25]))
    soft = cv2.GaussianBlur(lit, (0, 0), sigma)
    if sigma < 0.8 or rng.random() < 0.4:
        return np.asarray(soft, dtype=np.float32)
    ramp = np.linspace(rng.uniform(0, 1), rng.uniform(0, 1), lit.shape[0], dtype=np.float32)[:, None, None]
    return np.asarray(lit * (1 - ramp) + soft * ramp, dtype=np.float32)


def _motion(rng: np.random.Generator, lit: Field) -> Field:
    if rng.random() < 0.65:
        return lit
    length = int(rng.integers(2, 5))
    kernel = np.zeros((2 * length + 1, 2 * length + 1), np.float32)
    angle = rng.uniform(0, np.pi)
    half = length * np.array([np.cos(angle), np.sin(angle)]) / 2
    middle = np.array([length, length])
    cv2.line(kernel, np.round(middle - half).astype(int).tolist(), np.round(middle + half).astype(int).tolist(), 1.0)
    return np.asarray(cv2.filter2D(lit, -1, kernel / kernel.sum()), dtype=np.float32)


def _vignette(rng: np.random.Generator, seen: Field) -> Field:
    height, width = seen.shape[:2]
    down = np.linspace(-1, 1, height, dtype=np.float32)[:, None] - np.float32(rng.uniform(-1, 1))
    across = np.linspace(-1, 1, width, dtype=np.float32)[None, :] - np.float32(rng.uniform(-1, 1))
    fall = 1 - np.float32(rng.uniform(0, 0.12)) * (down**2 + across**2)
    return np.asarray(seen * fall[:, :, None], dtype=np.float32)


def _jpeg(rng: np.random.Generator, seen: Picture) -> Picture:
    # The real picture was compressed at a larger size: what is left of that after shrinking is slight.
    if rng.random() < 0.6:
        return seen
    _, packed = cv2.imencode(".jpg", seen, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(55, 96))])
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), dtype=np.uint8)
