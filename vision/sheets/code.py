"""The DataMatrix of a label: zxing-cpp makes it, at one pixel a module."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import zxingcpp
from numpy.typing import NDArray

from vision.payload import Payload, payload_text

TEXTS: Final[Mapping[int, Callable[[Payload], str]]] = {
    14: payload_text,
    12: lambda payload: f"HM{payload.set:02d}{payload.serial:03d}",
    10: lambda payload: f"{payload.set:02d}{payload.serial:03d}",
}
"""Modules across to what is written in them. Fewer modules are larger ones, and less safe against chance."""


def matrix(payload: Payload, modules: int) -> NDArray[np.bool_]:
    """Give the modules of a label, shape (modules, modules), True is black; without the quiet zone."""
    barcode = zxingcpp.create_barcode(TEXTS[modules](payload), zxingcpp.BarcodeFormat.DataMatrix)
    picture = np.asarray(zxingcpp.write_barcode_to_image(barcode, add_quiet_zones=False))
    return np.asarray(picture < 128, dtype=np.bool_)  # noqa: PLR2004 - half of white
