"""The list exported for the next event is accepted by set-up and by command without changes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from broker.cli.main import homologue
from broker.event import PLAYERS, Earlier, EarlierLine, Plan, read_plan, read_players, read_standings, write_plan
from broker.event.earlier import EarlierPlace
from broker.event.setup import EarlierWish, draft_earlier, from_file, take_earlier
from broker.export.results import next_event_csv, next_event_lines
from broker.scorer import open_stored_event
from tests.broker.scorer.folders import declare, event_folder
from tests.broker.scorer.small import plan
from tests.broker.scorer.team_event import TEAMS, said, team_event

LISTED = """\
id,name,country,club,national,ema,first_name,last_name
p01,=Zoé Öztürk,FR,Lyon,N1,04000001,Zoé,Öztürk
""" + "".join(f"p{at:02},Li Wei,CHN,Club {at},,,,\n" for at in range(2, 17))
NAMES = {"p01": "=Zoé Öztürk"} | {f"p{at:02}": "Li Wei" for at in range(2, 17)}


def of_players() -> Plan:
    """Return the small event; all but one of its players are namesakes."""
    return replace(plan(), players=tuple(replace(one, name=NAMES[one.id]) for one in plan().players))


def over(folder: Path, of: Plan) -> Path:
    """Return the folder of an event whose standings are final."""
    made = event_folder(
        folder,
        [message for table in range(1, 5) for round_ in range(1, 5) for message in said(table, round_, 9 * table)]
        if of.teams
        else None,
        of,
    )
    (made / PLAYERS).write_text(LISTED, encoding="utf-8")
    return declare(made)


def by_set_up(folder: Path, listed: str, first: int) -> None:
    lines = from_file(listed, "standings", read_standings)
    take_earlier(folder, draft_earlier(folder, EarlierWish(lines, "", "2/3", first)))


def by_command(folder: Path, listed: str, first: int) -> None:
    path = folder.parent / "next-event.csv"
    path.write_text(listed, encoding="utf-8")
    said = ["event", "previous", folder, path, "--carry-over", "2/3", "--first", first]
    done = CliRunner().invoke(homologue, [*map(str, said)])
    assert done.exit_code == 0, done.output


WAYS = pytest.mark.parametrize("take", [by_set_up, by_command])
Take = Callable[[Path, str, int], None]


def new_event(tmp_path: Path) -> Path:
    """Return the folder of an event that has only a name."""
    (folder := tmp_path / "final").mkdir()
    write_plan(folder, replace(plan(), name="final", players=(), plays=()))
    return folder


@WAYS
def test_the_best_players_are_taken_over_with_places_imps_numbers_and_clubs(tmp_path: Path, take: Take) -> None:
    before, folder = over(tmp_path / "cup", of_players()), new_event(tmp_path)
    stored = open_stored_event(before)
    best = stored.state.snapshot().standings[:5]
    take(folder, next_event_csv(before, stored), 5)
    made, had = read_plan(folder), {one.player.id: one for one in read_players(before / PLAYERS)}
    listed = read_players(folder / PLAYERS)
    assert [(one.player.name, one.further, one.last_name) for one in listed] == [
        (NAMES[one.player], had[one.player].further, had[one.player].last_name) for one in best
    ]
    assert made.earlier == Earlier(
        plan().title,
        "2/3",
        tuple(EarlierPlace(one.player.id, row.place, row.imp) for one, row in zip(listed, best, strict=True)),
    )


@WAYS
def test_teams_are_taken_over_with_their_players(tmp_path: Path, take: Take) -> None:
    before, folder = over(tmp_path / "cup", team_event().plan), new_event(tmp_path)
    stored = open_stored_event(before)
    best = stored.state.team_rows()[:1]
    take(folder, next_event_csv(before, stored), 1)
    made = read_plan(folder)
    names = {one.id: one.name for one in made.players}
    assert {team: tuple(names[one] for one in members) for team, members in made.teams.items()} == {
        row.team: tuple(stored.event.name_of(player) for player in TEAMS[row.team]) for row in best
    }
    assert isinstance(made.earlier, Earlier)
    assert made.earlier.teams == tuple(EarlierPlace(row.team, row.place, row.imp) for row in best)


@pytest.mark.parametrize("of", [of_players(), team_event().plan], ids=["players", "teams"])
def test_the_exported_list_and_the_folder_give_the_same_lines(tmp_path: Path, of: Plan) -> None:
    before = over(tmp_path / "cup", of)
    stored = open_stored_event(before)
    assert [*from_file(next_event_csv(before, stored), "standings", read_standings)] == next_event_lines(before, stored)


def test_fractions_of_an_imp_stay_exact(tmp_path: Path) -> None:
    path = tmp_path / "next-event.csv"
    path.write_text("place,player,name,imp\n1,p1,Ada,'-7/3\n2,p2,Bob,0.5\n", encoding="utf-8")
    assert read_standings(path) == (EarlierLine(1, "-7/3", "p1", name="Ada"), EarlierLine(2, "1/2", "p2", name="Bob"))


def test_a_team_with_two_places_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "next-event.csv"
    path.write_text("place,team,name,imp\n1,Reds,Ada,3\n2,Reds,Bob,3\n", encoding="utf-8")
    with pytest.raises(Exception, match="Reds has two places"):
        read_standings(path)
