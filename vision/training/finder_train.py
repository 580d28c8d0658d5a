"""The finder's two networks, and how they are trained.

`python -m vision.training.finder_train --out vision/models/finder.onnx`: draw scenes, train the finder, write it. The
first network is a small U-shaped convolutional net, a quarter of the picture's size at its end; the second looks
closely at cut-outs. Scenes are drawn ahead in a process of their own, in the order of their seeds.
"""

import argparse
import time
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from vision.finder import CLOSEUP_SIDE
from vision.training.export import export_onnx
from vision.training.finder_examples import CloseupCrop, finder_targets, random_crop, recoloured, view_of_scene
from vision.training.scene import SIZE, Scene, draw_scene

CHANNELS = 12  # back core, face core, hand, centre (2), log frame (3), four times and two times its angle (4)


def layer(inputs: int, outputs: int, stride: int = 1, spread: int = 1) -> nn.Sequential:
    """Return a 3 x 3 convolution with its normalisation."""
    convolution = nn.Conv2d(inputs, outputs, 3, stride, spread, dilation=spread, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class Residual(nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
    """Two layers that add to what they are given."""

    def __init__(self, width: int, spread: int = 1) -> None:
        super().__init__()
        self.first = layer(width, width, spread=spread)
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x: Tensor) -> Tensor:
        """Map a tensor to one of the same shape."""
        return torch.relu(x + self.second(self.first(x)))


class FinderNet(nn.Module):  # type: ignore[misc]  # as above
    """From BGR, shape (n, 3, h, w), about -1..1, to maps, shape (n, 12, h / 4, w / 4); h and w multiples of 16."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = layer(3, 16, 2)
        self.quarter = nn.Sequential(layer(16, 32, 2), layer(32, 32))
        self.eighth = nn.Sequential(layer(32, 48, 2), Residual(48))
        self.sixteenth = nn.Sequential(layer(48, 64, 2), Residual(64, 2), Residual(64, 4))
        self.from_sixteenth = nn.Conv2d(64, 48, 1)
        self.join_eighth = Residual(48)
        self.from_eighth = nn.Conv2d(48, 32, 1)
        self.join_quarter = layer(32, 48)
        self.end = nn.Conv2d(48, CHANNELS, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Return the maps; the first three channels are logits."""
        quarter = self.quarter(self.stem(x))
        eighth = self.eighth(quarter)
        deep = self.from_sixteenth(self.sixteenth(eighth))
        eighth = self.join_eighth(eighth + _double(deep))
        return self.end(self.join_quarter(quarter + _double(self.from_eighth(eighth))))


def _double(x: Tensor) -> Tensor:
    return nn.functional.interpolate(x, scale_factor=2.0, mode="nearest")


_SCENES, _CROPS = 16, 12  # of a batch; crops of each scene


class CloseupNet(nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
    """From cut-outs, shape (n, 3, 48, 48), to answers, shape (n, 11): eight steps of corners, three logits."""

    def __init__(self) -> None:
        super().__init__()
        self.see = nn.Sequential(layer(3, 16, 2), layer(16, 32, 2), layer(32, 64, 2), layer(64, 64))
        self.gather = nn.Sequential(nn.Conv2d(64, 32, 1), nn.ReLU(inplace=True), nn.Flatten())
        cells = (CLOSEUP_SIDE // 8) ** 2
        self.tell = nn.Sequential(nn.Linear(32 * cells, 96), nn.ReLU(inplace=True), nn.Linear(96, 11))

    def forward(self, x: Tensor) -> Tensor:
        """Return the answers."""
        return self.tell(self.gather(self.see(x)))


def train_closeup(scenes: list[Scene], steps: int, seed: int) -> CloseupNet:
    """Train the network from nothing."""
    torch.manual_seed(seed)
    net = CloseupNet()
    net.to(memory_format=torch.channels_last).train()
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, steps, pct_start=0.1)
    sums = np.zeros(2)
    for step, crops in enumerate(_closeup_batches(scenes, steps, np.random.default_rng(seed)), 1):
        pictures = np.stack([crop.picture for crop in crops]).transpose(0, 3, 1, 2) / np.float32(128) - 1
        with torch.autocast("cpu", dtype=torch.bfloat16):
            answer = net(torch.from_numpy(pictures).contiguous(memory_format=torch.channels_last))
        corners, flags = _closeup_losses(answer.float(), crops)
        optimiser.zero_grad()
        (10 * corners + flags).backward()
        optimiser.step()
        schedule.step()
        sums += [corners.item(), flags.item()]
        if step % 200 == 0:
            print(f"closeup step {step}: corners {sums[0] / 200:.4f}, flags {sums[1] / 200:.4f}", flush=True)
            sums[:] = 0
    net.eval()
    return net


def _closeup_batches(scenes: list[Scene], steps: int, rng: np.random.Generator) -> Iterator[list[CloseupCrop]]:
    for _ in range(steps):
        chosen = [recoloured(scenes[int(k)], rng) for k in rng.integers(0, len(scenes), _SCENES)]
        yield [random_crop(rng, scene) for scene in chosen for _ in range(_CROPS)]


def _closeup_losses(answer: Tensor, crops: list[CloseupCrop]) -> tuple[Tensor, Tensor]:
    corners, flags, weights = (
        torch.from_numpy(np.stack(part))
        for part in zip(*((crop.corners, crop.flags, crop.weights) for crop in crops), strict=True)
    )
    away = functional.smooth_l1_loss(answer[:, :8], corners, reduction="none", beta=0.05).mean(dim=1)
    is_tile = weights[:, 1]
    off = (away * is_tile).sum() / is_tile.sum().clamp(min=1)
    each = functional.binary_cross_entropy_with_logits(answer[:, 8:], flags, reduction="none") * weights
    return off, each.sum() / weights.sum().clamp(min=1)


_NEW, _AGAIN = 2, 6  # scenes of a batch: drawing and learning then take about the same time
_KEPT = 3000  # scenes for seeing again
_REPORTED_EVERY = 100  # steps between two lines

Batch = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


def train_finder(drawn: Iterator[Scene], steps: int, seed: int) -> tuple[FinderNet, list[Scene]]:
    """Train a network from nothing; return it and the last scenes that it learnt from."""
    torch.manual_seed(seed)
    net = FinderNet()
    net.to(memory_format=torch.channels_last).train()
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, steps, pct_start=0.1)
    past: deque[Scene] = deque(maxlen=_KEPT)
    began, sums = time.monotonic(), np.zeros(2)
    for step, batch in enumerate(_ahead(_finder_batches(drawn, past, steps, np.random.default_rng(seed))), 1):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            answer = net(batch[0].contiguous(memory_format=torch.channels_last))
        maps, frames = _finder_losses(answer.float(), batch)
        optimiser.zero_grad()
        (20 * maps + frames).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        schedule.step()
        sums += [maps.item() / _REPORTED_EVERY, frames.item() / _REPORTED_EVERY]
        if step % _REPORTED_EVERY == 0:
            spent = time.monotonic() - began
            print(f"step {step}: maps {sums[0]:.4f}, frames {sums[1]:.3f}, {spent:.0f} s", flush=True)
            sums[:] = 0
    net.eval()
    return net, list(past)


def _finder_batches(
    drawn: Iterator[Scene], past: deque[Scene], steps: int, rng: np.random.Generator
) -> Iterator[Batch]:
    """Return batches of new scenes and of some seen before, each in a view of its own, all lying or all standing."""
    for _ in range(steps):
        new = [next(drawn) for _ in range(_NEW)]
        past.extend(new)
        chosen = new + [past[int(k)] for k in rng.integers(0, len(past), _AGAIN)]
        stands = bool(rng.random() < 0.5)
        yield _batch([view_of_scene(scene, rng, stands=stands) for scene in chosen])


def _ahead(source: Iterator[Batch]) -> Iterator[Batch]:
    """Make the next batch while the network learns from this one."""
    with ThreadPoolExecutor(1) as worker:
        coming = worker.submit(next, source, None)
        while (batch := coming.result()) is not None:
            coming = worker.submit(next, source, None)
            yield batch


def _batch(scenes: list[Scene]) -> Batch:
    told = [finder_targets(scene) for scene in scenes]
    pictures = np.stack([scene.picture for scene in scenes]).transpose(0, 3, 1, 2)
    return (
        _tensor(pictures / np.float32(128) - 1),
        _tensor(np.stack([t.logits for t in told])),
        _tensor(np.stack([t.logit_weights for t in told])),
        _tensor(np.stack([t.regressions for t in told])),
        _tensor(np.stack([t.regression_weights for t in told])),
    )


def _tensor(array: NDArray[np.generic]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32))


