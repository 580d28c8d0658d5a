"""The trained networks are small and thread-safe."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.patience import PATIENCE_S
from vision.networks import MODELS, run_network


def test_all_models_together_are_under_two_and_a_half_megabytes() -> None:
    assert sum(path.stat().st_size for path in MODELS.glob("*.onnx")) < 2_500_000


def test_concurrent_threads_get_the_same_answers_as_alone() -> None:
    chance = np.random.default_rng(3)
    asked = [chance.normal(0, 1, (3, 3, 112, 80)).astype(np.float32) for _ in range(8)]

    def answer(pictures: NDArray[np.float32]) -> NDArray[np.float32]:
        return run_network("digits", pictures)[0]

    alone = [answer(pictures) for pictures in asked]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(answer, asked))
    np.testing.assert_array_equal(np.array(together), np.array(alone))


def test_networks_write_nothing_into_the_home_folder(tmp_path: Path) -> None:
    load = (
        "import numpy; from vision.networks import run_network; "
        "run_network('digits', numpy.zeros((1, 3, 112, 80), 'float32'))"
    )
    wanted = {name: value for name, value in os.environ.items() if name in {"PATH", "PYTHONPATH"}}
    subprocess.run([sys.executable, "-c", load], env={**wanted, "HOME": str(tmp_path)}, check=True, timeout=PATIENCE_S)
    assert [*tmp_path.rglob("*")] == []
