"""Every page with standings shows likely places while they are informative, and not before or afterwards."""

import re
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from broker.event import BookedPlay, Event
from broker.protocol import LogMessage
from broker.web.results.published import PublishedPages
from tests.broker.scorer.hall import make_hall, open_journal
from tests.broker.scorer.small import OUTCOMES, deals, five, plan, registry, result
from tests.broker.scorer.team_event import TEAMS, seated
from tests.broker.web.results.test_people import shown

RANKING: Final = ("/standings", "/display")
HEADS: Final = re.compile(r'<th scope="col">Likely\b')


def plays() -> tuple[BookedPlay, ...]:
    """Return four rounds, in each of which all four tables play the same deal and so complete it."""
    return tuple(BookedPlay(at, table, at, seated(table, at)) for at in range(1, 5) for table in range(1, 5))


def pages(folder: Path, rounds: int, *, teams: bool) -> list[str]:
    """Return the pages with standings after a number of rounds, at the desk and published."""
    (folder / "cup").mkdir()
    made = replace(plan(), plays=plays(), teams=TEAMS if teams else {}, copies=4)
    said = list[LogMessage]()
    for play in plays():
        one = result(play.table, play.round, OUTCOMES[play.table * play.round % len(OUTCOMES)])
        if play.round <= rounds:
            said += five(play.table, replace(one, deal=play.deal, players=dict(play.players)))
    with open_journal(folder) as journal:
        hall = make_hall(folder / "cup", journal, Event(made, deals(), registry()))
        hall.hear(*said)
        return [*shown(hall, *RANKING), PublishedPages().files(hall.scorer.snapshot)["en/standings.html"].decode()]


@pytest.mark.parametrize("teams", [False, True], ids=["players", "teams"])
@pytest.mark.parametrize(("rounds", "said"), [(1, False), (3, True), (4, False)])
def test_likely_places_are_shown_on_every_page_with_standings(
    tmp_path: Path, rounds: int, *, said: bool, teams: bool
) -> None:
    found = pages(tmp_path, rounds, teams=teams)
    rankings = [1 + teams, 1, 1 + teams]  # the display shows teams and players on separate pages
    assert [len(HEADS.findall(page)) for page in found] == [said * count for count in rankings]
