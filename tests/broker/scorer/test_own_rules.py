"""Rules of an event's own: each riichi session may have some, and its table, its sheet and its document bring them."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.records.session.stored import stored_session
from broker.records.whole.reading import restore
from broker.records.whole.writing import document
from broker.rules.riichi.profile_files import parse, text_of
from broker.scorer.errors import BadEvent
from broker.scorer.event import open_event, save
from broker.scorer.own_rules import PROFILE, PROFILES
from broker.scorer.stored import open_stored
from broker.store.address import STORE
from broker.store.sqlite import SqliteJournal
from tests.broker.scorer.hall import make_hall, open_journal
from tests.broker.scorer.test_riichi import BOOKING, PLAN, told
from tests.kiosk.riichi_tables import RiichiSitting, session_plan


def rules(profile_id: str = "our-riichi", start: int = 27_000) -> str:
    """Give a club's own profile: Montréal's, begun with other scores."""
    shipped = text_of("riichi-montreal").replace('id = "riichi-montreal"', f'id = "{profile_id}"')
    return shipped.replace("[session.scores.start]\nvalue = 25000", f"[session.scores.start]\nvalue = {start}")


def club(folder: Path, files: dict[str, str], profile: str = "our-riichi") -> Path:
    """Make the folder of an event: table 9 plays by a profile of its own, table 8 by one that ships."""
    second = replace(BOOKING, table=8)
    save(folder, replace(PLAN, riichi=(replace(BOOKING, profile=profile), second)), (), {})
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


OURS = {f"{PROFILES}/our-riichi.toml": rules()}


def test_a_session_by_rules_of_its_own_is_told_them_and_the_one_beside_it_is_not(tmp_path: Path) -> None:
    event = open_event(club(tmp_path, OURS))
    with open_journal(tmp_path) as journal:
        hall = make_hall(tmp_path, journal, event)
        hall.connect(up=True)
        said = [hall.ear.told(f"assignment/{table}") for table in (8, 9)]
    assert [(one["profile"], one["rules"]) for one in said] == [("riichi-montreal", None), ("our-riichi", rules())]


def test_what_its_table_tells_is_settled_and_printed_by_them(tmp_path: Path) -> None:
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
    assert stored_session(tmp_path, 9, 1).rules == parse(rules())


def test_the_rules_of_the_plays_may_be_those_of_a_session_too(tmp_path: Path) -> None:
    folder = club(tmp_path, {PROFILE: rules()})
    save(folder, replace(PLAN, profile="our-riichi", riichi=(replace(BOOKING, profile="our-riichi"),)), (), {})
    event = open_event(folder)
    assert event.session_rules(event.riichi[9, 1]) == event.profile == parse(rules())


def test_the_document_of_an_event_brings_them(tmp_path: Path) -> None:
    folder = club(tmp_path / "club", OURS)
    SqliteJournal(folder / STORE, open_event(folder).name).close()
    made = document(folder, open_stored(folder), datetime.now(UTC), whole=True, embargoed=False)
    assert made.session_rules == {"our-riichi": rules()}
    restore(made, tmp_path / "again")
    event = open_event(tmp_path / "again")
    assert event.session_rules(event.riichi[9, 1]) == parse(rules())


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
def test_rules_that_cannot_be_a_session_s_are_refused(
    tmp_path: Path, files: dict[str, str], profile: str, says: str
) -> None:
    with pytest.raises(BadEvent, match=says):
        open_event(club(tmp_path, files, profile))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (club(tmp_path, OURS) / PROFILES / "our-riichi.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadEvent, match=r"our-riichi\.toml"):
        open_event(tmp_path)
