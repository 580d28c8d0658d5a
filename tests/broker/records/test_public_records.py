"""Records that others have made are read, replayed, counted and scored."""

import pytest

from broker.records.judges import HOWS, How, judged
from broker.records.judging import judge
from broker.records.writing import write_one
from tests.broker.records.plays import examples, of
from tests.broker.records.public import EXAMPLES

WON = [{"west": 9}, {"south": 12, "north": 12}, {"west": 21}]


@pytest.mark.parametrize("how", HOWS)
def test_the_referee_and_both_books_find_them_right(how: How) -> None:
    plays = [judge(record, judged(how)) for record in examples()]
    assert [{win.hu.seat: win.hand_value for win in play.wins} for play in plays if play] == WON


def test_two_winners_on_one_discard_have_the_points_of_the_rule_book_s_real_record() -> None:
    record = examples()[1]
    assert (record.points, record.winners) == ({"east": -32, "south": 36, "west": -8, "north": 36}, WON[1])


def test_what_we_write_of_them_differs_in_scoring_and_fan_values_alone() -> None:
    for theirs, record in zip(EXAMPLES.split("\n\n"), examples(), strict=True):
        ours = write_one(record).splitlines()
        differing = [line for line, other in zip(ours, theirs.splitlines(), strict=True) if line != other]
        assert [line.split()[0] for line in differing] == ["[Scoring", "[Fan"]


def test_the_fan_of_a_first_release_get_the_green_book_s_values() -> None:
    assert '[Fan "None None 55/4/1.59/2/1.70/1/1.73/1/1.78/1/1 None"]' in write_one(examples()[0])


def test_hu_as_the_first_release_wrote_it_is_read() -> None:
    assert of(EXAMPLES.replace("H1H3", "M1M3")) == examples()
