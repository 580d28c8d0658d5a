"""`homologue score --json`: all plays and rulings in, one object out."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from broker.protocol import SEATS
from broker.rules import mcr_folder
from tests.broker.cli.asking import ask, code
from tests.broker.cli.lines import TEAM_OF, TWO, imp_of, play, teams_file
from tests.broker.rules.variants import seats
from tests.broker.scoring import oracle
from tests.broker.scoring.events import four_teams, individual_events, team_events


def asked(told: oracle.Play) -> dict[str, Any]:
    """Return an oracle's play as a line."""
    fines = {seat: line.fine for seat, line in told.lines.items() if line.fine}
    return {
        "deal": told.deal,
        "table": told.table,
        "players": {seat: line.player.replace(" ", "-") for seat, line in told.lines.items()},
        "points": {seat: line.points for seat, line in told.lines.items()},
        **({"fines": fines} if fines else {}),
        **({"form": told.form} if told.form else {}),
    }


def test_two_plays_have_exactly_this_answer() -> None:
    assert ask("score", *TWO) == [
        {
            "travellers": [
                {
                    "deal": 1,
                    "groups": [
                        {
                            "datum": {"east": "31/2", "south": "25/2", "west": "-19/2", "north": "-37/2"},
                            "plays": [
                                {"table": 1, "points": seats(42, -8, -8, -26), "imp": seats(7, -5, 1, -2)},
                                {"table": 2, "points": seats(-11, 33, -11, -11), "imp": seats(-7, 5, -1, 2)},
                            ],
                        }
                    ],
                }
            ],
            "standings": [
                {"place": 1, "player": "p1e", "imp": 7, "fines": 0},
                {"place": 2, "player": "p2s", "imp": 5, "fines": 0},
                {"place": 3, "player": "p2n", "imp": 2, "fines": 0},
                {"place": 4, "player": "p1w", "imp": 1, "fines": 0},
                {"place": 5, "player": "p2w", "imp": -1, "fines": 0},
                {"place": 6, "player": "p1n", "imp": -2, "fines": 0},
                {"place": 7, "player": "p2e", "imp": -7, "fines": 0},
                {"place": 8, "player": "p1s", "imp": -9, "fines": 4},
            ],
        }
    ]


def test_a_fine_of_zero_is_no_fine() -> None:
    assert ask("score", TWO[0] | {"fines": {"south": 4, "east": 0}}, TWO[1]) == ask("score", *TWO)


def test_no_plays_have_empty_lists() -> None:
    assert ask("score") == [{"travellers": [], "standings": []}]


def test_two_forms_of_a_deal_are_two_groups() -> None:
    (answer,) = ask("score", *(one | {"form": letter * 64} for one, letter in zip(TWO, "ab", strict=True)))
    (traveller,) = answer["travellers"]
    assert [group["datum"]["east"] for group in traveller["groups"]] == ["42", "-11"]
    assert {row["player"]: row["imp"] for row in answer["standings"] if row["imp"]} == {"p1s": -4}


@given(individual_events())
def test_standings_agree_with_the_oracle_for_any_order_of_lines(plays: list[oracle.Play]) -> None:
    sums = oracle.individual(plays)
    placed = oracle.places(sums)
    expected = sorted((placed[n], n, own.imp, own.fines) for n, own in sums.items())
    for lines in (plays, plays[::-1]):
        (answer,) = ask("score", *map(asked, lines))
        assert [tuple(row.values()) for row in answer["standings"]] == expected


