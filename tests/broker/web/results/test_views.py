"""A deal's page: walls and par once the standings are final, and counts of missing results."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.event import PAR, EventPar, read_par, write_par
from broker.i18n import languages
from broker.protocol import SEATS
from broker.rules import load_mcr
from broker.scorer import open_stored_event
from broker.sim.par import PLAYERS, play_par, still_to_play
from broker.web.results.published import PublishedPages
from broker.web.results.views import PlayedDeals
from broker.web.server import DeskServer
from tests.broker.scorer.folders import declare
from tests.broker.scorer.small import event, whole_event
from tests.broker.web.pages.desks import cup, quickly, whole
from tests.broker.web.test_auth import logged_in


def with_par(folder: Path) -> Path:
    """Compute and store the par of deal 1."""
    event = open_stored_event(folder).event
    par, stretches = still_to_play(
        EventPar(1, event.name, 1, PLAYERS, {}), [event.open_deal(1)], load_mcr(event.plan.profile).payments, 4
    )
    write_par(folder, [*play_par(par, stretches, 1)][-1])
    return folder


def pages(folder: Path) -> dict[str, str]:
    """Return the published pages of the deals by file name."""
    files = PublishedPages(folder).files(open_stored_event(folder).state.snapshot())
    return {name: content.decode() for name, content in files.items() if "/deal-" in name}


def test_no_page_shows_walls_or_par_before_the_standings_are_final(over: Path) -> None:
    before = pages(over)
    assert pages(with_par(over)) == before
    assert not [name for name, page in before.items() if "tile-" in page or 'class="pars"' in page]


@pytest.mark.parametrize("language", languages())
def test_a_final_deal_shows_its_walls_and_its_par_if_computed(over: Path, language: str) -> None:
    found = pages(declare(with_par(over)))
    for number in range(1, 5):
        page = found[f"{language}/deal-{number}.html"]
        assert page.count('<li class="tile') == 136
        assert page.count('class="interval"') == (len(SEATS) if number == 1 else 0)


def test_a_wall_is_shown_in_drawing_order(declared: Path) -> None:
    tray = open_stored_event(declared).event.open_deal(2).faces["east"]
    page = pages(declared)["en/deal-2.html"]
    wall = re.findall(r'<ol aria-label="Wall">(.*?)</ol>', page)[0]
    assert re.findall(r"tile-([mpsz])", wall) == [face[1] for face in tray[13:]]
    assert re.findall(r"<b>(\d)</b>", wall) == [face[0] for face in tray[13:] if face[1] != "z"]


def test_an_invalid_or_mismatched_par_is_not_shown(declared: Path) -> None:
    snapshot, deals = open_stored_event(declared).state.snapshot(), PlayedDeals(with_par(declared))
    shown = deals.of(snapshot, 1)
    assert shown
    assert [*shown.seats()] == list(SEATS)
    par = read_par(declared)
    assert par
    write_par(declared, EventPar(1, par.event, 1, PLAYERS, {2: par.deals[1]}))
    other = PlayedDeals(declared).of(snapshot, 2)
    assert other
    assert other.par is None
    (declared / PAR).write_text("nonsense")
    broken = PlayedDeals(declared).of(snapshot, 1)
    assert broken
    assert broken.seats() == {}


LAST = event().bookings[4, 4]


@pytest.fixture(scope="module")
def one_missing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskServer]:
    """Serve an event in which one result is missing."""
    said = [one for one in whole_event() if (one.table, one.fact.round) != (4, 4)]
    with quickly(), whole(tmp_path_factory.mktemp("missing") / "cup", cup(), said) as made:
        yield made.server


@pytest.mark.parametrize(
    ("who", "path", "language", "says"),
    [
        ("head_arbiter", f"/player/{LAST.players['east']}", "en", "1 play has no result yet."),
        ("head_arbiter", f"/player/{LAST.players['east']}", "fr", "1 partie sans résultat"),
        ("organiser", f"/player/{LAST.players['east']}", "en", "1 play is not shown yet: "),
        ("organiser", f"/player/{LAST.players['east']}", "fr", "1 partie n’est pas encore montrée"),
        ("head_arbiter", f"/deal/{LAST.deal}", "en", "1 of 4 tables has no result yet"),
        ("head_arbiter", "/paper", "en", "1 play without a result"),
    ],
)
def test_one_missing_result_is_named_in_the_singular(
    one_missing: DeskServer, who: str, path: str, language: str, says: str
) -> None:
    with logged_in(one_missing, who) as client:
        assert says in client.get(path, params={"lang": language}).text
