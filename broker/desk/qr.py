"""A QR code as SVG that the page's own style colours; zxing-cpp makes it."""

import numpy as np
import zxingcpp
from markupsafe import Markup

QUIET = 4
"""Modules of white around it, as ISO/IEC 18004 wants."""


def qr(text: str) -> Markup:
    """Give the QR code of a text, error correction M (15 %)."""
    barcode = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode, ec_level="M")
    black = np.asarray(zxingcpp.write_barcode_to_image(barcode, add_quiet_zones=False)) == 0
    size = len(black) + 2 * QUIET
    runs = "".join(f"M{x + QUIET} {y + QUIET}h1v1h-1z" for y, x in zip(*np.nonzero(black), strict=True))
    return Markup(
        '<svg class="qr" viewBox="0 0 {size} {size}" role="img" aria-label="QR: {text}">'
        '<rect width="{size}" height="{size}"/><path d="{runs}"/></svg>'
    ).format(size=size, text=text, runs=runs)
