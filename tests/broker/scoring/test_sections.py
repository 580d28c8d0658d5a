"""Groups of the field: a datum is taken within a section."""

from fractions import Fraction

from msgspec.structs import replace

from broker.rules.profile_files import load
from broker.scoring.compare import groups
from tests.broker.rules.variants import seats
from tests.broker.scoring.events import made

OEDMC = load("oedmc-2020")


def test_plays_of_different_sections_are_not_compared() -> None:
    plays = made([seats(10, 0, 0, 0), seats(0, 0, 0, 0), seats(30, 0, 0, 0), seats(40, 0, 0, 0)])
    of_two = [*plays[:2], *(replace(play, section="B") for play in plays[2:])]
    assert [(group.section, group.datum["east"]) for group in groups(of_two, OEDMC)] == [
        (None, Fraction(5)),
        ("B", Fraction(35)),
    ]
