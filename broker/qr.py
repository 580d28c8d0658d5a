"""QR codes (ISO/IEC 18004) made by zxing-cpp, as the runs of black modules that pages and prints draw."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import zxingcpp
from numpy.typing import NDArray

QUIET: Final = 4
"""Width in modules of the white border that the standard requires."""


class Run(NamedTuple):
    """A horizontal run of black modules, in coordinates from the upper left corner of the white border."""

    x: int
    y: int
    length: int


class QrCode(NamedTuple):
    """A QR code. `side` is in modules and includes the white border."""

    side: int
    runs: tuple[Run, ...]


def qr_code(text: str) -> QrCode:
    """Return the QR code of a text, error correction M (15 %)."""
    barcode = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode, ec_level="M")
    black = np.asarray(zxingcpp.write_barcode_to_image(barcode, add_quiet_zones=False)) == 0
    return QrCode(len(black) + 2 * QUIET, tuple(_runs(np.pad(black, QUIET))))


def _runs(black: NDArray[np.bool_]) -> Iterator[Run]:
    for y, row in enumerate(black):
        edges = np.flatnonzero(np.diff(row.astype(np.int8))) + 1
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            yield Run(start, y, end - start)