def test_team_standings_agree_with_the_oracle(tmp_path: Path) -> None:
    @given(team_events())
    def law(event: tuple[list[oracle.Play], dict[str, str]]) -> None:
        plays, team_of = event
        sums = oracle.teams(plays, team_of)
        placed = oracle.places(sums)
        options = ("--event", "team", "--teams", str(teams_file(tmp_path, team_of)))
        (answer,) = ask("score", *map(asked, plays), options=options)
        assert answer["standings"] == [
            {"place": place, "team": name, "imp": sums[name].imp, "fines": sums[name].fines}
            for place, name in sorted((placed[name], name) for name in sums)
        ]

    law()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"deal": 0}, "malformed"),
        ({"table": "1"}, "malformed"),
        ({"players": {"east": "a"}}, "malformed"),
        ({"players": seats(1, 2, 3, 4)}, "malformed"),
        ({"points": {"east": 0, "south": 0, "west": 0}}, "malformed"),
        ({"points": seats(0, 0, 0, 10_000)}, "malformed"),
        ({"fines": {"east": -4}}, "malformed"),
        ({"fines": {"east": 2**70}}, "malformed"),
        ({"fines": {"east": 4.5}}, "malformed"),
        ({"fines": {"up": 4}}, "malformed"),
        ({"form": "a b"}, "malformed"),
        ({"section": ""}, "malformed"),
        ({"awards": {"east": "3"}}, "malformed"),
        ({"unplayed": {"east": "own"}}, "played_and_unplayed"),
        ({"points": None, "unplayed": {"east": "own"}}, "fault_missing"),
        ({"points": None, "unplayed": {"east": "mine"}}, "malformed"),
        ({"stands_for": {"east": "p1e"}}, "player_twice"),
        ({"colour": "red"}, "malformed"),
        ({"table": 1}, "duplicate_play"),
        ({"players": {"east": "p1e", "south": "b", "west": "c", "north": "d"}}, "player_twice"),
        ({"players": {"east": "a", "south": "a", "west": "c", "north": "d"}}, "player_twice"),
    ],
    ids=lambda part: str(part)[:40],
)
def test_a_wrong_play_is_an_error_on_its_line(change: dict[str, Any], expected: str) -> None:
    (answer,) = ask("score", TWO[0], TWO[1] | change)
    assert code(answer) == expected
    assert answer["error"]["message"].startswith("line 2: ")


def test_a_line_that_is_not_json_is_reported_with_its_number() -> None:
    (answer,) = ask("score", TWO[0], "", "?")
    assert code(answer) == "malformed"
    assert answer["error"]["message"].startswith("line 3: ")


def test_an_unknown_profile_is_an_error() -> None:
    assert [code(answer) for answer in ask("score", *TWO, options=("--profile", "none"))] == ["unknown_profile"]


def test_a_team_event_needs_its_teams() -> None:
    assert [code(answer) for answer in ask("score", options=("--event", "team"))] == ["teams_missing"]


@pytest.mark.parametrize(
    "written",
    [
        b"",
        b"[]",
        b'{"a": "p1"}',
        b'{"a": [""]}',
        b'{"a": ["p1"], "a": ["p2"]}',
        b"\xff",
        b'{"a": [1]}',
        b'{"a":' + b"[" * 5000,
        None,
    ],
    ids=lambda part: str(part)[:20],
)
def test_a_file_that_does_not_contain_teams_is_an_error(tmp_path: Path, written: bytes | None) -> None:
    path = tmp_path / "teams.json"
    if written is not None:
        path.write_bytes(written)
    (answer,) = ask("score", *TWO, options=("--event", "team", "--teams", str(path)))
    assert code(answer) == "bad_teams"
    assert answer["error"]["message"].startswith("teams.json: ")


@pytest.mark.parametrize(
    ("team_of", "expected"),
    [
        ({"p1e": "a", "p1s": "a"}, "player_without_team"),
        ({f"p{t}{seat[0]}": "a" for t in (1, 2) for seat in SEATS}, "team_incomplete"),
    ],
    ids=["no team", "one team"],
)
def test_teams_that_do_not_fit_the_plays_are_an_error(tmp_path: Path, team_of: dict[str, str], expected: str) -> None:
    options = ("--event", "team", "--teams", str(teams_file(tmp_path, team_of)))
    assert [code(answer) for answer in ask("score", *TWO, options=options)] == [expected]


def test_a_player_of_two_teams_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "teams.json"
    path.write_text('{"a": ["p1e"], "b": ["p1e"]}')
    answers = ask("score", *TWO, options=("--event", "team", "--teams", str(path)))
    assert [code(answer) for answer in answers] == ["player_in_two_teams"]


