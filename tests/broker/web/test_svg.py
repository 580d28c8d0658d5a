"""Charts on the desk's pages."""

import re
from pathlib import Path

import pytest
from markupsafe import escape

from broker.protocol import SEATS
from broker.scorer import StandingsHistory, deal_sheet, open_stored_event
from broker.scorer.standings_view import HistoryLine
from broker.web.svg import MOST_NUMBERS, course_chart, deal_chart
from tests.broker.scorer.folders import event_folder


@pytest.mark.parametrize("deals", [4, MOST_NUMBERS, 39, 200])
def test_a_chart_has_few_enough_axis_labels_for_a_phone(deals: int) -> None:
    course = StandingsHistory(tuple(range(1, deals + 1)), (HistoryLine("p01", "Anna", tuple(range(deals))),))
    _, _, below = str(course_chart(course, "IMPs")).partition('class="axis x')
    numbers = re.findall(r"<text[^>]*>(\d+)</text>", below.partition('class="axis y')[0])
    assert (numbers[0], len(numbers) <= MOST_NUMBERS) == ("1", True)


def test_a_deal_in_which_nobody_scored_has_no_chart(tmp_path: Path) -> None:
    snapshot = open_stored_event(event_folder(tmp_path)).state.snapshot()
    sheets = [deal_sheet(snapshot, deal) for deal in (1, 4)]
    assert [bool(deal_chart(sheet, "Points", dict.fromkeys(SEATS, "A seat"))) for sheet in sheets] == [True, False]


def test_the_legend_shows_full_names() -> None:
    name = "Maria del Carmen Fernández-Villanueva de la Torre y Sánchez-Albornoz <i>"
    lines = tuple(HistoryLine(f"p{at:02}", f"{name} {at}", (at, 2 * at)) for at in range(6))
    drawn = str(course_chart(StandingsHistory((1, 2), lines), "IMPs"))
    assert re.findall(r"<bdi>(.*?)</bdi>", drawn) == [str(escape(line.name)) for line in lines]
