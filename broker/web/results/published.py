"""The public pages as files for any web server: spectators read these and never reach the scorer.

The files are the desk's pages as seen without a login, in every language, so the embargo applies. A file's bytes depend
only on what is public: while nothing new is public, no file changes and its `ETag` stays the same.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import unescape
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urljoin, urlsplit

from msgspec import Struct
from msgspec import json as msgspec_json
from starlette.requests import Request

from broker.event import HandRecord
from broker.export.replay import replay_page
from broker.files import make_folder, write_file
from broker.i18n import N_, Translator
from broker.protocol import wall_clock_ms
from broker.rules import RuleError
from broker.scorer import Snapshot, StoredEvent, standings_csv, team_standings_csv
from broker.web import HtmlTranslator, LivePage, Sheets, Visitor, i18n, live, render
from broker.web.results.display import SeatingPage
from broker.web.results.views import ResultsPage

PUBLIC_VISITOR: Final = Visitor(open_public=True)

MENU: Final = {"/standings": N_("Standings"), "/deals": N_("Deals"), "/seating": N_("Seating plan")}
"""The pages a reader starts from. All others are found by following links."""

CSV_FILE: Final = "standings.csv"
TEAMS_FILE: Final = "team-standings.csv"
FILE_LINKS: Final = {f"/{file}": f"../{file}" for file in (CSV_FILE, TEAMS_FILE)}

STYLES: Final = (
    ("broker.web", "desk.css"),
    *(("broker.web.results", name) for name in ("sheets.css", "charts.css", "riichi.css", "published.css")),
)
ICON: Final = ("broker.web", "icon.svg")

RELOADING: Final = "standings"
"""The page that reloads by itself, like the entrance. Any other page would jump while somebody reads it."""

QUERY: Final = ("by", "stage", "page")
"""Query parameters that make a different page. The language is a folder."""

REPLAY: Final = "replay"
"""Last part of the address of a deal's replay."""

NUMBERED: Final = ("deal", "team", REPLAY)

NOT_IN_FILES: Final = {"searchable": False, "slips": None, "over": 0}
"""Values for features that need a running desk: the search for names, and QR codes for asking for a receipt.

Rounds that are over are left out too, because files only change when results become public."""

LINK: Final = re.compile(r'(<a\b[^>]*?\shref=")([^"]*)("[^>]*>)(.*?)</a>', re.DOTALL)
FIRST_PLACES: Final = 10


class PageAddress(NamedTuple):
    """A page of the desk: its path, and the query parameters that make it a different page."""

    path: str
    query: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, link: str, here: "PageAddress | None" = None) -> "PageAddress":
        """Parse a link on a page."""
        parts = urlsplit(urljoin(here.path if here else "/", unescape(link)))
        fields = dict(parse_qsl(parts.query))
        query = ((name, fields[name]) for name in QUERY if name in fields and (name, fields[name]) != ("page", "1"))
        return cls(parts.path, tuple(query))

    @property
    def kind(self) -> str:
        """The kind of page; `item` says which deal, player or team."""
        return self.path.split("/")[3 if self.path.endswith(f"/{REPLAY}") else 1]

    @property
    def item(self) -> str:
        """The deal, player or team of the page; empty for pages about all of them."""
        return self.path.removesuffix(f"/{REPLAY}").partition("/")[2].partition("/")[2]

    @property
    def file(self) -> str:
        """The name of the page's file in the folder of a language."""
        return "-".join((self.kind, *([self.item] if self.item else ()), *chain(*self.query))) + ".html"

    def request(self) -> Request:
        """Return the request that a browser would send for the page."""
        query = "&".join(f"{name}={value}" for name, value in self.query)
        values: dict[str, object] = (
            {self.path.split("/")[1]: int(self.item) if self.kind in NUMBERED else self.item} if self.item else {}
        )
        return Request({"type": "http", "path": self.path, "query_string": query.encode(), "path_params": values})


class _Page(NamedTuple):
    """A rendered page. It is reused while `key` is equal."""

    key: object
    content: bytes
    links: tuple[PageAddress, ...]


