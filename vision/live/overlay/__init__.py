"""The picture with each tile's verdict drawn into it, for people."""

from vision.live.overlay.draw import Destination, draw_overlay
from vision.live.overlay.file import write_overlay

__all__ = ["Destination", "draw_overlay", "write_overlay"]
