"""A card that really takes no writes, not even from root."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def refusing(card: Path) -> Iterator[None]:
    """Make a journal's card refuse further writes.

    No file of this process may grow beyond the length of the journal's log (EFBIG, which SQLite reports as an I/O
    error), so a new file has that much room. Whoever opens the journal again finds a folder in its place.
    """
    log, aside = card.with_name(card.name + "-wal"), card.with_name("aside")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, hard))
    card.rename(aside)
    card.mkdir()
    try:
        yield
    finally:
        card.rmdir()
        aside.rename(card)
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
