"""Properties of the line protocol, in CPython and in real MicroPython."""

from typing import Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.box.codec import FRAME_FIELDS, LONGEST_FRAME, FrameSplitter, decode_frame, encode_frame, frame_check
from tests.firmware.micropython.process import MicroPython

Frame = tuple[str, list[int]]

frames = st.sampled_from(sorted(FRAME_FIELDS)).flatmap(
    lambda kind: st.tuples(
        st.just(kind), st.lists(st.integers(0, 2**45), min_size=FRAME_FIELDS[kind], max_size=FRAME_FIELDS[kind])
    )
)

noise = st.one_of(st.binary(max_size=200), st.text("!EH 0123456789abcdef\n", max_size=200).map(str.encode))


class Codec(Protocol):
    """The codec of one implementation."""

    def encode(self, kind: str, *numbers: int) -> bytes: ...

    def split(self, *chunks: bytes) -> tuple[list[Frame], int]: ...


class Here:
    """The codec in CPython."""

    def encode(self, kind: str, *numbers: int) -> bytes:
        return encode_frame(kind, *numbers)

    def split(self, *chunks: bytes) -> tuple[list[Frame], int]:
        splitter = FrameSplitter()
        return [frame for chunk in chunks for frame in splitter.feed(chunk)], splitter.refused


class There:
    """The codec in MicroPython."""

    def __init__(self, micropython: MicroPython) -> None:
        self._micropython = micropython

    def encode(self, kind: str, *numbers: int) -> bytes:
        return bytes.fromhex(self._micropython.ask("encode", kind, numbers))

    def split(self, *chunks: bytes) -> tuple[list[Frame], int]:
        read, refused = self._micropython.ask("split", [chunk.hex() for chunk in chunks])
        return [(kind, numbers) for kind, numbers in read], refused


@pytest.fixture(scope="module", params=["cpython", "micropython"])
def codec(request: pytest.FixtureRequest) -> Codec:
    return Here() if request.param == "cpython" else There(request.getfixturevalue("micropython"))


def test_the_micropython_process_runs_micropython(micropython: MicroPython) -> None:
    assert micropython.ask("version") == "micropython"


@pytest.mark.parametrize(
    ("frame", "line"),
    [
        (("B", [1, 0]), b"!B 1 0 e305a62a\n"),
        (("E", [3735928559, 17, 0, 1, 123456789]), b"!E 3735928559 17 0 1 123456789 7c22e506\n"),
        (("L", [255]), b"!L 255 ac20fd6a\n"),
    ],
)
def test_a_frame_has_this_form(codec: Codec, frame: Frame, line: bytes) -> None:
    """Flashed boxes read this form; a change needs a new protocol version."""
    kind, numbers = frame
    assert codec.encode(kind, *numbers) == line
    assert codec.split(line) == ([frame], 0)


@given(st.lists(frames, max_size=8), st.data())
def test_frames_survive_any_chunking(codec: Codec, sent: list[Frame], data: st.DataObject) -> None:
    line = b"".join(codec.encode(kind, *numbers) for kind, numbers in sent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(line)), max_size=8)))
    pieces = [line[a:b] for a, b in zip([0, *cuts], [*cuts, len(line)], strict=True)]
    assert codec.split(*pieces) == (sent, 0)


@given(noise, frames)
def test_a_frame_after_garbage_is_read(codec: Codec, garbage: bytes, frame: Frame) -> None:
    kind, numbers = frame
    read, _ = codec.split(garbage, codec.encode(kind, *numbers))
    assert read[-1:] == [frame]


@given(frames, st.data())
def test_a_corrupted_frame_is_refused(codec: Codec, frame: Frame, data: st.DataObject) -> None:
    """Flipped bits in up to four consecutive bytes: a burst that the CRC always detects."""
    kind, numbers = frame
    line = codec.encode(kind, *numbers)
    at = data.draw(st.integers(0, len(line) - 2))
    burst = data.draw(st.binary(min_size=1, max_size=4).filter(any))
    changed = bytearray(line[:-1])
    for index, bits in enumerate(burst[: len(changed) - at]):
        changed[at + index] ^= bits
    if bytes(changed) != line[:-1]:
        assert codec.split(bytes(changed) + b"\n")[0] == []


@given(frames, st.data())
def test_a_truncated_frame_is_refused(codec: Codec, frame: Frame, data: st.DataObject) -> None:
    kind, numbers = frame
    line = codec.encode(kind, *numbers)
    start = data.draw(st.integers(0, len(line) - 2))
    end = data.draw(st.integers(start + 1, len(line) - 1))
    assert codec.split(line[:start] + line[end:])[0] == []


@given(st.one_of(noise, frames.map(lambda frame: encode_frame(frame[0], *frame[1])[:-1])))
def test_a_decoded_frame_encodes_to_the_same_line(line: bytes) -> None:
    frame = decode_frame(line)
    assert frame is None or encode_frame(frame[0], *frame[1]) == line + b"\n"


@given(noise)
def test_cpython_and_micropython_read_the_same_from_garbage(micropython: MicroPython, garbage: bytes) -> None:
    assert Here().split(garbage) == There(micropython).split(garbage)


@pytest.mark.parametrize(
    "line", [b"!B 01 1", b"!B +1 1", b"!B  1 1", b"!B 1", b"!B 1 1 1", b"!Z 1", b"! 1 1", b"!B 1 -1"]
)
def test_a_malformed_line_with_a_valid_crc_is_refused(codec: Codec, line: bytes) -> None:
    assert codec.split(line + b" " + frame_check(line + b" "))[0] == []


def test_an_endless_line_is_not_buffered() -> None:
    splitter = FrameSplitter()
    for _ in range(1000):
        splitter.feed(b"!" + b"1" * LONGEST_FRAME)
        assert len(splitter._buffer) <= LONGEST_FRAME
    assert splitter.feed(b"1\n" + encode_frame("L", 1)) == [("L", [1])]
