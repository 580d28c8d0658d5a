"""Substitutes and players' origins in every export and print."""

import csv
import io
from datetime import UTC, datetime
from pathlib import Path

import pypdfium2
import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from broker.event import PLAYERS, ListedPlayer, open_event, players_csv
from broker.export import results
from broker.export.pmn import event
from broker.export.printed_results import standings_pdf, travellers_pdf
from broker.i18n import SEAT_NAMES, Translator, languages
from broker.protocol import Substitute
from broker.scorer import EventState, StoredEvent, open_stored_event, standing_rows, standings
from broker.store import STORE, SqliteJournal
from tests.broker.export.test_results import table
from tests.broker.rulings.ruled import ruling
from tests.broker.scorer.folders import event_folder
from tests.broker.scorer.small import NAME, plan, whole_event

NOON = datetime(2026, 5, 2, 12, 0, tzinfo=UTC)
GONE, INSTEAD, SINCE = "p07", "Ada Reserve", 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small event, in which a substitute replaces player 7 from the third round on."""
    made = event_folder(tmp_path_factory.mktemp("people") / "cup")
    listed = [
        ListedPlayer(one, ("FR", "Paris MC", "", "") if one.id == GONE else ("", "", "", "")) for one in plan().players
    ]
    (made / PLAYERS).write_text(players_csv(listed), encoding="utf-8")
    give(made, Substitute(player=GONE, name=INSTEAD, first_round=SINCE))
    return made


def give(folder: Path, decision: Substitute) -> None:
    room = EventState(open_event(folder))
    room.load([*whole_event()])
    journal = SqliteJournal(folder / STORE, NAME)
    with journal.commit():
        journal.append(ruling(room, decision), 0)
    journal.close()


@pytest.fixture(scope="module")
def stored(folder: Path) -> StoredEvent:
    return open_stored_event(folder)


def text_of(content: bytes) -> str:
    return "\n".join(page.get_textpage().get_text_bounded() for page in pypdfium2.PdfDocument(content))


def test_results_have_columns_for_substitute_country_and_club(stored: StoredEvent) -> None:
    rows = [row for row in table(results.results_csv(results.event_result_rows(stored))) if row["player"] == GONE]
    told = {int(row["round"]): (row["name"], row["sat"], row["country"], row["club"]) for row in rows}
    assert {row["name"] for row in rows} == {"Player 7"}
    assert told == {at: ("Player 7", INSTEAD if at >= SINCE else "", "FR", "Paris MC") for at in range(1, 5)}


def test_a_record_names_the_substitute_and_the_player_replaced(stored: StoredEvent) -> None:
    named = {
        record.round: next(name for name in record.players.values() if "Player 7" in name)
        for record in event.event_records(stored)
        if any("Player 7" in name for name in record.players.values())
    }
    assert named == {at: f"{INSTEAD} (for Player 7)" if at >= SINCE else "Player 7" for at in range(1, 5)}


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", f"* Table {{table}}, {{seat}}: {INSTEAD} for Player 7"),
        ("fr", f"* Table {{table}}, {{seat}} : {INSTEAD} pour Player 7"),
        ("zh", f"* 第 {{table}} 桌，{{seat}}：{INSTEAD}（代Player 7）"),
    ],
)
def test_printed_travellers_mark_the_player_and_name_the_substitute_below(
    stored: StoredEvent, language: str, said: str
) -> None:
    text, name = text_of(travellers_pdf(stored, Translator(language), NOON)), Translator(language)
    lines = [
        said.format(table=play.table, seat=name(SEAT_NAMES[seat]))
        for play in plan().plays
        for seat, player in play.players.items()
        if player == GONE and play.round >= SINCE
    ]
    between = "" if language == "zh" else " "  # a PDF reader may see a gap where the font changes within a line
    letters = between.join(text.split())
    assert [letters.count(between.join(line.split())) for line in lines] == [1, 1]
    assert (text.count("*Player 7 (FR)"), text.count("Player 7 (FR)")) == (2, 4)


@pytest.mark.parametrize("language", languages())
def test_printed_standings_have_country_and_club_if_any_is_known(stored: StoredEvent, language: str) -> None:
    _ = Translator(language)
    text = text_of(standings_pdf(stored, _, NOON))
    assert [word for word in ("FR", "Paris MC", _("Country"), _("Club")) if word not in text] == []


def test_the_standings_file_has_country_and_club_last(stored: StoredEvent) -> None:
    rows = standing_rows(stored.state.snapshot().ranking, stored.event.players)
    text = standings.standings_csv(rows, stored.event.origin_of)
    (line,) = [row for row in csv.DictReader(io.StringIO(text, newline="")) if row["player"] == GONE]
    assert [*line][-2:] == ["country", "club"]
    assert (line["country"], line["club"]) == ("FR", "Paris MC")


def test_a_blank_sheet_names_the_substitute_and_the_player_replaced(folder: Path, tmp_path: Path) -> None:
    (play,) = [one for one in plan().plays if one.round == SINCE and GONE in one.players.values()]
    asked = ["--table", play.table, "--round", SINCE, "--output", tmp_path / "sheet.pdf"]
    done = CliRunner().invoke(homologue, ["event", "sheets", *map(str, (folder, *asked))])
    assert done.exit_code == 0, done.output
    text = text_of((tmp_path / "sheet.pdf").read_bytes())
    assert (text.count(INSTEAD), text.count(f"{GONE} · for Player 7")) == (1, 1)


def test_without_player_list_and_substitutes_nothing_is_added(tmp_path: Path) -> None:
    stored = open_stored_event(event_folder(tmp_path / "cup"))
    text = text_of(travellers_pdf(stored, Translator("en"), NOON)) + text_of(
        standings_pdf(stored, Translator("en"), NOON)
    )
    assert ("*" in text, " for Player" in text, "Club" in text) == (False, False, False)
    rows = table(results.results_csv(results.event_result_rows(stored)))
    assert {(row["sat"], row["country"], row["club"]) for row in rows} == {("", "", "")}
