"""The same scene seen otherwise: mirrored, turned, in other colours and another light. Its truth goes with it."""

from dataclasses import replace

import cv2
import numpy as np

from vision.geometry import Picture
from vision.training.scene import Scene

_NONE = np.zeros((0, 4, 2), np.float32)  # decoys: only cut-outs ask for them, and those are not mirrored


def view(scene: Scene, rng: np.random.Generator, *, stands: bool) -> Scene:
    """See a scene anew; `stands` says whether rows become columns."""
    if stands:
        scene = _transposed(scene)
    if rng.random() < 0.5:
        scene = _mirrored(scene)
    if rng.random() < 0.5:
        scene = _transposed(_mirrored(_transposed(scene)))
    return recoloured(scene, rng)


def _transposed(scene: Scene) -> Scene:
    return _reordered(scene, scene.picture.transpose(1, 0, 2), scene.quads[:, :, ::-1], [m.T for m in _maps(scene)])


def _mirrored(scene: Scene) -> Scene:
    quads = scene.quads.copy()
    quads[:, :, 0] = scene.picture.shape[1] - quads[:, :, 0]
    return _reordered(scene, scene.picture[:, ::-1], quads, [m[:, ::-1] for m in _maps(scene)])


def _maps(scene: Scene) -> list[Picture]:
    return [scene.cores, scene.unsure, scene.hands]


def _reordered(scene: Scene, picture: Picture, quads: np.ndarray, maps: list[Picture]) -> Scene:
    # In a mirror the corners run backwards: 1, 0, 3, 2 is clockwise again, and 0-1 is still a short end.
    cores, unsure, hands = maps
    quads = quads[:, [1, 0, 3, 2]]
    return replace(scene, picture=picture, quads=quads, cores=cores, unsure=unsure, hands=hands, decoys=_NONE)


def recoloured(scene: Scene, rng: np.random.Generator) -> Scene:
    """Exchange channels, weigh them, bend the curve: a table through 256 values a channel."""
    picture = scene.picture
    if rng.random() < 0.5:
        picture = picture[:, :, rng.permutation(3)]
    levels = np.linspace(0, 1, 256)
    gains = np.exp(rng.normal(0, 0.12, 3) + rng.normal(0, 0.25))
    curves = [255 * np.clip(gain * levels ** np.exp(rng.normal(0, 0.15)), 0, 1) for gain in gains]
    table = np.stack(curves, axis=1).astype(np.uint8)[None]
    return replace(scene, picture=np.asarray(cv2.LUT(np.ascontiguousarray(picture), table), dtype=np.uint8))
