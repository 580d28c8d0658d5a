"""The resources of an event under `/api/v1` that other programs may read, and their OpenAPI 3.1 document.

A program's answer depends on the same things as a page: the visitor's rights, and the feed and sheets that they may
read. `python -m broker.web.api.resources` prints docs/openapi.json; a test fails when that file is stale.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from inspect import cleandoc
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.event import BookedPlay
from broker.people import Right
from broker.protocol import Lifecycle, PublicState, Seat, Standing, TeamStanding
from broker.scorer import DashboardView, DealSheet, PlayerSheet, PlayView, StandingsRow, TableView, TeamSheet, as_json
from broker.version import program_version
from broker.web import Access, Pagination, Sheets, Visitor, embargo, read_number, visitor_of

PREFIX: Final = "/api/v1"
PER_PAGE: Final = 100
MOST_PER_PAGE: Final = 500
JSON: Final = "application/json"

T = TypeVar("T")


class EventInfo(Struct, frozen=True):
    """The event, and how far it has progressed."""

    name: str
    title: str
    profile: str
    version: str
    """The version of the scorer's program."""
    final: bool
    """Whether the head arbiter has declared the standings final."""
    plays_in: int
    plays_expected: int
    tables: int
    players: int
    deals: int
    teams: int
    corrections_until: int | None
    """When the correction period ends (ms since 1970); null if not set."""


class TableInfo(Struct, frozen=True):
    """One table. Values for arbiters only are null, false or empty for everybody else."""

    table: int
    lifecycle: Lifecycle | None
    state: PublicState | None
    round: int | None
    deal: int | None
    players: dict[Seat, str]
    """Names of the players by seat."""
    plays_in: int
    plays_expected: int
    paused: bool
    away: bool
    """Whether the table was connected and has disappeared."""
    calling: bool
    calling_since: int | None
    unsent: int
    health: dict[str, str]
    """Faults by part of the table's device."""


class PlayerInfo(Struct, frozen=True):
    """One player of the event. Values that were not given are empty."""

    player: str
    name: str
    country: str
    club: str


class PublicInfo(Struct, frozen=True):
    """Public information, the same for everybody, for a page or a stream that everybody sees."""

    event: EventInfo
    tables: Sequence[TableInfo]
    standings: Sequence[Standing]
    teams: Sequence[TeamStanding]
    plays: Sequence[PlayView]
    """The 100 newest plays."""


class Page(Struct, Generic[T], frozen=True):
    """Part of a list. `page` counts from 1 to `pages`; `total` is the number of all items."""

    page: int
    pages: int
    total: int
    items: Sequence[T]


class ResourceRequest(NamedTuple):
    """The visitor's request, with the view and sheets that they may read."""

    view: DashboardView
    sheets: Sheets
    visitor: Visitor
    item: str = ""
    """Which item is requested, for resources that are one of several."""


def event_info(request: ResourceRequest) -> EventInfo:
    """Return the event."""
    view, event = request.view, request.sheets.snapshot(request.visitor).event
    return EventInfo(
        name=view.event,
        title=view.title,
        profile=view.profile,
        version=program_version(),
        final=view.final,
        plays_in=view.plays_in,
        plays_expected=view.plays_expected,
        tables=len(event.tables),
        players=len(event.players),
        deals=len(event.expected),
        teams=len(event.plan.teams),
        corrections_until=view.corrections_until,
    )


def _table(view: TableView) -> TableInfo:
    return TableInfo(**{name: getattr(view, name) for name in TableInfo.__struct_fields__})


def _tables(request: ResourceRequest) -> Sequence[TableInfo]:
    return [_table(one) for one in request.view.tables]


def _rounds(request: ResourceRequest) -> Sequence[BookedPlay]:
    return sorted(request.sheets.snapshot(request.visitor).event.plan.plays, key=lambda play: (play.round, play.table))


def _plays(request: ResourceRequest) -> Sequence[PlayView]:
    request.sheets.note_page(request.visitor, "plays")
    return request.view.plays


def _standings(request: ResourceRequest) -> Sequence[StandingsRow]:
    return request.sheets.standings(request.visitor).rungs


def _players(request: ResourceRequest) -> Sequence[PlayerInfo]:
    event = request.sheets.snapshot(request.visitor).event
    return [PlayerInfo(id_, one.name, *event.origin_of(id_)) for id_, one in event.players.items()]


