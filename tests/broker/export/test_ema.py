"""The EMA report: the association's columns, and no invented numbers."""

from pathlib import Path

import pytest

from broker.event import PLAYERS
from broker.export.ema import Entrant, ema_report, entrants_of, read_entrants
from broker.rules import RuleError
from broker.scorer import open_stored_event
from tests.broker.export.test_results import table
from tests.broker.scorer.folders import event_folder, until_round

HEAD = "id,ema,last_name,first_name,country\n"


def listed(tmp_path: Path, text: str, encoding: str = "utf-8") -> Path:
    path = tmp_path / "players.csv"
    path.write_bytes(text.encode(encoding))
    return path


def test_a_line_has_the_associations_columns(over: Path) -> None:
    stored = open_stored_event(over)
    lines = ema_report(stored, {"p01": Entrant("04010023", "Lefèvre", "Anne", "FRA")}).text.splitlines()
    (ranked,) = [line for line in stored.state.snapshot().ranking if line.name == "p01"]
    points = sum(
        result.points[seat] for _, result in stored.results() for seat, who in result.players.items() if who == "p01"
    )
    assert lines[0] == "place,first_name,last_name,ema_number,table_points,score,ema_member,country"
    assert f"{ranked.place},Anne,Lefèvre,04010023,{points},{ranked.imp},1,FRA" in lines


def test_places_and_scores_are_those_of_the_standings(over: Path) -> None:
    stored = open_stored_event(over)
    rows = table(ema_report(stored, {}).text)
    assert [(row["place"], row["score"]) for row in rows] == [
        (str(line.place), str(line.imp)) for line in stored.state.snapshot().ranking
    ]


def test_missing_numbers_are_reported_and_names_are_not_split(over: Path) -> None:
    made = ema_report(open_stored_event(over), {"p02": Entrant("", "Li", "Wei", "")})
    rows = {row["last_name"]: row for row in table(made.text)}
    assert len(made.without_number) == 16
    assert [rows["Li"][column] for column in ("ema_number", "ema_member", "first_name")] == ["", "0", "Wei"]
    assert (rows["Player 1"]["first_name"], rows["Player 1"]["country"]) == ("", "")


def test_first_and_last_names_come_from_the_events_player_list(over: Path) -> None:
    (over / PLAYERS).write_text("id,name,ema,first_name,last_name\np01,Anne L.,4010023,Anne,Lefèvre\np02,Li Wei,,,\n")
    stored = open_stored_event(over)
    rows = table(ema_report(stored, entrants_of(over, stored.event)).text)
    named = {(row["first_name"], row["last_name"], row["ema_number"]) for row in rows}
    assert {("Anne", "Lefèvre", "04010023"), ("", "Li Wei", ""), ("", "Player 3", "")} <= named


def test_players_without_a_play_are_left_out(tmp_path: Path) -> None:
    first_table = [message for message in until_round(1) if message.table == 1]
    assert len(table(ema_report(open_stored_event(event_folder(tmp_path, first_table)), {}).text)) == 4


def test_the_player_list_may_have_been_saved_by_a_spreadsheet(tmp_path: Path) -> None:
    text = '\ufeffid,club,country,first_name,last_name,ema\r\np01,x,fra,Anne,"Lefèvre, Dr.", 4010023 \r\np02,,,,,\r\n'
    assert read_entrants(listed(tmp_path, text)) == {
        "p01": Entrant("04010023", "Lefèvre, Dr.", "Anne", "FRA"),
        "p02": Entrant("", "", "", ""),
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no column id"),
        ("id,ema,last_name,first_name\n", "no column country"),
        (HEAD + "p01,123,A,B,FRA\n", "line 2: '123' is no EMA number"),
        (HEAD + "p01,０4010023,A,B,FRA\n", "line 2: '０4010023' is no EMA number"),
        (HEAD + "p01,,A,B,France\n", "line 2: 'France' is not a country code"),
        (HEAD + "p01,,A,B,FRA\np01,,A,B,FRA\n", "line 3: p01 is listed twice"),
        (HEAD + "p01,04010023,A,B,FRA\np02,04010023,A,B,FRA\n", "two players have the number 04010023"),
        (HEAD + 'p01,,"A,B,FRA\n', "a quotation mark is not closed"),
        (HEAD + "p01,,A\n", ""),
    ],
)
def test_an_invalid_player_list_is_refused_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    path = listed(tmp_path, text)
    if not told:
        assert read_entrants(path) == {"p01": Entrant("", "A", "", "")}
        return
    with pytest.raises(RuleError) as problem:
        read_entrants(path)
    assert problem.value.code == "bad_players"
    assert told in problem.value.text


def test_a_file_that_is_not_a_player_list_is_refused(tmp_path: Path) -> None:
    for path in (listed(tmp_path, HEAD + "p01,,\x01,A,FRA\n"), tmp_path / "none.csv", tmp_path):
        with pytest.raises(RuleError) as problem:
            read_entrants(path)
        assert problem.value.code == "bad_players"
