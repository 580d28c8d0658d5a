"""Pages for the room: the display in large type, the seating, and the ceremony.

The display turns its own pages. It shows the public standings. Before there are any, or with `show=seating`, it shows
who sits where. Once a round is under way it also shows when that will end. The ceremony reads out the places with their
prizes, last place first.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Final, NamedTuple, TypeVar
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.event import (
    SeatingPlace,
    TableOfRound,
    by_round,
    country_of,
    seating_of,
    seating_rounds,
    tables_of_rounds,
)
from broker.export.archive import BY_NAME
from broker.export.pdf import printed_spellings, unprintable_names
from broker.export.printed_results import Row as PrizeRow
from broker.export.printed_results import group_name, members_of, name_of, prize_of
from broker.export.seating import SEATING_PRINTS, seating_pdf
from broker.i18n import N_, search_key
from broker.protocol import COUNTRY, Player, TeamStanding
from broker.rulings import StandIn
from broker.scorer import PLAYING, AnchorView, DashboardView, Snapshot, StandingsRow, StandingsTable, TableView
from broker.web import (
    Access,
    HtmlTranslator,
    LivePage,
    LivePages,
    Pagination,
    Sheets,
    Visitor,
    embargo,
    read_number,
    render,
    render_page,
    translator_for,
)
from broker.web.tables.carriers import CarrierState

FEWEST_READ_OUT: Final = 3
"""Places that are read out if there are fewer prizes."""


class Winner(NamedTuple):
    """A player or team to read out."""

    place: int
    name: str
    imp: object
    prize: str
    members: Sequence[str]


class CeremonyPage:
    """Serves everybody. Nobody is named before the standings are final."""

    def __init__(self, access: Access, sheets: Sheets) -> None:
        self._access, self._sheets = access, sheets

    def routes(self) -> Sequence[Route]:
        """Return the route."""
        return [self._access.route("/ceremony", self.show, "see_public")]

    async def show(self, request: Request) -> Response:
        """Show the places, last place first."""
        snapshot = self._sheets.snapshot(Visitor())
        values = {
            "final": snapshot.final,
            "groups": winners(snapshot) if snapshot.final else (),
            "booklet": BY_NAME["booklet.pdf"].reason_unavailable(snapshot.event) is None,
            "unprintable": unprintable_names(snapshot.event),
            "event_title": snapshot.event.plan.title,
        }
        return render_page(request, "ceremony.html", N_("Ceremony"), values=values)


def winners(snapshot: Snapshot) -> list[tuple[str, list[Winner]]]:
    """Return the winners by stage and section, last place first; in a team event these are teams."""
    event, most = snapshot.event, max(FEWEST_READ_OUT, len(snapshot.event.plan.prizes))
    last = event.plan.stages[-1].name if event.plan.stages else ""
    rows: Sequence[PrizeRow] = snapshot.teams or snapshot.standings
    found = []
    for about, group in groupby((row for row in rows if row.stage == last), key=group_name):
        read_out = [row for row in group if row.place <= most]
        named = [
            Winner(row.place, name_of(row), row.imp, prize_of(event, row), members_of(event, row)) for row in read_out
        ]
        found.append((about, named[::-1]))
    return found


LONGEST_SEARCH: Final = 100


class SeatedPlayer(NamedTuple):
    """A player, the substitutes for them, and the place in each round of the event; None if they sit out."""

    player: Player
    substitutes: tuple[StandIn, ...]
    places: tuple[SeatingPlace | None, ...]

    def matches(self, search: str) -> bool:
        """Return whether the name of the player or of a substitute contains `search`."""
        return any(search in search_key(name) for name in (self.player.name, *(one.name for one in self.substitutes)))


class SeatingPage:
    """Serves all who may see what is public; the plan is no secret."""

    def __init__(self, sheets: Sheets) -> None:
        self._sheets = sheets

    def routes(self, access: Access, live: LivePages) -> Sequence[Route]:
        """Return the routes of the page and its PDFs."""
        return [
            *live.routes("/seating", self.seating, "see_public"),
            *(
                access.route(f"/seating/{kind}.pdf", partial(self.printed, kind), "print_sheets")
                for kind in SEATING_PRINTS
            ),
        ]

    def seating(self, request: Request, visitor: Visitor, _: HtmlTranslator) -> LivePage:
        """Show who sits where in all rounds: by name, or with `by=table` by table."""
        snapshot = self._sheets.snapshot(visitor)
        event, version = snapshot.event, None if snapshot.final else snapshot.event.version
        search = " ".join(request.query_params.get("q", "").split())[:LONGEST_SEARCH]
        rounds, by_table = seating_rounds(event.plan), request.query_params.get("by") == "table"
        skipped = () if snapshot.final else snapshot.skipped
        found: Sequence[TableOfRound] | Sequence[SeatedPlayer]
        if by_table:
            found = tables_of_rounds(snapshot.seated_plan)
        else:
            found = [one for one in seated_players(snapshot) if one.matches(search_key(search))]
        over = snapshot.rounds_over if snapshot.rounds_over < max(rounds, default=0) else 0
        pagination = Pagination.at(request.query_params, len(found))
        shown = tuple(found[pagination.lines])
        values = {
            "by_table": by_table,
            "shown": shown,
            "rounds": rounds,
            "over": over,
            "searchable": True,
            "search": search,
            "kept": "by=table&" if by_table else f"{urlencode({'q': search})}&" if search else "",
            "pagination": pagination,
            "version": version,
            "skipped": skipped,
            "sits": lambda player, round_: snapshot.sat(player, round_) or event.players[player].name,
            "prints": SEATING_PRINTS,
            "unprintable": unprintable_names(event),
        }
        made_of = (shown, rounds, pagination, by_table, search, version, over, skipped, snapshot.stand_ins)
        return LivePage("seating.html", _("Seating plan"), values, made_of)

    async def printed(self, kind: str, request: Request) -> Response:
        """Return one of SEATING_PRINTS as PDF."""
        snapshot = self._sheets.snapshot(Visitor())
        event = snapshot.event
        with printed_spellings(event):
            content = await run_in_threadpool(
                seating_pdf, event, kind, translator_for(request), snapshot.seated_plan, snapshot.stand_ins
            )
        return render.pdf_response(content, f"{event.name}-seating-{kind}.pdf")


def seated_players(snapshot: Snapshot) -> list[SeatedPlayer]:
    """Return all players sorted by name, with their place in each round in which their play takes place."""
    event = snapshot.event
    rounds, places = seating_rounds(event.plan), seating_of(snapshot.seated_plan)
    listed = sorted(event.players.values(), key=lambda one: (search_key(one.name), one.id))
    return [
        SeatedPlayer(
            one,
            tuple(other for other in snapshot.stand_ins if other.player == one.id and other.name),
            tuple(map(by_round(places.get(one.id, ())).get, rounds)),
        )
        for one in listed
    ]


def next_place(places: Sequence[SeatingPlace], view: DashboardView) -> SeatingPlace | None:
    """Return a player's next place: the first after the last play that has begun (as its table reports) or is over."""
    tables, over = {one.table: one for one in view.tables}, view.anchor.round if view.anchor else 0
    gone = [one.round <= over or (one.table in tables and _has_begun(tables[one.table], one.round)) for one in places]
    return next((one for at, one in enumerate(places) if not any(gone[at:])), None)


