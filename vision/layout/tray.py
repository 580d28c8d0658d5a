"""What a tray is: three rows of 13, 11 and 10 places, row 0 farthest from the player, and whose it can be."""

from collections.abc import Iterator

ROW_LENGTHS = (13, 11, 10)  # a player's hand, and the two rows of the wall
ROWS = len(ROW_LENGTHS)
TILES = sum(ROW_LENGTHS)
SEATS = ("E", "S", "W", "N")
HALF_TURN = 180

Indents = tuple[float, float, float]  # where column 0 of each row stands, in pitches from row 0's
LEFT: Indents = (0.0, 0.0, 0.0)  # every row begins at the tray's left end
CENTRED: Indents = (0.0, 1.0, 1.5)  # the short rows stand in the middle

Where = tuple[int, int]  # row, col


def places() -> Iterator[Where]:
    """Every (row, col) of a tray, in reading order."""
    return ((row, col) for row, length in enumerate(ROW_LENGTHS) for col in range(length))
