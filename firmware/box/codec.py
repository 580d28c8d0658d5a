"""The words of the button box, used by both sides: by the table in CPython and on the Pico in MicroPython.

A frame is a line of ASCII: `!`, a letter, decimal numbers, the CRC-32 of all that before it, and a newline:

    !E 3735928559 17 0 1 123456789 7c22e506

It can be read with a terminal, and finds its feet again after any garbage: no frame has a `!` but at its start.
The CRC is that of zip and Ethernet (MicroPython has it in C); it notices every burst of up to 32 bits.
"""

import binascii

VERSION = 1
"""Goes up when the meaning of a frame changes. `B` itself never changes, so that any version understands that much."""

LONGEST_FRAME = 120
"""Bytes of a line; no frame is nearly as long."""

FRAME_FIELDS = {
    "B": 2,  # box: version, boot id (another one whenever it starts)
    "H": 6,  # heartbeat: boot, first kept edge, next edge, contacts closed before the first, lamps, its time in us
    "E": 5,  # edge: boot, number, seat (0 east ... 3 north, LOST), 1 closed or 0 open, its time in us
    "R": 2,  # reply: token of the query, its time in us
    "Q": 1,  # query of the time: token
    "A": 2,  # acknowledged: boot, number of the first edge that is not
    "N": 2,  # not received: boot, number of the first edge that is wanted again
    "L": 1,  # lamps: for each seat two bits, 0 off, 1 on, 2 blink; east lowest
}
"""The letters, and how many numbers go with each."""

LOST = 4
"""In place of a seat: here edges were lost, because there was no more room for them."""


def encode_frame(kind: str, *numbers: int) -> bytes:
    """Write a frame, newline included."""
    body = " ".join(["!" + kind] + [str(number) for number in numbers] + [""]).encode()
    return body + frame_check(body)


def frame_check(body: bytes) -> bytes:
    """Return the CRC of what comes before it, and the newline."""
    return f"{binascii.crc32(body):08x}\n".encode()


def decode_frame(line: bytes) -> "tuple[str, list[int]] | None":
    """Read a line without its newline. None: it is no frame, or not as it was sent."""
    body = line[:-8]
    if len(line) > LONGEST_FRAME or line[:1] != b"!" or frame_check(body)[:-1] != line[-8:]:
        return None
    words = body[1:].split(b" ")
    if words[-1] != b"" or not all(_is_number(word) for word in words[1:-1]):
        return None
    kind, numbers = words[0].decode(), [int(word) for word in words[1:-1]]
    return (kind, numbers) if FRAME_FIELDS.get(kind) == len(numbers) else None


def _is_number(word: bytes) -> bool:
    """A number is written in one way only."""
    return word.isdigit() and (word[0] != ord("0") or len(word) == 1)


class FrameSplitter:
    """Cuts what arrives into frames, in whatever pieces it comes. Keeps no more than one line."""

    def __init__(self) -> None:
        self._kept = b""
        self.refused = 0
        """Lines that were no frames."""

    def feed(self, chunk: bytes) -> "list[tuple[str, list[int]]]":
        """Take in bytes, give the frames that are whole by now."""
        lines = (self._kept + chunk).split(b"\n")
        self._kept = _from_start(lines.pop())
        frames = []
        for line in lines:
            frame = decode_frame(_from_start(line))
            if frame is None:
                self.refused += 1
            else:
                frames.append(frame)
        return frames


def _from_start(line: bytes) -> bytes:
    """Leave out what comes before the last start of a frame, and all where that is too long."""
    start = line.rfind(b"!")
    return line[start:] if start >= 0 and len(line) - start <= LONGEST_FRAME else b""
