"""Players find their seats on the seating plan, on their own page and on the display."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser

from broker.event import seating_of
from broker.protocol import PublicState, Substitute, Undo, Withdrawn
from broker.scorer import AnchorView
from broker.web.results.display import next_place, rounds_to_come
from broker.web.server import DeskServer
from broker.web.services import Services
from tests.broker.scorer.folders import event_folder, until_round
from tests.broker.scorer.hall import Hall, make_hall, open_journal
from tests.broker.scorer.small import plan, state, whole_event
from tests.broker.web.results.test_exports import desk_of
from tests.broker.web.results.test_people import hall_of, rule, shown
from tests.broker.web.test_auth import logged_in


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    yield from hall_of(tmp_path / "cup", tmp_path, "")


def test_the_seating_plan_can_be_searched_by_name(hall: Hall) -> None:
    found, nobody = shown(hall, "/seating?q=PLAYER+16", "/seating?q=Nemo")
    assert re.findall(r'href="/player/(p\d+)', found) == ["p16"]
    assert "Nobody of this name" in nobody


def test_prints_and_corrections_are_offered_by_role(tmp_path: Path) -> None:
    players = (replace(plan().players[0], name="สมชาย ใจดี"), *plan().players[1:])
    offered = {}
    for desk in desk_of(event_folder(tmp_path / "cup", of=replace(plan(), players=players))):
        for role in ("display", "organiser", "table_arbiter", "head_arbiter"):
            with logged_in(desk, role) as client:
                page = client.get("/seating").text
            offered[role] = ("/seating/cards.pdf" in page, 'id="unprintable"' in page, "/setup?player=p01" in page)
    assert offered == {
        "display": (False, False, False),
        "organiser": (True, True, True),
        "table_arbiter": (True, True, False),
        "head_arbiter": (True, True, True),
    }


def test_a_players_page_lists_their_seats(hall: Hall) -> None:
    (page,) = shown(hall, "/player/p07")
    rows = re.findall(
        r'data-key="place-(\d+)"><th scope="row">\d+</th><td><strong>(\d+)</strong></td><td>(\w+)</td>', page
    )
    assert rows == [(str(one.round), str(one.table), one.seat.capitalize()) for one in seating_of(plan())["p07"]]


@pytest.fixture
def unplayed(tmp_path: Path) -> Iterator[Hall]:
    """A hall whose event has no plays yet."""
    (tmp_path / "cup").mkdir()
    with open_journal(tmp_path) as journal:
        yield make_hall(tmp_path / "cup", journal)


def next_round(hall: Hall, player: str) -> int | None:
    to_go = next_place(seating_of(plan())[player], hall.scorer.feed.current)
    return to_go.round if to_go else None


@pytest.mark.parametrize(
    ("table_state", "to_go"),
    [("waiting", 2), ("restoring", 2), ("confirming", 2), ("playing", 3), ("recorded", 3), ("finished", 3)],
)
def test_the_next_place_is_the_first_play_that_has_not_begun(
    unplayed: Hall, table_state: PublicState, to_go: int
) -> None:
    first, second, *_ = places = seating_of(plan())["p07"]
    assert next_round(unplayed, "p07") == 1
    assert next_place(places, replace(unplayed.scorer.feed.current, anchor=AnchorView(1, "ANCHOR"))) == second
    unplayed.hear(replace(state(first.table), state="recorded"))
    assert next_round(unplayed, "p07") == 2
    unplayed.hear(replace(state(second.table, seq=1), round=second.round, state=table_state))
    assert next_round(unplayed, "p07") == to_go


def test_there_is_no_next_place_after_the_last_play_has_begun(unplayed: Hall) -> None:
    *_, last = seating_of(plan())["p07"]
    unplayed.hear(replace(state(last.table), round=last.round))
    assert next_round(unplayed, "p07") is None


@pytest.mark.parametrize(("language", "word"), [("en", "Next"), ("fr", "Ensuite"), ("zh", "接下来")])
def test_the_mark_of_the_next_play_moves_on_an_open_page(
    unplayed: Hall, language: str, word: str, browser: Browser
) -> None:
    first, second, *_ = seating_of(plan())["p07"]
    services = Services(lambda: unplayed.scorer.snapshot)
    with DeskServer(unplayed.scorer.feed, port=0, services=services) as server:
        page = browser.new_page()
        page.goto(f"{server.url}player/p07?lang={language}")
        marked = page.locator("tr.next th")
        assert marked.inner_text() == f"{first.round} {word}"
        unplayed.hear(replace(state(first.table), state="recorded"))
        page.locator(f'tr.next[data-key="place-{second.round}"]').wait_for()
        assert marked.inner_text() == f"{second.round} {word}"
        page.close()


def test_a_phone_hides_the_rounds_that_are_over(unplayed: Hall, browser: Browser) -> None:
    rounds = sorted({play.round for play in plan().plays})
    with DeskServer(unplayed.scorer.feed, port=0, services=Services(lambda: unplayed.scorer.snapshot)) as server:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        for over in (0, 2):
            unplayed.hear(*until_round(over))
            page.goto(f"{server.url}seating?lang=en")
            assert page.locator("thead th:visible abbr").all_inner_texts() == [str(one) for one in rounds if one > over]
        page.close()


def test_the_plan_by_table_lists_every_table_of_every_round(hall: Hall) -> None:
    (page,) = shown(hall, "/seating?by=table")
    assert set(re.findall(r'data-key="table-(\d+-\d+)"', page)) == {f"{one.round}-{one.table}" for one in plan().plays}


def seats_of(page: str, player: str) -> list[str]:
    """Return a player's table, or a dash, in each round of the list by name."""
    row = re.search(rf'data-key="seat-{player}">.*?</tr>', page, re.DOTALL)
    return re.findall(r"(?:<strong>|>)(\d+|–)<", row[0].partition("</th>")[2]) if row else []


