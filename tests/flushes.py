"""What a program has flushed to the disk, in order: without that a power cut may take it."""

import os
from pathlib import Path

import pytest


def note_flushes(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return a list to which each file or folder is added that Python flushes from now on."""
    noted: list[Path] = []
    flush = os.fsync

    def fsync(handle: int) -> None:
        noted.append(Path(f"/proc/self/fd/{handle}").readlink())
        flush(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    return noted
