"""`homologue score`: what arbiters have ruled, of plays, of none, and of another deal or other seats than planned."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from broker.contract.words import SEATS
from tests.broker.calculators.asking import ask, code
from tests.broker.calculators.lines import TEAM_OF, TWO, imp_of, play, teams_file
from tests.broker.scoring.events import four_teams


def test_an_unplayed_play_gives_what_the_profile_says_and_the_arbiter_may_say_otherwise() -> None:
    faults = {"east": "own", "south": "others", "west": "nobody", "north": "others"}
    unplayed = play(3, {}, unplayed=faults, awards={"north": 1}) | {"points": None}
    (answer,) = ask("score", *TWO, unplayed)
    assert {name: imp for name, imp in imp_of(answer).items() if name[1] == "3"} == {
        "p3e": -3,
        "p3s": 3,
        "p3w": 0,
        "p3n": 1,
    }
    assert len(answer["travellers"][0]["groups"][0]["plays"]) == 2


def test_imps_of_no_play_are_added_and_who_has_no_play_is_ranked() -> None:
    (answer,) = ask("score", {"player": "p1e", "award": 20}, *TWO, {"player": "p1e", "fine": 4}, {"player": "p9"})
    rows = {row["player"]: (row["imp"], row["fines"]) for row in answer["standings"]}
    assert (rows["p1e"], rows["p9"], len(rows)) == ((23, 4), (0, 0), 9)


def test_imps_of_no_play_are_the_team_s(tmp_path: Path) -> None:
    options = ("--event", "team", "--teams", str(teams_file(tmp_path, TEAM_OF)))
    before, after = (ask("score", *TWO, *more, options=options)[0] for more in ((), ({"player": "p1e", "award": 20},)))
    had, has = ({row["team"]: row["imp"] for row in answer["standings"]} for answer in (before, after))
    assert {team: has[team] - had[team] for team in had} == {TEAM_OF["p1e"]: 20, TEAM_OF["p1s"]: 0}
    assert ask("score", *TWO, {"player": "p9"}, options=options) == [before]
    (refused,) = ask("score", *TWO, {"player": "p9", "fine": 4}, options=options)
    assert code(refused) == "player_without_team"


@pytest.mark.parametrize(
    "line",
    [
        {"player": ""},
        {"player": 7},
        {"player": "a", "fine": -4},
        {"player": "a", "award": 4.5},
        {"player": "a", "deal": 1},
        '{"player": "a", "player": "b"}',
    ],
    ids=str,
)
def test_a_line_of_a_player_that_cannot_be_is_refused(line: object) -> None:
    (answer,) = ask("score", *TWO, line)
    assert (code(answer), answer["error"]["message"].split(":")[0]) == ("malformed", "line 3")


def test_what_is_ruled_of_a_play_to_come_counts_at_once() -> None:
    to_come = {name: value for name, value in play(3, {}).items() if name != "points"}
    (answer,) = ask("score", *TWO, to_come | {"fines": {"east": 8}, "awards": {"west": 3}})
    rows = {row["player"]: row for row in answer["standings"]}
    assert (rows["p3e"]["fines"], rows["p3e"]["bounds"]["imp"]) == (8, [-32, 16])
    assert (rows["p3w"]["imp"], rows["p3w"]["bounds"]["imp"]) == (3, [-21, 27])


def test_by_a_ruling_a_table_and_its_players_may_play_a_deal_twice() -> None:
    third = TWO[0] | {"out_of_place": True}
    for lines in ((*TWO, third, third), (third, third, *TWO)):
        (answer,) = ask("score", *lines)
        (group,) = answer["travellers"][0]["groups"]
        told = [(one["table"], one.get("out_of_place")) for one in group["plays"]]
        assert told == [(1, None), (2, None), (1, True), (1, True)]
    assert [code(answer) for answer in ask("score", *TWO, TWO[0])] == ["duplicate_play"]
    players = dict.fromkeys(SEATS, "p1e")
    assert [code(answer) for answer in ask("score", *TWO, third | {"players": players})] == ["player_twice"]


def test_a_play_out_of_place_explains_one_deal_that_its_table_has_not_played_and_no_other(tmp_path: Path) -> None:
    """Table 1 plays deal 3 instead of deal 2, in which a seat more is missed where another table has not ended."""
    plays, teams = four_teams()
    path = tmp_path / "teams.json"
    path.write_text(json.dumps(teams))
    asked = partial(ask, "score", options=("--event", "team", "--teams", str(path)))

    def of(deal: int, *tables: int, **more: bool) -> list[dict[str, Any]]:
        named = [(plays[table - 1], table) for table in tables]
        return [
            {"deal": deal, "table": table, "players": dict(one.players), "points": dict.fromkeys(SEATS, 0), **more}
            for one, table in named
        ]

    room = [*of(1, 1, 2, 3, 4), *of(3, 1, 2, 3, 4), *of(3, 1, out_of_place=True)]
    (answer,) = asked(*room, *of(2, 2, 3, 4))
    assert (answer["deals_left_out"], {row["imp"] for row in answer["standings"]}) == ([2, 3], {0})
    for unfinished in (of(2, 1, 2, 3), [*of(2, 2, 3, 4), *of(4, 2, 3, 4)]):
        assert [code(one) for one in asked(*room, *unfinished)] == ["team_incomplete"]
