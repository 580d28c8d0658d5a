"""A file cut into records: parted by blank lines, UTF-8, read line by line however large it is."""

from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO, Final

from msgspec import Struct

from broker.records.errors import RecordError

LONGEST_LINE: Final = 10_000
"""Bytes; the longest Play that there can be has less than two thousand."""

MOST_LINES: Final = 200
"""Of one record, comments included."""

COMMENT: Final = (b"%", b";")
"""How a line begins that is for people, or for other programs."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class Block(Struct, frozen=True):
    """The lines of one record, and the number of the first."""

    line: int
    lines: tuple[bytes, ...]

    def text(self) -> str:
        """Give its text. Raises RecordError `too_large` or `record_not_utf8`."""
        if len(self.lines) > MOST_LINES:
            raise RecordError("too_large", f"a record of more than {MOST_LINES} lines", line=self.line)
        return "\n".join(_line(number, line) for number, line in enumerate(self.lines, self.line))


def blocks(file: BinaryIO) -> Iterator[Block]:
    """Give the records of a file, whatever is in them; comments alone are none. Raises OSError."""
    first, lines, told = 1, list[bytes](), False
    for number, line in enumerate(chain(_lines(file), (b"",)), 1):
        if line.strip():
            first = first if lines else number
            lines += [line][: MOST_LINES + 1 - len(lines)]
            told = told or not line.lstrip().startswith(COMMENT)
        else:
            if told:
                yield Block(first, tuple(lines))
            lines, told = [], False


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Give each line without its end; of one that is too long only so much that it can be seen to be."""
    mark = BYTE_ORDER_MARK
    while line := file.readline(LONGEST_LINE + 2):
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST_LINE)
        yield line.removeprefix(mark).rstrip(b"\r\n")
        mark = b""


def _line(number: int, line: bytes) -> str:
    if len(line) > LONGEST_LINE:
        raise RecordError("too_large", f"a line of more than {LONGEST_LINE} bytes", line=number)
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError("record_not_utf8", f"byte {error.start + 1} of this line is not UTF-8", line=number) from None
    if "\0" in text:
        raise RecordError("record_not_utf8", "there are zero bytes: probably this is UTF-16", line=number)
    return text
