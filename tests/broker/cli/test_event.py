"""`homologue event` creates a folder that can start, or reports every problem."""

import csv
import json
import shutil
from contextlib import suppress
from pathlib import Path
from unicodedata import normalize

import click
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from broker.cli.main import homologue
from broker.cli.movement import movement_new as new_movement
from broker.errors import flatten_errors
from broker.event import (
    PLAYERS,
    ListedDevice,
    ListedPlayer,
    Origin,
    open_event,
    players_csv,
    read_devices,
    read_plan,
    read_players,
)
from broker.event.players import teams_of
from broker.event.readiness import player_list_notes
from broker.event.structure import Resources, formats
from broker.mqtt.certificates import Certificates
from broker.protocol import SigningKey
from broker.protocol.signing import EVENT_KEY_FILE, open_event_key
from broker.rules import RuleError
from tests.demo_event import exchange_two_tiles
from tests.refusals import codes

HEAD = ["name", "country", "club", "national", "ema"]
OPTIONS = ["--name", "cup-2026", "--title", "Club cup", "--profile", "oedmc-2020", "--rounds", "5"]
ADDRESS = "https://results.example.org"


def ask(*words: object, said: str = "") -> Result:
    return CliRunner().invoke(homologue, ["event", *map(str, words)], input=said)


def sheet(folder: Path, rows: list[list[str]], head: list[str] | None = None) -> Path:
    path = folder / "list.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head or HEAD, *rows])
    return path


