"""Stages and the final: qualifiers are previewed and published, and the standings declared final."""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

import httpx
import pytest
from msgspec.structs import replace

from broker.event import BookedPlay, Plan, Stage
from broker.protocol import SEATS, LogMessage
from broker.rulings.final import draft_stage
from tests.broker.rulings.ruled import HEAD, draft
from tests.broker.rulings.test_stage import FINAL as LAST
from tests.broker.scorer.small import fact
from tests.broker.scorer.staged import play_rounds, staged_event, staged_plan
from tests.broker.scorer.team_event import said as said_at_table
from tests.broker.scorer.team_event import team_event
from tests.broker.web.pages.desks import Whole, quickly, sessions, whole
from tests.broker.web.rulings.desks import opened, publish
from tests.broker.web.test_auth import logged_in, token_of

HIDDEN: Final = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
PLAN: Final = replace(staged_plan(), prizes=("The cup", "A medal"))


def forms(page: str, action: str) -> dict[str, str]:
    """Return the hidden fields of the form with this action."""
    form = next(one for one in re.findall(r"<form.*?</form>", page, re.DOTALL) if f'value="{action}"' in one)
    return {name: value.replace("&#34;", '"') for name, value in HIDDEN.findall(form)} | {"action": action}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    said = play_rounds(staged_event(), [1, 2], Random(0), {})
    with quickly(), whole(tmp_path_factory.mktemp("final") / "cup", PLAN, said) as made:
        yield made


@pytest.fixture
def head(room: Whole) -> Iterator[httpx.Client]:
    with logged_in(room.server, "head_arbiter") as found:
        yield found


OFFERED: Final = re.compile(r'/rulings/new\?(?:undo|appeal)=([\w-]+)|name="undo" value="([\w-]+)"|value="(look)"')


def nothing_else_is_offered(head: httpx.Client) -> None:
    """Assert that pages of a final event offer only to take the declaration back, and corrections of names."""
    declared = forms(head.get("/final").text, "undo")["undo"]
    for path, offered in (("/rulings", {declared}), ("/infractions", set()), ("/players", set()), ("/setup", {"look"})):
        page = head.get(path).text
        found = {next(filter(None, one)) for one in OFFERED.findall(page)}
        assert ('id="declared"' in page, found) == (True, offered), path
    for asked in ("", "?play=1-1", "?play=1-1&kind=fine", "?play=1-1&kind=seats_played", "?kind=award", "?deal=1"):
        page = head.get(f"/rulings/new{asked}").text  # the target of *Rule…* has no form that would be refused
        assert ("#take-back" in page, "<form" in page.partition("<main")[2]) == (True, False), asked
    page = head.get("/paper").text
    assert ('id="declared"' in page, 'name="points_east"' in page) == (True, False)
    typed = {"form": token_of(head, "/final"), "id": "ruling-late", "after": "", "play": "1-1", "kind": "void"}
    page = head.post("/rulings/new", data=typed | {"reason": "typed before", "action": "look"}).text
    assert ("<code>declared_final</code>" in page, 'value="typed before"' in page) == (True, True)
    page = head.get(f"/rulings/new?undo={declared}").text
    assert ('id="declared"' not in page, 'name="reason"' in page) == (True, True)


def test_a_final_is_seated_played_declared_and_read_out(room: Whole, head: httpx.Client) -> None:
    state = room.scorer.state
    asked = {"form": token_of(head, "/final"), "action": "look"}
    page = head.post("/final", data=asked).text
    assert [len(re.findall(rf"<td>{section} [1-4]</td>", page)) for section in "AB"] == [4, 4]
    assert not state.planned.is_seated(1)
    given = head.post("/final", data=forms(page, "seat") | {"reason": "over"}, follow_redirects=False)
    assert (given.status_code, state.planned.is_seated(1)) == (303, True)
    standings = head.get("/standings").text
    assert [word for word in ("Final", "Qualification · A", "Qualification · B") if word not in standings] == []
    assert head.get("/standings?stage=1").text.count('data-key="player-') == 16
    page = head.get("/final").text
    assert ('id="open"' in page, 'value="declare"' in page) == (True, False)
    said = {1: 0, 2: 0}
    for one in room.journal.messages():
        if isinstance(one, LogMessage) and one.table in said:
            said[one.table] = max(one.seq, said[one.table])
    room.hear(*play_rounds(state.planned, LAST.rounds, Random(1), said))
    assert "Nobody is named here" in head.get("/ceremony").text
    page = head.get("/final").text
    given = head.post("/final", data=forms(page, "declare") | {"reason": "all settled"}, follow_redirects=False)
    assert (given.status_code, state.final) == (303, True)
    ceremony = head.get("/ceremony").text
    winner = next(row for row in state.snapshot().standings if row.place == 1)
    assert (ceremony.index("A medal") < ceremony.index("The cup") < ceremony.rindex(winner.name)) is True
    nothing_else_is_offered(head)
    page = head.get("/final").text
    undone = head.post("/final", data=forms(page, "undo") | {"reason": "a mistake"}, follow_redirects=False)
    assert undone.status_code in {303, 200}


