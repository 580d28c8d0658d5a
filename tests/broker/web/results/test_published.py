"""The public pages as files: the same as at the desk without a login, and unchanged until results become public."""

import dataclasses
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from playwright.sync_api import Browser

from broker.event import Event
from broker.i18n import languages
from broker.rules import RuleError
from broker.web.results.published import MANIFEST, PageAddress, PublishedFolder, PublishedPages
from tests.broker.scorer.hall import Hall, make_hall, open_journal
from tests.broker.scorer.small import NAME, OUTCOMES, deals, event, plan, registry, whole_event
from tests.broker.scorer.team_event import said as said_of_team
from tests.broker.scorer.team_event import team_event
from tests.broker.web.pages.laws import broken, inaccessible
from tests.broker.web.pages.visits import stop_reloading
from tests.broker.web.results.test_people import shown
from tests.broker.web.test_embargo import PLAYS, Play, a_play, said, worlds
from tests.examples import COSTLY

DESK_PAGES: Final = (
    "/standings",
    "/deals",
    "/seating",
    "/seating?by=table",
    *(f"/deal/{number}" for number in range(1, 5)),
    *(f"/player/{player.id}" for player in plan().players),
)
ROOM: Final = re.compile(r'<div id="room".*</main>\n</div>', re.DOTALL)
LINKS: Final = re.compile(r"</?a\b[^>]*>")
SEARCH: Final = re.compile(r'<form method="get".*?</form>\n', re.DOTALL)
ROUND: Final = re.compile(r' class="(next|over)"| <span class="badge">Next</span>')
"""The marks of the next and past rounds: files do not contain the tables' states."""

HREF: Final = re.compile(r'href="([^"]*)"')
RECEIPT: Final = re.compile(rb"<code>[0-9A-Z-]+</code>")
"""Receipt codes, which are hashes of random ids, differ in every run and reveal nothing."""

RELOADS: Final = "meta-refresh"
"""The one rule that two pages break: they reload, because there is no script to fetch only what is new."""

Files = Mapping[str, bytes]
Place = tuple[int, int]


def content(page: str) -> str:
    """Return the content of a page without its links and without what needs a running desk."""
    found = ROOM.search(page)
    assert found, page
    return ROUND.sub("", SEARCH.sub("", LINKS.sub("", found[0])))


def play(hall: Hall, place: Place, went: Play) -> None:
    """Add a table's play with this outcome."""
    hall.hear(*said(*place, went, hall.scorer.live.intake.books[place[0]].upto + 1))


def play_all(order: Iterable[Place], plays: Mapping[Place, Play], hall: Hall) -> None:
    """Add plays in this order."""
    for place in order:
        play(hall, place, plays[place])


def files_of(of: Event, tell: Callable[[Hall], object]) -> Files:
    """Return the files of an event after `tell` has added messages to its hall."""
    with TemporaryDirectory() as folder, open_journal(Path(folder)) as journal:
        hall = make_hall(Path(folder), journal, of)
        tell(hall)
        return PublishedPages().files(hall.scorer.snapshot)


@pytest.fixture(scope="module")
def whole() -> Files:
    """The files of a completed event."""
    return files_of(event(), lambda hall: hall.hear(*whole_event()))


@COSTLY
@given(st.permutations(PLAYS), st.lists(a_play, min_size=len(PLAYS), max_size=len(PLAYS)), st.integers(0, len(PLAYS)))
def test_the_files_show_what_the_desk_shows_without_a_login(order: list[Place], plays: list[Play], count: int) -> None:
    with TemporaryDirectory() as folder, open_journal(Path(folder)) as journal:
        hall = make_hall(Path(folder), journal)
        play_all(order[:count], dict(zip(order, plays, strict=True)), hall)
        files = PublishedPages().files(hall.scorer.snapshot)
        *pages, table = shown(hall, *DESK_PAGES, "/standings.csv")
    at_desk = {f"en/{PageAddress.of(path).file}": content(page) for path, page in zip(DESK_PAGES, pages, strict=True)}
    in_files = {name: text.decode() for name, text in files.items() if name.startswith("en/")}
    assert {name: content(page) for name, page in in_files.items()} == at_desk
    assert files["standings.csv"].decode() == table


