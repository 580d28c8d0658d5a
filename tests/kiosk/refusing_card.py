"""A card that really takes no writes, for root neither."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def refusing(card: Path) -> Iterator[None]:
    """Let the card of a journal take no more.

    No file of this process may get longer than the journal's log is (EFBIG, which SQLite tells as an I/O error): a new
    file has room for as much. Whoever opens the journal again finds a folder in its place.
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
