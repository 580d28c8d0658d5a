"""The printed seating plan: each place once on each list, and a card for each player."""

import re
from collections import Counter
from contextlib import closing
from itertools import combinations
from pathlib import Path

import pypdfium2
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from broker.cli.paper import event_seating
from broker.event import Event, seating_of
from broker.export.seating import SEATING_PRINTS, seating_pdf
from broker.i18n import Translator, languages
from broker.protocol import AnyDecision, PlanChanged, Void
from broker.rulings import PlayKey, StandIn
from broker.store import STORE, SqliteJournal
from tests.broker.rulings.ruled import HEAD, draft
from tests.broker.scorer.folders import event_folder, until_round
from tests.broker.scorer.hall import make_hall
from tests.broker.scorer.small import NAME, deals, event, registry


def text_of(content: bytes) -> list[str]:
    """Return the text of each page."""
    document = pypdfium2.PdfDocument(content)
    return [page.get_textpage().get_text_range() for page in document]


@pytest.fixture(scope="module")
def cup() -> Event:
    return event()


def test_the_list_by_name_has_each_place(cup: Event) -> None:
    said = " ".join(text_of(seating_pdf(cup, "names", Translator("en"))))
    for player, places in seating_of(cup.plan).items():
        (line,) = re.findall(rf"{re.escape(cup.players[player].name)} ((?:\d+ [ESWN]\s*)+)", said)
        assert re.findall(r"\d+ [ESWN]", line) == [f"{one.table} {one.seat[0].upper()}" for one in places]


def test_the_list_by_table_names_each_player_in_each_round(cup: Event) -> None:
    said = " ".join(text_of(seating_pdf(cup, "tables", Translator("en"))))
    rounds = len({play.round for play in cup.plan.plays})
    assert Counter(
        name for name in (one.name for one in cup.players.values()) for _ in re.findall(rf"{name}\b", said)
    ) == {one.name: rounds for one in cup.players.values()}


def test_each_player_has_a_card(cup: Event) -> None:
    pages = text_of(seating_pdf(cup, "cards", Translator("en")))
    assert len(pages) == -(-len(cup.players) // 8)
    assert all(any(one.name in page for page in pages) for one in cup.players.values())


def test_each_print_shows_the_substitute_and_the_player_at_their_own_places(cup: Event) -> None:
    known, player = [StandIn("p07", 3, "Ida Berg")], cup.players["p07"].name
    places = seating_of(cup.plan)["p07"]
    before, after = places[:2], places[2:]
    names, tables, cards = (
        " ".join(text_of(seating_pdf(cup, kind, Translator("en"), stand_ins=known))) for kind in SEATING_PRINTS
    )
    for called, seats in ((player, before), (f"Ida Berg for {player}", after)):
        (line,) = re.findall(rf"(?<!for ){called} ((?:(?:\d+ [ESWN]|\u2013)\s*)+)", names)
        assert re.findall(r"\d+ [ESWN]", line) == [f"{one.table} {one.seat[0].upper()}" for one in seats]
        assert line.count("\u2013") == len(places) - len(seats)
    assert [len(re.findall(rf"{name}\b", tables)) for name in (player, "Ida Berg")] == [len(before), len(after)]
    assert (cards.count("Ida Berg"), cards.count(f"for {player}"), cards.count(player)) == (1, 1, 2)


@pytest.mark.parametrize("name", ["Wilhelmina Alexandra " * 4 + "zu Waldenburg", "W" * 100, "長" * 100])
def test_a_long_name_on_a_card_overlaps_no_other_text(cup: Event, name: str) -> None:
    players = tuple(replace(one, name=name) for one in cup.plan.players)
    plan = replace(cup.plan, players=players, public_address="https://results.example.org")
    page = pypdfium2.PdfDocument(seating_pdf(Event(plan, deals(), registry()), "cards", Translator("en")))[0]
    texts = [one.get_bounds() for one in page.get_objects() if isinstance(one, pypdfium2.PdfTextObj)]
    assert len(texts) > 8 * 6
    assert [two for two in combinations(texts, 2) if _overlap(*two)] == []


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("kind", SEATING_PRINTS)
def test_the_same_plan_gives_the_same_bytes_in_each_language(cup: Event, kind: str, language: str) -> None:
    assert seating_pdf(cup, kind, Translator(language)) == seating_pdf(cup, kind, Translator(language))


def test_the_command_prints_cards_before_the_event_has_started(tmp_path: Path) -> None:
    folder, output = event_folder(tmp_path / "cup"), tmp_path / "cards.pdf"
    done = CliRunner().invoke(event_seating, [str(folder), "--cards", "--output", str(output)])
    assert (done.exit_code, done.output) == (0, "")
    assert output.read_bytes().startswith(b"%PDF")


def test_plays_that_do_not_take_place_are_left_out(tmp_path: Path, cup: Event) -> None:
    folder = event_folder(tmp_path / "cup", until_round(2))
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        hall = make_hall(folder, journal)
        rulings: tuple[tuple[AnyDecision, PlayKey | None], ...] = (
            (PlanChanged(dropped=((4, 3),)), None),
            (Void(), (2, 4)),
        )
        for decision, play in rulings:
            hall.scorer.rulings.give(draft(hall.scorer.state, decision, play), HEAD)
    said = {}
    for kind in ("names", "tables"):
        done = CliRunner().invoke(event_seating, [str(folder), "--by", kind, "--output", str(tmp_path / kind)])
        assert (done.exit_code, done.output) == (0, "")
        said[kind] = " ".join(text_of((tmp_path / kind).read_bytes()))
    for one in cup.players.values():
        left = [place for place in seating_of(cup.plan)[one.id] if (place.round, place.table) not in {(4, 3), (4, 2)}]
        (line,) = re.findall(rf"{one.name} ((?:(?:\d+ [ESWN]|\u2013)\s*)+)", said["names"])
        assert re.findall(r"\d+ [ESWN]", line) == [f"{place.table} {place.seat[0].upper()}" for place in left]
        assert len(re.findall(rf"{one.name}\b", said["tables"])) == len(left)
