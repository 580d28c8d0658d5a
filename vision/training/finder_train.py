"""`python -m vision.training.finder_train --out vision/models/finder.onnx`: draw scenes, train the finder, write it.

Two networks are written: the finder's, and beside it `closeup.onnx` for the closer look. Everything follows from the
seed: no picture is taken from anywhere.
"""

import argparse
import time
from pathlib import Path

import cv2
import torch

from vision.finder.closeup import SIDE
from vision.training.export import export
from vision.training.finder_closeup import train_closeup
from vision.training.finder_learn import train_finder
from vision.training.scene import SIZE
from vision.training.scene_stream import stream

_SEEDS = 1_000_000  # scenes that belong to one seed of the training


def main() -> None:
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
    scenes = stream(_SEEDS * asked.seed)
    finder, kept = train_finder(scenes, asked.steps, asked.seed)
    scenes.close()
    export(finder, torch.zeros(1, 3, SIZE[1], SIZE[0]), ("answer",), (2, 3), asked.out)
    closeup = train_closeup(kept, asked.closeup_steps, asked.seed)
    export(closeup, torch.zeros(1, 3, SIDE, SIDE), ("answer",), (0,), asked.out.with_name("closeup.onnx"))
    print(f"written after {time.monotonic() - began:.0f} s: {asked.out} and closeup.onnx beside it")


if __name__ == "__main__":
    main()