@COSTLY
@given(worlds())
def test_results_under_embargo_change_no_file(
    world: tuple[list[Place], dict[Place, Play], dict[Place, Play]],
) -> None:
    order, *ways = world
    one, other = (files_of(event(), partial(play_all, order, way)) for way in ways)
    assert {name: RECEIPT.sub(b"", text) for name, text in one.items()} == {
        name: RECEIPT.sub(b"", text) for name, text in other.items()
    }


@COSTLY
@given(st.permutations(PLAYS))
def test_files_change_only_with_the_last_play_of_a_deal(order: list[Place]) -> None:
    with TemporaryDirectory() as folder, open_journal(Path(folder)) as journal:
        hall, pages = make_hall(Path(folder), journal), PublishedPages()
        before, public = pages.files(hall.scorer.snapshot), frozenset[int]()
        for place in order:
            play(hall, place, (OUTCOMES[1], False, False))
            now, complete = pages.files(hall.scorer.snapshot), hall.scorer.snapshot.complete
            shown_now = frozenset(at for at in range(1, 5) if b"+42" in now[f"fr/deal-{at}.html"])
            assert (now == before, shown_now) == (complete == public, complete)
            before, public = now, complete


@COSTLY
@given(st.permutations(PLAYS), st.lists(a_play, min_size=len(PLAYS), max_size=len(PLAYS)), st.integers(4, len(PLAYS)))
def test_incremental_files_equal_files_made_at_once(order: list[Place], plays: list[Play], every: int) -> None:
    with TemporaryDirectory() as folder, open_journal(Path(folder)) as journal:
        hall, pages = make_hall(Path(folder), journal), PublishedPages()
        for at, (place, went) in enumerate(zip(order, plays, strict=True), 1):
            play(hall, place, went)
            if at % every == 0 or at == len(order):
                followed = pages.files(hall.scorer.snapshot)
        assert followed == PublishedPages().files(hall.scorer.snapshot)


def lost_links(files: Files) -> set[tuple[str, str]]:
    """Return the links that do not lead to a file."""
    found = {
        (name, urljoin(f"/{name}", unescape(link)).removeprefix("/"))
        for name, text in files.items()
        if name.endswith(".html")
        for link in HREF.findall(text.decode())
    }
    return {(name, to) for name, to in found if to not in files}


def test_every_link_leads_to_a_file_and_none_to_the_desk(whole: Files) -> None:
    assert lost_links(whole) == set()
    assert [name for name, text in whole.items() if b"/receipt" in text or b"<script" in text] == []


def test_a_team_event_has_team_pages() -> None:
    told = [one for place in PLAYS for one in said_of_team(*place, 18)]
    files = files_of(team_event(), lambda hall: hall.hear(*told))
    assert lost_links(files) == set()
    assert {f"zh/team-{number}.html" for number in range(1, 5)} < files.keys()
    assert files["team-standings.csv"].decode().splitlines()[0] == "\ufeffplace,team,imp,fines,deals"


def test_the_public_address_is_in_no_file() -> None:
    """It leads to the desk, which answers for receipts, and files must not lead spectators to the scorer."""
    of = Event(replace(plan(), public_address="https://results.example.org"), deals(), registry())
    files = files_of(of, lambda hall: hall.hear(*whole_event()))
    assert [name for name, text in files.items() if b"results.example.org" in text or b'class="qr"' in text] == []


def test_the_index_and_standings_reload_until_final(hall: Hall) -> None:
    hall.hear(*whole_event())
    pages, found = PublishedPages(), []
    for final in (False, True):
        files = pages.files(dataclasses.replace(hall.scorer.snapshot, declared=final))
        found.append({name for name, text in files.items() if b'http-equiv="refresh"' in text})
    assert found == [{"index.html", *(f"{language}/standings.html" for language in languages())}, set()]


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the inode and mtime of each file, which show whether it was written again."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): (path.stat().st_ino, path.stat().st_mtime_ns) for path in paths}


