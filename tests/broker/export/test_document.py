"""A whole document can be imported again; a public one reveals nothing secret."""

import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broker.errors import BadEvent, RuleError
from broker.event import PLAYERS
from broker.export.document import (
    Document,
    JournalEntry,
    document_schema,
    encode_document,
    event_document,
    read_document,
    restore_event,
)
from broker.protocol import DealPlayed, LogMessage, Ruling, Void, encode, fact_hash
from broker.rules import KINDS
from broker.rulings import RulingAuthor
from broker.rulings.paper import accept_sheet, keyed_of, sheet_of
from broker.scorer import open_stored_event
from broker.scorer.service import Scorer
from broker.store import STORE, SqliteJournal, message_of
from tests.broker.rulings.ruled import HEAD, draft
from tests.broker.scorer import team_event
from tests.broker.scorer.folders import event_folder, until_round
from tests.broker.scorer.small import NAME, event, whole_event

ROOT = Path(__file__).parents[3]
NOON = datetime(2026, 5, 2, 12, 0, tzinfo=UTC)


def written(folder: Path, *, whole: bool = True, embargoed: bool = False) -> bytes:
    return encode_document(event_document(folder, open_stored_event(folder), whole=whole, embargoed=embargoed))


def again(folder: Path, name: str = "again") -> Path:
    """Export an event's document and import it into another folder."""
    path = folder.parent / f"{name}.json"
    path.write_bytes(written(folder))
    restore_event(read_document(path), folder.parent / name)
    return folder.parent / name


def bodies(folder: Path) -> list[bytes]:
    with closing(SqliteJournal(folder / STORE, NAME)) as journal:
        return [body for _, body in journal.entries()]


@pytest.mark.parametrize("rounds", [0, 3, 4])
def test_an_imported_event_exports_the_same_document(tmp_path: Path, rounds: int) -> None:
    folder = event_folder(tmp_path / "cup", until_round(rounds))
    (folder / PLAYERS).write_text("id,name,country,club,ema,first_name,last_name\np01,Player 1,FRA,=x,04010023,A,B\n")
    assert written(again(folder)) == written(folder)


def test_imported_facts_keep_their_bytes_and_hash_chain(tmp_path: Path) -> None:
    last: dict[int, str] = {}
    chained = []
    for one in until_round(2):
        chained.append(msgspec.structs.replace(one, before=last.get(one.table)))
        last[one.table] = fact_hash(encode(chained[-1]))
    folder = event_folder(tmp_path / "cup", chained)
    assert bodies(again(folder)) == bodies(folder)


@pytest.mark.parametrize(
    ("version", "without"), [(1, {"unplayed", "beside", "team_standings"}), (2, {"team_standings"})]
)
def test_a_document_of_an_earlier_version_can_be_imported(tmp_path: Path, version: int, without: set[str]) -> None:
    folder = event_folder(tmp_path / "cup")
    made = json.loads(written(folder))
    path = tmp_path / "first.json"
    path.write_text(json.dumps({name: made[name] for name in made if name not in without} | {"version": version}))
    restore_event(read_document(path), tmp_path / "again")
    assert written(tmp_path / "again") == written(folder)


