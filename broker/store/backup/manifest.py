"""What a copy says of itself: `backup.json`, written last, so that a copy without it is none."""

import hashlib
import os
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from broker.contract.words import EventName
from broker.store.errors import BackupBroken

MANIFEST: Final = "backup.json"

Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """A copy. `made_at`: wall clock, ms since 1970; `files`: by their path in the event's folder, the SHA-256."""

    schema: Literal[1]
    event: EventName
    made_at: int
    height: int
    """Messages in the journal."""
    refused: int
    files: dict[str, Digest]

    def same_content(self, other: "Manifest") -> bool:
        """Say whether another copy would tell nothing new."""
        return (self.event, self.height, self.refused, self.files) == (
            other.event,
            other.height,
            other.refused,
            other.files,
        )


def read(folder: Path) -> Manifest:
    """Read what a copy says of itself. Raises BackupBroken."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError) as error:
        raise BackupBroken(f"{folder.name}: {MANIFEST}: {error}") from None
    for name in manifest.files:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise BackupBroken(f"{folder.name}: {name} is outside of it")
    return manifest


def digest(path: Path, *, from_disk: bool = False) -> str:
    """Give a file's SHA-256. `from_disk`: not from the memory in which the system keeps what was just written."""
    with path.open("rb") as file:
        if from_disk:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return hashlib.file_digest(file, "sha256").hexdigest()