def test_every_wrong_play_is_reported_and_there_are_no_standings() -> None:
    answers = ask("score", TWO[0] | {"deal": 0}, TWO[1], "?")
    assert [code(answer) for answer in answers] == ["malformed", "malformed"]
    assert [answer["error"]["message"].split(":")[0] for answer in answers] == ["line 1", "line 3"]


def test_while_plays_are_missing_the_standings_have_bounds() -> None:
    to_come = {name: value for name, value in play(3, {}).items() if name != "points"}
    (answer,) = ask("score", *TWO, to_come)
    rows = {row["player"]: row for row in answer["standings"]}
    assert rows["p3e"] == {
        "place": rows["p3e"]["place"],
        "player": "p3e",
        "imp": 0,
        "fines": 0,
        "bounds": {"imp": [-24, 24], "place": [1, 12]},
    }
    assert all("bounds" not in row for row in ask("score", *TWO)[0]["standings"])


def test_each_section_is_a_group_with_its_name() -> None:
    (answer,) = ask("score", *(one | {"section": letter} for one, letter in zip(TWO, "AB", strict=True)))
    assert [(group["section"], group["datum"]["east"]) for group in answer["travellers"][0]["groups"]] == [
        ("A", "42"),
        ("B", "-11"),
    ]


def with_previous(tmp_path: Path, written: object, *options: str) -> list[dict[str, Any]]:
    path = tmp_path / "before.json"
    path.write_text(written if isinstance(written, str) else json.dumps(written), encoding="latin-1")
    return ask("score", *TWO, options=("--previous", str(path), *options))


def test_the_previous_session_counts_and_players_without_standing_are_left_out(tmp_path: Path) -> None:
    before = {"standings": [{"place": 1, "player": "p1e", "imp": "21/2"}]}
    (answer,) = with_previous(tmp_path, before, "--without-standing", "p2s")
    assert imp_of(answer) == {"p1e": 18, "p2n": 2, "p1w": 1, "p2w": -1, "p1n": -2, "p2e": -7, "p1s": -9}


def test_only_players_with_a_play_or_a_line_count_from_the_previous_session(tmp_path: Path) -> None:
    path = tmp_path / "before.json"
    names = ("p1e", "p9", "p8", "p3e")
    path.write_text(json.dumps({"standings": [{"place": 1, "player": name, "imp": 100} for name in names]}))
    to_come = play(3, seats(0, 0, 0, 0)) | {"points": None}
    (answer,) = ask("score", *TWO, to_come, {"player": "p8"}, options=("--previous", str(path)))
    ranked = {name: imp for name, imp in imp_of(answer).items() if name in names}
    assert (ranked, answer["previous_left_out"]) == ({"p1e": 107, "p8": 100, "p3e": 100}, ["p9"])
    (known,) = ask("score", *TWO, to_come, {"player": "p8"}, {"player": "p9"}, options=("--previous", str(path)))
    assert (imp_of(known)["p9"], "previous_left_out" in known) == (100, False)


def test_lines_of_players_can_replace_the_options_for_carry_over_and_standing(tmp_path: Path) -> None:
    lines = [{"player": "p1e", "carried": 11, "place_before": 1}, {"player": "p2s", "without_standing": True}]
    before = {"standings": [{"place": 1, "player": "p1e", "imp": 11}]}
    by_options = with_previous(tmp_path, before, "--without-standing", "p2s", "--carry-over", "100%")
    assert ask("score", *TWO, *lines) == by_options
    path = tmp_path / "before.json"
    (answer,) = ask("score", *TWO, *lines, options=("--previous", str(path)))
    assert code(answer) == "bad_previous"


@pytest.mark.parametrize(
    "line",
    [
        {"player": "p1e", "team": "Reds"},
        {"player": None},
        {"team": "Reds", "award": 3},
        {"player": "p1e", "carried": "1/2"},
        {"player": "p1e", "carried": "much"},
        {"player": "p1e", "place_before": 0},
    ],
)
def test_a_players_line_with_unknown_or_missing_fields_is_refused(line: dict[str, Any]) -> None:
    assert [code(answer) for answer in ask("score", *TWO, line)] == ["malformed"]


