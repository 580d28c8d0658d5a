"""The sheet that lies in a carrier, under the table's camera."""

import cv2
import numpy as np
import zxingcpp

from broker.contract.carrier_sheet import CarrierSheet, as_text
from kiosk.looking import Looking
from kiosk.sheet_seen import sheet_in
from kiosk.sight import Sight
from kiosk.table.events import TrayChecked
from tests.kiosk.tables import EVENT, play
from tests.kiosk.test_eyes import carrier
from vision.geometry import Picture
from vision.live.feed import Frame
from vision.live.watcher import Stir, Watched
from vision.reading import Reading

OURS = CarrierSheet(EVENT, 1)


def lying(*texts: str, turned: float = 30) -> Picture:
    """Photograph sheets that lie askew on a dark table, each with a code."""
    picture = np.full((960, 1280), 60, np.uint8)
    for at, text in enumerate(texts):
        code = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode, ec_level="M")
        square = np.asarray(zxingcpp.write_barcode_to_image(code, scale=4))
        picture[400 : 400 + len(square), 400 + 300 * at : 400 + 300 * at + len(square)] = square
    turn = cv2.getRotationMatrix2D((640, 480), turned, 1)
    grey = cv2.warpAffine(picture, turn, (1280, 960), borderValue=60)
    return np.asarray(cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR), np.uint8)


def test_a_sheet_is_read_however_it_lies() -> None:
    assert [sheet_in(lying(as_text(OURS), turned=turned)) for turned in (0, 30, 180)] == [OURS] * 3


def test_of_sheets_of_two_carriers_and_of_other_codes_none_is_believed() -> None:
    two = lying(as_text(OURS), as_text(CarrierSheet(EVENT, 2)))
    assert (sheet_in(two), sheet_in(lying("https://example.org"))) == (None, None)


def test_a_sheet_is_told_when_it_comes_before_the_trays_beside_it_and_its_going_too() -> None:
    looking = Looking(play(1), (800, 290))
    settled = Watched(1.0, Stir.SETTLED, carrier(("E", "east")))
    sight, *looks = looking.see(settled, Frame(1, 1.0, lying(as_text(OURS))), 7)
    assert isinstance(sight, Sight)
    assert (sight.sheet, [look.seat for look in looks if isinstance(look, TrayChecked)]) == (OURS, ["east"])
    assert looking.see(settled, Frame(2, 2.0, lying()), 8) == ()
    (gone, *_) = looking.see(Watched(3.0, Stir.SETTLED, Reading((), ())), Frame(3, 3.0, lying()), 9)
    assert isinstance(gone, Sight)
    assert gone.sheet is None
