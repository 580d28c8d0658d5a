"""`homologue export`: what it writes, where, and what it refuses."""

import json
import re
import stat
import zipfile
from decimal import Decimal
from io import BytesIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from broker.cli.main import homologue
from broker.event import STANDINGS
from broker.export.archive import EXPORTS
from broker.scorer import open_stored_event, standing_rows, standings_csv
from broker.spreadsheet import read_grid
from broker.store import STORE
from tests.broker.export.test_results import LINES
from tests.broker.scorer import team_event
from tests.broker.scorer.folders import declare, event_folder
from tests.broker.scorer.small import deals
from tests.refusals import codes


def export(*said: object, given: str | None = None) -> Result:
    return CliRunner().invoke(homologue, ["export", *map(str, said)], input=given)


def ended(result: Result) -> tuple[int, str]:
    """Return the exit code, and the code of the error or else standard error."""
    return result.exit_code, codes(result.stderr.splitlines()[-1])[0] if result.exit_code else result.stderr


@pytest.mark.parametrize(
    ("what", "first", "lines"), [("results", "event,", 65), ("standings", "place,", 17), ("ema", "place,", 17)]
)
def test_a_finished_event_is_exported_completely(declared: Path, what: str, first: str, lines: int) -> None:
    done = export(what, declared)
    assert done.exit_code == 0
    assert done.stdout.startswith(first)
    assert done.stdout.count("\n") == lines


def test_the_standings_of_teams_have_their_own_file(tmp_path: Path) -> None:
    said = [one for round_ in range(1, 5) for table in range(1, 5) for one in team_event.said(table, round_)]
    folder = event_folder(tmp_path / "cup", said, team_event.team_event().plan)
    rows = open_stored_event(folder).state.team_rows()
    lines = "".join(f"{row.place},{row.team},{row.imp},{row.fines},{row.deals}\n" for row in rows)
    done = export("standings", folder, "--teams")
    assert (done.exit_code, done.stdout) == (0, f"place,team,imp,fines,deals\n{lines}")
    assert "cup/team-standings.csv" in zipfile.ZipFile(BytesIO(export("all", folder).stdout_bytes)).namelist()


def test_an_event_without_teams_has_no_team_standings(over: Path) -> None:
    assert ended(export("standings", over, "--teams")) == (1, "no_teams")


def test_an_output_file_has_what_would_have_been_printed(declared: Path, tmp_path: Path) -> None:
    for what in ("results", "standings", "ema", "pmn"):
        path = tmp_path / "out" / what
        path.parent.mkdir(exist_ok=True)
        assert export(what, declared, "--output", path).stdout == ""
        assert path.read_bytes() == export(what, declared).stdout_bytes
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["ema", "pmn", "results", "standings"]


@pytest.mark.parametrize("what", ["results", "standings", "ema"])
def test_an_export_can_be_a_workbook_or_csv_for_excel(declared: Path, tmp_path: Path, what: str) -> None:
    path = tmp_path / "out.xlsx"
    assert export(what, declared, "--output", path).exit_code == 0
    plain = content(export(what, declared).stdout_bytes)
    assert content(path.read_bytes()) == plain
    excel = export(what, declared, "--excel").stdout_bytes
    assert excel.startswith(b"\xef\xbb\xbf" + ";".join(map(str, plain[0])).encode())
    assert content(excel) == plain