def test_this_commands_answer_can_be_the_previous_session(tmp_path: Path) -> None:
    (first,) = ask("score", *TWO)
    (second,) = with_previous(tmp_path, first)
    assert imp_of(second) == {name: 2 * imp for name, imp in imp_of(first).items()}


@pytest.mark.parametrize(
    "written",
    [
        "[]",
        '{"standings": [{"place": 1, "imp": 3}]}',
        '{"standings": [{"place": 1, "player": "a", "imp": "3/0"}]}',
        "\xff",
    ],
)
def test_a_malformed_previous_session_is_an_error(tmp_path: Path, written: str) -> None:
    assert [code(answer) for answer in with_previous(tmp_path, written)] == ["bad_previous"]


def test_an_own_profile_is_a_file(tmp_path: Path) -> None:
    cross = (mcr_folder() / "mcr.toml").read_text(encoding="utf-8").replace('id = "mcr"', 'id = "club"')
    cross = cross.replace('[imp.method]\nvalue = "datum"', '[imp.method]\nvalue = "cross"')
    cross = cross.replace('[datum.own_score]\nvalue = "included"', '[datum.own_score]\nvalue = "excluded"')
    path = tmp_path / "club.toml"
    path.write_text(cross, encoding="utf-8")
    three = play(3, seats(0, 0, 0, 0))
    (answer,) = ask("score", *TWO, three, options=("--profile", str(path)))
    # 42 is 53 above -11 (11 IMP) and 42 above 0 (9 IMP).
    assert imp_of(answer)["p1e"] == 10
    # 33 is 41 above -8 (9 IMP) and 33 above 0 (8 IMP).
    assert imp_of(answer)["p2s"] == "17/2"
    path.write_text("?", encoding="utf-8")
    assert [code(answer) for answer in ask("score", *TWO, options=("--profile", str(path)))] == ["bad_profile"]


def test_a_substitute_scores_for_the_player_they_replace() -> None:
    players = {**TWO[0]["players"], "east": "sub"}
    (answer,) = ask("score", TWO[0] | {"players": players, "stands_for": {"east": "p1e"}}, TWO[1])
    assert imp_of(answer) == imp_of(ask("score", *TWO)[0])


def test_one_fault_may_be_given_for_all_four_seats() -> None:
    (answer,) = ask("score", *TWO, play(3, {}, unplayed="others") | {"points": None})
    assert {name: imp for name, imp in imp_of(answer).items() if name[1] == "3"} == dict.fromkeys(
        ("p3e", "p3s", "p3w", "p3n"), 3
    )


def test_players_may_be_named_in_any_script() -> None:
    (answer,) = ask("score", TWO[0] | {"players": dict(zip(SEATS, ("李", "Anna B", "Zoë", "d"), strict=True))}, TWO[1])
    assert imp_of(answer)["李"] == 7


def test_each_section_may_number_its_tables_from_one() -> None:
    other = TWO[1] | {"table": 1, "section": "B"}
    (answer,) = ask("score", TWO[0], other)
    assert len(answer["travellers"][0]["groups"]) == 2


def test_if_the_own_score_is_excluded_each_play_has_its_datum(tmp_path: Path) -> None:
    own = (mcr_folder() / "mcr.toml").read_text(encoding="utf-8").replace('id = "mcr"', 'id = "club"')
    path = tmp_path / "club.toml"
    path.write_text(own.replace('[datum.own_score]\nvalue = "included"', '[datum.own_score]\nvalue = "excluded"'))
    (answer,) = ask("score", *TWO, options=("--profile", str(path)))
    assert [row["datum"]["east"] for row in answer["travellers"][0]["groups"][0]["plays"]] == ["-11", "42"]


def test_a_previous_session_counts_for_teams(tmp_path: Path) -> None:
    options = ("--event", "team", "--teams", str(teams_file(tmp_path, TEAM_OF)))
    (first,) = ask("score", *TWO, options=options)
    (second,) = with_previous(tmp_path, first, *options)
    assert [row["imp"] for row in second["standings"]] == [2 * row["imp"] for row in first["standings"]]
    of_more = {"standings": [*first["standings"], {"place": 9, "team": "nobody", "imp": 1}]}
    assert with_previous(tmp_path, of_more, *options) == [second | {"previous_left_out": ["nobody"]}]


