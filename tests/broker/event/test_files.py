"""An event's own rule profiles, and its players' countries and clubs."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.errors import BadEvent
from broker.event import PLAYERS, PROFILE, PROFILES, ListedPlayer, Origin, open_event, players_csv, save_event
from broker.event.files import Listing, read_listings
from broker.export.document import event_document, restore_event
from broker.export.session_sheet import read_session
from broker.protocol import Player
from broker.rules import parse_riichi
from broker.rules.profiles import riichi_profile_text
from broker.scorer import open_stored_event
from broker.spreadsheet import without_apostrophes
from broker.store import STORE, SqliteJournal
from tests.broker.scorer.hall import make_hall, open_journal
from tests.broker.scorer.test_riichi_sessions import BOOKING, PLAN, told
from tests.kiosk.riichi_tables import RiichiSitting, session_plan


def rules(profile_id: str = "our-riichi", start: int = 27_000) -> str:
    """Return a club's own profile: Montréal's with other starting scores."""
    shipped = riichi_profile_text("riichi-montreal").replace('id = "riichi-montreal"', f'id = "{profile_id}"')
    return shipped.replace("[session.scores.start]\nvalue = 25000", f"[session.scores.start]\nvalue = {start}")


def club(folder: Path, files: dict[str, str], profile: str = "our-riichi") -> Path:
    """Make an event's folder. Table 9 plays by the event's own profile, table 8 by a built-in one."""
    second = replace(BOOKING, table=8)
    save_event(folder, replace(PLAN, riichi=(replace(BOOKING, profile=profile), second)), (), {})
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


OURS = {f"{PROFILES}/our-riichi.toml": rules()}


def test_own_rules_are_sent_only_to_the_session_that_uses_them(tmp_path: Path) -> None:
    event = open_event(club(tmp_path, OURS))
    with open_journal(tmp_path) as journal:
        hall = make_hall(tmp_path, journal, event)
        hall.connect(up=True)
        said = [hall.ear.told(f"assignment/{table}") for table in (8, 9)]
    assert [(one["profile"], one["rules"]) for one in said] == [("riichi-montreal", None), ("our-riichi", rules())]


def test_a_session_is_scored_and_printed_by_its_own_rules(tmp_path: Path) -> None:
    table = RiichiSitting(session_plan(profile="our-riichi", rules=rules()))
    table.begin()
    table.ron("south", "west")
    table.record()
    event = open_event(club(tmp_path, OURS))
    with closing(SqliteJournal(tmp_path / STORE, event.name)) as journal:
        hall = make_hall(tmp_path, journal, event)
        hall.hear(*told(*table.facts))
        assert hall.alerts() == []
    assert table.session.state.scores == (27_000, 30_900, 23_100, 27_000)
    assert read_session(tmp_path, 9, 1).rules == parse_riichi(rules())


def test_a_session_may_use_the_own_rules_of_the_plays(tmp_path: Path) -> None:
    folder = club(tmp_path, {PROFILE: rules()})
    save_event(folder, replace(PLAN, profile="our-riichi", riichi=(replace(BOOKING, profile="our-riichi"),)), (), {})
    event = open_event(folder)
    assert event.session_rules(event.riichi[9, 1]) == event.profile == parse_riichi(rules())


def test_an_events_document_contains_its_own_rules(tmp_path: Path) -> None:
    folder = club(tmp_path / "club", OURS)
    SqliteJournal(folder / STORE, open_event(folder).name).close()
    made = event_document(folder, open_stored_event(folder), whole=True, embargoed=False)
    assert made.session_rules == {"our-riichi": rules()}
    restore_event(made, tmp_path / "again")
    event = open_event(tmp_path / "again")
    assert event.session_rules(event.riichi[9, 1]) == parse_riichi(rules())


@pytest.mark.parametrize(
    ("files", "profile", "says"),
    [
        ({}, "our-riichi", "no riichi profile 'our-riichi'"),
        ({}, "montreal", 'found "montreal"; allowed: "riichi-montreal"'),
        ({}, "oedmc-2020", "no riichi profile"),
        ({f"{PROFILES}/our-riichi.toml": rules("another")}, "our-riichi", 'found "another"; allowed: "our-riichi"'),
        ({f"{PROFILES}/our-riichi.toml": "?"}, "our-riichi", "not TOML"),
        ({f"{PROFILES}/our-riichi.toml": rules(start=-100)}, "our-riichi", "scores.start"),
        ({f"{PROFILES}/riichi-basic.toml": rules("riichi-basic")}, "riichi-basic", "one that ships says otherwise"),
    ],
)
def test_invalid_rules_of_a_session_are_refused(tmp_path: Path, files: dict[str, str], profile: str, says: str) -> None:
    with pytest.raises(BadEvent, match=says):
        open_event(club(tmp_path, files, profile))


def test_a_profile_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (club(tmp_path, OURS) / PROFILES / "our-riichi.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadEvent, match=r"our-riichi\.toml"):
        open_event(tmp_path)


SAID = st.text(st.characters(min_codepoint=33, max_codepoint=0x30FF, exclude_categories=("Cc", "Cs", "Z", "Cf", "Cn")))


def read(folder: Path, content: str | bytes) -> Mapping[str, Listing]:
    (folder / PLAYERS).write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_listings(folder)


@given(country=st.from_regex(r"[A-Z]{2,3}", fullmatch=True), club=SAID.filter(lambda text: 0 < len(text) <= 60))
def test_saved_details_of_players_are_read_unchanged(
    tmp_path_factory: pytest.TempPathFactory, country: str, club: str
) -> None:
    assume(
        without_apostrophes(club) == club
    )  # an apostrophe that the club's name has before a formula would be removed
    listed = [ListedPlayer(Player(id="p01", name="Ana"), (country, club, "N1", "10000001"), "", "Ana", "Ruiz")]
    assert read(tmp_path_factory.mktemp("list"), players_csv(listed)) == {
        "p01": Listing(Origin(country, club), "Ana Ruiz")
    }


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_columns_may_have_any_order_and_separator(tmp_path: Path, separator: str) -> None:
    lines = (("Club", "NAME", "id", "country"), ("Paris", "Ana", "p01", "FRA"), ("", "Li", "p02", ""))
    assert read(tmp_path, "\n".join(map(separator.join, lines))) == {"p01": Listing(Origin("FRA", "Paris"))}


@pytest.mark.parametrize(
    "content",
    ["", "name\nAna\n", b"\xff\xfe\x00", 'id,country\n"p01,FR', "id,country,club\np01,France,\np02,fr,\u202e\n"],
)
def test_unreadable_details_of_players_are_ignored(tmp_path: Path, content: str | bytes) -> None:
    assert read(tmp_path, content) == {}


def test_an_event_without_a_list_has_no_details_of_players(tmp_path: Path) -> None:
    assert read_listings(tmp_path) == {}