def _public(request: ResourceRequest) -> PublicInfo:
    view = request.view
    tables, plays = [_table(one) for one in view.tables], view.plays[:PER_PAGE]
    return PublicInfo(event_info(request), tables, view.standings, view.teams, plays)


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource to read. `item_type` is the type of the answer or, for a list, of its items."""

    path: str
    about: str
    item_type: type[Struct]
    answer: Callable[[ResourceRequest], object]
    is_list: bool = False
    right: Right = "see_public"
    public: bool = False
    """Whether everybody gets the same answer."""
    former_path: str = ""
    """An earlier address of the resource, which still works."""

    @property
    def parameter(self) -> str:
        """The name of the path's parameter; empty if it has none."""
        return self.path.partition("{")[2].partition("}")[0].partition(":")[0]


RESOURCES: Final = (
    Resource("/event", "The event and its progress", EventInfo, event_info),
    Resource("/tables", "The tables, by number", TableInfo, _tables, is_list=True),
    Resource("/rounds", "The planned plays, by round and table", BookedPlay, _rounds, is_list=True, right="see_room"),
    Resource("/plays", "Results, newest first", PlayView, _plays, is_list=True),
    Resource("/standings", "Everybody's place, and those still in reach", StandingsRow, _standings, is_list=True),
    Resource("/teams", "The teams' places", TeamStanding, lambda request: request.view.teams, is_list=True),
    Resource(
        "/teams/{team:int}",
        "A team's sheet; teams count from 1, as the event lists them",
        TeamSheet,
        lambda request: request.sheets.team(request.visitor, int(request.item)),
        former_path="/team/{team:int}.json",
    ),
    Resource(
        "/travellers",
        "The deals, and whether all tables have played them",
        embargo.DealInfo,
        lambda request: request.sheets.deals(request.visitor),
        is_list=True,
    ),
    Resource(
        "/travellers/{deal:int}",
        "All plays of a deal, compared",
        DealSheet,
        lambda request: request.sheets.deal(request.visitor, int(request.item)),
        former_path="/deal/{deal:int}.json",
    ),
    Resource("/players", "The players", PlayerInfo, _players, is_list=True),
    Resource(
        "/players/{player}",
        "All plays of a player",
        PlayerSheet,
        lambda request: request.sheets.player(request.visitor, request.item),
        former_path="/player/{player}.json",
    ),
    Resource("/public", "All public information in one answer", PublicInfo, _public, public=True),
)


class ReadInterface:
    """Serves programs with a token, browsers that have logged in, and everybody if the desk is public."""

    def __init__(self, access: Access, feeds: embargo.Feeds, sheets: Sheets) -> None:
        self._access, self._feeds, self._sheets = access, feeds, sheets

    def routes(self) -> Sequence[Route]:
        """Return the routes. The OpenAPI document contains nothing of the event and needs no right."""
        routes = [self._route(path, one) for one in RESOURCES for path in (PREFIX + one.path, one.former_path) if path]
        return [Route(f"{PREFIX}/openapi.json", self.document), *routes]

    def _route(self, path: str, resource: Resource) -> Route:
        return self._access.route(path, partial(self.read, resource), resource.right, tokens=True)

    async def read(self, resource: Resource, request: Request) -> Response:
        """Answer a request for a resource."""
        visitor = Visitor(open_public=True) if resource.public else visitor_of(request)
        at = str(request.path_params[resource.parameter]) if resource.parameter else ""
        found = resource.answer(ResourceRequest(self._feeds.of(visitor).current, self._sheets, visitor, at))
        return answer_if_changed(request, as_json(page_of(request, found) if isinstance(found, Sequence) else found))

    async def document(self, request: Request) -> Response:
        """Return the OpenAPI document."""
        return answer_if_changed(request, openapi_text().encode())


def page_of(request: Request, items: Sequence[T]) -> Page[T]:
    """Return the requested page of a list, or the nearest page that exists."""
    written = request.query_params.get("per_page", "")
    per_page = min(max(1, read_number(written, len(str(MOST_PER_PAGE)), PER_PAGE)), MOST_PER_PAGE)
    at = Pagination.at(request.query_params, len(items), per_page)
    return Page(at.number, at.of, len(items), items[at.lines])


