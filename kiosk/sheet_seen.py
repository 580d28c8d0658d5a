"""Reads the sheet that lies in a carrier, through the table's camera."""

from typing import TYPE_CHECKING

from broker.contract.carrier_sheet import CarrierSheet, read_sheet

if TYPE_CHECKING:
    from vision.geometry import Picture


def sheet_in(picture: "Picture") -> CarrierSheet | None:
    """Give the carrier whose sheet a picture shows: BGR, shape (height, width, 3), uint8. None where it shows none.

    None too where it shows sheets of different carriers: which of them is meant nobody can tell.
    """
    import zxingcpp  # noqa: PLC0415 - numpy: on the eyes' thread, after the first picture of the screen

    found = zxingcpp.read_barcodes(picture, formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode))
    sheets = {sheet for one in found if (sheet := read_sheet(one.text)) is not None}
    return sheets.pop() if len(sheets) == 1 else None
