"""Earlier standings are read from all supported formats, and their players matched by name."""

import json
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from broker.cli.score import read_previous
from broker.event import PLAYERS, Earlier, EarlierLine, Hall, plan_of_hall, read_plan, read_standings, setup, write_plan
from broker.event.earlier import EarlierPlace, going_on, match
from broker.event.files import NO_OWN_RULES
from broker.event.plan import plan_problems
from broker.event.setup import EarlierWish, draft_earlier, take_earlier
from broker.protocol import Imp, Standing
from broker.rules import DEFAULT_MCR, RuleError, load_mcr
from broker.scorer import standings_csv
from tests.broker.scorer.small import deals, plan

NAMES: Final[tuple[tuple[str, Imp], ...]] = (("Ada", 12), ("=Böb", "7/2"), ("Cid", -3), ("Dee", -3))
ROWS = tuple(
    Standing(place=place, player=f"q{place}", name=name, imp=imp, fines=0, plays=4)
    for place, (name, imp) in enumerate(NAMES, 1)
)
LINES = tuple(EarlierLine(row.place, row.imp, row.player, name=row.name) for row in ROWS)


def code(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RuleError) as refusal:
        read_standings(path)
    return refusal.value.code


def test_standings_written_by_a_desk_are_read_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "standings.csv"
    own = Standing(place=5, player="q5", name="'t Hart, -Jr", imp=-4, fines=0, plays=4)
    path.write_text(standings_csv((*ROWS, own)), encoding="utf-8")
    assert read_standings(path) == (*LINES, EarlierLine(5, -4, "q5", name=own.name))


def test_json_of_the_calculator_and_of_a_desk_is_read(tmp_path: Path) -> None:
    path, lines = tmp_path / "before.json", [{"place": 1, "player": "p1", "name": "Ada", "imp": "7/2", "fines": 0}]
    for field in ("standings", "rungs"):
        path.write_text(json.dumps({field: lines, "final": True}), encoding="utf-8")
        assert read_standings(path) == (EarlierLine(1, "7/2", "p1", name="Ada"),)


def test_teams_may_be_listed_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "teams.csv"
    path.write_text("place;team;imp\n1;Reds;4,5\n2;Blues;−3\n", encoding="utf-8")
    assert read_standings(path) == (EarlierLine(1, "9/2", None, "Reds"), EarlierLine(2, -3, None, "Blues"))


@pytest.mark.parametrize(
    "text",
    [
        "place,player,imp\n1,p1,much\n",
        "place,player,imp\n1,p1,3\n2,p1,2\n",
        "place,player,imp\n0,p1,3\n",
        "place,imp\n1,3\n",
        "player,name\np1,Ada\n",
        '{"error": {}}',
        '{"standings": [{"place": 1, "player": "p1", "imp": 1, "imp": 2}]}',
    ],
)
def test_a_file_without_valid_standings_is_refused(tmp_path: Path, text: str) -> None:
    assert code(tmp_path / "before", text) == "bad_previous"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("place,player,imp\n1,p1,much\n", ": line 2: 'much' is not a number of IMPs"),
        ("place,player,imp\n1,p1,3\n2,p1,2\n", ": p1 is listed twice"),
        ("player,name\np1,Ada\n", ", line 1: there is no column place, imp"),
        ('{"standings": [{"place": 1, "player": 3, "imp": 1}]}', ": standings, item 1, player: text or nothing"),
    ],
)
def test_an_error_names_the_file_once(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "before"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RuleError) as refused:
        read_previous(path, load_mcr(DEFAULT_MCR), "individual")
    assert (refused.value.text.count("before"), f"before{problem}" in refused.value.text) == (1, True)


@pytest.mark.parametrize("lacks", ["players", "teams"])
def test_a_document_with_unknown_players_or_teams_in_its_standings_is_refused(tmp_path: Path, lacks: str) -> None:
    plan_of = {"title": "Cup", "players": [{"id": "p1", "name": "Ada"}], "teams": {"reds": ["p1"]}}
    document = {"plan": plan_of, "standings": [], "team_standings": [{"place": 1, "imp": 3, "team": "reds"}]}
    path = tmp_path / "event.json"
    path.write_text(json.dumps(document))
    (line,) = read_standings(path)
    assert (line.team, [one.name for one in line.members], line.event) == ("reds", ["Ada"], "Cup")
    path.write_text(json.dumps(document | {"plan": plan_of | {lacks: type(plan_of[lacks])()}}))
    with pytest.raises(RuleError) as refused:
        read_standings(path)
    assert refused.value.code == "bad_previous"


