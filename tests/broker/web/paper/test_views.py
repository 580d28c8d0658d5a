"""Sheets keyed in at the desk: previewed, stored once, and never replacing what a table has entered."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broker.errors import flatten_errors
from broker.people import ROLES, Actor, Authentication
from broker.protocol import LAST_TABLE, AnyDecision, Correct, Fine, LogMessage, Void, Withdrawn
from broker.rules import RuleError
from broker.rulings import RulingAuthor
from broker.rulings.paper import NEEDED, PaperSheet, accept_sheet, accept_sheets, keyed_of, read_sheets, sheet_of
from broker.scorer import open_stored_event
from broker.scorer.service import Scorer
from broker.store import STORE, SqliteJournal
from broker.web.paper.views import FIELDS
from broker.web.server import DeskServer
from broker.web.services import Services
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.rulings.ruled import HEAD, draft
from tests.broker.scorer import small
from tests.broker.scorer.folders import event_folder
from tests.broker.scorer.hall import Hall, make_hall, open_journal
from tests.broker.scorer.small import OUTCOMES, event, whole_play
from tests.broker.web.pages import desks
from tests.broker.web.test_auth import logged_in, token_of

TAO = RulingAuthor("Tao Lin", "tao", "table_arbiter")
DEAL = event().bookings[3, 1].deal
SAYS = {
    "round": "1",
    "table": "3",
    "deal": str(DEAL),
    "win": "discard",
    "discarder": "north",
    "east": "18",
    "points_east": "+42",
    "points_south": "−8",
    "points_west": "-8",
    "points_north": "-26",
}


def sheet(**other: str) -> PaperSheet:
    return sheet_of(keyed_of({**SAYS, **other}), event())


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    with open_journal(tmp_path) as journal:
        yield make_hall(tmp_path, journal)


def alerts(hall: Hall) -> list[str]:
    return [alert.code for alert in hall.scorer.feed.current.alerts]


def test_a_sheet_counts_as_a_correction_with_author_and_source(hall: Hall) -> None:
    assert accept_sheet(hall.scorer.rulings, sheet(fine_north="4"), TAO) == "taken"
    laid = hall.scorer.rulings.room.play((3, 1))
    assert (laid.settled, laid.points, laid.fines) == (
        True,
        {"east": 42, "south": -8, "west": -8, "north": -26},
        {laid.players["north"]: 4},
    )
    (entry,) = hall.scorer.rulings.history()
    assert isinstance(entry.decision, Correct)
    assert (entry.author, entry.decision.source, entry.kind) == ("Tao Lin", "paper", "correct")


def test_a_sheet_keyed_again_is_stored_once(hall: Hall) -> None:
    other = RulingAuthor("Anne Lefèvre", "anne", "head_arbiter")
    assert [accept_sheet(hall.scorer.rulings, sheet(fine_north="4"), who) for who in (TAO, TAO, other)] == [
        "taken",
        "there_already",
        "there_already",
    ]
    assert len(hall.scorer.rulings.history()) == 1


def test_an_equal_result_of_the_table_raises_no_alert(hall: Hall) -> None:
    accept_sheet(hall.scorer.rulings, sheet(), TAO)
    hall.hear(*whole_play(3, 1, OUTCOMES[1]))
    assert alerts(hall) == []
    assert accept_sheet(hall.scorer.rulings, sheet(), TAO) == "there_already"


def test_a_different_result_of_the_table_raises_an_alert(hall: Hall) -> None:
    accept_sheet(hall.scorer.rulings, sheet(), TAO)
    hall.hear(*whole_play(3, 1, OUTCOMES[2]))
    assert alerts(hall) == ["paper_differs"]
    assert hall.scorer.rulings.room.play((3, 1)).points == sheet().decision.points


def fined(imp: int) -> list[LogMessage]:
    """Return table 3's own play of the first round, with North fined."""
    return whole_play(3, 1, OUTCOMES[1], {"north": Fine(imp=imp, reason="false hu")})


@pytest.mark.parametrize(("entered", "told"), [(4, ["fined_at_table"]), (8, ["fined_at_table", "paper_differs"])])
def test_a_fine_on_a_sheet_counts_until_the_tables_own_result_arrives(
    hall: Hall, entered: int, told: list[str]
) -> None:
    accept_sheet(hall.scorer.rulings, sheet(fine_north="4"), TAO)
    hall.hear(*fined(entered))
    laid = hall.scorer.rulings.room.play((3, 1))
    assert (laid.fines, alerts(hall)) == ({laid.players["north"]: entered}, told)


