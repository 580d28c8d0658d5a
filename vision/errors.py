"""This room's errors: one base class, and a stable code for each error."""

from broker.errors import CodedError


class VisionError(CodedError, code="vision_error"):
    """Base class of the room's errors; `code` is stable and in English, the message is for people."""


class PictureError(VisionError, ValueError, code="picture_unreadable"):
    """A file or an array is not a readable picture."""


class PictureMissingError(PictureError, FileNotFoundError, code="picture_missing"):
    """The picture does not exist."""


class PictureEmptyError(PictureError, code="picture_empty"):
    """The file has no content."""


class PictureTooLargeError(PictureError, code="picture_too_large"):
    """According to its header, the picture has more pixels than any table camera."""


class ExpectedDealError(VisionError, ValueError, code="expected_invalid"):
    """The expected serials are not three rows of 13, 11 and 10."""


class RiverUnclearError(VisionError, ValueError, code="river_unclear"):
    """A river does not lie in rows of six, or a hand and its melds do not lie in groups."""


class CameraError(VisionError, OSError, code="camera_failed"):
    """A camera gives no pictures."""


class CameraAddressError(CameraError, ValueError, code="camera_address"):
    """The address is not a valid camera address."""


class CameraMissingError(CameraError, FileNotFoundError, code="camera_missing"):
    """There is no camera at this address."""


class CameraDriverMissingError(CameraMissingError, code="camera_driver_missing"):
    """Debian's picamera2, the driver for cameras on the ribbon cable, is not installed or does not work."""


class CameraUnpluggedError(CameraError, ConnectionError, code="camera_unplugged"):
    """The camera was connected and has disappeared."""


class CameraClosedError(CameraError, ValueError, code="camera_closed"):
    """A frame was requested from a closed camera."""


class LensChartError(VisionError, ValueError, code="lens_chart"):
    """The chart was not seen, or not in all parts of the picture, or the pictures differ in size."""


class LensUnclearError(VisionError, ValueError, code="lens_unclear"):
    """No lens distortion explains the pictures of the chart."""


class TableFileError(VisionError, ValueError, code="table_file"):
    """A table's configuration has no camera, or not on a line of its own."""


class WindowMissingError(VisionError, OSError, code="window_missing"):
    """No window can be opened here."""


class OverlayError(VisionError, OSError, code="overlay_failed"):
    """The picture with verdicts cannot be written to the given path."""


class SheetError(VisionError, ValueError, code="labels_failed"):
    """Labels cannot be made."""


class LabelTooSmallError(SheetError, code="label_too_small"):
    """Code and number do not fit on a label of this size."""


class LabelsOffPageError(SheetError, code="labels_off_page"):
    """With these margins and this scale, some labels would be off the page."""


class StartOffSheetError(SheetError, code="start_off_sheet"):
    """The sheet has no label with the number to start from."""


class SerialsInvalidError(SheetError, code="serials_invalid"):
    """The argument is not a list of serials."""


class FileNameError(SheetError, code="file_name_refused"):
    """The file to write has the wrong suffix."""


class UnwritableError(SheetError, OSError, code="unwritable"):
    """A file cannot be written."""


class RegistryError(VisionError, ValueError, code="registry_failed"):
    """A registry of tile sets cannot be used."""


class RegistryMissingError(RegistryError, FileNotFoundError, code="registry_missing"):
    """The registry does not exist."""


class RegistryInvalidError(RegistryError, code="registry_invalid"):
    """The registry does not list a face for each serial of a set; the message lists every mistake."""


class RegistrySetMissingError(RegistryError, LookupError, code="registry_set_missing"):
    """The registry does not have this set."""


class RegistrySetExistsError(RegistryError, code="registry_set_exists"):
    """The registry already has this set, and was not changed."""


class EnrolError(VisionError, ValueError, code="enrol_failed"):
    """The pictures of a set cannot be taken or used."""


class EnrolledMissingError(EnrolError, FileNotFoundError, code="enrolled_missing"):
    """The file with a set's pictures does not exist."""


class EnrolledInvalidError(EnrolError, code="enrolled_invalid"):
    """The file does not contain the pictures of a set."""


class EnrolTrayError(EnrolError, code="enrol_no_tray"):
    """A picture does not show one whole tray."""


class EnrolPaleError(EnrolError, code="enrol_pale"):
    """The marks of the set are so pale that its tiles cannot be distinguished by their pictures."""


class EnrolOrderError(EnrolError, code="enrol_order"):
    """The tiles of a tray do not lie in the stated order, or are those of another tray or set."""