def test_cancelled_plays_are_not_shown_as_seats(unplayed: Hall) -> None:
    unplayed.hear(*until_round(2))
    gone = {(one.round, one.table) for one in seating_of(plan())["p07"] if one.round > 2}
    pages = "/seating?by=table", "/seating", "/player/p07", "/display?lines=40&show=seating"
    before = shown(unplayed, *pages)
    given = rule(unplayed, Withdrawn(player="p07", first_round=3))
    by_table, by_name, own, display = shown(unplayed, *pages)
    left = {(one.round, one.table) for one in plan().plays} - gone
    assert set(re.findall(r'data-key="table-(\d+-\d+)"', by_table)) == {f"{round_}-{table}" for round_, table in left}
    for page in (by_table, by_name):
        assert "Not played, by a ruling of the arbiters:" in page
        assert re.findall(r"Table (\d+) · Round (\d+)", page) == [(str(table), str(at)) for at, table in sorted(gone)]
    for player, places in seating_of(plan()).items():
        sits = [one.round for one in places if (one.round, one.table) not in gone]
        assert [at for at, table in enumerate(seats_of(by_name, player), 1) if table != "–"] == sits
    assert own.count("not played<") == len(gone)
    assert 'class="next"' not in own
    assert display.count("<strong>") < before[3].count("<strong>")
    rule(unplayed, Undo(ruling=given))
    assert shown(unplayed, *pages)[:2] == before[:2]


def test_a_substitute_is_named_and_found_on_the_seating_plan(unplayed: Hall) -> None:
    unplayed.hear(*until_round(2))
    rule(unplayed, Substitute(player="p07", name="Ada Reserve", first_round=3))
    by_table, by_name = shown(unplayed, "/seating?by=table", "/seating?q=ada")
    assert by_table.count(">Ada Reserve<") == len(
        [one for one in plan().plays if one.round > 2 and "p07" in one.players.values()]
    )
    assert re.findall(r'href="/player/(p\d+)', by_name) == ["p07"]
    assert "Ada Reserve for Player 7 from round 3 on" in by_name


@pytest.mark.parametrize("asked", ["seating?by=table", "seating?q=Player+16", "standings?stage=1"])
def test_a_live_page_keeps_its_query(hall: Hall, asked: str) -> None:
    (page,) = shown(hall, f"/{asked}")
    query = asked.partition("?")[2]
    assert (f'data-events="/live/{asked}&amp;lang=en"' in page, f'href="?{query}&amp;lang=fr"' in page) == (True, True)


def test_the_display_shows_the_seating_on_request(hall: Hall) -> None:
    standings, seating = shown(hall, "/display?lines=40", "/display?lines=40&show=seating")
    assert '<td class="imp">' in standings
    assert '<td class="imp">' not in seating
    assert len(re.findall(r'<th scope="row">Player \d+</th>', seating)) == 16


def test_the_display_shows_when_the_current_round_ends(unplayed: Hall) -> None:
    def announced() -> list[str]:
        (page,) = shown(unplayed, "/display?lang=en")
        return re.findall(r"Round (\d) ends about <time", page)

    seen = [announced()]
    unplayed.hear(*until_round(1))
    seen.append(announced())
    unplayed.hear(*(one for one in whole_event() if one.fact.round > 1))
    assert [*seen, announced()] == [[], ["2"], []]


@pytest.mark.parametrize(
    ("over", "columns", "shown_rounds"),
    [
        (None, 1, (1, 2, 3, 4, 5, 6, 7, 8)),
        (None, 2, (1, 2, 3, 4)),
        (3, 2, (4, 5, 6, 7)),
        (11, 2, (9, 10, 11, 12)),
        (12, 6, (12,)),
    ],
)
def test_the_display_shows_as_many_coming_rounds_as_fit(
    over: int | None, columns: int, shown_rounds: tuple[int, ...]
) -> None:
    rounds = tuple(range(1, 13))
    anchor = None if over is None else AnchorView(over, "ANCHOR")
    assert rounds[rounds_to_come(rounds, anchor, columns)] == shown_rounds


def test_the_plan_by_table_fits_the_width_of_a_phone(hall: Hall, browser: Browser) -> None:
    with DeskServer(hall.scorer.feed, port=0, services=Services(lambda: hall.scorer.snapshot)) as server:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.goto(f"{server.url}seating?by=table")
        sides = page.locator(".scrolling").evaluate_all("(all) => all.map((one) => one.scrollWidth - one.clientWidth)")
        page.close()
    assert sides
    assert max(sides) <= 0
