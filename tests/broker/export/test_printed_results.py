"""Printed standings and travellers, read back from the PDF."""

from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from random import Random

import pypdfium2
import pytest
from msgspec.structs import replace

from broker.event import Earlier, save_event
from broker.event.earlier import EarlierPlace
from broker.export.pdf import PageBlock, PageHeading, pages_pdf
from broker.export.printed_results import (
    STANDINGS,
    certificates_pdf,
    note_line,
    signed_text,
    standings_pdf,
    travellers_pdf,
)
from broker.i18n import Translator, languages
from broker.protocol import Adjusted, Award, AwardGiven, TeamStanding, Void
from broker.scorer import EventState, StoredEvent, open_stored_event
from tests.broker.export.test_what_counts import ruled
from tests.broker.rulings.drawn import DrawnRuling
from tests.broker.scorer import small
from tests.broker.scorer.folders import event_folder, until_round
from tests.broker.scorer.staged import play_rounds, staged_deals, staged_event
from tests.broker.scorer.team_event import TEAMS, team_event
from tests.broker.scorer.team_event import said as team_event_said

NOON = datetime(2026, 5, 2, 12, 0, tzinfo=UTC)


def text_of(content: bytes) -> list[str]:
    """Return the text of each page."""
    return [page.get_textpage().get_text_bounded() for page in pypdfium2.PdfDocument(content)]


@pytest.mark.parametrize(
    ("language", "final", "last"),
    [("en", "Final", "Page 2 of 2"), ("fr", "Définitif", "Page 2 sur 2"), ("zh", "最终", "第 2 页，共 2 页")],
)
def test_each_page_shows_title_rules_time_and_whether_it_is_final(
    declared: Path, language: str, final: str, last: str
) -> None:
    pages = text_of(travellers_pdf(open_stored_event(declared), Translator(language), NOON))
    for page in pages:
        told = ("A small cup", final, "oedmc-2020", "2026-05-02 12:00 +0000")
        assert [word for word in told if word not in page] == []
    assert last in pages[-1]


def test_travellers_show_winners_discarders_fines_and_fouled_groups(over: Path) -> None:
    text = "\n".join(text_of(travellers_pdf(open_stored_event(over), Translator("en"), NOON)))
    assert [
        word
        for word in ("S 12, N 12 / E", "S 10 / self-drawn", "draw", "(–4)", "tiles in another order")
        if word not in text
    ] == []


@pytest.mark.parametrize("language", languages())
def test_travellers_list_plays_without_points_and_imps_outside_plays(language: str) -> None:
    first, second = small.event().bookings[1, 1], small.event().bookings[1, 2]
    east, north = first.players["east"], first.players["north"]
    gives: dict[str, AwardGiven] = {**dict.fromkeys(first.players.values(), 0), east: 5, north: -3}
    said: list[DrawnRuling] = [
        (Adjusted(gives=gives), (1, 1), None),
        *((Void(), (table, round_), None) for table, round_ in small.event().plays_with(second.deal)),
        (Award(gives={"p16": 20}), None, None),
    ]
    text = "\n".join(text_of(travellers_pdf(ruled(said), Translator(language), NOON)))
    _ = Translator(language)
    names = {player: small.event().players[player].name for player in gives}
    told = [
        _("Table {table}, round {round}: adjusted, no points", table=1, round=1)
        + f" · {names[east]} +5 · {names[north]} –3",
        *(
            _("Table {table}, round {round}: void", table=table, round=round_)
            for table, round_ in small.event().plays_with(second.deal)
        ),
        _("IMP outside plays"),
        "Player 16 +20",
    ]
    assert [
        one for one in told if one.replace("\N{NO-BREAK SPACE}", " ") not in text.replace("\N{NO-BREAK SPACE}", " ")
    ] == []


def test_a_deal_under_embargo_is_printed_only_on_request(under_way: Path) -> None:
    stored = open_stored_event(under_way)
    assert "Deal 1" not in "".join(text_of(travellers_pdf(stored, Translator("en"), NOON)))
    asked = "".join(text_of(travellers_pdf(stored, Translator("en"), NOON, embargoed=True)))
    assert [word for word in ("Deal 1", "Provisional", "3 of 4 plays") if word not in asked] == []