def test_players_are_matched_by_name() -> None:
    found = match(LINES, "individual", {"q1": "Dee", "x": "ada", "y": "=Bob"})
    assert [(one.name, one.place) for one in found.places] == [("x", 1), ("y", 2), ("q1", 4)]
    assert found.unknown == ("Cid",)


def test_an_ambiguous_name_is_refused() -> None:
    with pytest.raises(RuleError, match="two players here are called"):
        match(LINES, "individual", {"x": "Ada", "y": "Ada"})
    assert match(LINES, "individual", {"q1": "Ada", "y": "Ada"}).places[0].name == "q1"


def test_a_tie_at_the_cut_is_refused() -> None:
    tied = (*LINES[:2], *(replace(one, place=3) for one in LINES[2:]))
    assert [one.name for one in going_on(tied, 2)] == ["Ada", "=Böb"]
    with pytest.raises(RuleError) as refusal:
        going_on(tied, 3)
    assert refusal.value.code == "cut_tied"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of an event with a name but no players."""
    write_plan(tmp_path, replace(plan(), players=(), plays=()))
    return tmp_path


def test_without_a_list_the_players_come_from_the_standings_best_first(folder: Path) -> None:
    take_earlier(folder, draft_earlier(folder, EarlierWish(LINES, "Saturday", "2/3", 2)))
    made = read_plan(folder)
    assert [one.name for one in made.players] == ["Ada", "=Böb"]
    assert made.earlier == Earlier("Saturday", "2/3", (EarlierPlace("p01", 1, 12), EarlierPlace("p02", 2, "7/2")))


def test_the_list_is_sorted_by_place_and_omits_those_who_were_cut(folder: Path) -> None:
    setup.take_players(folder, "name,club\nNew,X\nCid,Y\nAda,Z\n=Böb,\n")
    take_earlier(folder, draft_earlier(folder, EarlierWish(LINES, "Saturday", "", 2)))
    assert [one.name for one in read_plan(folder).players] == ["Ada", "=Böb", "New"]
    assert (folder / PLAYERS).read_text(encoding="utf-8").splitlines()[1].startswith("p03,Ada,,Z")
    take_earlier(folder, None)
    assert not isinstance(read_plan(folder).earlier, Earlier)


def test_the_list_is_unchanged_once_there_is_a_movement(tmp_path: Path) -> None:
    write_plan(tmp_path, plan())
    last = plan().players[-1]
    line = EarlierLine(1, 5, "x", name=last.name)
    take_earlier(tmp_path, draft_earlier(tmp_path, EarlierWish((line,), "Saturday")))
    assert read_plan(tmp_path).players == plan().players


@pytest.mark.parametrize(
    ("earlier", "expected"),
    [
        (Earlier("S", "2/3", (EarlierPlace("p01", 1, 3),)), []),
        (Earlier("S", "much"), ["part_wrong"]),
        (Earlier("S", "", (EarlierPlace("zz", 1, 3),)), ["bad_previous"]),
        (Earlier("S", "", (EarlierPlace("p01", 1, 3),) * 2), ["bad_previous"]),
        (Earlier("S", "", (), (EarlierPlace("Reds", 1, 3),)), ["bad_previous"]),
    ],
)
def test_problems_with_earlier_standings_are_reported(earlier: Earlier, expected: list[str]) -> None:
    found = plan_problems(replace(plan(), earlier=earlier), {one.number for one in deals()}, NO_OWN_RULES)
    assert [one.code for one in found] == expected


def test_a_hall_gets_the_earlier_standings_of_its_players_only() -> None:
    everybody = Earlier("S", "", tuple(EarlierPlace(one.id, 1, 3) for one in plan().players))
    first = tuple(play for play in plan().plays if play.round == 1)
    made = plan_of_hall(replace(plan(), plays=first, earlier=everybody), Hall("one", "One", "1"))
    assert isinstance(made.earlier, Earlier)
    assert [one.name for one in made.earlier.players] == [one.id for one in made.players]
    assert len(made.players) == 4
    assert [*plan_problems(made, {one.number for one in deals()}, NO_OWN_RULES)] == []