def test_a_second_sheet_with_another_fine_is_refused(hall: Hall) -> None:
    accept_sheet(hall.scorer.rulings, sheet(), TAO)
    with pytest.raises(RuleError, match="a different result") as refused:
        accept_sheet(hall.scorer.rulings, sheet(fine_north="4"), TAO)
    assert refused.value.code == "sheets_differ"


@pytest.mark.parametrize("decision", [Void(), Withdrawn(player=event().bookings[3, 1].players["east"], first_round=1)])
def test_a_sheet_for_a_play_with_a_ruling_is_refused(hall: Hall, decision: AnyDecision) -> None:
    play = (3, 1) if isinstance(decision, Void) else None
    hall.scorer.rulings.give(draft(hall.scorer.rulings.room, decision, play), HEAD)
    with pytest.raises(RuleError, match=HEAD.name) as refused:
        accept_sheet(hall.scorer.rulings, sheet(), TAO)
    assert refused.value.code == "sheet_ruled_out"


def test_a_sheet_never_replaces_the_tables_own_result(hall: Hall) -> None:
    hall.hear(*whole_play(3, 1, OUTCOMES[2]))
    (told,) = accept_sheets(hall.scorer.rulings, [sheet()], TAO)
    assert told.problem is not None
    assert (told.taken, told.problem.code) == (None, "paper_differs")
    assert hall.scorer.rulings.history() == ()


def test_a_restarted_scorer_still_has_the_sheets(hall: Hall) -> None:
    accept_sheet(hall.scorer.rulings, sheet(), TAO)
    again = make_hall(hall.folder, hall.journal)
    assert again.scorer.rulings.room.play((3, 1)).points == sheet().decision.points


@pytest.mark.parametrize(
    ("other", "code"),
    [
        ({"points_east": "41"}, "sheet_points"),
        ({"deal": str(DEAL % 4 + 1)}, "not_planned"),
        ({"table": "9"}, "not_planned"),
        ({"fine_north": "5"}, "fine_not_in_profile"),
        ({"discarder": "east"}, "discarder_wins"),
        ({"discarder": ""}, "discarder_missing"),
        ({"win": "chow"}, "sheet_wrong"),
        ({"east": "x"}, "sheet_wrong"),
        ({"east": "7"}, "below_minimum"),
    ],
)
def test_an_invalid_sheet_is_refused_with_its_code(other: dict[str, str], code: str) -> None:
    with pytest.raises(RuleError) as refused:
        sheet(**other)
    assert refused.value.code == code


def csv(*rows: dict[str, str]) -> str:
    head = list(SAYS)
    missing = [name for name in NEEDED if name not in head]
    lines = [",".join([*head, *missing])]
    lines += [",".join([*(row.get(name, "") for name in head), *("" for _ in missing)]) for row in rows]
    return "\n".join(lines)


def test_a_file_is_read_as_a_whole_or_every_wrong_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "sheets.csv"
    second = {**SAYS, "table": "1", "deal": str(event().bookings[1, 1].deal)}
    path.write_text(csv(SAYS, second), encoding="utf-8")
    assert [one.keyed.table for one in read_sheets(path, event())] == [3, 1]
    path.write_text(csv(SAYS, {**SAYS, "points_east": "0"}, {**SAYS, "win": "?"}), encoding="utf-8")
    with pytest.raises(ExceptionGroup) as refused:
        read_sheets(path, event())
    assert [(one.code, one.text[:6]) for one in flatten_errors(refused.value)] == [
        ("sheet_points", "line 3"),
        ("sheet_wrong", "line 4"),
    ]
    path.write_text(csv(SAYS, SAYS), encoding="utf-8")
    with pytest.raises(ExceptionGroup) as twice:
        read_sheets(path, event())
    assert [one.code for one in flatten_errors(twice.value)] == ["sheet_twice"]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskServer]:
    """A desk with a scorer that runs in its own thread."""
    folder = event_folder(tmp_path_factory.mktemp("paper") / "cup", [])
    with pytest.MonkeyPatch.context() as patch:
        quick_hashes(patch)
        auth, journal = Authentication(folder), SqliteJournal(folder / STORE, small.NAME)
        for role in ROLES:
            auth.accounts.add(role, f"A {role}", role, PASSWORD, Actor("test"))
        scorer, stop = Scorer(event(), journal, folder, lambda: 1_800_000_000_000), threading.Event()
        work = threading.Thread(target=scorer.run, args=(stop,))
        work.start()
        services = Services(scorer=scorer, deals=small.deals())
        with DeskServer(scorer.feed, port=0, auth=auth, services=services) as server:
            yield server
        stop.set()
        work.join()
        journal.close()
        auth.close()