def test_an_unchanged_file_is_not_written_again(tmp_path: Path, whole: Files) -> None:
    folder = tmp_path / "web"
    assert sorted(PublishedFolder(folder, NAME).put(whole)) == sorted(whole)
    before = stamps(folder)
    again = PublishedFolder(folder, NAME)
    assert (again.put(whole), stamps(folder)) == ([], before)
    assert again.put({**whole, "index.html": b"new"}) == ["index.html"]
    now = stamps(folder)
    assert {name for name in now if now[name] != before[name]} == {"index.html", MANIFEST}


def test_published_files_are_world_readable(tmp_path: Path, whole: Files) -> None:
    folder = tmp_path / "web"
    PublishedFolder(folder, NAME).put(whole)
    assert {path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_file()} == {0o644}
    assert {path.stat().st_mode & 0o777 for path in (folder, *folder.rglob("*")) if path.is_dir()} == {0o755}


def test_changed_or_removed_files_are_restored(tmp_path: Path, whole: Files) -> None:
    PublishedFolder(tmp_path, NAME).put(whole)
    (tmp_path / "index.html").write_text("hello", encoding="utf-8")
    (tmp_path / "en" / "deals.html").unlink()
    assert sorted(PublishedFolder(tmp_path, NAME).put(whole)) == ["en/deals.html", "index.html"]
    assert {name: (tmp_path / name).read_bytes() for name in whole} == whole


def test_obsolete_pages_are_removed_and_other_files_stay(tmp_path: Path, whole: Files) -> None:
    PublishedFolder(tmp_path, NAME).put({**whole, "en/player-p99.html": b"gone", "static/old.css": b"old"})
    (tmp_path / "robots.txt").write_text("mine", encoding="utf-8")
    PublishedFolder(tmp_path, NAME).put(whole)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {*whole, MANIFEST, "robots.txt", "static/old.css"}


@pytest.mark.parametrize(
    "there",
    [
        {"photo.jpg": "mine"},
        {MANIFEST: "{}"},
        {MANIFEST: '{"event": "another-cup", "files": {}}'},
    ],
    ids=["other files", "invalid manifest", "another event"],
)
def test_a_folder_with_other_files_is_refused(tmp_path: Path, there: dict[str, str]) -> None:
    for name, text in there.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(RuleError) as refused:
        PublishedFolder(tmp_path, NAME)
    assert refused.value.code == "publish_folder_taken"


def test_a_manifest_cannot_remove_files_outside_the_folder(tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("mine", encoding="utf-8")
    folder = tmp_path / "web"
    folder.mkdir()
    listed = f'{{"event": "{NAME}", "files": {{"../mine.txt": "0", "{mine}": "0"}}}}'
    (folder / MANIFEST).write_text(listed, encoding="utf-8")
    PublishedFolder(folder, NAME).put({"index.html": b"new"})
    assert mine.exists()


@contextmanager
def web_server(folder: Path) -> Iterator[str]:
    """Serve a folder with a plain web server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_published_pages_fit_a_phone_and_are_accessible(
    browser: Browser, tmp_path: Path, whole: Files, scheme: Literal["light", "dark"]
) -> None:
    PublishedFolder(tmp_path, NAME).put(whole)
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page, found = context.new_page(), list[str]()
    with web_server(tmp_path) as url:
        for name in ("index", "en/standings", "fr/deal-2", "zh/deals", "fr/player-p03", "zh/seating-by-table"):
            page.goto(f"{url}/{name}.html")
            stop_reloading(page)
            found += [f"{name}: {one}" for one in (*broken(page), *inaccessible(page)) if RELOADS not in one]
    context.close()
    assert found == []
