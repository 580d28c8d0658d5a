"""Any bytes given as a picture get a code or no serial, one line each, in bounded time and memory."""

import io
import json
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from broker.cli.main import homologue
from tests.vision.other_scenes import SCENES, bricks, page_of_text
from vision.geometry import Picture, rectangle
from vision.picture import RIM, colours_at, colours_on, points_on

PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
CODES = {"picture_empty", "picture_unreadable", "picture_too_large"}
SMALL = np.random.default_rng(3).integers(0, 256, (24, 32, 3), dtype=np.uint8)
WALL = bricks()[:150, :250]
MEGABYTE = 1_000_000
LARGEST = (3040, 4056)  # height and width of a Raspberry Pi camera's pictures
PEAK = """
import sys
from pathlib import Path
from vision.command import read
read(["--json", sys.argv[1]], standalone_mode=False)
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(int(peak.split()[1]) * 1024)
"""


def lines_of(folder: Path, *contents: bytes) -> list[dict[str, Any]]:
    """Return what `homologue read --json` prints for files of these contents."""
    paths = [folder / f"{number}.jpg" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    result = CliRunner().invoke(homologue, ["read", *map(str, paths), "--json"], catch_exceptions=False)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert (result.exit_code, [line["image"] for line in lines]) == (0, [path.name for path in paths])
    return lines


def is_harmless(line: dict[str, Any]) -> bool:
    if "error" in line:
        return line["error"]["code"] in CODES
    return [one for one in line["reads"] if one["serial"] is not None] == []


def encoded(picture: cv2.typing.MatLike, kind: str = ".png") -> bytes:
    return cv2.imencode(kind, picture)[1].tobytes()


def as_pillow_writes(picture: Picture, mode: str, kind: str) -> bytes:
    file = io.BytesIO()
    Image.fromarray(picture[:, :, ::-1]).convert(mode).save(file, kind)
    return file.getvalue()


def png_that_claims(width: int, height: int, pixels: bytes = b"") -> bytes:
    """Return a PNG that is valid except for its pixels; all checksums are right."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(pixels)), (b"IEND", b""))
    return PNG + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )


def peak_of(path: Path) -> int:
    """Return the peak memory in bytes of a new process that reads one picture."""
    done = subprocess.run([sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True)
    return int(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_a_picture_of_something_else_has_no_serial(scene: Callable[[], Picture], tmp_path: Path) -> None:
    (line,) = lines_of(tmp_path, encoded(scene(), ".jpg"))
    assert [one["serial"] for one in line["reads"] if one["serial"] is not None] == []


@pytest.mark.parametrize("kind", [".jpg", ".png"])
def test_a_picture_truncated_anywhere_gets_a_code(kind: str, tmp_path: Path) -> None:
    whole = encoded(WALL, kind)
    ends = sorted({1, 2, 3, 8, 9, 24, 25, *range(30, len(whole), len(whole) // 40), len(whole) - 2})
    codes = [line["error"]["code"] for line in lines_of(tmp_path, *(whole[:end] for end in ends))]
    assert codes == ["picture_unreadable"] * len(ends)


@given(st.sampled_from([b"", PNG, JPEG]), st.binary(max_size=300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_give_one_line_and_no_serial(tmp_path: Path, head: bytes, rest: bytes) -> None:
    (line,) = lines_of(tmp_path, head + rest)
    assert is_harmless(line)


@given(st.sampled_from([".jpg", ".png"]), st.integers(0, 10_000), st.integers(1, 255))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_wrong_byte_gives_a_code_or_no_serial(tmp_path: Path, kind: str, place: int, change: int) -> None:
    content = bytearray(encoded(SMALL, kind))
    content[place % len(content)] ^= change
    (line,) = lines_of(tmp_path, bytes(content))
    assert is_harmless(line)


@pytest.mark.parametrize("size", [(1, 1), (1, 2000), (2000, 1), (2, 2), (3, 5000), (31, 31)])
def test_an_extremely_thin_picture_has_no_reads(size: tuple[int, int], tmp_path: Path) -> None:
    (line,) = lines_of(tmp_path, encoded(np.full((*size, 3), 120, dtype=np.uint8)))
    assert line["reads"] == []


@pytest.mark.parametrize(
    "content",
    [
        encoded(WALL[:, :, 0]),
        encoded(WALL.astype(np.uint16) * 257),
        encoded(np.dstack([WALL, np.full(WALL.shape[:2], 9, dtype=np.uint8)])),
        as_pillow_writes(WALL, "CMYK", "JPEG"),
        as_pillow_writes(WALL, "L", "JPEG"),
        as_pillow_writes(WALL, "P", "PNG"),
        as_pillow_writes(WALL, "1", "PNG"),
    ],
    ids=["grey", "16 bits", "alpha", "CMYK", "grey JPEG", "palette", "1 bit"],
)
def test_all_pixel_formats_are_decoded(content: bytes, tmp_path: Path) -> None:
    (line,) = lines_of(tmp_path, content)
    assert list(line) == ["image", "ms", "reads", "faults"]


@pytest.mark.parametrize("kind", ["GIF", "BMP", "TIFF", "WEBP"])
def test_a_picture_in_another_format_gets_a_code(kind: str, tmp_path: Path) -> None:
    (line,) = lines_of(tmp_path, as_pillow_writes(SMALL, "RGB", kind))
    assert line["error"]["code"] == "picture_unreadable"


@pytest.mark.parametrize(
    ("size", "code"),
    [
        ((2**31 - 1, 2**31 - 1), "picture_too_large"),
        ((50_000_001, 1), "picture_too_large"),
        ((7072, 7072), "picture_too_large"),
        ((0, 4), "picture_unreadable"),
        ((2**32 - 1, 0), "picture_unreadable"),
    ],
)
def test_the_size_in_a_header_is_checked_before_decoding(size: tuple[int, int], code: str, tmp_path: Path) -> None:
    (line,) = lines_of(tmp_path, png_that_claims(*size))
    assert line["error"]["code"] == code


def test_a_header_without_pixels_gets_a_code_within_a_pictures_memory(tmp_path: Path) -> None:
    path = tmp_path / "claim.png"
    path.write_bytes(png_that_claims(7000, 7000))
    (line,) = lines_of(tmp_path, path.read_bytes())
    assert line["error"]["code"] == "picture_unreadable"
    assert peak_of(path) < 300 * MEGABYTE


def test_the_largest_camera_picture_is_read_within_300_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "large.jpg"
    path.write_bytes(encoded(cv2.resize(bricks(), LARGEST[::-1], interpolation=cv2.INTER_CUBIC), ".jpg"))
    assert peak_of(path) < 300 * MEGABYTE


def test_numbers_in_a_text_are_not_serials(tmp_path: Path) -> None:
    (line,) = lines_of(tmp_path, encoded(page_of_text()))
    assert is_harmless(line)


def test_points_on_a_tile_are_interpolated_between_its_corners() -> None:
    quad = np.array([[0.0, 0.0], [10.0, 0.0], [14.0, 20.0], [0.0, 20.0]])
    shares = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.5]])
    assert points_on(quad[None], shares)[0] == pytest.approx(np.vstack([quad, quad.mean(axis=0)]))


def test_the_rim_lies_between_the_rounded_edge_and_the_print() -> None:
    out = np.abs(RIM - 0.5).max(axis=1)
    assert (len(RIM), out.min(), out.max()) == (64, pytest.approx(0.287), pytest.approx(0.369))


def test_colours_are_those_of_the_pixels_and_beyond_the_picture_of_its_border() -> None:
    picture = np.zeros((40, 40, 3), dtype=np.uint8)
    picture[:, 20:] = 255
    quads = np.stack([rectangle(np.array([x, 20.0]), 8.0, 8.0) for x in (10.0, 30.0, 60.0, -20.0)])
    assert colours_on(picture, quads, np.array([[0.5, 0.5]]))[:, 0, 0] == pytest.approx([0, 100, 100, 0], abs=0.1)
    assert colours_on(picture, quads[:0], RIM).shape == (0, 64, 3)


def test_a_point_has_the_colour_of_its_pixel_or_of_the_nearest_one_at_the_border() -> None:
    picture = np.arange(12, dtype=np.uint8).reshape(3, 4)
    points = np.array([[0.9, 0.9], [1.0, 0.0], [3.9, 2.9], [-5.0, -5.0], [4.0, 3.0]])
    assert colours_at(picture, points).tolist() == [0, 1, 11, 0, 11]
