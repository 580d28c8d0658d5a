"""`pictures:FOLDER`: the pictures of a folder, one a frame, in the order of their names; the last one stays."""

from pathlib import Path

from vision.cameras.camera import Camera
from vision.errors import CameraMissingError
from vision.geometry import Picture
from vision.picture import load_picture

_ENDINGS = frozenset({".jpg", ".jpeg", ".png"})


class PicturesCamera(Camera):
    """A folder of pictures that behaves like a camera; with `loop` the first follows the last."""

    def __init__(self, folder: Path, *, loop: bool = False, fps: float = 10.0) -> None:
        super().__init__()
        try:
            self._files = sorted(path for path in folder.iterdir() if path.suffix.lower() in _ENDINGS)
        except OSError as error:
            raise CameraMissingError(f"the folder {folder.name} cannot be opened: {error.strerror}") from error
        if not self._files:
            raise CameraMissingError(f"no JPEG or PNG in the folder {folder.name}")
        self.pause = 1 / fps
        self._loop = loop
        self._next = 0

    def _take(self) -> Picture:
        """Load the next picture; raises PictureError where the file is none, and goes on with the next."""
        self._require_open()
        shown = self.shown = self._files[self._next]
        self._step()
        return load_picture(shown)

    def _step(self) -> None:
        last = self._next == len(self._files) - 1
        self.ended = last and not self._loop
        if not self.ended:
            self._next = (self._next + 1) % len(self._files)