def content(written: bytes) -> list[list[Decimal | str]]:
    """Return the cells of a list, with numbers as their values, however they are written."""
    rows = [[cell.replace(",", ".") for cell in row] for _, row in read_grid(written).rows]
    return [[Decimal(cell) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", cell) else cell for cell in row] for row in rows]


def test_an_existing_file_is_overwritten_only_by_force(over: Path, tmp_path: Path) -> None:
    path = tmp_path / "standings.csv"
    path.write_text("mine", encoding="utf-8")
    assert ended(export("standings", over, "--output", path)) == (1, "export_exists")
    assert path.read_text(encoding="utf-8") == "mine"
    assert export("standings", over, "--output", path, "--force").exit_code == 0
    assert path.read_text(encoding="utf-8").startswith("place,")


@pytest.mark.parametrize("name", [STORE, "event.toml", "deals.json", "new", "broker/x.json", "players.csv"])
def test_the_events_own_files_are_never_overwritten(over: Path, name: str) -> None:
    (over / "broker").mkdir()
    before = {path.name: path.read_bytes() for path in over.iterdir() if path.is_file()}
    assert ended(export("results", over, "--output", over / name, "--force")) == (1, "not_an_export")
    assert {path.name: path.read_bytes() for path in over.iterdir() if path.is_file()} == before


def test_an_export_may_be_in_the_events_folder(over: Path) -> None:
    assert export("results", over, "--output", over / "results.csv").exit_code == 0


def test_an_output_that_cannot_be_written_is_an_error(over: Path, tmp_path: Path) -> None:
    assert ended(export("results", over, "--output", tmp_path / "none" / "x.csv")) == (1, "unwritable")


def test_a_device_file_is_not_replaced(over: Path) -> None:
    assert ended(export("results", over, "--output", "/dev/null", "--force")) == (1, "unwritable")


@pytest.mark.parametrize("what", ["results", "standings", "ema", "pmn"])
def test_a_folder_that_is_not_an_event_is_refused(tmp_path: Path, what: str) -> None:
    assert ended(export(what, tmp_path)) == (1, "bad_event")


def test_a_broken_or_missing_store_is_an_error(over: Path) -> None:
    (over / STORE).write_bytes(b"no store")
    assert ended(export("pmn", over)) == (1, "store_broken")
    (over / STORE).unlink()
    assert ended(export("pmn", over)) == (1, "store_missing")


def test_what_an_export_leaves_out_is_reported_on_standard_error(under_way: Path) -> None:
    done = export("results", under_way)
    assert done.stdout.count("\n") == 1
    assert done.stderr == (
        "provisional: 12 of 16 plays have their result\n"
        "left out until every table has played them: deals 1, 2, 3, 4 (--embargoed includes them)\n"
    )
    assert export("results", under_way, "--embargoed").stdout.count("\n") == 49


def test_standings_are_called_provisional_until_they_are_declared_final(under_way: Path, over: Path) -> None:
    assert export("standings", under_way).stderr == "provisional: 12 of 16 plays have their result\n"
    assert export("standings", over).stderr == "provisional: the head arbiter has not declared them final\n"
    assert export("standings", declare(over)).stderr == ""


def test_an_ema_report_waits_for_the_last_result(under_way: Path) -> None:
    assert ended(export("ema", under_way)) == (1, "not_final")
    assert export("ema", under_way, "--provisional").exit_code == 0


def test_an_ema_report_lists_the_players_without_a_number(declared: Path, tmp_path: Path) -> None:
    path = tmp_path / "players.csv"
    path.write_text("id,ema,last_name,first_name,country\np01,04010023,Li,Wei,FRA\n", encoding="utf-8")
    done = export("ema", declared, "--players", path)
    assert ",Wei,Li,04010023," in done.stdout
    assert done.stderr.startswith("without an EMA number: p")
    assert "p01" not in done.stderr
    assert ended(export("ema", declared, "--players", tmp_path / "none")) == (1, "file_missing")


def faces(text: str) -> bool:
    """Return whether a text reveals any hand."""
    return "[Walls" in text or '[Deal "c' in text


def test_tile_faces_are_not_exported_until_the_event_is_over(under_way: Path, over: Path) -> None:
    assert not faces(export("pmn", under_way, "--embargoed").stdout)
    assert faces(export("pmn", under_way, "--embargoed", "--with-deals").stdout)
    assert faces(export("pmn", over).stdout)


def test_a_file_with_secrets_is_accessible_to_its_owner_only(under_way: Path, over: Path, tmp_path: Path) -> None:
    export("pmn", under_way, "--embargoed", "--with-deals", "--output", tmp_path / "secret.pmn")
    export("pmn", over, "--output", tmp_path / "public.pmn")
    assert (tmp_path / "secret.pmn").stat().st_mode & 0o077 == 0
    assert (tmp_path / "public.pmn").stat().st_mode & 0o400 == 0o400


def test_results_contain_no_tile_faces(over: Path) -> None:
    for what in ("results", "standings", "ema"):
        text = export(what, over).stdout
        assert [tile for deal in deals() for tile in deal.deal().faces["east"] if f",{tile}," in text] == []


def test_plays_in_json_are_read_from_a_file_or_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "plays.jsonl"
    path.write_text(LINES, encoding="utf-8")
    for what, lines in (("results", 14), ("standings", 10)):
        done = export(what, path)
        assert (done.exit_code, done.stdout.count("\n")) == (0, lines)
        assert export(what, "-", given=LINES).stdout == done.stdout


def test_the_profile_for_plays_in_json_can_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "plays.jsonl"
    path.write_text(LINES, encoding="utf-8")
    assert export("standings", path, "--profile", "mcr").exit_code == 0
    assert ended(export("standings", path, "--profile", "none")) == (1, "unknown_profile")
    assert ended(export("standings", tmp_path / "no-such-event")) == (1, "file_missing")


def test_exported_standings_are_those_that_the_scorer_writes(tmp_path: Path) -> None:
    stored = open_stored_event(event_folder(tmp_path))
    assert export("standings", tmp_path).stdout_bytes.decode() == standings_csv(
        standing_rows(stored.state.snapshot().ranking, stored.event.players)
    )


def test_an_export_never_overwrites_the_plays_it_is_made_from(tmp_path: Path) -> None:
    plays = tmp_path / "plays.csv"
    plays.write_text("", encoding="utf-8")
    assert ended(export("results", plays, "--output", plays, "--force")) == (1, "not_an_export")
    assert plays.read_text(encoding="utf-8") == ""


@pytest.mark.parametrize("what", ["results", "pmn"])
def test_results_under_embargo_are_accessible_to_their_owner_only(under_way: Path, tmp_path: Path, what: str) -> None:
    export(what, under_way, "--embargoed", "--output", tmp_path / "early")
    assert (tmp_path / "early").stat().st_mode & 0o777 == 0o600


def test_the_scorers_own_standings_file_is_not_overwritten(over: Path) -> None:
    assert ended(export("standings", over, "--output", over / STANDINGS, "--force")) == (1, "not_an_export")


def scored(lines: str) -> dict[str, tuple[int, int]]:
    """Return the places and IMPs that `homologue score` computes from lines."""
    answer = json.loads(CliRunner().invoke(homologue, ["score", "--json"], input=lines).output)
    return {row["player"]: (row["place"], row["imp"]) for row in answer["standings"]}


def test_exported_plays_are_scored_as_the_event_was(over: Path) -> None:
    stored = open_stored_event(over)
    ranked = stored.state.snapshot().ranking
    assert scored(export("plays", over).stdout) == {one.name: (one.place, one.imp) for one in ranked}


def test_plays_under_embargo_are_exported_without_results(under_way: Path) -> None:
    shown = [json.loads(line) for line in export("plays", under_way).stdout.splitlines()]
    assert (len(shown), [line for line in shown if "points" in line]) == (16, [])
    early = [json.loads(line) for line in export("plays", under_way, "--embargoed").stdout.splitlines()]
    assert sum("points" in line for line in early) == 12


def test_the_archive_has_every_export_and_reports_only_when_they_are_final(declared: Path, under_way: Path) -> None:
    listed = []
    for folder in (declared, under_way):
        done = export("all", folder)
        assert done.exit_code == 0
        listed.append(sorted(zipfile.ZipFile(BytesIO(done.stdout_bytes)).namelist()))
    assert listed[0] == sorted(f"cup/{one.name}" for one in EXPORTS if not one.of_teams)
    assert sorted(set(listed[0]) - set(listed[1])) == [
        "cup/booklet.pdf",
        "cup/certificates.pdf",
        "cup/ema.csv",
        "cup/next-event.csv",
        "cup/replay.html",
    ]


def test_a_whole_event_can_be_exported_and_imported(over: Path, tmp_path: Path) -> None:
    path, folder = tmp_path / "cup.json", tmp_path / "again"
    assert export("json", over, "--whole", "--output", path).exit_code == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert CliRunner().invoke(homologue, ["event", "import", str(path), str(folder)]).exit_code == 0
    assert export("results", folder).stdout == export("results", over).stdout


def test_an_import_reports_the_number_of_messages_in_the_journal(declared: Path, tmp_path: Path) -> None:
    path, folder = tmp_path / "cup.json", tmp_path / "again"
    export("json", declared, "--whole", "--output", path)
    messages = [entry["message"] for entry in json.loads(path.read_text())["journal"]]
    assert any("decision" in message for message in messages)
    done = CliRunner().invoke(homologue, ["event", "import", str(path), str(folder)])
    assert done.stdout.startswith(f"{folder}: {len(messages)} messages in the journal. Start it with")


@pytest.mark.parametrize("which", ["standings", "travellers"])
def test_pages_for_printing_are_written_as_pdf(under_way: Path, tmp_path: Path, which: str) -> None:
    path = tmp_path / "x.pdf"
    done = export("pdf", which, under_way, "--language", "zh", "--output", path)
    assert (done.exit_code, path.read_bytes()[:5]) == (0, b"%PDF-")
