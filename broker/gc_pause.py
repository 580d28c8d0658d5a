"""When the interpreter looks for cycles. What is read from a journal holds none, and there is a great deal of it."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """Look for no cycles meanwhile: to do so again and again while a journal is read takes a third of its time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
