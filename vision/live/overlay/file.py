"""An overlay as a file."""

from pathlib import Path

import cv2

from vision.errors import OverlayError
from vision.geometry import Picture


def write_overlay(target: Path, image: str, picture: Picture) -> Path:
    """Write a picture to a file, or into a folder as `IMAGE-overlay.png`, and give where it lies.

    Raises OverlayError where it cannot be written, or the file is to be neither PNG nor JPEG.
    """
    path = target / f"{Path(image).stem}-overlay.png" if target.is_dir() else target
    if path.suffix.lower() not in {".png", ".jpg", ".jpeg"}:
        raise OverlayError(f"an overlay is written as .png or .jpg, not as {path.name}")
    _, encoded = cv2.imencode(path.suffix.lower(), picture)
    try:
        path.write_bytes(encoded.tobytes())
    except OSError as error:
        raise OverlayError(f"the overlay cannot be written: {error.strerror}") from error
    return path
