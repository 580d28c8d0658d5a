"""The second reader of numbers, and how it is trained: signs from left to right, however many there are.

`python -m vision.training.lines_train --out FILE`: draw lines, train, write the network as ONNX.
"""

import argparse
import time
from pathlib import Path

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from vision.marks.lines import CLASSES, NOTHING_HERE, SIZE, prepare_lines
from vision.training.digits_train import Drawn, Twice, conv, draw_chunks
from vision.training.export import export_onnx
from vision.training.lines import MOST_SIGNS, Line, draw_lines

SEED = 40
COLUMNS = 26
_CHUNK = 400
_BATCH = 128
_RATE = 3e-3
_PLACED = 0.3  # weight of where signs stand, which is known: where comes before what
_WIDE = 96


class LinesNet(nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
    """From lines, shape (n, 3, 56, 104), to raw scores of 13 classes in 26 columns, shape (n, 26, 13)."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            conv(3, 16, 5, (2, 2)),
            conv(16, 32, 3, (2, 1)),
            conv(32, 48, 3, (2, 2)),
            Twice(48),
            conv(48, 64, 3, (2, 1)),
            nn.Conv2d(64, _WIDE, (4, 1), bias=False),
            nn.BatchNorm2d(_WIDE),
            nn.ReLU(inplace=True),
        )
        self.along = nn.Sequential(
            nn.Conv1d(_WIDE, _WIDE, 5, padding=2),
            nn.ReLU(inplace=True),
            nn.Conv1d(_WIDE, _WIDE, 5, padding=2),
            nn.ReLU(inplace=True),
        )
        self.answer = nn.Conv1d(_WIDE, CLASSES, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return raw scores."""
        return self.answer(self.along(self.trunk(x).squeeze(2))).transpose(1, 2)


def _draw_chunk(seed: int) -> Drawn:
    cv2.setNumThreads(1)
    chance = np.random.default_rng([SEED, seed])
    lines: list[Line] = []
    while len(lines) < _CHUNK:
        lines += draw_lines(chance)
    signs = np.full((len(lines), MOST_SIGNS), NOTHING_HERE, dtype=np.int64)
    places = np.full((len(lines), MOST_SIGNS), np.nan, dtype=np.float32)
    for number, line in enumerate(lines):
        signs[number, : len(line.signs)] = line.signs
        places[number, : len(line.places)] = line.places
    return {"pixels": np.array([line.pixels for line in lines]), "signs": signs, "places": places}


def draw_all(count: int, processes: int, first: int = 0) -> Drawn:
    """Draw at least `count` lines in several processes; what comes does not depend on how many."""
    return draw_chunks(_draw_chunk, range(first, first + -(-count // _CHUNK)), processes)


def _loss(scores: torch.Tensor, signs: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Return how unlikely the true signs are over all ways to see them, and how far they are seen from their places."""
    logs = functional.log_softmax(scores, dim=2)
    lengths = (signs != NOTHING_HERE).sum(dim=1)
    columns = torch.full((len(signs),), COLUMNS)
    sequence = functional.ctc_loss(
        logs.transpose(0, 1), signs, columns, lengths, blank=NOTHING_HERE, reduction="none", zero_infinity=True
    ).mean()
    wanted, counted = _wanted(signs, places)
    columnwise = functional.cross_entropy(scores.transpose(1, 2), wanted, reduction="none")
    return sequence + _PLACED * (columnwise * counted).sum() / counted.sum() * COLUMNS / 6


def _wanted(signs: torch.Tensor, places: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return each column's class, and whether it counts: those beside a sign's own column are free."""
    wanted = torch.full((len(signs), COLUMNS), NOTHING_HERE)
    counted = torch.ones(len(signs), COLUMNS)
    there = ~torch.isnan(places)
    columns = (torch.nan_to_num(places) / SIZE[0] * COLUMNS).long().clamp(0, COLUMNS - 1)
    rows = torch.arange(len(signs))
    for side in (-1, 1):
        for at in range(MOST_SIGNS):
            chosen = there[:, at]
            counted[rows[chosen], (columns[chosen, at] + side).clamp(0, COLUMNS - 1)] = 0
    for at in range(MOST_SIGNS):
        chosen = there[:, at]
        wanted[rows[chosen], columns[chosen, at]] = signs[chosen, at]
        counted[rows[chosen], columns[chosen, at]] = 1
    return wanted, counted


def train_lines(drawn: Drawn, epochs: int, out: Path) -> LinesNet:
    """Train a network from lines; after each epoch it says how it goes and writes what there is."""
    torch.manual_seed(SEED)
    chance = np.random.default_rng(SEED)
    net = LinesNet()
    steps = epochs * (len(drawn["signs"]) // _BATCH)
    optimiser = torch.optim.AdamW(net.parameters(), lr=_RATE, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=_RATE, total_steps=steps + 1, pct_start=0.15)
    for epoch in range(epochs):
        began, losses = time.perf_counter(), list[float]()
        net.train().to(memory_format=torch.channels_last)
        order = chance.permutation(len(drawn["signs"]))
        for at in range(0, len(order) - _BATCH + 1, _BATCH):
            chosen = order[at : at + _BATCH]
            lines, places = _jolted(drawn["pixels"][chosen], drawn["places"][chosen], chance)
            pixels = torch.from_numpy(prepare_lines(_recoloured(lines, chance)))
            with torch.autocast("cpu", dtype=torch.bfloat16):
                scores = net(pixels.to(memory_format=torch.channels_last))
            loss = _loss(scores.float(), torch.from_numpy(drawn["signs"][chosen]), torch.from_numpy(places))
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
        spent = f"{time.perf_counter() - began:.0f} s, {time.process_time():.0f} s computed in all"
        print(f"epoch {epoch}: loss {np.mean(losses[-100:]):.3f}, {spent}", flush=True)
        export_onnx(net.eval(), torch.zeros(1, 3, SIZE[1], SIZE[0]), ("scores",), (0,), out)
    return net


def _jolted(
    pixels: NDArray[np.uint8], places: NDArray[np.float32], chance: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Move, turn and stretch lines a little, each by chance, and their signs' places with them."""
    jolted, moved = np.empty_like(pixels), places.copy()
    size = np.array(SIZE, dtype=np.float64)
    for number, line in enumerate(pixels):
        angle, stretch, shift = chance.normal(0, 0.03), chance.normal(1, 0.04, 2), chance.normal(0, [1.5, 1.0])
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) * stretch
        way = np.column_stack([turn, size / 2 + shift - turn @ (size / 2)])
        jolted[number] = cv2.warpAffine(line, way, SIZE, borderMode=cv2.BORDER_REPLICATE)
        moved[number] = (places[number] - size[0] / 2) * turn[0, 0] + size[0] / 2 + shift[0]
    return jolted, np.clip(moved, 0, size[0] - 1).astype(np.float32)


def _recoloured(pixels: NDArray[np.uint8], chance: np.random.Generator) -> NDArray[np.uint8]:
    """Swap channels and turn dark to light by chance: an epoch shows no line the same way twice."""
    pixels = pixels[:, :, :, chance.permutation(3)]
    return np.ascontiguousarray(255 - pixels if chance.random() < 0.3 else pixels)


def drawn_or_kept(count: int, processes: int, kept: Path | None) -> Drawn:
    """Return what was drawn before, where it was kept in a file; else draw, and keep it there."""
    if kept is not None and kept.exists():
        return dict(np.load(kept))
    drawn = draw_all(count, processes)
    if kept is not None:
        np.savez(kept, pixels=drawn["pixels"], signs=drawn["signs"], places=drawn["places"])
    return drawn


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--processes", type=int, default=2, help="that draw (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="that train (default: %(default)s)")
    parser.add_argument("--keep", type=Path, help="a file (.npz) for what is drawn; taken from there if it exists")
    asked = parser.parse_args()
    began = time.perf_counter()
    drawn = drawn_or_kept(asked.lines, asked.processes, asked.keep)
    print(f"{len(drawn['signs'])} lines after {time.perf_counter() - began:.0f} s", flush=True)
    torch.set_num_threads(asked.threads)
    train_lines(drawn, asked.epochs, asked.out)
    print(
        f"written after {time.perf_counter() - began:.0f} s, {time.process_time():.0f} s of them computing", flush=True
    )


if __name__ == "__main__":
    _main()
