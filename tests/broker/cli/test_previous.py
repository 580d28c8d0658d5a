"""An event starts from the standings of an earlier one: from its folder, once they are final, or from a file."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from broker.cli.main import homologue
from broker.cli.previous import earlier_wish
from broker.event import Earlier, read_plan, write_plan
from broker.export.document import encode_document, event_document
from broker.scorer import open_stored_event
from tests.broker.scorer import team_event
from tests.broker.scorer.folders import declare, event_folder, until_round
from tests.broker.scorer.small import plan, whole_event


def previous(*args: object) -> Result:
    return CliRunner().invoke(homologue, ["event", "previous", *map(str, args), "--json"])


def new_event(tmp_path: Path) -> Path:
    """Return the folder of an event without players and plays."""
    folder = tmp_path / "final"
    folder.mkdir()
    write_plan(folder, replace(plan(), name="final", players=(), plays=()))
    return folder


def test_the_best_players_of_a_folder_start_the_next_event_with_their_imps(tmp_path: Path) -> None:
    before, folder = declare(event_folder(tmp_path / "cup", whole_event())), new_event(tmp_path)
    best = open_stored_event(before).state.snapshot().standings[:2]
    told = json.loads(previous(folder, before, "--carry-over", "2/3", "--first", "2").stdout)
    assert told["found"] == 2
    made = read_plan(folder)
    assert [one.name for one in made.players] == [one.name for one in best]
    assert isinstance(made.earlier, Earlier)
    assert [(one.place, one.imp) for one in made.earlier.players] == [(one.place, one.imp) for one in best]
    assert (made.earlier.title, made.earlier.carry_over) == (plan().title, "2/3")


def test_standings_that_are_not_final_are_refused(tmp_path: Path) -> None:
    before, folder = event_folder(tmp_path / "cup", until_round(2)), new_event(tmp_path)
    answer = previous(folder, before)
    assert (json.loads(answer.stdout)["error"]["code"], answer.exit_code) == ("not_final", 1)
    assert not isinstance(read_plan(folder).earlier, Earlier)


def test_a_new_event_can_start_from_a_file_of_standings(tmp_path: Path) -> None:
    listed, before = tmp_path / "list.txt", tmp_path / "Saturday.csv"
    listed.write_text("".join(f"Player {at}\n" for at in range(1, 18)), encoding="utf-8")
    lines = (f"{place},Player {at},{40 - place}\n" for place, at in enumerate(range(17, 1, -1), 1))
    before.write_text("place,name,imp\n" + "".join(lines), encoding="utf-8")
    args = ["new", tmp_path / "cup", "--name", "cup", "--title", "Cup", "--profile", "mcr", "--players", listed]
    # Sixteen players in five rounds need no search.
    args += ["--rounds", "5", "--previous", before, "--previous-part", "50%", "--first", "15"]
    made = CliRunner().invoke(homologue, ["event", *map(str, args)])
    assert made.exit_code == 0, made.output
    found = read_plan(tmp_path / "cup")
    assert [one.name for one in found.players] == [f"Player {at}" for at in (*range(17, 2, -1), 1)]
    assert isinstance(found.earlier, Earlier)
    assert (found.earlier.title, len(found.earlier.players)) == ("Saturday", 15)


@pytest.mark.parametrize("teams", [False, True])
def test_an_exported_event_gives_the_same_standings_as_its_folder(tmp_path: Path, *, teams: bool) -> None:
    places = [(table, round_) for round_ in range(1, 5) for table in range(1, 5)] if teams else []
    said = [one for place in places for one in team_event.said(*place)] or whole_event()
    before = declare(event_folder(tmp_path / "cup", said, of=team_event.team_event().plan if teams else plan()))
    document = tmp_path / "event.json"
    document.write_bytes(encode_document(event_document(before, open_stored_event(before), whole=True)))
    lines = earlier_wish(document, "", "", None).lines
    assert [*lines] == [*earlier_wish(before, "", "", None).lines]
    assert {bool(line.team) for line in lines} == {teams}
