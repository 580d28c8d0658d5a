"""`python -m vision.training all`: train all networks from scratch, each with its own command, one after the other.

    python -m vision.training all --out FOLDER          # the README says how long this takes
    python -m vision.training all --out FOLDER --quick  # the same with few pictures, to see that it works

If it is interrupted, run it again with the same folder to continue: a network that is already written there is not
trained again, and an unfinished training resumes from its last checkpoint, at most some minutes old.

Every picture is drawn from a seed, so the same fonts give the same pictures. The weights are reproduced only
approximately, because another number of threads adds numbers in another order.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Final

from vision.training.fonts import families, families_kept_back

NETWORKS: Final = {
    "finder": ("finder_train", (), ("--steps", "20", "--closeup-steps", "20")),
    "digits": ("digits_train", ("--crops", "160000", "--epochs", "7"), ("--crops", "1000", "--epochs", "1")),
    "lines": ("lines_train", ("--lines", "160000", "--epochs", "8"), ("--lines", "800", "--epochs", "1")),
}
"""For each network: the module that trains it, its options, and its options with `--quick`."""

_WRITTEN_LAST: Final = {"finder": "closeup"}
"""The last network to be written, for trainings that write two."""

_FEWEST: Final = 60  # font families; with fewer, a network learns them by heart


def untrained(names: list[str], out: Path) -> list[str]:
    """Return the networks that a folder does not contain yet."""
    return [name for name in names if not (out / f"{_WRITTEN_LAST.get(name, name)}.onnx").exists()]


def commands(names: list[str], out: Path, *, quick: bool) -> list[list[str]]:
    """Return the commands that train these networks, in order."""
    chosen = []
    for name in names:
        module, full, few = NETWORKS[name]
        options = few if quick else full
        chosen.append([sys.executable, "-m", f"vision.training.{module}", "--out", str(out / f"{name}.onnx"), *options])
    return chosen


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", choices=["all", *NETWORKS])
    parser.add_argument("--out", type=Path, required=True, help="a folder for the networks")
    parser.add_argument("--quick", action="store_true", help="few pictures: only to see that everything works")
    options = parser.parse_args()
    reserved = sum(len(families_kept_back(part, kind)) for part in ("calibration", "test") for kind in ("print", "odd"))
    print(f"{len(families())} families of fonts to train with; {reserved} of those that are kept back are installed")
    if len(families()) < _FEWEST and not options.quick:
        raise SystemExit("too few fonts: sudo apt-get install $(cat vision/training/packages.txt)")
    options.out.mkdir(parents=True, exist_ok=True)
    names = list(NETWORKS) if "all" in options.networks else options.networks
    left = untrained(names, options.out)
    for name in sorted({*names} - {*left}):
        print(f"{name} is written already: delete it there to train it again")
    for command in commands(left, options.out, quick=options.quick):
        print(" ".join(command[1:]), flush=True)
        subprocess.run(command, check=True)


if __name__ == "__main__":
    _main()