def test_imported_rulings_still_apply(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup", until_round(2))
    journal = SqliteJournal(folder / STORE, NAME)
    rulings = Scorer(event(), journal, folder, lambda: 1_800_000_000_000).rulings
    said = {"round": "3", "table": "3", "deal": str(event().bookings[3, 3].deal), "win": "draw"}
    accept_sheet(rulings, sheet_of(keyed_of(said), event()), RulingAuthor("Tao Lin", "tao", "table_arbiter"))
    journal.close()
    new = again(folder)
    assert written(new) == written(folder)
    assert open_stored_event(new).state.play((3, 3)).settled


def test_a_ruling_on_an_unknown_play_is_refused(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup", [])
    ruling = Ruling(
        id="ruling-0001",
        event=NAME,
        number=1,
        after=None,
        table=9,
        round=1,
        deal=1,
        decision=Void(),
        author="A",
        account="a",
        role="head_arbiter",
        reason="r",
        at=1,
    )
    made = event_document(folder, open_stored_event(folder), whole=True)
    forged = msgspec.structs.replace(made, journal=(JournalEntry(0, msgspec.Raw(encode(ruling))),))
    with pytest.raises(RuleError) as refused:
        restore_event(forged, tmp_path / "new")
    assert (refused.value.code, (tmp_path / "new").exists()) == ("journal_refused", False)


def test_the_public_document_has_no_numbers_no_sets_and_nothing_under_embargo(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup", until_round(3))
    (folder / PLAYERS).write_text("id,name,country,club,national,ema\np01,Player 1,FRA,Club,N1,04010023\n")
    said = written(folder, whole=False)
    made = msgspec.json.decode(said, type=Document)
    assert (made.deals, made.sets, made.journal, made.groups, made.standings) == ((), {}, (), (), ())
    assert [word for word in ("04010023", "N1", *(f'"{kind}"' for kind in KINDS)) if word in said.decode()] == []
    assert '"FRA"' in said.decode()


def test_a_play_of_the_wrong_deal_stays_secret_while_either_deal_is_under_embargo(tmp_path: Path) -> None:
    here, missing = event().bookings[1, 1], event().bookings[1, 2]
    said = [one for one in whole_event() if (one.table, one.fact.round) != (missing.table, missing.round)]
    folder = event_folder(tmp_path / "cup", said)
    journal = SqliteJournal(folder / STORE, NAME)
    rulings = Scorer(event(), journal, folder, lambda: 1_800_000_000_000).rulings
    result = rulings.room.results[1, 1].id
    rulings.give(draft(rulings.room, DealPlayed(played=missing.deal, result=result), (1, 1), deal=here.deal), HEAD)
    journal.close()
    stored = open_stored_event(folder)
    told = [message_of(bytes(entry.message)) for entry in event_document(folder, stored).journal]
    assert [stored.embargoed(one.deal) for one in (here, missing)] == [False, True]
    assert {one.fact.deal for one in told if isinstance(one, LogMessage)} >= {here.deal}
    assert [one for one in told if not isinstance(one, LogMessage) or (one.table, one.fact.round) == (1, 1)] == []


def test_after_the_event_only_the_sets_stay_secret(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup")
    made = event_document(folder, open_stored_event(folder))
    assert (len(made.deals), len(made.groups), len(made.standings), made.sets) == (4, 5, 16, {})
    assert len(made.journal) == len(event_document(folder, open_stored_event(folder), whole=True).journal)


@pytest.mark.parametrize(("rounds", "told"), [(3, {"whole": True, "embargoed": True}), (4, {"plain": True})])
def test_team_standings_are_included_whenever_those_of_players_are(
    tmp_path: Path, rounds: int, told: dict[str, bool]
) -> None:
    said = [one for round_ in range(1, rounds + 1) for table in range(1, 5) for one in team_event.said(table, round_)]
    folder = event_folder(tmp_path / "cup", said, of=team_event.team_event().plan)
    stored = open_stored_event(folder)
    for how in ("plain", "whole", "embargoed"):
        made = event_document(folder, stored, whole=how == "whole", embargoed=how == "embargoed")
        shown = told.get(how, rounds == 4)
        assert made.team_standings == (stored.state.team_rows() if shown else ())
        assert bool(made.standings) == shown
    assert sorted(one.team for one in stored.state.team_rows()) == sorted(team_event.TEAMS)


def test_a_partial_document_cannot_be_imported(tmp_path: Path) -> None:
    made = event_document(event_folder(tmp_path / "cup"), open_stored_event(tmp_path / "cup"))
    with pytest.raises(RuleError) as refused:
        restore_event(made, tmp_path / "new")
    assert (refused.value.code, (tmp_path / "new").exists()) == ("not_whole", False)


def test_an_impossible_result_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup")
    path = tmp_path / "forged.json"
    path.write_text(written(folder).decode().replace('"east": 42', '"east": 420', 1), encoding="utf-8")
    with pytest.raises(RuleError) as refused:
        restore_event(read_document(path), tmp_path / "new")
    assert (refused.value.code, (tmp_path / "new").exists()) == ("journal_refused", False)


def test_an_existing_folder_is_not_overwritten(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup")
    with pytest.raises(RuleError) as refused:
        restore_event(event_document(folder, open_stored_event(folder), whole=True), folder)
    assert refused.value.code == "folder_taken"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return written(event_folder(tmp_path_factory.mktemp("event") / "cup", until_round(1)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1), cut=st.integers(0, 40), put=st.binary(max_size=20))
def test_a_damaged_document_is_refused_with_a_code(
    good: bytes, tmp_path: Path, at: float, cut: int, put: bytes
) -> None:
    begin = int(at * len(good))
    path = tmp_path / "x.json"
    path.write_bytes(good[:begin] + put + good[begin + cut :])
    try:
        made = read_document(path)
        restore_event(made, tmp_path / f"new-{begin}-{cut}-{len(put)}-{put.hex()}")
    except (RuleError, BadEvent) as refused:
        assert refused.code in {"malformed", "journal_refused", "bad_event", "folder_taken", "not_whole"}  # noqa: PT017 - it may also be read as a document


def test_the_schema_in_docs_is_up_to_date() -> None:
    page = (ROOT / "docs" / "event-document.json").read_text(encoding="utf-8")
    assert page == document_schema(), "make docs"
    assert json.loads(page)["$ref"] == "#/$defs/Document"