@pytest.fixture(scope="module")
def client(desk: DeskServer) -> Iterator[httpx.Client]:
    with logged_in(desk, "table_arbiter") as found:
        yield found


def send(client: httpx.Client, **data: str) -> httpx.Response:
    return client.post("/paper", data={"form": token_of(client, "/paper"), **data})


def test_a_sheet_is_stored_only_after_its_preview(desk: DeskServer, client: httpx.Client) -> None:
    looked = send(client, action="look", **SAYS)
    assert ("Check again" in looked.text, "+42" in looked.text) == (True, True)
    assert 'action" value="look"' in looked.text
    kept = send(client, action="keep", **SAYS)
    assert "saved; it counts now" in kept.text
    assert "already there, with the same result" in send(client, action="keep", **SAYS).text
    with logged_in(desk, "head_arbiter") as head:
        log = head.get("/audit.csv").text
    assert log.count("ruling_given") == 1


def test_there_is_nothing_to_settle_with_single_keying(client: httpx.Client) -> None:
    assert "keying_gone" in send(client, action="settle", chosen="1").text


def test_the_table_field_fits_the_largest_table_number(client: httpx.Client) -> None:
    field = re.search(r'<input name="table"[^>]* maxlength="([0-9])"', client.get("/paper").text)
    assert field is not None
    assert int(field[1]) == len(str(LAST_TABLE))


def test_blank_sheets_are_printed_from_the_desk(client: httpx.Client) -> None:
    answer = client.get("/paper/sheets.pdf?table=3&round=2&lang=zh")
    assert (answer.headers["content-type"], answer.content[:5]) == ("application/pdf", b"%PDF-")
    assert "<code>no_plays</code>" in client.get("/paper/sheets.pdf?table=99").text


@pytest.mark.parametrize("role", ROLES)
def test_only_arbiters_may_open_the_page(desk: DeskServer, role: str) -> None:
    with logged_in(desk, role) as client:
        assert client.get("/paper").status_code == (200 if role.endswith("arbiter") else 403)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=st.dictionaries(st.sampled_from([*FIELDS, "csv"]), st.text(max_size=12), max_size=6),
    action=st.sampled_from(["look", "keep", "look_csv", "keep_csv", "x"]),
)
def test_any_input_is_refused_and_escaped(client: httpx.Client, said: dict[str, str], action: str) -> None:
    data = {key: (value + "<b>").encode("utf-8", "replace").decode() for key, value in said.items()}
    answer = send(client, action=action, **data)
    assert answer.status_code == 400
    assert "<b>" not in answer.text


def test_a_keyed_sheet_is_in_the_stored_event(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup", [])
    journal = SqliteJournal(folder / STORE, small.NAME)
    accept_sheet(Scorer(event(), journal, folder, lambda: 1_800_000_000_000).rulings, sheet(), TAO)
    journal.close()
    ((at, laid),) = open_stored_event(folder).played()
    assert (at, laid.table, laid.points) == (1_800_000_000_000, 3, dict(sheet().decision.points))


@pytest.mark.parametrize("desk_of", [desks.riichi, desks.sessions])
def test_a_riichi_event_has_no_page_for_paper_sheets(
    tmp_path: Path, desk_of: Callable[[Path], AbstractContextManager[DeskServer]]
) -> None:
    with desks.quickly(), desk_of(tmp_path / "cup") as desk, logged_in(desk, "head_arbiter") as client:
        led = [path for path in ("/", "/exports", "/rulings") if '"/paper' in client.get(path).text]
        assert (led, client.get("/paper").status_code) == ([], 404)
