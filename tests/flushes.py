"""Record what a program flushes to the disk; a power cut may destroy anything else."""

import os
from pathlib import Path

import pytest


def note_flushes(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return a list to which every file or folder is added that Python flushes from now on."""
    noted: list[Path] = []
    flush = os.fsync

    def fsync(handle: int) -> None:
        noted.append(Path(f"/proc/self/fd/{handle}").readlink())
        flush(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    return noted
