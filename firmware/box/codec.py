"""The line protocol of the button box, shared by the table (CPython) and the Pico (MicroPython).

A frame is a line of ASCII: `!`, a letter, decimal numbers, the CRC-32 of everything before it, and a newline:

    !E 3735928559 17 0 1 123456789 7c22e506

It can be read in a terminal, and the receiver resynchronises after any garbage because `!` occurs only at the start of
a frame. The CRC is that of zip and Ethernet (MicroPython has it in C); it detects every error burst of up to 32 bits.
"""

import binascii

VERSION = 1
"""Increased when the meaning of a frame changes. `B` itself never changes, so every version understands it."""

LONGEST_FRAME = 120
"""Limit for a line, in bytes. Real frames are much shorter."""

FRAME_FIELDS = {
    "B": 2,  # box: version, boot id (a new one at each start)
    "H": 6,  # heartbeat: boot, first stored edge, next edge, contacts closed before the first, lamps, box time in us
    "E": 5,  # edge: boot, number, seat (0 east ... 3 north, LOST), 1 closed or 0 open, box time in us
    "R": 2,  # reply: token of the query, box time in us
    "Q": 1,  # query of the time: token
    "A": 2,  # acknowledged: boot, number of the first edge not acknowledged
    "N": 2,  # not received: boot, number of the first edge to send again
    "L": 1,  # lamps: for each seat two bits, 0 off, 1 on, 2 blink; east lowest
}
"""The frame types, each with its number of fields."""

LOST = 4
"""Used in place of a seat: edges were lost here because the store was full."""


def encode_frame(kind: str, *numbers: int) -> bytes:
    """Return a frame, including the newline."""
    body = " ".join(["!" + kind] + [str(number) for number in numbers] + [""]).encode()
    return body + frame_check(body)


def frame_check(body: bytes) -> bytes:
    """Return the CRC of what precedes it, and the newline."""
    return f"{binascii.crc32(body):08x}\n".encode()


def decode_frame(line: bytes) -> "tuple[str, list[int]] | None":
    """Parse a line without its newline. None: it is not a frame, or was corrupted."""
    body = line[:-8]
    if len(line) > LONGEST_FRAME or line[:1] != b"!" or frame_check(body)[:-1] != line[-8:]:
        return None
    words = body[1:].split(b" ")
    if words[-1] != b"" or not all(_is_number(word) for word in words[1:-1]):
        return None
    kind, numbers = words[0].decode(), [int(word) for word in words[1:-1]]
    return (kind, numbers) if FRAME_FIELDS.get(kind) == len(numbers) else None


def _is_number(word: bytes) -> bool:
    """Return whether a word is a decimal number without leading zeros."""
    return word.isdigit() and (word[0] != ord("0") or len(word) == 1)


class FrameSplitter:
    """Splits received bytes into frames, however they are chunked. Buffers at most one line."""

    def __init__(self) -> None:
        self._buffer = b""
        self.refused = 0
        """Number of lines that were not valid frames."""

    def feed(self, chunk: bytes) -> "list[tuple[str, list[int]]]":
        """Add received bytes and return the frames that are now complete."""
        lines = (self._buffer + chunk).split(b"\n")
        self._buffer = _from_start(lines.pop())
        frames = []
        for line in lines:
            frame = decode_frame(_from_start(line))
            if frame is None:
                self.refused += 1
            else:
                frames.append(frame)
        return frames


def _from_start(line: bytes) -> bytes:
    """Return the line from its last `!` on; nothing if that is too long."""
    start = line.rfind(b"!")
    return line[start:] if start >= 0 and len(line) - start <= LONGEST_FRAME else b""
