"""The finder's two networks, and their training.

`python -m vision.training.finder_train --out vision/models/finder.onnx`: draw scenes, train the finder, and write it.
The first network is a small U-shaped convolutional network whose output has a quarter of the picture's size. The second
looks closely at cut-outs. Scenes are drawn ahead in separate processes, in the order of their seeds.
"""

import argparse
import time
from collections import deque
from collections.abc import Generator, Iterator
from itertools import count
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from vision.finder import CLOSEUP_SIDE
from vision.training.finder_examples import finder_targets, random_crop, recoloured, view_of_scene
from vision.training.learning import DEVICE, Batch, Residual, Schedule, clean_up, conv, export_onnx, to_tensor, train
from vision.training.parallel import cores, drawing_pool, in_order
from vision.training.scene import SIZE, Scene, draw_scene

CHANNELS = 12  # back core, face core, hand, centre (2), log frame (3), four times and twice its angle (4)


class FinderNet(nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
    """From BGR, shape (n, 3, h, w), about -1..1, to maps, shape (n, 12, h / 4, w / 4); h and w multiples of 16."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = conv(3, 16, step=2)
        self.quarter = nn.Sequential(conv(16, 32, step=2), conv(32, 32))
        self.eighth = nn.Sequential(conv(32, 48, step=2), Residual(48))
        self.sixteenth = nn.Sequential(conv(48, 64, step=2), Residual(64, 2), Residual(64, 4))
        self.from_sixteenth = nn.Conv2d(64, 48, 1)
        self.join_eighth = Residual(48)
        self.from_eighth = nn.Conv2d(48, 32, 1)
        self.join_quarter = conv(32, 48)
        self.end = nn.Conv2d(48, CHANNELS, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Return the maps; the first three channels are logits."""
        quarter = self.quarter(self.stem(x))
        eighth = self.eighth(quarter)
        deep = self.from_sixteenth(self.sixteenth(eighth))
        eighth = self.join_eighth(eighth + _upsample(deep))
        return self.end(self.join_quarter(quarter + _upsample(self.from_eighth(eighth))))


def _upsample(x: Tensor) -> Tensor:
    return nn.functional.interpolate(x, scale_factor=2.0, mode="nearest")


_SCENES, _CROPS = 16, 12  # scenes per batch; crops per scene


class CloseupNet(nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
    """From cut-outs, shape (n, 3, 48, 48), to outputs, shape (n, 11): eight offsets of corners and three logits."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(conv(3, 16, step=2), conv(16, 32, step=2), conv(32, 64, step=2), conv(64, 64))
        self.reduce = nn.Sequential(nn.Conv2d(64, 32, 1), nn.ReLU(inplace=True), nn.Flatten())
        cells = (CLOSEUP_SIDE // 8) ** 2
        self.head = nn.Sequential(nn.Linear(32 * cells, 96), nn.ReLU(inplace=True), nn.Linear(96, 11))

    def forward(self, x: Tensor) -> Tensor:
        """Return the outputs."""
        return self.head(self.reduce(self.trunk(x)))


_Job = tuple[list[Scene], np.random.Generator]


def train_closeup(scenes: list[Scene], steps: int, seed: int, out: Path) -> CloseupNet:
    """Train the network from scratch, or resume an interrupted training."""
    torch.manual_seed(seed)
    net = CloseupNet()
    schedule = Schedule(steps, rate=3e-3, warm=0.1, decay=1e-2)
    train(net, _closeup_jobs(scenes, steps, seed), _closeup_batch, _closeup_loss, schedule, out)
    return net


def _closeup_jobs(scenes: list[Scene], steps: int, seed: int) -> Iterator[_Job]:
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        yield [scenes[int(k)] for k in rng.integers(0, len(scenes), _SCENES)], rng.spawn(1)[0]


def _closeup_batch(job: _Job) -> Batch:
    scenes, rng = job
    crops = [random_crop(rng, scene) for scene in (recoloured(one, rng) for one in scenes) for _ in range(_CROPS)]
    pictures = np.stack([crop.picture for crop in crops]).transpose(0, 3, 1, 2) / np.float32(128) - 1
    truths = zip(*((crop.corners, crop.flags, crop.weights) for crop in crops), strict=True)
    return to_tensor(pictures), *(to_tensor(np.stack(truth)) for truth in truths)


def _closeup_loss(output: Tensor, batch: Batch) -> Tensor:
    _, corners, flags, weights = batch
    output = output.float()
    away = functional.smooth_l1_loss(output[:, :8], corners, reduction="none", beta=0.05).mean(dim=1)
    is_tile = weights[:, 1]
    off = (away * is_tile).sum() / is_tile.sum().clamp(min=1)
    each = functional.binary_cross_entropy_with_logits(output[:, 8:], flags, reduction="none") * weights
    return 10 * off + each.sum() / weights.sum().clamp(min=1)


_NEW, _REPEATED = 2, 6  # new and repeated scenes per batch, so that drawing keeps up with training
_MOST_PAST = 3000  # scenes to repeat


def train_finder(drawn: Iterator[Scene], steps: int, seed: int, out: Path) -> tuple[FinderNet, list[Scene]]:
    """Train a network from scratch, or resume an interrupted training; return it and the last scenes used."""
    torch.manual_seed(seed)
    net = FinderNet()
    past: deque[Scene] = deque(maxlen=_MOST_PAST)
    schedule = Schedule(steps, rate=3e-3, warm=0.1, decay=1e-2, longest=5.0)
    train(net, _finder_jobs(drawn, past, steps, seed), _finder_batch, _finder_loss, schedule, out)
    return net, list(past)


def _finder_jobs(drawn: Iterator[Scene], past: deque[Scene], steps: int, seed: int) -> Iterator[_Job]:
    """Yield new scenes and some previous ones for each batch."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        new = [next(drawn) for _ in range(_NEW)]
        past.extend(new)
        yield new + [past[int(k)] for k in rng.integers(0, len(past), _REPEATED)], rng.spawn(1)[0]


def _finder_batch(job: _Job) -> Batch:
    """Return a batch with a random view of each scene, all in landscape or all in portrait format."""
    scenes, rng = job
    portrait = bool(rng.random() < 0.5)
    seen = [view_of_scene(scene, rng, portrait=portrait) for scene in scenes]
    targets = [finder_targets(scene) for scene in seen]
    pictures = np.stack([scene.picture for scene in seen]).transpose(0, 3, 1, 2)
    truths = ([t.logits, t.logit_weights, t.regressions, t.regression_weights] for t in targets)
    return to_tensor(pictures / np.float32(128) - 1), *(
        to_tensor(np.stack(truth)) for truth in zip(*truths, strict=True)
    )


def _finder_loss(output: Tensor, batch: Batch) -> Tensor:
    """Return the loss of the maps and the frames together."""
    _, logits, logit_weights, regressions, weights = batch
    output = output.float()
    each = functional.binary_cross_entropy_with_logits(output[:, :3], logits, reduction="none")
    maps = (each * logit_weights * (1 + 2 * logits)).mean()
    similar_colour = functional.smooth_l1_loss(output[:, 3:8], regressions[:, :5], reduction="none", beta=0.05)
    turned = functional.smooth_l1_loss(output[:, 8:], regressions[:, 5:], reduction="none", beta=0.3)
    # An error of a pixel in the centre is worse for a small tile.
    size = torch.exp((regressions[:, 2] + regressions[:, 4]) / 2)[:, None]
    parts = [1.5 * similar_colour[:, :2] / size, 1.5 * similar_colour[:, 2:], 1.5 * turned[:, :2], 0.75 * turned[:, 2:]]
    off = torch.cat(parts, dim=1)
    frames = (off.sum(dim=1) * weights).sum() / weights.sum().clamp(min=1)
    return 20 * maps + frames


_LOT = 16  # scenes per job


def stream_scenes(first: int, processes: int) -> Generator[Scene]:
    """Yield the scenes of the seeds `first`, `first` + 1, ... without end; closing the generator ends the processes."""
    with drawing_pool(processes) as pool:
        for lot in in_order(pool, draw_scenes, count(first, _LOT), 2 * processes + 6):
            yield from lot


def draw_scenes(first: int) -> list[Scene]:
    """Draw the scenes of one job."""
    return [draw_scene(seed) for seed in range(first, first + _LOT)]


_SEEDS = 1_000_000  # scene seeds reserved for each seed of the training


def _main() -> None:
    """Draw scenes, and train and write both networks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=5500, help="of the finder (default: %(default)s)")
    parser.add_argument("--closeup-steps", type=int, default=6000, help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, default=4)
    drawing = cores() if DEVICE == "cuda" else max(1, cores() // 2)  # it takes a quarter of the time of learning
    parser.add_argument("--processes", type=int, default=drawing, help="that draw (default: %(default)s)")
    options = parser.parse_args()
    torch.set_num_threads(cores())
    began = time.monotonic()
    scenes = stream_scenes(_SEEDS * options.seed, options.processes)
    finder, past = train_finder(scenes, options.steps, options.seed, options.out)
    scenes.close()
    export_onnx(finder, torch.zeros(1, 3, SIZE[1], SIZE[0]), ("answer",), (2, 3), options.out)
    beside = options.out.with_name("closeup.onnx")
    closeup = train_closeup(past, options.closeup_steps, options.seed, beside)
    export_onnx(closeup, torch.zeros(1, 3, CLOSEUP_SIDE, CLOSEUP_SIDE), ("answer",), (0,), beside)
    clean_up(options.out, beside)
    print(f"written after {time.monotonic() - began:.0f} s: {options.out} and closeup.onnx beside it")


if __name__ == "__main__":
    _main()
