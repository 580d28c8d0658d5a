"""The pixels of a screen, as bytes to compare."""

import pygame


def shown_pixels() -> bytes:
    """Return the pixels of the open window, row by row, three bytes each."""
    surface = pygame.display.get_surface()
    assert surface is not None, "no window is open"
    return pygame.image.tobytes(surface, "RGB")
