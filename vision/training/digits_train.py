"""The network that reads printed numbers, and how it is trained.

`python -m vision.training.digits_train --out FILE`: draw crops, train, write the network as ONNX. The network: a trunk,
then one look for each sign, then what the sign is.
"""

import argparse
import multiprocessing
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from vision.marks.digits import KINDS, NUMBER, SEEN_SIGNS, UPSIDE_DOWN, prepare_crops
from vision.training.crops import Crop, draw_crops
from vision.training.export import export_onnx

SIGNS = 4  # letter, three digits
LETTERS = 27  # A to Z, none
_WIDE = 96


def conv(before: int, after: int, size: int = 3, step: int | tuple[int, int] = 1) -> nn.Sequential:
    """Return a convolution with its normalisation."""
    return nn.Sequential(
        nn.Conv2d(before, after, size, step, size // 2, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True)
    )


class Twice(nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
    """Two convolutions and a way past them."""

    def __init__(self, wide: int) -> None:
        super().__init__()
        self.first = conv(wide, wide)
        self.second = nn.Sequential(nn.Conv2d(wide, wide, 3, 1, 1, bias=False), nn.BatchNorm2d(wide))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return what comes of both ways."""
        return torch.relu(x + self.second(self.first(x)))


class DigitsNet(nn.Module):  # type: ignore[misc]  # as above
    """From crops, shape (n, 3, 112, 80), to raw scores: kind (n, 5), way up (n, 2), letter (n, 27), signs (n, 48).

    `where`, shape (n, 4, 140), is how the four looks spread over the 14 by 10 cells of the crop.
    """

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            conv(3, 24, 5, 2),
            conv(24, 32, 3, 2),
            Twice(32),
            conv(32, 64, 3, 2),
            Twice(64),
            Twice(64),
            conv(64, _WIDE),
        )
        self.look = nn.Conv2d(_WIDE, SIGNS, 1)
        self.whole = nn.Sequential(conv(_WIDE, 48, 3, 2), nn.Flatten(), nn.Linear(48 * 35, 64), nn.ReLU(inplace=True))
        self.answer = nn.Linear(64, KINDS + 2)
        self.letter = nn.Sequential(nn.Linear(_WIDE + 64, 96), nn.ReLU(inplace=True), nn.Linear(96, LETTERS))
        self.digit = nn.Sequential(nn.Linear(_WIDE + 64, 128), nn.ReLU(inplace=True), nn.Linear(128, SEEN_SIGNS))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return raw scores, and where each sign was looked for."""
        features = self.trunk(x)
        where = torch.softmax(self.look(features).reshape(-1, SIGNS, 140), dim=2)
        looked = torch.matmul(where, features.reshape(-1, _WIDE, 140).transpose(1, 2))
        whole = self.whole(features)
        signs = [torch.cat([looked[:, sign], whole], dim=1) for sign in range(SIGNS)]
        scores = [self.answer(whole), self.letter(signs[0]), *(self.digit(sign) for sign in signs[1:])]
        return torch.cat(scores, dim=1), where


SEED = 20
_CHUNK = 500
_BATCH = 128
_RATE = 2e-3

Drawn = dict[str, NDArray[Any]]


def _draw_chunk(seed: int) -> Drawn:
    cv2.setNumThreads(1)
    chance = np.random.default_rng([SEED, seed])
    crops: list[Crop] = []
    while len(crops) < _CHUNK:
        crops += draw_crops(chance)
    truths = [(crop.kind, crop.turned, crop.letter, *crop.digits) for crop in crops]
    return {
        "pixels": np.array([crop.pixels for crop in crops]),
        "truth": np.array(truths, dtype=np.int64),
        "spots": np.array([crop.spots for crop in crops], dtype=np.float32),
    }


def draw_all(count: int, processes: int, first: int = 0) -> Drawn:
    """Draw at least `count` crops in several processes; what comes does not depend on how many."""
    return draw_chunks(_draw_chunk, range(first, first + -(-count // _CHUNK)), processes)


def draw_chunks(draw: Callable[[int], Drawn], seeds: range, processes: int) -> Drawn:
    """Draw a chunk for each seed, in several processes."""
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        chunks = list(pool.imap(draw, seeds))
    return {key: np.concatenate([chunk[key] for chunk in chunks]) for key in chunks[0]}


def as_seen(drawn: Drawn) -> Drawn:
    """Say each truth as the crop shows it: from its left to its right, signs that stand upside down as such."""
    truth, spots = drawn["truth"].copy(), drawn["spots"].copy()
    down = truth[:, 1] == 1
    truth[down, 3:6] = UPSIDE_DOWN[truth[down, 3:6][:, ::-1]]
    spots[down, 1:4] = spots[down, 1:4][:, ::-1]
    return {"pixels": drawn["pixels"], "truth": truth, "spots": spots}


def _batches(drawn: Drawn, chance: np.random.Generator) -> list[NDArray[np.int64]]:
    order = chance.permutation(len(drawn["truth"]))
    return [order[at : at + _BATCH] for at in range(0, len(order) - _BATCH + 1, _BATCH)]


def _loss(scores: torch.Tensor, where: torch.Tensor, truth: torch.Tensor, spots: torch.Tensor) -> torch.Tensor:
    number = truth[:, 0] == NUMBER
    kind = functional.cross_entropy(scores[:, :KINDS], truth[:, 0])
    ways, letter, *signs = scores[number, KINDS:].split([2, LETTERS, SEEN_SIGNS, SEEN_SIGNS, SEEN_SIGNS], dim=1)
    where, truth, spots = where[number], truth[number], spots[number]
    total = kind + functional.cross_entropy(ways, truth[:, 1]) + 0.5 * functional.cross_entropy(letter, truth[:, 2])
    for place, sign in enumerate(signs):
        total = total + functional.cross_entropy(sign, truth[:, 3 + place])
    return total + 0.3 * _look_loss(where, spots)


def _look_loss(where: torch.Tensor, spots: torch.Tensor) -> torch.Tensor:
    """Return how far the looks are from the signs' places, which are known: where comes before what."""
    rows, cols = torch.meshgrid(torch.arange(14) * 8.0 + 4, torch.arange(10) * 8.0 + 4, indexing="ij")
    cells = torch.stack([cols, rows], dim=2).reshape(140, 2)
    there = ~torch.isnan(spots).any(dim=2)
    away = ((cells - torch.nan_to_num(spots)[:, :, None]) ** 2).sum(dim=3)
    wanted = torch.softmax(-away / (2 * 5.0**2), dim=2)
    cross = -(wanted * torch.log(where + 1e-6)).sum(dim=2)
    middle = (where[..., None] * cells).sum(dim=2)
    off = (middle - torch.nan_to_num(spots)).abs().sum(dim=2)
    return ((cross + 0.1 * off) * there).sum() / there.sum()


def train_digits(drawn: Drawn, epochs: int, out: Path) -> DigitsNet:
    """Train a network from crops; after each epoch it says how it goes and writes what there is."""
    torch.manual_seed(SEED)
    chance = np.random.default_rng(SEED)
    net = DigitsNet()
    steps = epochs * (len(drawn["truth"]) // _BATCH)
    optimiser = torch.optim.AdamW(net.parameters(), lr=_RATE, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=_RATE, total_steps=steps + 1, pct_start=0.15)
    for epoch in range(epochs):
        began, losses = time.perf_counter(), list[float]()
        net.train().to(memory_format=torch.channels_last)
        for chosen in _batches(drawn, chance):
            crops, places = _jolted(drawn["pixels"][chosen], drawn["spots"][chosen], chance)
            pixels = torch.from_numpy(prepare_crops(_recolour(crops, chance)))
            with torch.autocast("cpu", dtype=torch.bfloat16):
                scores, where = net(pixels.to(memory_format=torch.channels_last))
            truth, spots = torch.from_numpy(drawn["truth"][chosen]), torch.from_numpy(places)
            loss = _loss(scores.float(), where.float(), truth, spots)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: loss {np.mean(losses[-50:]):.3f}, {time.perf_counter() - began:.0f} s", flush=True)
        export_onnx(net.eval(), torch.zeros(1, 3, 112, 80), ("scores", "where"), (0,), out)
    return net


def _jolted(
    pixels: NDArray[np.uint8], spots: NDArray[np.float32], chance: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Move, turn and stretch crops a little, each by chance, and their signs' places with them."""
    jolted, places = np.empty_like(pixels), np.empty_like(spots)
    size = np.array([pixels.shape[2], pixels.shape[1]])
    for number, (crop, spot) in enumerate(zip(pixels, spots, strict=True)):
        angle, stretch, shift = chance.normal(0, 0.025), chance.normal(1, 0.025, 2), chance.normal(0, 0.015, 2) * size
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) * stretch
        way = np.column_stack([turn, size / 2 + shift - turn @ (size / 2)])
        jolted[number] = cv2.warpAffine(crop, way, tuple(size.tolist()), borderMode=cv2.BORDER_REPLICATE)
        places[number] = spot @ way[:, :2].T + way[:, 2]
    return jolted, places


def _recolour(pixels: NDArray[np.uint8], chance: np.random.Generator) -> NDArray[np.uint8]:
    """Swap channels and turn dark to light by chance: an epoch shows no crop the same way twice."""
    pixels = pixels[:, :, :, chance.permutation(3)]
    return 255 - pixels if chance.random() < 0.3 else pixels


def _main() -> None:
    """Read the options, draw, train, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--crops", type=int, default=180_000)
    parser.add_argument("--epochs", type=int, default=7)
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    began = time.perf_counter()
    drawn = as_seen(draw_all(chosen.crops, chosen.processes))
    print(f"{len(drawn['truth'])} crops drawn in {time.perf_counter() - began:.0f} s", flush=True)
    torch.set_num_threads(2)
    train_digits(drawn, chosen.epochs, chosen.out)
    print(f"written after {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    _main()
