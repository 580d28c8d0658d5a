"""The network that reads printed numbers, and its training.

`python -m vision.training.digits_train --out FILE`: draw crops, train, and write the network as ONNX. The network has a
trunk, then an attention map for each sign, then a classifier of each sign.
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
from vision.marks.digits import KINDS, NUMBER, SEEN_SIGNS, UPSIDE_DOWN, prepare_crops
from vision.training.crops import CHUNK, SEED, draw_crop_chunk
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
from vision.training.parallel import Drawn, cores, draw_chunks

SIGNS = 4  # letter, three digits
LETTERS = 27  # A to Z, none
_WIDE = 96


class DigitsNet(nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
    """From crops, shape (n, 3, 112, 80), to raw scores: kind (n, 5), way up (n, 2), letter (n, 27), signs (n, 48).

    `where`, shape (n, 4, 140), is the attention of letter and digits over the 14 by 10 cells of the crop.
    """

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            conv(3, 24, 5, 2),
            conv(24, 32, 3, 2),
            Residual(32),
            conv(32, 64, 3, 2),
            Residual(64),
            Residual(64),
            conv(64, _WIDE),
        )
        self.attention = nn.Conv2d(_WIDE, SIGNS, 1)
        self.whole = nn.Sequential(conv(_WIDE, 48, 3, 2), nn.Flatten(), nn.Linear(48 * 35, 64), nn.ReLU(inplace=True))
        self.answer = nn.Linear(64, KINDS + 2)
        self.letter = nn.Sequential(nn.Linear(_WIDE + 64, 96), nn.ReLU(inplace=True), nn.Linear(96, LETTERS))
        self.digit = nn.Sequential(nn.Linear(_WIDE + 64, 128), nn.ReLU(inplace=True), nn.Linear(128, SEEN_SIGNS))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return raw scores, and the attention map of each sign."""
        features = self.trunk(x)
        where = torch.softmax(self.attention(features).reshape(-1, SIGNS, 140), dim=2)
        attended = torch.matmul(where, features.reshape(-1, _WIDE, 140).transpose(1, 2))
        whole = self.whole(features)
        signs = [torch.cat([attended[:, sign], whole], dim=1) for sign in range(SIGNS)]
        scores = [self.answer(whole), self.letter(signs[0]), *(self.digit(sign) for sign in signs[1:])]
        return torch.cat(scores, dim=1), where


def as_they_appear(drawn: Drawn) -> Drawn:
    """Return the truth as it appears in the crops: signs from left to right, those upside down as such."""
    truth, spots = drawn["truth"].copy(), drawn["spots"].copy()
    upside_down = truth[:, 1] == 1
    truth[upside_down, 3:6] = UPSIDE_DOWN[truth[upside_down, 3:6][:, ::-1]]
    spots[upside_down, 1:4] = spots[upside_down, 1:4][:, ::-1]
    return {"pixels": drawn["pixels"], "truth": truth, "spots": spots}


def _loss(output: tuple[torch.Tensor, torch.Tensor], batch: Batch) -> torch.Tensor:
    scores, where = (part.float() for part in output)
    _, truth, spots = batch
    number = truth[:, 0] == NUMBER
    kind = functional.cross_entropy(scores[:, :KINDS], truth[:, 0])
    way_up, letter, *signs = scores[number, KINDS:].split([2, LETTERS, SEEN_SIGNS, SEEN_SIGNS, SEEN_SIGNS], dim=1)
    where, truth, spots = where[number], truth[number], spots[number]
    total = kind + functional.cross_entropy(way_up, truth[:, 1]) + 0.5 * functional.cross_entropy(letter, truth[:, 2])
    for place, sign in enumerate(signs):
        total = total + functional.cross_entropy(sign, truth[:, 3 + place])
    return total + 0.3 * _attention_loss(where, spots)


def _attention_loss(where: torch.Tensor, spots: torch.Tensor) -> torch.Tensor:
    """Return the loss of the attention maps, given the true places: a sign must be located before it can be read."""
    rows, cols = torch.meshgrid(*(torch.arange(n, device=where.device) * 8.0 + 4 for n in (14, 10)), indexing="ij")
    cells = torch.stack([cols, rows], dim=2).reshape(140, 2)
    known = ~torch.isnan(spots).any(dim=2)
    away = ((cells - torch.nan_to_num(spots)[:, :, None]) ** 2).sum(dim=3)
    wanted = torch.softmax(-away / (2 * 5.0**2), dim=2)
    cross = -(wanted * torch.log(where + 1e-6)).sum(dim=2)
    middle = (where[..., None] * cells).sum(dim=2)
    off = (middle - torch.nan_to_num(spots)).abs().sum(dim=2)
    return ((cross + 0.1 * off) * known).sum() / known.sum()


def _batch(drawn: Drawn, chosen: NDArray[np.int64], chance: np.random.Generator) -> Batch:
    crops, places = _augmented(drawn["pixels"][chosen], drawn["spots"][chosen], chance)
    pixels = prepare_crops(recolour(crops, chance))
    return torch.from_numpy(pixels), torch.from_numpy(drawn["truth"][chosen]), torch.from_numpy(places)


def _augmented(
    pixels: NDArray[np.uint8], spots: NDArray[np.float32], chance: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Shift, rotate and stretch each crop slightly at random, and the places of its signs with it."""
    augmented, places = np.empty_like(pixels), np.empty_like(spots)
    size = np.array([pixels.shape[2], pixels.shape[1]])
    for number, (crop, spot) in enumerate(zip(pixels, spots, strict=True)):
        angle, stretch, shift = chance.normal(0, 0.025), chance.normal(1, 0.025, 2), chance.normal(0, 0.015, 2) * size
        turn = rotation_by(angle) * stretch
        matrix = np.column_stack([turn, size / 2 + shift - turn @ (size / 2)])
        augmented[number] = cv2.warpAffine(crop, matrix, tuple(size.tolist()), borderMode=cv2.BORDER_REPLICATE)
        places[number] = spot @ matrix[:, :2].T + matrix[:, 2]
    return augmented, places


def _main() -> None:
    """Draw the crops, train the network, and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--crops", type=int, default=160_000)
    parser.add_argument("--epochs", type=int, default=7)
    parser.add_argument("--processes", type=int, default=cores(), help="that draw (default: %(default)s)")
    options = parser.parse_args()
    began = time.perf_counter()
    drawn = as_they_appear(draw_chunks(draw_crop_chunk, -(-options.crops // CHUNK), options.processes))
    print(f"{len(drawn['truth'])} crops drawn in {time.perf_counter() - began:.0f} s", flush=True)
    torch.manual_seed(SEED)
    net, steps = DigitsNet(), options.epochs * (len(drawn["truth"]) // BATCH)
    schedule = Schedule(steps, rate=2e-3, warm=0.15, decay=1e-3)
    jobs = shuffled(len(drawn["truth"]), options.epochs, SEED)
    train(net, jobs, lambda job: _batch(drawn, *job), _loss, schedule, options.out)
    export_onnx(net, torch.zeros(1, 3, 112, 80), ("scores", "where"), (0,), options.out)
    clean_up(options.out)
    print(f"written after {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    _main()
