"""The closer look's network, and how it learns from cut-outs of drawn scenes."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from vision.finder.closeup import SIDE
from vision.training.finder_crops import Crop, random_crop
from vision.training.finder_net import layer
from vision.training.finder_views import recoloured
from vision.training.scene import Scene

_SCENES, _CROPS = 16, 12  # of a batch; crops of each scene


class CloseupNet(nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
    """From cut-outs, shape (n, 3, 48, 48), to answers, shape (n, 11): eight steps of corners, three logits."""

    def __init__(self) -> None:
        super().__init__()
        self.see = nn.Sequential(layer(3, 16, 2), layer(16, 32, 2), layer(32, 64, 2), layer(64, 64))
        self.gather = nn.Sequential(nn.Conv2d(64, 32, 1), nn.ReLU(inplace=True), nn.Flatten())
        cells = (SIDE // 8) ** 2
        self.tell = nn.Sequential(nn.Linear(32 * cells, 96), nn.ReLU(inplace=True), nn.Linear(96, 11))

    def forward(self, x: Tensor) -> Tensor:
        """Give the answers."""
        return self.tell(self.gather(self.see(x)))


def train_closeup(scenes: list[Scene], steps: int, seed: int) -> CloseupNet:
    """Train the network from nothing."""
    torch.manual_seed(seed)
    net = CloseupNet()
    net.to(memory_format=torch.channels_last).train()
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, steps, pct_start=0.1)
    sums = np.zeros(2)
    for step, crops in enumerate(_batches(scenes, steps, np.random.default_rng(seed)), 1):
        pictures = np.stack([crop.picture for crop in crops]).transpose(0, 3, 1, 2) / np.float32(128) - 1
        with torch.autocast("cpu", dtype=torch.bfloat16):
            answer = net(torch.from_numpy(pictures).contiguous(memory_format=torch.channels_last))
        corners, flags = _losses(answer.float(), crops)
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


def _batches(scenes: list[Scene], steps: int, rng: np.random.Generator) -> Iterator[list[Crop]]:
    for _ in range(steps):
        chosen = [recoloured(scenes[int(k)], rng) for k in rng.integers(0, len(scenes), _SCENES)]
        yield [random_crop(rng, scene) for scene in chosen for _ in range(_CROPS)]


def _losses(answer: Tensor, crops: list[Crop]) -> tuple[Tensor, Tensor]:
    corners, flags, weights = (
        torch.from_numpy(np.stack(part))
        for part in zip(*((crop.corners, crop.flags, crop.weights) for crop in crops), strict=True)
    )
    away = functional.smooth_l1_loss(answer[:, :8], corners, reduction="none", beta=0.05).mean(dim=1)
    is_tile = weights[:, 1]
    off = (away * is_tile).sum() / is_tile.sum().clamp(min=1)
    each = functional.binary_cross_entropy_with_logits(answer[:, 8:], flags, reduction="none") * weights
    return off, each.sum() / weights.sum().clamp(min=1)