def test_sections_of_a_deal_are_compared_separately_without_suspicion(head: httpx.Client) -> None:
    page = head.get("/deal/1").text
    titles = [title.strip() for title in re.findall(r'<h2 id="group-\d">(.*?)<span', page)]
    assert (titles, "not in the same order" in page) == (["Section A", "Section B"], False)


def test_a_table_arbiter_sees_open_matters_but_cannot_decide(room: Whole) -> None:
    with logged_in(room.server, "table_arbiter") as client:
        page = client.get("/final").text
        assert [word for word in ('value="declare"', 'value="seat"', 'value="undo"') if word in page] == []
        sent = {"form": token_of(client, "/final"), "id": "final-0001", "after": "", "reason": "x", "action": "declare"}
        assert "head_arbiter_only" in client.post("/final", data=sent).text


@pytest.mark.parametrize("language", ["fr", "zh"])
def test_the_page_is_translated(head: httpx.Client, language: str) -> None:
    page = head.get(f"/final?lang={language}").text
    assert {"fr": "Phases et classement définitif", "zh": "阶段与最终排名"}[language] in page


def test_a_withdrawn_stage_that_has_begun_can_be_seated_as_published(
    tmp_path: Path,
) -> None:
    said, chance = dict[int, int](), Random(2)
    played = play_rounds(staged_event(), [1, 2], chance, said)
    with quickly(), whole(tmp_path / "cup", PLAN, played) as made, logged_in(made.server, "head_arbiter") as head:
        state = made.scorer.state
        page = head.post("/final", data={"form": token_of(head, "/final"), "action": "look"}).text
        head.post("/final", data=forms(page, "seat") | {"reason": "over"})
        seats = dict(state.planned.bookings)
        late = [one for one in play_rounds(state.planned, [3], chance, said) if one.table == 1]
        head.post("/final", data=forms(head.get("/final").text, "undo") | {"reason": "an appeal"})
        assert "Seat it as it was published" not in head.get("/final").text
        made.hear(*late)
        texts = {"en": "Seat it as it was published", "fr": "Rétablir les sièges publiés", "zh": "按已公布的座位恢复"}
        assert [word for lang, word in texts.items() if word not in head.get(f"/final?lang={lang}").text] == []
        again = head.post("/final", data=forms(head.get("/final").text, "undo") | {"reason": "as it was"})
        assert (again.status_code, state.planned.bookings == seats) == (303, True)
        assert "Seat it as it was published" not in head.get("/final").text


def test_an_unplayed_riichi_session_is_listed_until_ruled_void(tmp_path: Path) -> None:
    with quickly(), sessions(tmp_path / "evening") as server, logged_in(server, "head_arbiter") as head:
        page = head.get("/final").text
        assert "Riichi sessions that were not played" in page
        (link,) = re.findall(r'"(/rulings/new\?table=9&amp;round=1&amp;kind=void[^"]*)"', page)
        assert publish(head, opened(head, link.replace("&amp;", "&"))).status_code == 303
        assert "Riichi sessions that were not played" not in head.get("/final").text


TEAM_PLACES: Final = re.compile(r'data-key="team-([^"]+)">\s*<td>(\d+|–)</td>')
QUALIFICATION_OF_TEAMS, FINAL_OF_TEAMS = Stage("Qualification", 1, 4), Stage("Final", 5, 5, cut=2)


def teams_in_stages() -> tuple[Plan, list[LogMessage]]:
    """Return an event of four teams, two of which qualify, and the messages of the three deals before the final."""
    of = team_event()
    first = tuple(play for play in of.plan.plays if play.deal <= 3)
    at_table = {1: ("1-1", "2-1", "1-2", "2-2"), 2: ("2-3", "1-3", "2-4", "1-4")}
    last = tuple(BookedPlay(5, table, 4, dict(zip(SEATS, four, strict=True))) for table, four in at_table.items())
    plan = replace(of.plan, plays=first + last, copies=2, stages=(QUALIFICATION_OF_TEAMS, FINAL_OF_TEAMS))
    messages: list[LogMessage] = []
    for play in sorted(first, key=lambda one: (one.table, one.round)):
        for one in said_at_table(play.table, play.round):
            seq = 1 + sum(before.table == one.table for before in messages)
            messages.append(fact(one.table, seq, one.fact))
    return plan, messages


def test_each_stage_has_team_standings_once_the_final_is_seated(tmp_path: Path) -> None:
    plan, said = teams_in_stages()
    with quickly(), whole(tmp_path / "teams", plan, said) as room, logged_in(room.server, "head_arbiter") as head:
        before = re.findall(TEAM_PLACES, head.get("/standings").text)
        rulings = room.scorer.rulings
        room.scorer.ask(lambda: rulings.give(draft(rulings.room, draft_stage(rulings.room, FINAL_OF_TEAMS)), HEAD))
        of_stages = [re.findall(TEAM_PLACES, head.get(f"/standings?stage={stage}").text) for stage in (1, 2)]
        together = re.findall(TEAM_PLACES, head.get("/standings").text)
    assert (len(before), of_stages[0]) == (4, before)
    assert sorted(of_stages[1]) == sorted(together[:2])
    assert {team for team, _ in together[2:]} == {team for team, _ in before[2:]}
