"""What verdicts look like: colour, line and sign each tell them apart alone, so that nobody needs to see colours.

Colours: M. Okabe and K. Ito, "Color Universal Design" (2008), jfly.uni-koeln.de/color.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

Colour = tuple[int, int, int]  # BGR

BLACK: Final[Colour] = (0, 0, 0)
WHITE: Final[Colour] = (255, 255, 255)
ORANGE: Final[Colour] = (0, 159, 230)
SKY_BLUE: Final[Colour] = (233, 180, 86)
BLUISH_GREEN: Final[Colour] = (115, 158, 0)
YELLOW: Final[Colour] = (66, 228, 240)
VERMILLION: Final[Colour] = (0, 94, 213)
REDDISH_PURPLE: Final[Colour] = (167, 121, 204)


class Sign(StrEnum):
    """What is drawn on a tile's badge; a shape of lines, for no font is everywhere."""

    TICK = "tick"
    QUESTION = "question"
    BANG = "bang"
    TURN = "turn"


@dataclass(frozen=True, slots=True)
class Look:
    """How a verdict is drawn. `dash` is how much of the line is drawn, in line widths drawn and left out; () is all.

    `weight` is how thick the line and how large the badge are against the usual.
    """

    colour: Colour
    sign: Sign
    dash: tuple[float, float] | tuple[()] = ()
    weight: float = 1.0
    ink: Colour = BLACK  # of the sign


READ: Final = Look(BLUISH_GREEN, Sign.TICK, weight=0.7)  # quiet: there are many of them
UNREAD: Final = Look(YELLOW, Sign.QUESTION, dash=(3.0, 2.5))
FACE_UP: Final = Look(SKY_BLUE, Sign.TURN, dash=(1.0, 2.0))
FAULT: Final = Look(VERMILLION, Sign.BANG, weight=2.0, ink=WHITE)