def answer_if_changed(request: Request, body: bytes) -> Response:
    """Answer with a body, or 304 if the reader has it already. The tag is its hash and reveals nothing beyond it."""
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Vary": "Authorization, Cookie"}
    known = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
    if known & {tag, "*"}:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=JSON, headers=headers)


Document = dict[str, Any]

INTRODUCTION: Final = """\
What other programs may read about an event at the scorer's desk. A program authenticates with a token \
(`homologue event people token add`) in the header `Authorization: Bearer ...`. Results under embargo are only in \
answers to an arbiter's token. Lists are paginated. Each answer has an `ETag`: a request that sends it in \
`If-None-Match` gets 304 while the answer has not changed. Within a version, names and meanings do not change; fields \
and resources may be added."""

STATUS_TEXTS: Final = {
    "400": "the desk does not answer to the requested host name",
    "401": "there is no token, or it was revoked",
    "403": "the token's role may not read this",
    "404": "nothing exists at this address",
    "405": "the method is not one of those in the header `Allow`; the interface is read-only",
    "429": "too many wrong tokens; retry after `Retry-After` seconds",
    "500": "the desk's program failed; its log has the details",
}


class Refusal(msgspec.Struct):
    """Why a request was refused: a stable code and a sentence."""

    code: str
    message: str


class RefusalAnswer(msgspec.Struct):
    """The body of an answer to a refused request."""

    error: Refusal


def openapi_document() -> Document:
    """Return the OpenAPI document."""
    answers = [_type_of(one) for one in RESOURCES]
    references, schemas = msgspec.json.schema_components(
        [*answers, RefusalAnswer], ref_template="#/components/schemas/{name}"
    )
    return {
        "openapi": "3.1.0",
        "info": {"title": "Homologue", "version": "1", "description": INTRODUCTION, "license": {"name": "MIT"}},
        "servers": [{"url": PREFIX}],
        "security": [{"token": []}],
        "paths": {
            one.path.replace(":int", ""): {"get": _operation(one, reference, references[-1])}
            for one, reference in zip(RESOURCES, references, strict=False)
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            # Python 3.13 removes the indentation of docstrings; earlier versions keep it.
            "schemas": {
                name: {**schema, "description": cleandoc(schema["description"])} if "description" in schema else schema
                for name, schema in sorted(schemas.items())
            },
        },
    }


@cache
def openapi_text() -> str:
    """Return the OpenAPI document as JSON, the same bytes in every run."""
    return json.dumps(openapi_document(), indent=2, ensure_ascii=False) + "\n"


def _type_of(resource: Resource) -> Any:  # noqa: ANN401 - the type is built at run time
    return Page[resource.item_type] if resource.is_list else resource.item_type  # type: ignore[name-defined]  # built at run time


def _operation(resource: Resource, answer: Document, refusal: Document) -> Document:
    given = {code: text for code, text in STATUS_TEXTS.items() if code != "404" or resource.parameter}
    refusals = {code: _response(text, refusal) for code, text in given.items()}
    return {
        "summary": resource.about,
        "operationId": resource.path.replace(":int", "").strip("/").replace("/{", "_").rstrip("}"),
        "parameters": [*_parameters(resource)],
        "responses": {
            "200": _response(resource.about, answer),
            "304": {"description": "the answer has not changed since the one in `If-None-Match`"},
            **refusals,
        },
        "x-right": resource.right,
    }


def _response(about: str, schema: Document) -> Document:
    return {"description": about, "content": {JSON: {"schema": schema}}}


def _parameters(resource: Resource) -> list[Document]:
    if resource.parameter:
        kind = "integer" if ":int" in resource.path else "string"
        return [{"name": resource.parameter, "in": "path", "required": True, "schema": {"type": kind}}]
    if not resource.is_list:
        return []
    return [
        {"name": "page", "in": "query", "schema": {"type": "integer", "minimum": 1, "default": 1}},
        {
            "name": "per_page",
            "in": "query",
            "schema": {"type": "integer", "minimum": 1, "maximum": MOST_PER_PAGE, "default": PER_PAGE},
        },
    ]


if __name__ == "__main__":
    sys.stdout.write(openapi_text())
