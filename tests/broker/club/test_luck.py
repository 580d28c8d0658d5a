"""The experiment: its sections, and its report from events that are known."""

from functools import cache

from broker.club import luck
from broker.club.luck import PLAYERS, SECTIONS, Event, report, strengths
from broker.contract.words import SEATS
from broker.scoring.plays import ScoredPlay


@cache
def section(*, shared: bool) -> list[ScoredPlay]:
    return luck._section("1 event 0", 1, strengths(0.5), shared=shared)


def test_the_strengths_go_down_in_equal_steps_from_1() -> None:
    assert strengths(0.25)[:2] == [1.0, 0.95]
    assert strengths(0.25)[-1] == 0.25


def test_a_section_has_its_own_tables_and_players() -> None:
    plays = section(shared=True)
    assert {play.table for play in plays} == {5, 6, 7, 8}
    assert sorted(play.players[seat] for play in plays for seat in SEATS) == sorted(
        str(number) for number in range(PLAYERS, 2 * PLAYERS) for _ in range(4)
    )


def test_points_are_added_up_by_strength() -> None:
    totals = luck._points([section(shared=True)])
    assert [sum(of_section) for of_section in totals] == [
        0,
        sum(sum((play.points or {}).values()) for play in section(shared=True)),
        0,
        0,
    ]
    assert sum(map(sum, luck._by_seat([section(shared=True)]))) == sum(totals[1])


def test_imps_are_those_of_the_tables_that_are_compared() -> None:
    """Where a second section scored just the same, the datum is the same, and so is every IMP."""
    again = [
        ScoredPlay(play.deal, play.table + 4, {s: str(int(p) + PLAYERS) for s, p in play.players.items()}, play.points)
        for play in section(shared=True)
    ]
    alone = luck._imps([[], section(shared=True), again, []], 1)
    both = luck._imps([section(shared=True), again, [], []], 2)
    assert alone == both
    assert alone[1] == alone[2] != [0] * PLAYERS


def test_who_is_always_first_is_told_so() -> None:
    falling = [[PLAYERS - at for at in range(PLAYERS)]] * SECTIONS
    rising = [totals[::-1] for totals in falling]
    one = Event(rising, falling, [falling, falling, rising], [list(range(16)) for _ in range(16)])
    assert list(report([one, one]))[2:] == [
        "| 4 | own deals, points | 8 | 0.0 | -1.000 | 100.0 % |",
        "| 4 | same deals, points | 8 | 0.0 | 1.000 | 100.0 % |",
        "| 4 | same deals, IMP, 4 tables | 8 | 0.0 | 1.000 | 100.0 % |",
        "| 4 | same deals, IMP, 8 tables | 8 | 0.0 | 1.000 | 100.0 % |",
        "| 4 | same deals, IMP, 16 tables | 8 | 0.0 | -1.000 | 100.0 % |",
        "\nPoints in one play: spread 4.6; 100 % of their variance lies in deal and seat.",
        "Mean points a play: the four strongest +2.1, the four weakest +2.1.",
    ]
