"""Kinds of struct, examined before there are threads."""

from collections.abc import Iterator
from contextlib import suppress

import msgspec


def examine_structs() -> None:
    """Let msgspec examine every kind of struct that is imported, which it otherwise does when one is first read.

    Two threads that read one kind for the first time at the same moment crash the process (msgspec 0.22). A program
    calls this before it starts threads; it takes some 15 ms.
    """
    for kind in _kinds(msgspec.Struct):
        with suppress(TypeError):  # kinds that are only written
            msgspec.json.Decoder(kind)


def _kinds(of: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for kind in of.__subclasses__():
        yield kind
        yield from _kinds(kind)
