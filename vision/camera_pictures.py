"""`pictures:FOLDER`: the pictures of a folder, one a frame, in the order of their names; the last one stays."""

from pathlib import Path

from vision.camera_base import OpenOrClosed
from vision.errors import CameraMissingError
from vision.geometry import Picture
from vision.picture import load_picture

_ENDINGS = frozenset({".jpg", ".jpeg", ".png"})


class PicturesCamera(OpenOrClosed):
    """A folder of pictures that behaves like a camera."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        try:
            self._files = sorted(path for path in folder.iterdir() if path.suffix.lower() in _ENDINGS)
        except OSError as error:
            raise CameraMissingError(f"the folder {folder.name} cannot be opened: {error.strerror}") from error
        if not self._files:
            raise CameraMissingError(f"no JPEG or PNG in the folder {folder.name}")
        self._next = 0

    def frame(self) -> Picture:
        """Load the next picture; raises PictureError where the file is none, and goes on with the next."""
        self._require_open()
        path = self._files[self._next]
        self._next = min(self._next + 1, len(self._files) - 1)
        return load_picture(path)
