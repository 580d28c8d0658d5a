"""What a screen shows, as bytes to compare."""

import pygame


def shown_pixels() -> bytes:
    """Return the pixels of the window that is open, row by row, three bytes each."""
    surface = pygame.display.get_surface()
    assert surface is not None, "no window is open"
    return pygame.image.tobytes(surface, "RGB")
