"""A record's file as a sequence of tags: XML without any nesting, often gzipped.

Tenhou does not document its format; https://github.com/NegativeMjark/tenhou-log describes it, and so does
https://blog.kobalab.net/entry/20170225/1488036549. A game of eight hands is some 100 kB.
"""

import zlib
from collections.abc import Mapping
from typing import Final, NamedTuple
from xml.parsers import expat

from broker.rules.errors import RuleError

LONGEST: Final = 4_000_000
"""Bytes of a record when it is unpacked, many times those of a long game."""

MOST_TAGS: Final = 20_000

GZIP: Final = b"\x1f\x8b"
GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS


class Tag(NamedTuple):
    """One element: its name and its attributes."""

    name: str
    attributes: Mapping[str, str]


def tags_of(content: bytes) -> tuple[Tag, ...]:
    """Give the tags of a record in order. Raises RuleError `not_a_record` or `record_too_large`."""
    found: list[Tag] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        if len(found) == MOST_TAGS:
            raise RuleError("record_too_large", f"more than {MOST_TAGS} tags")
        found.append(Tag(name, attributes))

    # Names of players may be in another encoding than is declared: what we read is plain ASCII.
    parser = expat.ParserCreate(encoding="utf-8")
    parser.StartElementHandler = begin
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(unpacked(content), True)  # noqa: FBT003 - expat's way
    except expat.ExpatError as error:
        raise RuleError("not_a_record", f"not XML: {error}") from None
    if not found or found[0].name != "mjloggm":
        raise RuleError("not_a_record", "no record of Tenhou's: it does not begin with <mjloggm>")
    return tuple(found[1:])


def unpacked(content: bytes) -> bytes:
    """Give the content without gzip, never more than is allowed. Raises RuleError as `tags_of`."""
    if content.startswith(GZIP):
        try:
            content = zlib.decompressobj(GZIP_WINDOW).decompress(content, LONGEST + 1)
        except zlib.error as error:
            raise RuleError("not_a_record", f"the gzip file is damaged: {error}") from None
    if len(content) > LONGEST:
        raise RuleError("record_too_large", f"more than {LONGEST} bytes")
    return content


def _refuse_doctype(*_: object) -> None:
    """Entities are declared there, which can grow beyond all bounds or name other files; a record has none."""
    raise RuleError("not_a_record", "the file declares a document type, which a record does not have")
