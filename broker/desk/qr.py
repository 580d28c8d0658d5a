"""A QR code as SVG that the page's own style colours; zxing-cpp makes it."""

from collections.abc import Iterator

import numpy as np
import zxingcpp
from markupsafe import Markup
from numpy.typing import NDArray

QUIET = 4
"""Modules of white around it, as ISO/IEC 18004 wants."""


def _runs(black: NDArray[np.bool_]) -> Iterator[str]:
    """Give each run of black modules of a row as one piece of a path: a sheet may have many codes."""
    for y, row in enumerate(black, QUIET):
        edges = np.flatnonzero(np.diff(np.concatenate(([False], row, [False])).astype(np.int8))) + QUIET
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            yield f"M{start} {y}h{end - start}v1h{start - end}z"


def qr(text: str) -> Markup:
    """Give the QR code of a text, error correction M (15 %)."""
    barcode = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode, ec_level="M")
    black = np.asarray(zxingcpp.write_barcode_to_image(barcode, add_quiet_zones=False)) == 0
    size = len(black) + 2 * QUIET
    runs = "".join(_runs(black))
    return Markup(
        '<svg class="qr" viewBox="0 0 {size} {size}" role="img" aria-label="QR: {text}">'
        '<rect width="{size}" height="{size}"/><path d="{runs}"/></svg>'
    ).format(size=size, text=text, runs=runs)
