"""Names what is set wrong where a line is no code as it stands, but would be one if read otherwise. Pure."""

from collections.abc import Callable, Iterator

from firmware.scan_codes import Problem
from firmware.scan_keys import other_layouts

IsCode = Callable[[str], bool]


def mistaken(line: bytes, is_code: IsCode) -> Problem | None:
    """Give what is set wrong; None where no other reading makes sense either."""
    if told := _first(_encodings(line), is_code):
        return Problem("scan_wrong_encoding", told)
    if told := _first(_parities(line), is_code):
        return Problem("scan_wrong_parity", told)
    if told := _first(other_layouts(line.decode("latin-1")), is_code):
        return Problem("scan_wrong_layout", told)
    return None


def _first(readings: Iterator[tuple[str, str]], is_code: IsCode) -> str | None:
    return next((f"{why}: {text}" for why, text in readings if is_code(text)), None)


def _encodings(line: bytes) -> Iterator[tuple[str, str]]:
    """UTF-16 has a zero byte beside each character; of a terminator that was cut in two one is left behind."""
    if b"\0" in line:
        bare = line.removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff").replace(b"\0", b"")
        yield "UTF-16", bare.decode("latin-1")
    if line.startswith(b"\xef\xbb\xbf"):
        yield "UTF-8 with a byte order mark", line[3:].decode("latin-1")
    yield "EBCDIC", line.decode("cp037").strip("\r\n\x85")


def _parities(line: bytes) -> Iterator[tuple[str, str]]:
    """Seven bits and parity read as eight bits: characters have the highest bit set, and terminators may have too."""
    if any(byte & 0x80 for byte in line):
        yield "7 bits and parity", bytes(byte & 0x7F for byte in line).decode("ascii").strip("\r\n\t\x02\x03")