def test_standings_show_every_name_whole(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup", until_round(3))
    names = ("欧阳修竹", "Søren Kjær", "Élodie Château-Thierry de Montmorency-Laval")
    players = [replace(one, name=name) for one, name in zip(small.plan().players, names, strict=False)]
    plan = replace(small.plan(), players=(*players, *small.plan().players[3:]))
    save_event(folder, plan, small.deals(), small.registry())
    (page,) = text_of(standings_pdf(open_stored_event(folder), Translator("fr"), NOON))
    letters = "".join(page.split())  # a PDF reader may see a gap where the font changes within a name
    told = (*names, "parties : 12 sur 16", "Provisoire")
    assert [name for name in told if "".join(name.split()) not in letters] == []


def test_players_without_standing_and_carried_over_imps_are_noted_below(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup", until_round(3))
    one, *others = small.plan().players
    earlier = Earlier("Saturday", "", (EarlierPlace(others[0].id, 1, 30),))
    plan = replace(small.plan(), players=(replace(one, without_standing=True), *others), earlier=earlier)
    save_event(folder, plan, small.deals(), small.registry())
    stored = open_stored_event(folder)
    for made in (standings_pdf, travellers_pdf):
        text = " ".join(" ".join(text_of(made(stored, Translator("en"), NOON))).split())
        assert f"Without standing: {one.name}" in text
        assert "carried over from Saturday" in text
    (page,) = text_of(standings_pdf(stored, Translator("en"), NOON))
    assert [line for line in page.splitlines() if line.startswith(f"1 {others[0].name} ")] != []


def test_the_same_content_gives_the_same_bytes(over: Path) -> None:
    stored = open_stored_event(over)
    assert standings_pdf(stored, Translator("en"), NOON) == standings_pdf(stored, Translator("en"), NOON)


def test_travellers_of_sections_name_the_section_and_no_group() -> None:
    room = EventState(staged_event())
    room.load(play_rounds(staged_event(), (1, 2), Random(7), {}))
    stored = StoredEvent(staged_event(), room, {deal.number: deal for deal in staged_deals()}, {})
    text = "\n".join(text_of(travellers_pdf(stored, Translator("en"), NOON)))
    assert [text.count(word) for word in ("Section A", "Section B", "group 1")] == [2, 2, 0]


@pytest.mark.parametrize("language", languages())
def test_the_certificate_of_a_team_names_each_of_its_players(language: str) -> None:
    rows = [TeamStanding(place=at, team=team, imp=9 - at, fines=0, deals=4) for at, team in enumerate(TEAMS, 1)]
    made = certificates_pdf(team_event(), rows, datetime(2026, 5, 1, tzinfo=UTC), Translator(language))
    pages = [one.get_textpage().get_text_bounded() for one in pypdfium2.PdfDocument(made)]
    wanted = [[team, *(team_event().name_of(one) for one in members)] for team, members in TEAMS.items()]
    lacking = [name for names, text in zip(wanted, pages, strict=True) for name in names if name not in text]
    assert lacking == []


def test_in_a_team_event_teams_are_printed_above_players(tmp_path: Path) -> None:
    said = [one for table in range(1, 5) for round_ in range(1, 5) for one in team_event_said(table, round_)]
    stored = open_stored_event(event_folder(tmp_path / "cup", said, team_event().plan))
    text = " ".join(" ".join(text_of(standings_pdf(stored, Translator("en"), NOON))).split())
    rows = [
        f"{row.place} {row.team} {signed_text(Fraction(row.imp))} – {row.deals}" for row in stored.state.team_rows()
    ]
    assert f"Teams Place Team IMP Fines Deals {' '.join(rows)} Players Place Name" in text


def test_a_long_title_does_not_overlap_the_progress() -> None:
    heading = PageHeading(
        title="Grand Open " * 9,
        kind="Standings",
        final=False,
        profile="mcr",
        progress="16 of 16 plays",
        at=NOON,
        translator=Translator("en"),
    )
    page = pypdfium2.PdfDocument(pages_pdf(heading, [PageBlock((), (note_line("-"),))], STANDINGS))[0].get_textpage()
    told = page.get_text_range()
    begins, last = told.index(heading.progress), told.rindex("Open") + 3
    assert page.get_charbox(last)[2] < page.get_charbox(begins)[0]