@pytest.mark.parametrize(
    "standings",
    [
        [{"place": 1, "team": "A", "imp": 1}],
        [{"place": 1, "player": "a", "imp": 1}, {"place": 2, "player": "a", "imp": 1}],
        [{"place": 1, "player": "a", "imp": 2**63}],
        [{"place": 2**63, "player": "a", "imp": 1}],
        None,
    ],
    ids=["teams", "twice", "imp", "place", "none"],
)
def test_impossible_standings_of_a_previous_session_are_refused(tmp_path: Path, standings: object) -> None:
    before = {"error": {}} if standings is None else {"standings": standings}
    assert [code(answer) for answer in with_previous(tmp_path, before)] == ["bad_previous"]


def test_options_without_effect_are_refused(tmp_path: Path) -> None:
    teams = str(teams_file(tmp_path, TEAM_OF))
    assert [code(answer) for answer in ask("score", *TWO, options=("--teams", teams))] == ["teams_not_asked"]
    assert [code(answer) for answer in ask("score", *TWO, options=("--without-standing", "x"))] == ["unknown_entry"]


def test_a_team_may_be_without_standing(tmp_path: Path) -> None:
    options = ("--event", "team", "--teams", str(teams_file(tmp_path, TEAM_OF)), "--without-standing", "team 0")
    (answer,) = ask("score", *TWO, options=options)
    assert [row["team"] for row in answer["standings"]] == ["team 1"]


def test_an_unplayed_play_gives_the_profiles_imps_unless_the_arbiter_awards_others() -> None:
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


def test_awards_outside_plays_are_added_and_players_without_plays_are_ranked() -> None:
    (answer,) = ask("score", {"player": "p1e", "award": 20}, *TWO, {"player": "p1e", "fine": 4}, {"player": "p9"})
    rows = {row["player"]: (row["imp"], row["fines"]) for row in answer["standings"]}
    assert (rows["p1e"], rows["p9"], len(rows)) == ((23, 4), (0, 0), 9)


def test_awards_outside_plays_count_for_the_team(tmp_path: Path) -> None:
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
def test_a_malformed_line_of_a_player_is_refused(line: object) -> None:
    (answer,) = ask("score", *TWO, line)
    assert (code(answer), answer["error"]["message"].split(":")[0]) == ("malformed", "line 3")


def test_fines_and_awards_of_a_play_to_come_count_at_once() -> None:
    to_come = {name: value for name, value in play(3, {}).items() if name != "points"}
    (answer,) = ask("score", *TWO, to_come | {"fines": {"east": 8}, "awards": {"west": 3}})
    rows = {row["player"]: row for row in answer["standings"]}
    assert (rows["p3e"]["fines"], rows["p3e"]["bounds"]["imp"]) == (8, [-32, 16])
    assert (rows["p3w"]["imp"], rows["p3w"]["bounds"]["imp"]) == (3, [-21, 27])


def test_a_play_out_of_place_may_repeat_a_table_and_its_players() -> None:
    third = TWO[0] | {"out_of_place": True}
    for lines in ((*TWO, third, third), (third, third, *TWO)):
        (answer,) = ask("score", *lines)
        (group,) = answer["travellers"][0]["groups"]
        told = [(one["table"], one.get("out_of_place")) for one in group["plays"]]
        assert told == [(1, None), (2, None), (1, True), (1, True)]
    assert [code(answer) for answer in ask("score", *TWO, TWO[0])] == ["duplicate_play"]
    players = dict.fromkeys(SEATS, "p1e")
    assert [code(answer) for answer in ask("score", *TWO, third | {"players": players})] == ["player_twice"]


def test_a_play_out_of_place_explains_one_missing_deal_of_its_table_only(tmp_path: Path) -> None:
    """Table 1 plays deal 3 instead of deal 2; deals that other tables have not finished stay incomplete."""
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
