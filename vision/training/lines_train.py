"""The network of the second reader of numbers, which reads any number of signs from left to right, and its training.

`python -m vision.training.lines_train --out FILE`: draw lines, train, and write the network as ONNX.
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

from vision.geometry import rotation_by
from vision.marks.lines import CLASSES, NOTHING_HERE, SIZE, prepare_lines
from vision.training.learning import (
    BATCH,
    Batch,
    Residual,
    Schedule,
    clean_up,
    conv,
    export_onnx,
    recolour,
    shuffled,
    train,
)
from vision.training.lines import CHUNK, MOST_SIGNS, SEED, draw_line_chunk
from vision.training.parallel import Drawn, cores, draw_chunks

COLUMNS = 26
_PLACED = 0.3  # weight of the loss for the known places: a sign must be located before it can be read
_WIDE = 96


class LinesNet(nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
    """From lines, shape (n, 3, 56, 104), to raw scores of 13 classes in 26 columns, shape (n, 26, 13)."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            conv(3, 16, 5, (2, 2)),
            conv(16, 32, 3, (2, 1)),
            conv(32, 48, 3, (2, 2)),
            Residual(48),
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


def _loss(output: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Return the CTC loss of the true signs, plus a loss for signs seen in other columns than their true places."""
    scores = output.float()
    _, signs, places = batch
    logs = functional.log_softmax(scores, dim=2)
    lengths = (signs != NOTHING_HERE).sum(dim=1)
    columns = torch.full((len(signs),), COLUMNS, device=signs.device)
    sequence = functional.ctc_loss(
        logs.transpose(0, 1), signs, columns, lengths, blank=NOTHING_HERE, reduction="none", zero_infinity=True
    ).mean()
    targets, counted = _column_targets(signs, places)
    columnwise = functional.cross_entropy(scores.transpose(1, 2), targets, reduction="none")
    return sequence + _PLACED * (columnwise * counted).sum() / counted.sum() * COLUMNS / 6


def _column_targets(signs: torch.Tensor, places: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return each column's class, and whether it counts: the columns next to a sign's own do not."""
    targets = torch.full((len(signs), COLUMNS), NOTHING_HERE, device=signs.device)
    counted = torch.ones(len(signs), COLUMNS, device=signs.device)
    known = ~torch.isnan(places)
    columns = (torch.nan_to_num(places) / SIZE[0] * COLUMNS).long().clamp(0, COLUMNS - 1)
    rows = torch.arange(len(signs), device=signs.device)
    for side in (-1, 1):
        for at in range(MOST_SIGNS):
            chosen = known[:, at]
            counted[rows[chosen], (columns[chosen, at] + side).clamp(0, COLUMNS - 1)] = 0
    for at in range(MOST_SIGNS):
        chosen = known[:, at]
        targets[rows[chosen], columns[chosen, at]] = signs[chosen, at]
        counted[rows[chosen], columns[chosen, at]] = 1
    return targets, counted


def _batch(drawn: Drawn, chosen: NDArray[np.int64], chance: np.random.Generator) -> Batch:
    lines, places = _augmented(drawn["pixels"][chosen], drawn["places"][chosen], chance)
    pixels = prepare_lines(recolour(lines, chance))
    return torch.from_numpy(pixels), torch.from_numpy(drawn["signs"][chosen]), torch.from_numpy(places)


def _augmented(
    pixels: NDArray[np.uint8], places: NDArray[np.float32], chance: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Shift, rotate and stretch each line slightly at random, and the places of its signs with it."""
    augmented, moved = np.empty_like(pixels), places.copy()
    size = np.array(SIZE, dtype=np.float64)
    for number, line in enumerate(pixels):
        angle, stretch, shift = chance.normal(0, 0.03), chance.normal(1, 0.04, 2), chance.normal(0, [1.5, 1.0])
        turn = rotation_by(angle) * stretch
        matrix = np.column_stack([turn, size / 2 + shift - turn @ (size / 2)])
        augmented[number] = cv2.warpAffine(line, matrix, SIZE, borderMode=cv2.BORDER_REPLICATE)
        moved[number] = (places[number] - size[0] / 2) * turn[0, 0] + size[0] / 2 + shift[0]
    return augmented, np.clip(moved, 0, size[0] - 1).astype(np.float32)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--lines", type=int, default=160_000)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--processes", type=int, default=cores(), help="that draw (default: %(default)s)")
    options = parser.parse_args()
    began = time.perf_counter()
    drawn = draw_chunks(draw_line_chunk, -(-options.lines // CHUNK), options.processes)
    print(f"{len(drawn['signs'])} lines drawn in {time.perf_counter() - began:.0f} s", flush=True)
    torch.manual_seed(SEED)
    net, steps = LinesNet(), options.epochs * (len(drawn["signs"]) // BATCH)
    schedule = Schedule(steps, rate=3e-3, warm=0.15, decay=1e-3, longest=5.0)
    jobs = shuffled(len(drawn["signs"]), options.epochs, SEED)
    train(net, jobs, lambda job: _batch(drawn, *job), _loss, schedule, options.out)
    export_onnx(net, torch.zeros(1, 3, SIZE[1], SIZE[0]), ("scores",), (0,), options.out)
    clean_up(options.out)
    print(f"written after {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    _main()
