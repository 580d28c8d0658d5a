"""`python -m vision.training.digits_train --out FILE`: draw crops, train, write the network as ONNX.

Two cores take about an hour, and half an hour for `--crops 120000 --epochs 6`, which reads a little less
(vision/models/README.md). The same seed, fonts and packages give the same crops.
"""

import argparse
import multiprocessing
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from vision.marks.digits_net import prepare
from vision.marks.signs import KINDS, NUMBER, SEEN, UPSIDE_DOWN
from vision.training.crops import Crop, draw_crops
from vision.training.digits_net import LETTERS, DigitsNet
from vision.training.export import export

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
    """Draw `count` crops in several processes."""
    seeds = range(first, first + -(-count // _CHUNK))
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        chunks = list(pool.imap(_draw_chunk, seeds))
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
    ways, letter, *signs = scores[number, KINDS:].split([2, LETTERS, SEEN, SEEN, SEEN], dim=1)
    where, truth, spots = where[number], truth[number], spots[number]
    total = kind + functional.cross_entropy(ways, truth[:, 1]) + 0.5 * functional.cross_entropy(letter, truth[:, 2])
    for place, sign in enumerate(signs):
        total = total + functional.cross_entropy(sign, truth[:, 3 + place])
    return total + 0.3 * _look_loss(where, spots)


def _look_loss(where: torch.Tensor, spots: torch.Tensor) -> torch.Tensor:
    """Give how far the looks are from the signs' places, which are known: where comes before what."""
    rows, cols = torch.meshgrid(torch.arange(14) * 8.0 + 4, torch.arange(10) * 8.0 + 4, indexing="ij")
    cells = torch.stack([cols, rows], dim=2).reshape(140, 2)
    there = ~torch.isnan(spots).any(dim=2)
    away = ((cells - torch.nan_to_num(spots)[:, :, None]) ** 2).sum(dim=3)
    wanted = torch.softmax(-away / (2 * 5.0**2), dim=2)
    cross = -(wanted * torch.log(where + 1e-6)).sum(dim=2)
    middle = (where[..., None] * cells).sum(dim=2)
    off = (middle - torch.nan_to_num(spots)).abs().sum(dim=2)
    return ((cross + 0.1 * off) * there).sum() / there.sum()


def train(drawn: Drawn, epochs: int, out: Path) -> DigitsNet:
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
            pixels = torch.from_numpy(prepare(_recolour(crops, chance)))
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
        export(net.eval(), torch.zeros(1, 3, 112, 80), ("scores", "where"), (0,), out)
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


def main() -> None:
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
    train(drawn, chosen.epochs, chosen.out)
    print(f"written after {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