def _finder_losses(answer: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return how wrong the maps are, and how wrong the frames."""
    _, logits, logit_weights, regressions, weights = batch
    each = functional.binary_cross_entropy_with_logits(answer[:, :3], logits, reduction="none")
    maps = (each * logit_weights * (1 + 2 * logits)).mean()
    near = functional.smooth_l1_loss(answer[:, 3:8], regressions[:, :5], reduction="none", beta=0.05)
    turned = functional.smooth_l1_loss(answer[:, 8:], regressions[:, 5:], reduction="none", beta=0.3)
    # A centre that is off by a pixel is worse on a small tile.
    size = torch.exp((regressions[:, 2] + regressions[:, 4]) / 2)[:, None]
    parts = [1.5 * near[:, :2] / size, 1.5 * near[:, 2:], 1.5 * turned[:, :2], 0.75 * turned[:, 2:]]
    off = torch.cat(parts, dim=1)
    frames = (off.sum(dim=1) * weights).sum() / weights.sum().clamp(min=1)
    return maps, frames


_LOT = 16  # scenes handed over together
_AHEAD = 8  # lots drawn or being drawn beyond the one in use: they bound the memory


def stream_scenes(first: int, processes: int = 1) -> Generator[Scene]:
    """Return the scenes of the seeds `first`, `first` + 1, ... without end; closing it ends the processes."""
    with get_context("spawn").Pool(processes, initializer=_one_thread) as pool:
        lots = deque(pool.apply_async(_draw, (first + k * _LOT,)) for k in range(_AHEAD))
        following = first + _AHEAD * _LOT
        while True:
            lots.append(pool.apply_async(_draw, (following,)))
            following += _LOT
            yield from lots.popleft().get()


def _draw(first: int) -> list[Scene]:
    return [draw_scene(seed) for seed in range(first, first + _LOT)]


def _one_thread() -> None:
    cv2.setNumThreads(1)


_SEEDS = 1_000_000  # scenes that belong to one seed of the training


def _main() -> None:
    """Draw, train, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=3600, help="of the finder")
    parser.add_argument("--closeup-steps", type=int, default=2500)
    parser.add_argument("--seed", type=int, default=4)
    asked = parser.parse_args()
    torch.set_num_threads(1)  # the other core draws
    cv2.setNumThreads(1)
    began = time.monotonic()
    scenes = stream_scenes(_SEEDS * asked.seed)
    finder, kept = train_finder(scenes, asked.steps, asked.seed)
    scenes.close()
    export_onnx(finder, torch.zeros(1, 3, SIZE[1], SIZE[0]), ("answer",), (2, 3), asked.out)
    closeup = train_closeup(kept, asked.closeup_steps, asked.seed)
    export_onnx(
        closeup, torch.zeros(1, 3, CLOSEUP_SIDE, CLOSEUP_SIDE), ("answer",), (0,), asked.out.with_name("closeup.onnx")
    )
    print(f"written after {time.monotonic() - began:.0f} s: {asked.out} and closeup.onnx beside it")


if __name__ == "__main__":
    _main()