def _has_begun(table: TableView, round_: int) -> bool:
    if table.round == round_:
        return table.state in {*PLAYING, "recorded", "finished"}
    return table.state == "finished" if table.round is None else table.round > round_


LINES: Final = 10
"""Names that can be read from the back of a hall on any screen. `display.js` measures how many fit on this one."""

MOST_LINES, MOST_COLUMNS, MOST_FIRST = 40, 6, 99_999

STAY_S: Final = 12
"""Minimum number of seconds that a page stays: enough to read ten lines."""

LINES_IN_3_S: Final = 4
"""Further lines that can be read in three more seconds."""

MOST_ROUNDS: Final = 8
"""Rounds beside a name that can be read from the back of a hall, with one column of names."""


NOT_BEGUN: Final = (None, "waiting", "restoring")
"""States of a table at which nobody is playing yet."""

SEATING: Final = "seating"
"""Value of `show` for a display that shows the seating all day."""

Row = TypeVar("Row")


class DisplayOptions(NamedTuple):
    """The display's query: how much fits on the screen, and whom to show. `first` 0: all players."""

    lines: int
    columns: int
    first: int
    country: str
    show: str = ""

    @classmethod
    def of(cls, request: Request) -> "DisplayOptions":
        """Parse a request's query, ignoring invalid values."""
        country = request.query_params.get("country", "").upper()
        return cls(
            _number(request, "lines", MOST_LINES) or LINES,
            _number(request, "columns", MOST_COLUMNS) or 1,
            _number(request, "first", MOST_FIRST),
            country if re.fullmatch(COUNTRY, country) else "",
            SEATING if request.query_params.get("show") == SEATING else "",
        )

    @property
    def names(self) -> int:
        """Names on a page."""
        return self.lines * self.columns

    @property
    def stay(self) -> int:
        """Seconds that a page stays."""
        return max(STAY_S, STAY_S + 3 * (self.names - LINES) // LINES_IN_3_S)

    def seats(self, ladder: StandingsTable, snapshot: Snapshot) -> Sequence[SeatedPlayer]:
        """Return the players whose seats are shown: all of them while there are no standings."""
        if ladder.deals and self.show != SEATING:
            return ()
        origin_of = snapshot.event.origin_of
        return [one for one in seated_players(snapshot) if self._shows(origin_of(one.player.id).country)]

    def rungs(self, ladder: StandingsTable) -> Sequence[StandingsRow]:
        """Return the players whose standings are shown; none before there are standings."""
        if not ladder.deals or self.show == SEATING:
            return ()
        found = [rung for rung in ladder.rungs if self._shows(rung.country)]
        return found[: self.first or None]

    def teams(self, ladder: StandingsTable, teams: Sequence[TeamStanding]) -> Sequence[TeamStanding]:
        """Return the teams to show; none if the display shows only players of a country."""
        return () if self.country or not ladder.deals or self.show == SEATING else teams[: self.first or None]

    def _shows(self, country: str) -> bool:
        """Return whether players of a country are shown, whichever code they are listed with."""
        return not self.country or country_of(country) == country_of(self.country)

    def query(self) -> dict[str, object]:
        """Return the query parameters to keep from page to page."""
        usual = DisplayOptions(LINES, 1, 0, "")
        return {name: value for name, value in self._asdict().items() if value != getattr(usual, name)}


class DisplayPage:
    """Serves screens in the hall."""

    def __init__(
        self, feed: embargo.PublicFeed, access: Access, sheets: Sheets, carriers: Callable[[], CarrierState]
    ) -> None:
        self._feed, self._access, self._sheets, self._carriers = feed, access, sheets, carriers

    def routes(self) -> Sequence[Route]:
        """Return the route."""
        return [self._access.route("/display", self.show, "see_public")]

    async def show(self, request: Request) -> Response:
        """Show one page, which names the next, so that pages turn with and without JavaScript."""
        # An arbiter may have opened it on a projector, so it shows what everybody may see, whoever is logged in.
        ladder, options, _ = self._sheets.standings(Visitor()), DisplayOptions.of(request), translator_for(request)
        snapshot = self._sheets.snapshot(Visitor())
        teams, rungs = options.teams(ladder, snapshot.teams), options.rungs(ladder)
        seats = options.seats(ladder, snapshot)
        team_pages = -(-len(teams) // options.names)
        length = team_pages * options.names + len(rungs or seats)
        pagination = Pagination.at(request.query_params, length, options.names)
        players = pagination._replace(number=pagination.number - team_pages).lines
        shown = teams[pagination.lines] if pagination.number <= team_pages else rungs[players]
        following = {"page": pagination.number % pagination.of + 1, **options.query(), "lang": _.language}
        rounds = seating_rounds(snapshot.event.plan)
        to_come = rounds_to_come(rounds, self._feed.current.anchor, options.columns)
        html = render.render_template(
            "display.html",
            view=self._feed.current,
            ladder=ladder,
            likely=any(row.likely for row in shown),
            options=options,
            teams=_in_columns(shown, options) if pagination.number <= team_pages else (),
            rungs=_in_columns(shown, options) if pagination.number > team_pages else (),
            seats=_in_columns(seats[players], options),
            rounds=rounds[to_come],
            to_come=to_come,
            round_ends=self._round_ends(),
            version=None if ladder.final else snapshot.event.version,
            stages=[stage for stage in dict.fromkeys(one.stage for one in shown) if stage],
            pagination=pagination,
            following=f"/display?{urlencode(following)}",
            _=_,
        )
        return render.html_response(html)

    def _round_ends(self) -> tuple[int, int] | None:
        """Return the current round and its expected end in ms since 1970; None before the first round and at the end.

        It is public, like the page of carriers: it follows from which plays are over, and not from any result.
        """
        view = self._feed.current
        if not view.plays_in and all(table.state in NOT_BEGUN for table in view.tables):
            return None
        current = self._carriers()
        return (current.round, current.round_ends.usual) if current.round_ends else None


def rounds_to_come(rounds: Sequence[int], over: AnchorView | None, columns: int) -> slice:
    """Return the slice of rounds shown beside the names: those after the last one that is over, as many as fit."""
    most = max(1, MOST_ROUNDS // columns)
    first = sum(over is not None and one <= over.round for one in rounds)
    first = min(first, max(0, len(rounds) - most))
    return slice(first, first + most)


def _in_columns(rows: Sequence[Row], options: DisplayOptions) -> list[Sequence[Row]]:
    return [rows[at : at + options.lines] for at in range(0, len(rows), options.lines)]


def _number(request: Request, name: str, most: int) -> int:
    """Parse a number in the query; 0 if it is not a number."""
    text = request.query_params.get(name, "")
    return min(read_number(text, len(str(MOST_FIRST))), most)
