"""How the finder's network learns from drawn scenes."""

import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from vision.training.finder_net import FinderNet
from vision.training.finder_targets import targets
from vision.training.finder_views import view
from vision.training.scene import Scene

_NEW, _AGAIN = 2, 6  # scenes of a batch: drawing and learning then take about the same time
_KEPT = 3000  # scenes for seeing again
_TOLD = 100  # steps between two lines

Batch = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


def train_finder(drawn: Iterator[Scene], steps: int, seed: int) -> tuple[FinderNet, list[Scene]]:
    """Train a network from nothing; give it and the last scenes that it learnt from."""
    torch.manual_seed(seed)
    net = FinderNet()
    net.to(memory_format=torch.channels_last).train()
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, steps, pct_start=0.1)
    past: deque[Scene] = deque(maxlen=_KEPT)
    began, sums = time.monotonic(), np.zeros(2)
    for step, batch in enumerate(_ahead(_batches(drawn, past, steps, np.random.default_rng(seed))), 1):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            answer = net(batch[0].contiguous(memory_format=torch.channels_last))
        maps, frames = _losses(answer.float(), batch)
        optimiser.zero_grad()
        (20 * maps + frames).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        schedule.step()
        sums += [maps.item() / _TOLD, frames.item() / _TOLD]
        if step % _TOLD == 0:
            spent = time.monotonic() - began
            print(f"step {step}: maps {sums[0]:.4f}, frames {sums[1]:.3f}, {spent:.0f} s", flush=True)
            sums[:] = 0
    net.eval()
    return net, list(past)


def _batches(drawn: Iterator[Scene], past: deque[Scene], steps: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Give batches of new scenes and of some seen before, each in a view of its own, all lying or all standing."""
    for _ in range(steps):
        new = [next(drawn) for _ in range(_NEW)]
        past.extend(new)
        chosen = new + [past[int(k)] for k in rng.integers(0, len(past), _AGAIN)]
        stands = bool(rng.random() < 0.5)
        yield _batch([view(scene, rng, stands=stands) for scene in chosen])


def _ahead(source: Iterator[Batch]) -> Iterator[Batch]:
    """Make the next batch while the network learns from this one."""
    with ThreadPoolExecutor(1) as worker:
        coming = worker.submit(next, source, None)
        while (batch := coming.result()) is not None:
            coming = worker.submit(next, source, None)
            yield batch


def _batch(scenes: list[Scene]) -> Batch:
    told = [targets(scene) for scene in scenes]
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


def _losses(answer: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
    """Give how wrong the maps are, and how wrong the frames."""
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
