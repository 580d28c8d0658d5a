"""A process that writes, and reports its promises: `python -m tests.power.writer SUBJECT SEED FOLDER`."""

import sys
from pathlib import Path

from tests.power.recorder import DISK, promise
from tests.power.subjects import SUBJECTS


def main(name: str, seed: int, folder: Path) -> None:
    """Write on the disk in a folder."""
    SUBJECTS[name].write(folder / DISK, seed, promise(folder))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
