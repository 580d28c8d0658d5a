"""This room's errors: one base class, and a stable code for each error."""

from broker.errors import CodedError


class VisionError(CodedError, code="vision_error"):
    """Base class of the room's errors; `code` is stable and in English, the message is for people."""


class PictureError(VisionError, ValueError, code="picture_unreadable"):
    """A file or an array is no picture that can be read."""


class PictureMissingError(PictureError, FileNotFoundError, code="picture_missing"):
    """There is no such picture."""


class PictureEmptyError(PictureError, code="picture_empty"):
    """The file has no content."""


class PictureTooLargeError(PictureError, code="picture_too_large"):
    """The picture's header promises more pixels than a table camera can have."""


class ExpectedDealError(VisionError, ValueError, code="expected_invalid"):
    """What should lie in the tray is not three rows of 13, 11 and 10 serials."""


class RiverUnclearError(VisionError, ValueError, code="river_unclear"):
    """A river does not lie in rows of six, or melds and hand not in groups."""


class CameraError(VisionError, OSError, code="camera_failed"):
    """A camera gives no pictures."""


class CameraAddressError(CameraError, ValueError, code="camera_address"):
    """No camera can have such an address."""


class CameraMissingError(CameraError, FileNotFoundError, code="camera_missing"):
    """There is no such camera here."""


class CameraDriverMissingError(CameraMissingError, code="camera_driver_missing"):
    """What drives a camera on the ribbon, Debian's picamera2, is not installed, or does not run."""


class CameraUnpluggedError(CameraError, ConnectionError, code="camera_unplugged"):
    """The camera was there and is gone."""


class CameraClosedError(CameraError, ValueError, code="camera_closed"):
    """A frame was requested from a closed camera."""


class LensChartError(VisionError, ValueError, code="lens_chart"):
    """Pictures do not show the chart, or not everywhere, or are not all of one size."""


class LensUnclearError(VisionError, ValueError, code="lens_unclear"):
    """No lens bends the chart as the pictures show it."""


class TableFileError(VisionError, ValueError, code="table_file"):
    """A table's configuration names no camera, or not in a line by itself."""


class WindowMissingError(VisionError, OSError, code="window_missing"):
    """No window can be opened here."""


class OverlayError(VisionError, OSError, code="overlay_failed"):
    """A picture with verdicts cannot be written to the given path."""


class SheetError(VisionError, ValueError, code="labels_failed"):
    """Labels cannot be made."""


class LabelTooSmallError(SheetError, code="label_too_small"):
    """Code and number do not fit on a label of this size."""


class LabelsOffPageError(SheetError, code="labels_off_page"):
    """With these margins and this scale labels lie off the page."""


class StartOffSheetError(SheetError, code="start_off_sheet"):
    """A sheet has no label of that number to start from."""


class SerialsInvalidError(SheetError, code="serials_invalid"):
    """What was asked for is not a list of serials."""


class FileNameError(SheetError, code="file_name_refused"):
    """The name of a file to write has the wrong ending."""


class UnwritableError(SheetError, OSError, code="unwritable"):
    """A file cannot be written."""


class RegistryError(VisionError, ValueError, code="registry_failed"):
    """A registry of tile sets cannot be used."""


class RegistryMissingError(RegistryError, FileNotFoundError, code="registry_missing"):
    """There is no such registry."""


class RegistryInvalidError(RegistryError, code="registry_invalid"):
    """A registry does not give each serial of a set its face; the message names every mistake."""


class RegistrySetMissingError(RegistryError, LookupError, code="registry_set_missing"):
    """The registry does not have this set."""


class RegistrySetExistsError(RegistryError, code="registry_set_exists"):
    """The registry has this set already, and keeps it."""


class EnrolError(VisionError, ValueError, code="enrol_failed"):
    """A set's own pictures cannot be taken or used."""


class EnrolledMissingError(EnrolError, FileNotFoundError, code="enrolled_missing"):
    """There is no such file of a set's own pictures."""


class EnrolledInvalidError(EnrolError, code="enrolled_invalid"):
    """A file is not one of a set's own pictures."""


class EnrolTrayError(EnrolError, code="enrol_no_tray"):
    """A picture does not show one whole tray."""


class EnrolPaleError(EnrolError, code="enrol_pale"):
    """The marks of a set are too pale for its pictures to tell its tiles apart."""


class EnrolOrderError(EnrolError, code="enrol_order"):
    """The tiles of a tray do not lie in the stated order, or are those of another tray or set."""
