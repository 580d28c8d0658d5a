"""`homologue movement`, as people and scripts use it."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import tomli_w
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from broker.cli import movement as command
from broker.cli.main import homologue
from broker.event import DEALS, EVENT, MOVEMENT, SETS, read_plan, save_event
from broker.event.files import NO_OWN_RULES
from broker.event.movement import NamedPlay, movement_csv
from broker.event.movement.files import LARGEST, read_movement
from broker.event.movement.plays_csv import MOVEMENT_COLUMNS
from broker.event.plan import plan_problems
from broker.protocol import SEATS
from broker.store import STORE
from tests.broker.scorer.small import deals, plan, registry

FEW_STEPS = ("--iterations", "2000")


def run(*words: object, code: int = 0) -> Result:
    result = CliRunner().invoke(homologue, ["movement", *map(str, words)])
    assert result.exit_code == code, result.output
    return result


def answer(*words: object) -> Any:  # noqa: ANN401 - JSON
    return json.loads(run(*words, "--json").stdout)


def test_a_file_that_cannot_be_written_is_refused_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*_: object, **__: object) -> None:
        raise AssertionError("the search has begun")

    monkeypatch.setattr(command, "make_movement", search)
    told = run("new", "--players", 8, "--rounds", 2, "--output", tmp_path / "missing" / "cup.csv", code=1)
    assert told.stderr == f"homologue: {tmp_path / 'missing'}: there is no such folder [unwritable]\n"


@pytest.fixture
def perfect(tmp_path: Path) -> Path:
    path = tmp_path / "cup.csv"
    run("new", "--players", 16, "--rounds", 5, "--deals-per-round", 1, "--output", path)
    return path


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_sixteen_players_in_five_rounds_of_one_deal_are_perfect_with_four_carriers(perfect: Path) -> None:
    found = answer("check", perfect)
    assert found["faults"] == []
    assert found["quality"]["meetings"] == {"often": {"1": 120}, "excess": 0, "bound": 0}
    assert found["quality"]["comparisons"] == {"often": {"1": 120}, "excess": 0, "bound": 0}
    assert (found["quality"]["copies"], found["quality"]["extra_copies"]) == (4, 15)


def test_sixteen_players_in_five_rounds_are_perfect_with_one_carrier_of_each_deal(tmp_path: Path) -> None:
    path = tmp_path / "cup.csv"
    run("new", "--players", 16, "--rounds", 5, "--output", path)
    found = answer("check", path, "--copies", 1)
    assert (found["faults"], len(rows(path)), found["quality"]["extra_copies"]) == ([], 80, 0)
    assert found["quality"]["meetings"] == {"often": {"1": 120}, "excess": 0, "bound": 0}
    assert found["quality"]["comparisons"] == {"often": {"1": 120}, "excess": 0, "bound": 0}


def test_with_one_carrier_a_deal_is_at_one_table_at_a_time() -> None:
    found = answer("new", "--players", 16, "--rounds", 5, "--copies", 1, *FEW_STEPS)
    assert (found["faults"], found["quality"]["copies"]) == ([], 1)


def test_csv_is_printed_by_default(perfect: Path) -> None:
    assert run("new", "--players", 16, "--rounds", 5, "--deals-per-round", 1).stdout == perfect.read_text(
        encoding="utf-8"
    )


def test_a_movement_is_the_same_as_csv_workbook_or_csv_for_excel(perfect: Path, tmp_path: Path) -> None:
    words = ("new", "--players", 16, "--rounds", 5, "--deals-per-round", 1)
    book, listed = tmp_path / "cup.xlsx", tmp_path / "excel.csv"
    run(*words, "--output", book)
    run(*words, "--excel", "--output", listed)
    assert read_movement(book).plays == read_movement(listed).plays == read_movement(perfect).plays


def test_a_movement_has_the_documented_columns(perfect: Path) -> None:
    assert list(rows(perfect)[0]) == ["round", "table", "deal", "east", "south", "west", "north"]
    assert len(rows(perfect)) == 20


def test_the_same_seed_and_iterations_give_the_same_movement() -> None:
    words = ("new", "--players", 24, "--rounds", 6, *FEW_STEPS)
    assert run(*words, "--seed", 3).stdout == run(*words, "--seed", 3).stdout
    assert run(*words, "--seed", 3).stdout != run(*words, "--seed", 4).stdout


def test_rounds_are_printed_as_tables_with_the_players_who_sit_out() -> None:
    shown = run("new", "--players", 5, "--rounds", 1, "--deals-per-round", 2, "--iterations", 0, "--print").stdout
    assert shown.splitlines()[:4] == [
        "Round 1",
        "  table  deals         east   south  west   north",
        "      1  1 2           p01    p02    p03    p04",
        "  sit out: p05",
    ]


def test_a_players_card_lists_tables_and_opponents() -> None:
    shown = run("new", "--players", 5, "--rounds", 1, "--iterations", 0, "--cards").stdout.splitlines()
    assert shown[1] == "round  1   table   1   east    deals 1   with p02, p03, p04"
    assert shown[-2:] == ["round  1   sit out", ""]


TEAMS = {f"team {y}": [f"t{y}-{m}" for m in "abcd"] for y in range(4)}


@pytest.fixture
def teams(tmp_path: Path) -> Path:
    path = tmp_path / "teams.json"
    path.write_text(json.dumps(TEAMS))
    return path


def test_a_movement_for_teams_is_made_and_checked(teams: Path, tmp_path: Path) -> None:
    path = tmp_path / "teams.csv"
    run("new", "--teams", teams, "--rounds", 4, "--output", path, *FEW_STEPS)
    assert answer("check", path, "--teams", teams)["faults"] == []
    one = rows(path)[0]
    line = ",".join(one.values())
    one["east"], one["south"] = one["south"], one["east"]
    path.write_text(path.read_text().replace(line, ",".join(one.values())))
    assert {fault["code"] for fault in answer("check", path, "--teams", teams)["faults"]} == {"team_incomplete"}


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("{", "bad_teams"),
        ('{"a": 1}', "bad_teams"),
        ('{"a": ["p1", "p2", "p3"]}', "teams_do_not_fit"),
        ('{"a": ["p1", "p2", "p3", "p4"], "b": ["p5", "p6", "p7", "p1"]}', "player_in_two_teams"),
        ('{"a": ["p1", "p2", "p3", "p4"]}', "teams_do_not_fit"),
    ],
)
def test_teams_that_cannot_play_are_refused(tmp_path: Path, content: str, code: str) -> None:
    path = tmp_path / "teams.json"
    path.write_text(content)
    assert answer("new", "--teams", path, "--rounds", 4)["error"]["code"] == code


def test_the_error_for_a_wrong_team_file_shows_its_format(tmp_path: Path) -> None:
    path = tmp_path / "teams.json"
    path.write_text('{"Reds": "p01"}')
    said = answer("new", "--teams", path, "--rounds", 4)["error"]["message"]
    form = '{"Reds": ["p01", "p02", "p03", "p04"]}'
    assert said == f"teams.json: a list is needed, not text; teams are written as in {form}"


def test_an_error_message_ends_with_its_code(tmp_path: Path) -> None:
    assert "impossible_size" in run("new", "--players", 3, "--rounds", 4, code=1).output
    assert "players_differ" in run("new", "--rounds", 4, code=1).output
    assert "file_missing" in run("check", tmp_path / "none.csv", code=1).output


HEAD = ",".join(MOVEMENT_COLUMNS)
GOOD = f"{HEAD}\n1,1,1,a,b,c,d\n1,2,2,e,f,g,h\n2,1,2,a,b,c,d\n2,2,1,e,f,g,h\n"


def problems(tmp_path: Path, content: str | bytes) -> list[tuple[int, str]]:
    path = tmp_path / "hand.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = answer("check", path)
    return [(fault["line"], fault["code"]) for fault in found["faults"]]


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        "\N{ZERO WIDTH NO-BREAK SPACE}" + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace(",", ";"),
        GOOD.replace(",", "\t"),
        GOOD.replace("\n", "\n\n"),
        GOOD.replace("a", '"a"').replace('e"a"', "ea").replace('t"a"', "ta"),
        GOOD.replace("round", "Round").replace(",b,", ", 'b ,"),
    ],
)
def test_csv_of_spreadsheets_is_read(tmp_path: Path, content: str) -> None:
    assert problems(tmp_path, content) == []


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("", [(1, "no_plays")]),
        (HEAD, [(1, "no_plays")]),
        ("round,table\n1,1", [(1, "missing_column")]),
        (GOOD.replace("deal", "deel"), [(1, "unknown_column")]),
        (HEAD + ",east\n", [(1, "malformed")]),
        (GOOD.replace("1,2,2,e,f,g,h", "1,2,2,e,f"), [(3, "malformed")]),
        (GOOD.replace("1,2,2,e,f,g,h", "1,2,x,e,f,g,h"), [(3, "malformed")]),
        (GOOD.replace("1,2,2,e,f,g,h", "1,0,2,e,f,g,h"), [(3, "malformed")]),
        (GOOD.replace("1,2,2,e,f,g,h", "1,10000,2,e,f,g,h"), [(3, "malformed")]),
        (GOOD.replace("1,2,2,e,f,g,h", "1,2,2,e,,g,h"), [(3, "malformed")]),
        (GOOD.replace("1,2,2,e,f,g,h", f"1,2,2,e,{'f' * 33},g,h"), [(3, "malformed")]),
        (GOOD.replace("1,2,2,e,f,g,h", '1,2,2,e,f,g,"h'), [(3, "malformed")]),
        (b"\xff\xfe" + GOOD.encode(), [(1, "not_text")]),
        (GOOD.encode().replace(b"f,g,h", b"f,g,\xe9", 1), [(3, "malformed")]),
        (GOOD.replace("1,2,2,e,f,g,h", "1,2,2,e,f,g,g"), [(3, "not_four_players")]),
        (GOOD.replace("1,2,2,e,f,g,h", "1,2,2,e,f,g,a"), [(3, "player_at_two_tables"), (4, "player_repeats_deal")]),
        (
            GOOD.replace("2,1,2,a", "2,1,1,a"),
            [(4, "table_repeats_deal"), *[(4, "player_repeats_deal")] * 4, (5, "deal_at_two_tables")],
        ),
    ],
    ids=str,
)
def test_every_fault_is_reported_with_code_and_line(tmp_path: Path, content: str | bytes, found: list[Any]) -> None:
    assert sorted(problems(tmp_path, content)) == sorted(found)


def test_a_file_that_is_far_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    assert answer("check", path)["error"]["code"] == "too_large"


def test_far_too_many_plays_are_refused(tmp_path: Path) -> None:
    found = problems(tmp_path, HEAD + "\n" + "1,1,1,a,b,c,d\n" * 20_001)
    assert found[-1] == (20_002, "too_large")


def test_a_movement_of_a_single_deal_is_checked_but_not_rated(tmp_path: Path) -> None:
    path = tmp_path / "one-deal.csv"
    path.write_text(HEAD + "\n" + "".join(f"1,{t % 999 + 1},1,a{t},b{t},c{t},d{t}\n" for t in range(1001)))
    found = answer("check", path)
    assert (found["quality"], found["faults"] != []) == (None, True)


@given(st.binary(max_size=400))
def test_any_bytes_can_be_checked(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "rubbish.csv"
    path.write_bytes(content)
    assert len(read_movement(path).problems) > 0


IDS = st.text("abc-_=019", min_size=1, max_size=6).filter(lambda text: "=" not in text)


NUMBERS = st.integers(1, 999)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(1, 9999), st.tuples(IDS, IDS, IDS, IDS)), min_size=1))
def test_a_written_movement_is_read_unchanged(tmp_path_factory: pytest.TempPathFactory, listed: list[Any]) -> None:
    path = tmp_path_factory.getbasetemp() / "round.csv"
    plays = tuple(NamedPlay(r, t, d, dict(zip(SEATS, four, strict=True))) for r, t, d, four in listed)
    path.write_text(movement_csv(plays), encoding="utf-8", newline="")
    assert (read_movement(path).plays, read_movement(path).problems) == (plays, ())


def test_an_id_that_looks_like_a_formula_is_made_inert() -> None:
    play = NamedPlay(1, 1, 1, dict(zip(SEATS, ("-p1", "b", "c", "d"), strict=True)))
    assert movement_csv([play]).splitlines()[1] == "1,1,1,'-p1,b,c,d"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_event(tmp_path / "event", plan(), deals(), registry())
    return tmp_path / "event"


def test_faults_of_an_event_have_lines_of_its_movement_file(folder: Path) -> None:
    assert answer("check", folder)["faults"] == []
    text = (folder / MOVEMENT).read_text()
    first, *rest = text.splitlines()[1:]
    at = 2 + len(rest)  # the last line repeats the table and round of the first one
    (folder / MOVEMENT).write_text("\n".join([*text.splitlines()[:-1], first]))
    assert at in {fault["line"] for fault in answer("check", folder)["faults"]}
    assert answer("check", folder) == answer("check", folder / EVENT) == answer("check", folder / MOVEMENT)


def test_faults_of_an_older_event_have_lines_of_its_plan(folder: Path) -> None:
    (folder / MOVEMENT).unlink()
    text = tomli_w.dumps(msgspec.to_builtins(plan()))
    (folder / EVENT).write_text(text.replace("deal = 2", "deal = 1", 1))
    at = [number for number, line in enumerate(text.splitlines(), 1) if line == "[[plays]]"]
    faults = answer("check", folder)["faults"]
    assert (faults != [], {fault["line"] for fault in faults} <= set(at)) == (True, True)


def test_a_movement_made_for_an_event_has_one_play_per_round(folder: Path, tmp_path: Path) -> None:
    (folder / DEALS).unlink()  # as before deals are made
    said = run("new", "--event", folder, "--rounds", 5, "--force")
    assert (said.stdout, said.stderr.splitlines()[0]) == ("", f"80 plays in {folder / MOVEMENT}")
    new = read_plan(folder)
    assert (new.name, new.players) == (plan().name, plan().players)
    assert [(play.round, play.table) for play in new.plays] == [(r, t) for r in range(1, 21) for t in range(1, 5)]
    checked = answer("check", folder)
    assert checked["faults"] == []
    # rated by rounds of several deals, as the movement was made, not by its 20 plays per table
    run("new", "--players", 16, "--rounds", 5, "--output", tmp_path / "cup.csv")
    assert checked["quality"] == answer("check", tmp_path / "cup.csv")["quality"]
    assert (checked["quality"]["rounds"], checked["quality"]["deals"]) == (5, 20)


def test_a_number_of_players_other_than_the_events_is_refused(folder: Path) -> None:
    assert answer("new", "--event", folder, "--players", 12, "--rounds", 4)["error"]["code"] == "players_differ"


def test_an_event_has_one_carrier_of_each_deal_or_the_requested_number(folder: Path) -> None:
    run("new", "--event", folder, "--rounds", 4, "--force", *FEW_STEPS)
    assert (answer("check", folder, "--copies", 1)["faults"], read_plan(folder).copies) == ([], 1)
    run("new", "--event", folder, "--rounds", 4, "--copies", 4, "--force", *FEW_STEPS)
    assert (read_plan(folder).copies, len({play.deal for play in read_plan(folder).plays if play.round == 1})) == (4, 1)
    assert list(plan_problems(read_plan(folder), range(1, 5), NO_OWN_RULES)) == []


def test_repair_keeps_played_rounds_and_lists_the_changes(perfect: Path, tmp_path: Path) -> None:
    lines = perfect.read_text().splitlines()
    played, rest = tmp_path / "played.csv", tmp_path / "rest.csv"
    played.write_text("\n".join(lines[:5]))
    done = run("repair", perfect, "--played", played, "--substitute", "p03", "p99", "--output", rest)
    assert rest.read_text().splitlines()[:5] == lines[:5]
    assert rest.read_text().splitlines()[5:] == [line.replace("p03", "p99") for line in lines[5:]]
    assert done.stderr.splitlines()[0] == "round 2 table 3: north p99"
    assert answer("check", rest)["faults"] == []


def test_repairing_a_correct_movement_changes_nothing(perfect: Path) -> None:
    found = answer("repair", perfect)
    assert (found["changes"], len(found["plays"])) == ([], 20)


def test_repair_refuses_a_wrong_file_and_names_the_line(perfect: Path, tmp_path: Path) -> None:
    played = tmp_path / "played.csv"
    played.write_text(HEAD + "\n1,1,1,a\n")
    found = answer("repair", perfect, "--played", played)["error"]
    assert (found["code"], "line 2" in found["message"]) == ("malformed", True)


def test_ctrl_c_ends_the_search_with_the_best_movement_so_far(tmp_path: Path) -> None:
    path = tmp_path / "cup.csv"
    words = ["-v", "movement", "new", "--players", "24", "--rounds", "6", "--seconds", "600", "--output", str(path)]
    script = f"from broker.cli.main import homologue; homologue({words!r})"
    with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "searching: " in process.stderr.readline()
        os.kill(process.pid, signal.SIGINT)
        assert "24 players" in process.stderr.read()
    assert process.returncode == 0
    assert answer("check", path)["faults"] == []


def test_an_events_movement_is_replaced_only_by_force(folder: Path) -> None:
    before = (folder / MOVEMENT).read_bytes()
    words = ("new", "--event", folder, "--rounds", 4, *FEW_STEPS)
    assert answer(*words)["error"]["code"] == "plays_exist"
    assert (folder / MOVEMENT).read_bytes() == before
    (folder / MOVEMENT).chmod(0o640)
    run(*words, "--force")
    assert ((folder / MOVEMENT).read_bytes() == before, (folder / MOVEMENT).stat().st_mode & 0o777) == (False, 0o640)


def test_the_movement_of_a_started_event_is_never_replaced(folder: Path) -> None:
    (folder / STORE).touch()
    assert answer("new", "--event", folder, "--rounds", 4, "--force", *FEW_STEPS)["error"]["code"] == "event_started"


def test_a_movement_with_more_deals_than_the_event_is_refused(folder: Path) -> None:
    found = answer("new", "--event", folder, "--rounds", 5, "--force")["error"]
    assert (found["code"], found["message"].endswith("5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20")) == (
        "deal_unknown",
        True,
    )


def test_an_event_takes_no_file_of_teams(folder: Path, teams: Path) -> None:
    assert answer("new", "--event", folder, "--teams", teams, "--rounds", 4)["error"]["code"] == "teams_not_of_event"


@pytest.mark.parametrize("name", [DEALS, SETS, "cup.csv"])
def test_a_file_is_overwritten_only_by_force_and_a_secret_one_never(folder: Path, name: str) -> None:
    (folder / "cup.csv").write_text("mine")
    before = (folder / name).read_bytes()
    words = ("new", "--players", 16, "--rounds", 4, "--output", folder / name, *FEW_STEPS)
    assert answer(*words)["error"]["code"] == ("export_exists" if name == "cup.csv" else "not_an_export")
    assert (folder / name).read_bytes() == before
    assert ("error" in answer(*words, "--force")) == (name != "cup.csv")


def test_a_movement_is_imported_from_a_file_without_faults(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "cup.csv"
    run("new", "--players", 16, "--rounds", 4, "--output", path, *FEW_STEPS)
    assert run("take", path, "--event", folder, "--force").stdout == f"16 plays in {folder / MOVEMENT}\n"
    new = read_plan(folder)
    assert [(p.round, p.table, p.deal, dict(p.players)) for p in new.plays] == [
        (int(row["round"]), int(row["table"]), int(row["deal"]), {seat: row[seat] for seat in SEATS})
        for row in rows(path)
    ]
    before = (folder / MOVEMENT).read_bytes()
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[-1]]))
    refused = CliRunner().invoke(homologue, ["movement", "take", str(path), "--event", str(folder), "--force"])
    assert (refused.exit_code, refused.stdout.startswith("line 18: "), (folder / MOVEMENT).read_bytes()) == (
        1,
        True,
        before,
    )


def test_an_existing_output_is_refused_before_the_search(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "cup.csv").write_text("mine")
    long = ("--players", 24, "--rounds", 6, "--seconds", 600)
    assert answer("new", *long, "--output", tmp_path / "cup.csv")["error"]["code"] == "export_exists"
    assert answer("new", "--event", folder, "--rounds", 4, "--seconds", 600)["error"]["code"] == "plays_exist"