class PublishedPages:
    """Makes the files of one event, one snapshot after another. Pages with unchanged content are not rendered again."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` is the event's, for par values and recorded plays."""
        self._folder, self._cached = folder, dict[str, _Page]()

    def files(self, snapshot: Snapshot, stored: StoredEvent | None = None) -> dict[str, bytes]:
        """Return all files by name. A file that others link to comes before them, and the entrance comes last.

        `stored` provides the deals to replay once their tiles are public; without it there are no replays.
        """
        sheets = Sheets(lambda: snapshot, wall_clock_ms)
        self._cached = dict(self._pages(sheets, stored))
        public, ladder = sheets.snapshot(PUBLIC_VISITOR), sheets.standings(PUBLIC_VISITOR)
        tables = {CSV_FILE: standings_csv(public.standings, public.event.origin_of)}
        if public.teams:
            tables[TEAMS_FILE] = team_standings_csv(public.teams)
        title = public.event.plan.title
        return {
            **assets(),
            **{file: page.content for file, page in reversed(self._cached.items())},
            **{file: f"\ufeff{text}".encode() for file, text in tables.items()},  # the BOM tells Excel that it is UTF-8
            "index.html": _render("published_index.html", title, ladder=ladder, rungs=ladder.rungs[:FIRST_PLACES]),
        }

    def _pages(self, sheets: Sheets, stored: StoredEvent | None) -> Iterator[tuple[str, _Page]]:
        """Yield the pages, each after one that links to it, in all languages in turn so that they share its sheet."""
        makers, title = _makers(sheets, self._folder), sheets.snapshot(PUBLIC_VISITOR).event.plan.title
        final, waiting = sheets.standings(PUBLIC_VISITOR).final, [PageAddress(path) for path in MENU]
        found = set(waiting)
        for address in waiting:
            for _ in i18n.translators().values():
                page = makers[address.kind](address.request(), PUBLIC_VISITOR, _)
                known = _steps_of(stored, address)
                file, key = f"{_.language}/{address.file}", (page.key, title, final, known)
                cached = self._cached.get(file)
                if cached is None or cached.key != key:
                    if stored and address.kind == REPLAY:
                        cached = _Page(key, _replay(stored, address, _.language), ())
                    else:
                        reloads = address.kind == RELOADING and not final
                        inside = LivePage(page.template, page.title, {**page.values, "replays": stored is not None})
                        cached = _Page(key, *_rendered(address, inside, _, title, reloads=reloads))
                yield file, cached
                new = [link for link in cached.links if link not in found]
                waiting += new
                found.update(new)


def _steps_of(stored: StoredEvent | None, address: PageAddress) -> Sequence[HandRecord]:
    """Return the recorded steps of the deal that a page replays."""
    if stored is None or address.kind != REPLAY:
        return ()
    return [hand for hand in stored.hands.values() if hand.deal == int(address.item)]


def _replay(stored: StoredEvent, address: PageAddress, language: str) -> bytes:
    deal = int(address.item)
    return replay_page(stored, Translator(language), deal, back=PageAddress(f"/deal/{deal}").file).encode()


def _makers(sheets: Sheets, folder: Path | None) -> Mapping[str, live.MakePage]:
    """Return the functions that make each kind of page, the same as at the desk."""
    results = ResultsPage(sheets, folder)
    several = {"standings": results.standings, "deals": results.deals, "seating": SeatingPage(sheets).seating}
    return {**several, "deal": results.deal, REPLAY: results.deal, "player": results.player, "team": results.team}


KINDS: Final = ("standings", "deals", "seating", "deal", REPLAY, "player", "team")


def _rendered(
    address: PageAddress, page: LivePage, _: HtmlTranslator, title: str, *, reloads: bool
) -> tuple[bytes, tuple[PageAddress, ...]]:
    """Render a page and return the pages it links to. Links point to files; links that need the desk become text."""
    links: dict[PageAddress, None] = {}

    def to_file(link: re.Match[str]) -> str:
        to = PageAddress.of(link[2], address)
        if to.kind not in KINDS and to.path not in FILE_LINKS:
            return link[4]
        if to.path not in FILE_LINKS:
            links[to] = None
        return f"{link[1]}{FILE_LINKS.get(to.path, to.file)}{link[3]}{link[4]}</a>"

    inside = LivePage(page.template, page.title, {**page.values, **NOT_IN_FILES})
    room = LINK.sub(to_file, live.render_sheet(inside, _, PUBLIC_VISITOR, title))
    menu = [(PageAddress(path), text) for path, text in MENU.items()]
    values = {"room": room, "title": page.title, "here": address, "menu": menu, "reloads": reloads}
    return _render("published.html", title, _=_, **values), tuple(links)


