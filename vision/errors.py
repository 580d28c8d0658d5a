"""Everything that can go wrong in this room: one base, a stable code each."""

from typing import ClassVar


class VisionError(Exception):
    """Base of the room's errors; `code` is stable and in English, the message is for people."""

    code: ClassVar[str] = "vision_error"


class PictureError(VisionError, ValueError):
    """A file or an array is no picture that can be read."""

    code: ClassVar[str] = "picture_unreadable"


class PictureMissingError(PictureError, FileNotFoundError):
    """There is no such picture."""

    code: ClassVar[str] = "picture_missing"


class PictureEmptyError(PictureError):
    """The file has no content."""

    code: ClassVar[str] = "picture_empty"


class PictureTooLargeError(PictureError):
    """The picture's header promises more pixels than a table camera can have."""

    code: ClassVar[str] = "picture_too_large"


class ExpectedDealError(VisionError, ValueError):
    """What should lie in the tray is not three rows of 13, 11 and 10 serials."""

    code: ClassVar[str] = "expected_invalid"


class CameraError(VisionError, OSError):
    """A camera gives no pictures."""

    code: ClassVar[str] = "camera_failed"


class CameraAddressError(CameraError, ValueError):
    """No camera can have such an address."""

    code: ClassVar[str] = "camera_address"


class CameraMissingError(CameraError, FileNotFoundError):
    """There is no such camera here."""

    code: ClassVar[str] = "camera_missing"


class CameraDriverMissingError(CameraMissingError):
    """What drives a camera on the ribbon, Debian's picamera2, is not installed, or does not run."""

    code: ClassVar[str] = "camera_driver_missing"


class CameraUnpluggedError(CameraError, ConnectionError):
    """The camera was there and is not any more."""

    code: ClassVar[str] = "camera_unplugged"


class CameraClosedError(CameraError, ValueError):
    """A frame was asked of a camera that is closed."""

    code: ClassVar[str] = "camera_closed"


class WindowMissingError(VisionError, OSError):
    """No window can be opened here."""

    code: ClassVar[str] = "window_missing"


class OverlayError(VisionError, OSError):
    """A picture with verdicts cannot be written where it was wanted."""

    code: ClassVar[str] = "overlay_failed"


class SheetError(VisionError, ValueError):
    """Labels cannot be made."""

    code: ClassVar[str] = "labels_failed"


class LabelTooSmallError(SheetError):
    """Code and number have no room on a label of this size."""

    code: ClassVar[str] = "label_too_small"


class LabelsOffPageError(SheetError):
    """With these margins and this scale labels lie off the page."""

    code: ClassVar[str] = "labels_off_page"


class StartOffSheetError(SheetError):
    """A sheet has no label of that number to start from."""

    code: ClassVar[str] = "start_off_sheet"


class SerialsInvalidError(SheetError):
    """What was asked for are no serials of a set."""

    code: ClassVar[str] = "serials_invalid"


class FileNameError(SheetError):
    """A file to write has a name of another kind."""

    code: ClassVar[str] = "file_name_refused"


class UnwritableError(SheetError, OSError):
    """A file cannot be written."""

    code: ClassVar[str] = "unwritable"


class RegistryError(VisionError, ValueError):
    """A registry of tile sets cannot be used."""

    code: ClassVar[str] = "registry_failed"


class RegistryMissingError(RegistryError, FileNotFoundError):
    """There is no such registry."""

    code: ClassVar[str] = "registry_missing"


class RegistryInvalidError(RegistryError):
    """A registry does not give each serial of a set its face; the message names every mistake."""

    code: ClassVar[str] = "registry_invalid"


class RegistrySetMissingError(RegistryError, LookupError):
    """The registry does not have this set."""

    code: ClassVar[str] = "registry_set_missing"


class RegistrySetExistsError(RegistryError):
    """The registry has this set already, and keeps it."""

    code: ClassVar[str] = "registry_set_exists"


class EnrolError(VisionError, ValueError):
    """A set's own pictures cannot be taken or used."""

    code: ClassVar[str] = "enrol_failed"


class EnrolledMissingError(EnrolError, FileNotFoundError):
    """There is no such file of a set's own pictures."""

    code: ClassVar[str] = "enrolled_missing"


class EnrolledInvalidError(EnrolError):
    """A file is not one of a set's own pictures."""

    code: ClassVar[str] = "enrolled_invalid"


class EnrolTrayError(EnrolError):
    """A picture does not show one whole tray."""

    code: ClassVar[str] = "enrol_no_tray"


class EnrolPaleError(EnrolError):
    """The marks of a set are too pale for its pictures to tell its tiles apart."""

    code: ClassVar[str] = "enrol_pale"


class EnrolOrderError(EnrolError):
    """The tiles of a tray do not lie in the stated order, or are those of another tray or set."""

    code: ClassVar[str] = "enrol_order"
