"""A process that promises a file: `python -m tests.power.careless HOW FOLDER`. Only one way keeps the promise."""

import os
import shutil
import sys
from pathlib import Path

from broker.files import write_file
from tests.power.recorder import DISK, promise

CONTENT = b"x" * 5000


def in_one_step(disk: Path) -> None:
    """Write the file as our programs do."""
    write_file(disk / "a", CONTENT)


def without_a_flush(disk: Path) -> None:
    """Write the file without a flush."""
    (disk / "a").write_bytes(CONTENT)


def in_a_new_folder(disk: Path) -> None:
    """Flush the file and its folder, but not the folder's own name."""
    (disk / "new").mkdir()
    write_file(disk / "new" / "a", CONTENT)


def copied(disk: Path) -> None:
    """Flush a file, and copy it within the kernel."""
    write_file(disk / "a", b"y")
    (disk / "a").write_bytes(CONTENT)
    shutil.copyfile(disk / "a", disk / "b")


def linked(disk: Path) -> None:
    """Use a system call that no program of ours uses."""
    write_file(disk / "a", CONTENT)
    os.link(disk / "a", disk / "b")


WAYS = {way.__name__.replace("_", " "): way for way in (in_one_step, without_a_flush, in_a_new_folder, copied, linked)}


def main(how: str, folder: Path) -> None:
    """Write the file in one way, and promise it."""
    WAYS[how](folder / DISK)
    promise(folder)("written")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