def _render(template: str, event_title: str, **values: object) -> bytes:
    style, icon = assets()
    return render.render_template(template, event_title=event_title, style=style, icon=icon, **values).encode()


@cache
def assets() -> Mapping[str, bytes]:
    """Return style and icon. Their names are hashes of their content, so that caches may store them forever."""
    found = {"css": b"\n".join(_static(*one) for one in STYLES), "svg": _static(*ICON)}
    return {f"static/{hashlib.sha256(one).hexdigest()[:16]}.{end}": one for end, one in found.items()}


def _static(package: str, name: str) -> bytes:
    return resources.files(package).joinpath("static", name).read_bytes()


MANIFEST: Final = "files.json"
"""Marks a folder as published, and lists the files that may be removed from it: only those that were published."""

FOR_ALL: Final = 0o644
FOLDER_FOR_ALL: Final = 0o755


class Manifest(Struct, forbid_unknown_fields=True):
    """The published event, and the SHA-256 of each file."""

    event: str
    files: dict[str, str]


class PublishedFolder:
    """A folder for a web server. Files are replaced atomically, and only if their content has changed."""

    def __init__(self, folder: Path, event: str) -> None:
        """Open a folder that is new, empty or already has this event. Raises RuleError, OSError."""
        self._folder, self._event = folder, event
        self._hashes: dict[str, str] = {}
        manifest = folder / MANIFEST
        if manifest.exists():
            self._hashes = self._read(manifest.read_bytes())
        elif folder.exists() and any(folder.iterdir()):
            raise self._not_ours()

    def _read(self, content: bytes) -> dict[str, str]:
        """Return the hashes of the files as they are on disk: somebody may have changed them."""
        try:
            manifest = msgspec_json.decode(content, type=Manifest)
        except ValueError:
            raise self._not_ours() from None
        if manifest.event != self._event:
            raise self._not_ours()
        inside = (name for name in manifest.files if not Path(name).is_absolute() and ".." not in Path(name).parts)
        found = ((name, self._folder / name) for name in inside)
        return {name: _hash(path.read_bytes()) for name, path in found if path.is_file()}

    def _not_ours(self) -> RuleError:
        return RuleError(
            "publish_folder_taken",
            N_("{folder} contains other files: choose a new or empty folder", folder=self._folder),
        )

    def put(self, files: Mapping[str, bytes]) -> list[str]:
        """Update the folder to these files; return the names of those written. Raises OSError.

        Whatever a page needs is written before it. Pages that no longer exist are removed; old styles stay for cached
        pages.
        """
        hashes = {name: _hash(content) for name, content in files.items()}
        new = [name for name in files if self._hashes.get(name) != hashes[name]]
        for name in new:
            self._write(name, files[name])
        gone = [name for name in self._hashes.keys() - files.keys() if not name.startswith("static/")]
        for name in gone:
            (self._folder / name).unlink(missing_ok=True)
        if new or gone:
            self._hashes = {**{name: self._hashes[name] for name in self._hashes.keys() - {*gone}}, **hashes}
            listed = json.dumps({"event": self._event, "files": dict(sorted(self._hashes.items()))}, indent=0)
            self._write(MANIFEST, listed.encode())
        return new

    def _write(self, name: str, content: bytes) -> None:
        path = self._folder / name
        for folder in (self._folder, path.parent):
            if not folder.is_dir():
                make_folder(folder)
                folder.chmod(FOLDER_FOR_ALL)
        # No fsync: a file that a power cut spoils has another hash and is written again.
        write_file(path, content, FOR_ALL, exactly=True, durable=False)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