def sixteen() -> list[list[str]]:
    return [[f"Player {n} 李", "FRA", "=Club", f"N{n}", f"0400{n:04}"] for n in range(1, 17)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("events")
    result = ask(
        "new", folder / "cup", *OPTIONS, "--public-address", f"{ADDRESS}/", "--players", sheet(folder, sixteen())
    )
    assert result.exit_code == 0, result.output
    return folder / "cup"


def test_an_event_that_was_set_up_can_start(made: Path) -> None:
    event = open_event(made)
    assert (event.name, len(event.players), len(event.plan.plays), event.tables) == ("cup-2026", 16, 80, (1, 2, 3, 4))
    assert (event.plan.public_address, event.origin_of("p01")) == (ADDRESS, Origin("FRA", "=Club"))
    said = json.loads(ask("check", made, "--json").stdout)
    assert (said["ready"], said["problems"], [note["code"] for note in said["notes"]]) == (True, [], ["not_sealed"])


def test_an_event_can_start_from_a_copy_of_its_folder(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path / "copy")
    assert ask("check", tmp_path / "copy").exit_code == 0


def test_missing_options_are_asked_for(tmp_path: Path) -> None:
    players = sheet(tmp_path, sixteen())
    result = ask("new", tmp_path / "cup", "--rounds", "5", said=f"cup\nA cup\n\n{players}\n")
    assert result.exit_code == 0, result.output
    assert open_event(tmp_path / "cup").plan.title == "A cup"


def test_an_event_without_a_given_name_is_named_like_its_folder(tmp_path: Path) -> None:
    players = sheet(tmp_path, sixteen())
    result = ask("new", tmp_path / "open-2026", "--title", "Open", "--rounds", "5", "--players", players)
    assert (result.exit_code, open_event(tmp_path / "open-2026").name) == (0, "open-2026"), result.output


@pytest.mark.parametrize(
    ("said", "missing"),
    [("", "--title"), ("cup\n", "--title"), ("cup\nA cup\n", "--players"), ("cup\nA cup\n\n", "--players")],
)
def test_an_unanswered_question_is_an_error_that_names_its_option(tmp_path: Path, said: str, missing: str) -> None:
    result = ask("new", tmp_path / "cup", said=said)
    told = f"homologue: {missing} is missing, and nobody answers [option_missing]"
    assert (result.exit_code, result.stderr.strip()) == (2, told)
    assert not (tmp_path / "cup").exists()


def test_ctrl_c_aborts_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_text: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("click.termui.visible_prompt_func", interrupt)
    with pytest.raises(click.Abort):
        homologue.main(["event", "new", str(tmp_path / "cup")], standalone_mode=False)


def test_clubs_and_numbers_are_not_in_the_plan_that_tables_get(made: Path) -> None:
    one = read_players(made / PLAYERS)[0]
    assert one.further == ("FRA", "=Club", "N1", "04000001")
    assert b"Club'" not in (made / "event.toml").read_bytes()


def test_an_invalid_public_address_is_refused_before_anything_is_created(tmp_path: Path) -> None:
    players = sheet(tmp_path, sixteen())
    result = ask("new", tmp_path / "cup", *OPTIONS, "--public-address", "example.org", "--players", players)
    assert (result.exit_code, "public_address_wrong" in result.stderr) == (1, True)
    assert not (tmp_path / "cup").exists()


def test_an_existing_event_is_not_overwritten(made: Path) -> None:
    before = {path.name: path.read_bytes() for path in made.rglob("*") if path.is_file()}
    result = ask("new", made, *OPTIONS, "--players", made / PLAYERS)
    assert (result.exit_code, "folder_taken" in result.stderr) == (1, True)
    assert {path.name: path.read_bytes() for path in made.rglob("*") if path.is_file()} == before


def test_only_the_commitment_is_readable_by_others(made: Path) -> None:
    open_to_others = [path.name for path in made.rglob("*") if path.stat().st_mode & 0o077]
    assert open_to_others == ["commitment.json"]


@pytest.mark.slow
def test_an_event_that_cannot_be_completed_leaves_no_folder(tmp_path: Path) -> None:
    many = [[f"Player {n}", "", "", "", ""] for n in range(400)]  # needs 100 sets; they are numbered up to 99
    refused = ask("new", tmp_path / "cup", *OPTIONS[:-1], "1", "--uncompared", "--players", sheet(tmp_path, many))
    assert (refused.exit_code, "[too_many_sets]" in refused.stderr, (tmp_path / "cup").exists()) == (1, True, False)


def refusals(result: Result) -> list[list[str]]:
    """Return the code and the line of each error."""
    places = [line.split(": ")[1] for line in result.stderr.splitlines()]
    return [[code, place] for code, place in zip(codes(result.stderr), places, strict=True)]


def test_every_wrong_line_is_reported_and_nothing_is_created(tmp_path: Path) -> None:
    rows = sixteen()
    rows[1][0], rows[2][1], rows[4][4] = "", "France", rows[3][4]
    result = ask("new", tmp_path / "cup", *OPTIONS, "--players", sheet(tmp_path, rows))
    assert refusals(result) == [
        ["name_missing", "line 3"],
        ["country_wrong", "line 4"],
    ]
    assert (tmp_path / "cup").exists() is False


def test_an_invalid_id_name_and_club_have_codes_of_their_own(tmp_path: Path) -> None:
    rows = [[f"p{number}", *row] for number, row in enumerate(sixteen())]
    rows[1][0], rows[2][1], rows[3][1], rows[4][3] = "p 1", "x" * 101, "a\u202eb", "c" * 61
    wrong = ask("new", tmp_path / "cup", *OPTIONS, "--players", sheet(tmp_path, rows, ["id", *HEAD]))
    assert refusals(wrong) == [
        ["player_id_wrong", "line 3"],
        ["player_name_wrong", "line 4"],
        ["player_name_wrong", "line 5"],
        ["player_detail_wrong", "line 6"],
    ]
    assert "club has at most 60" in wrong.stderr


def test_a_list_may_have_first_and_last_names_instead_of_full_names(tmp_path: Path) -> None:
    rows = [["Anne", "Le  Fèvre", ""], ["", "Li", "Li Wei"], ["Bo", "", ""]]
    first = read_players(sheet(tmp_path, rows, ["first_name", "last_name", "name"]))
    assert [(one.player.name, one.first_name, one.last_name) for one in first] == [
        ("Anne Le Fèvre", "Anne", "Le Fèvre"),
        ("Li Wei", "", "Li"),
        ("Bo", "Bo", ""),
    ]
    (tmp_path / PLAYERS).write_text(players_csv(first), encoding="utf-8")
    assert read_players(tmp_path / PLAYERS) == first
    parts = read_players(sheet(tmp_path, [row[:2] for row in rows], ["first_name", "last_name"]))
    assert [one.player.name for one in parts] == ["Anne Le Fèvre", "Li", "Bo"]
    with pytest.raises(RuleError, match="no column name"):
        read_players(sheet(tmp_path, [["FR"]], ["country"]))


def test_players_of_the_same_name_and_unknown_countries_are_noted(tmp_path: Path) -> None:
    rows = [["Anna", "FR"], ["ANNA ", "XX"], ["Bo", "GER"], ["Cy", "DEU"], ["Di", "XK"], ["Ed", "FRA"], ["Fu", "XX"]]
    assert player_list_notes(read_players(sheet(tmp_path, rows, ["name", "country"]))) == [
        ("named_alike", "Anna: p01, p02"),
        ("country_unknown", "XX: p02, p07"),
    ]


def test_names_and_teams_are_the_same_however_their_accents_are_encoded(tmp_path: Path) -> None:
    rows = [[normalize(form, "José"), "", normalize(form, "Équipe")] for form in ("NFC", "NFD", "NFD", "NFC")]
    listed = read_players(sheet(tmp_path, rows, ["name", "country", "team"]))
    assert [*teams_of(listed)] == ["Équipe"]
    assert player_list_notes(listed) == [("named_alike", "José: p01, p02, p03, p04")]


def test_a_number_that_two_players_share_is_reported(tmp_path: Path) -> None:
    rows = sixteen()
    rows[4][4] = rows[3][4]
    result = ask("new", tmp_path / "cup", *OPTIONS, "--players", sheet(tmp_path, rows))
    assert refusals(result) == [["player_listed_twice", "line 6"]]


@pytest.mark.parametrize("wrong", [["--name", "Cup!"], ["--profile", "nonsense"], ["--title", ""]])
def test_an_invalid_name_profile_or_title_is_refused_and_nothing_is_created(tmp_path: Path, wrong: list[str]) -> None:
    result = ask("new", tmp_path / "cup", *OPTIONS, "--players", sheet(tmp_path, sixteen()), *wrong)
    assert (result.exit_code, (tmp_path / "cup").exists()) == (1, False)


def test_all_problems_are_reported_at_once(made: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(made, tmp_path / "broken")
    (broken / "commitment.json").unlink()
    (broken / "sets.json").chmod(0o644)
    plan = (broken / "event.toml").read_text(encoding="utf-8")
    (broken / "event.toml").write_text(plan.replace('id = "p01"', 'id = "p99"', 1), encoding="utf-8")
    found = json.loads(ask("check", broken, "--json").stdout)
    assert sorted({problem["code"] for problem in found["problems"]}) == [
        "not_committed",
        "player_not_listed",
        "secret_exposed",
    ]
    assert [p for p in found["problems"] if "player p01 is not in the player list" in p["message"]] != []


def test_two_tiles_exchanged_after_the_commitment_are_found_with_their_deal(made: Path, tmp_path: Path) -> None:
    altered = shutil.copytree(made, tmp_path / "altered")
    exchange_two_tiles(altered, 2)
    found = json.loads(ask("check", altered, "--json").stdout)
    assert found["problems"] == [{"code": "deal_differs", "message": "deal 2 is not what was committed to"}]


def test_a_committed_deal_that_is_missing_is_reported(made: Path, tmp_path: Path) -> None:
    altered = shutil.copytree(made, tmp_path / "altered")
    deals = json.loads((altered / "deals.json").read_text(encoding="utf-8"))
    (altered / "deals.json").write_text(json.dumps(deals[:-1]), encoding="utf-8")
    found = json.loads(ask("check", altered, "--json").stdout)
    assert "deal_missing" in {problem["code"] for problem in found["problems"]}


def test_an_empty_folder_is_reported(tmp_path: Path) -> None:
    assert ask("check", tmp_path).stdout.startswith("file_missing: event.toml is missing")


NAMES = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp", "Cf", "Zs", "Cn", "Co")), min_size=1, max_size=20
).map(lambda name: normalize("NFC", name))
"""Names in the form in which they are read: compatibility ideographs become the usual ones."""


@given(st.lists(NAMES, min_size=1, max_size=5))
def test_a_written_list_of_players_is_read_unchanged(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("list")
    plain = [name.lstrip("'") or "x" for name in names]
    first = read_players(sheet(folder, [[name] for name in plain], ["name"]))
    assert [one.player.name for one in first] == [normalize("NFC", name) for name in plain]
    (folder / PLAYERS).write_text(players_csv(first), encoding="utf-8", newline="")
    assert read_players(folder / PLAYERS) == first


@given(st.binary(max_size=200))
def test_any_bytes_are_read_as_a_list_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / "list.csv"
    path.write_bytes(b"name,id\n" + content)
    found: tuple[ListedPlayer, ...] = ()
    with suppress(RuleError):
        try:
            found = read_players(path)
        except* RuleError as several:
            assert flatten_errors(several) != []  # noqa: PT017 - all of them are refusals, and nothing else was raised
    assert len({one.player.id for one in found}) == len(found)


def of_teams(*teams: str) -> list[list[str]]:
    return [[f"Player {n}", team] for n, team in enumerate(teams, 1)]


def test_a_list_with_teams_makes_a_team_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (seconds,) = [one for one in new_movement.params if one.name == "seconds"]
    monkeypatch.setattr(seconds, "default", 0.01)
    rows = of_teams(*("Les  Bambous", "赢家") * 4)
    options = [*OPTIONS[:-1], "4", "--players", sheet(tmp_path, rows, ["name", "team"])]
    assert ask("new", tmp_path / "cup", *options).exit_code == 0
    event = open_event(tmp_path / "cup")  # refused unless the movement is one for teams
    assert event.plan.teams == {"Les Bambous": ("p01", "p03", "p05", "p07"), "赢家": ("p02", "p04", "p06", "p08")}
    assert [one.team for one in read_players(tmp_path / "cup" / PLAYERS)] == ["Les Bambous", "赢家"] * 4


def test_a_player_without_a_team_and_a_too_small_team_are_reported(tmp_path: Path) -> None:
    path = sheet(tmp_path, of_teams("A", "A", "A", "A", "", "B"), ["name", "team"])
    with pytest.raises(ExceptionGroup) as found:
        read_players(path)
    assert [(one.code, one.text) for one in flatten_errors(found.value)] == [
        ("teams_do_not_fit", "line 6: Player 5 has no team, but other players do"),
        ("teams_do_not_fit", "players in B: 1; a team needs at least 4"),
    ]


def test_a_team_that_is_too_large_is_reported(tmp_path: Path) -> None:
    path = sheet(tmp_path, of_teams(*"A" * 100, *"BBBB"), ["name", "team"])
    with pytest.raises(ExceptionGroup) as found:
        read_players(path)
    assert [one.text for one in flatten_errors(found.value)] == ["players in A: 100; a team can have at most 99"]


def test_teams_whose_sizes_do_not_fit_a_movement_are_refused(tmp_path: Path) -> None:
    rows = of_teams(*"AAAAABBBB")
    options = [*OPTIONS[:-1], "4", "--players", sheet(tmp_path, rows, ["name", "team"])]
    refused = ask("new", tmp_path / "cup", *options)
    assert (refused.exit_code, "teams_do_not_fit" in refused.output) == (1, True)


def test_a_device_can_be_listed_with_its_key_instead_of_being_paired(made: Path) -> None:
    key = SigningKey.new()
    for machine in ("pi-3", "pi-4"):  # the second call corrects the first
        answer = ask("device", made, "--table", 3, "--key", key.public, "--machine", machine)
        assert answer.output.startswith(f"table 3: device {key.device}\ncertificate: ")
    (given,) = Certificates.of_event(made).tables()
    assert (given.table, given.device, str(given.path) in answer.output) == (3, key.device, True)
    assert read_devices(made) == (ListedDevice(3, key.public, "pi-4"),)
    refused = ask("device", made, "--table", 3, "--key", "none")
    assert (refused.exit_code, "malformed" in refused.stderr) == (1, True)


def test_the_events_key_is_created_with_the_event_and_its_public_part_is_printed(made: Path) -> None:
    assert ask("key", made).output == f"{open_event_key(made).public}\n"
    assert (made / EVENT_KEY_FILE).stat().st_mode & 0o077 == 0


def test_an_event_with_one_set_at_two_tables_in_a_round_cannot_start(made: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(made, tmp_path / "cup")
    deals = json.loads((folder / "deals.json").read_bytes())
    event = open_event(folder)
    one, other = sorted({play.deal for play in event.plan.plays if play.round == 1})[:2]
    for deal in deals:
        deal["set"] = one if deal["number"] == other else deal["set"]
    (folder / "deals.json").write_text(json.dumps(deals), encoding="utf-8")
    found = json.loads(ask("check", folder, "--json").stdout)
    assert "set_at_two_tables" in {problem["code"] for problem in found["problems"]}


def test_formats_are_those_that_the_set_up_offers() -> None:
    hall = ("formats", "--players", 16, "--hours", 4, "--carriers", 4)
    offered = [one.row() for one in formats(Resources(16, None, 240, 4))]
    assert json.loads(ask(*hall, "--json").output) == {"formats": offered}
    heads, *lines = ask(*hall).output.splitlines()
    assert heads.endswith("strength  50 %  80 %")
    assert [line.split()[:3] for line in lines] == [
        [str(row["rounds"]), str(row["deals_per_round"]), str(row["copies"])] for row in offered
    ]
    assert [line.endswith("*") for line in lines] == [row["early"] for row in offered]
    refused = ask("formats", "--players", 4, "--hours", 4, "--json")
    assert json.loads(refused.output)["error"]["code"] == "no_format"


def test_a_new_event_has_the_chosen_format(tmp_path: Path) -> None:
    chosen = ["--deals-per-round", 1, "--copies", 4, "--tables", 4]
    result = ask("new", tmp_path / "cup", *OPTIONS, *chosen, "--players", sheet(tmp_path, sixteen()))
    assert result.exit_code == 0, result.output
    plan = read_plan(tmp_path / "cup")
    assert (len({play.deal for play in plan.plays}), plan.copies) == (5, 4)
