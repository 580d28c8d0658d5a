"""The display in the room: in big type, page after page, whoever has opened it.

It shows the public standings, and who sits where before there are any, or where the address says `show=seating`; and
when the round will be over, as soon as it is played.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeVar
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from broker.event import Event, seating_rounds
from broker.protocol import COUNTRY, TeamStanding
from broker.scorer.standings import StandingsRow, StandingsTable
from broker.scorer.view import AnchorView
from broker.terms import SEAT_LETTERS
from broker.web import Access, Pagination, Sheets, Visitor, environment, read_number, translator_for, translators
from broker.web.embargo import PublicFeed
from broker.web.results.seating import SeatedPlayer, seated_players
from broker.web.tables.carriers import Carrying

LINES: Final = 10
"""Names that can be read from the back of a hall on any screen; `display.js` measures how many fit on this one."""

MOST_LINES, MOST_COLUMNS, MOST_FIRST = 40, 6, 99_999

STAY_S: Final = 12
"""How long a page stays at least: ten lines are read in that time."""

LINES_IN_3_S: Final = 4
"""And so many more."""

MOST_ROUNDS: Final = 8
"""Rounds beside a name that can be read from the back of a hall, in one column."""


NOT_BEGUN: Final = (None, "waiting", "restoring")
"""States of a table at which nobody plays yet."""

SEATING: Final = "seating"
"""What an address asks for that shows who sits where, all day."""

Row = TypeVar("Row")


class DisplayOptions(NamedTuple):
    """What an address asks for: how much fits on the screen, and of whom. `first` 0: of all."""

    lines: int
    columns: int
    first: int
    country: str
    show: str = ""

    @classmethod
    def of(cls, request: Request) -> "DisplayOptions":
        """Read an address; what cannot be is left out."""
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
        """How long a page stays, seconds."""
        return max(STAY_S, STAY_S + 3 * (self.names - LINES) // LINES_IN_3_S)

    def seats(self, ladder: StandingsTable, event: Event) -> Sequence[SeatedPlayer]:
        """Return whose seats are shown: everybody's while there are no standings."""
        if ladder.deals and self.show != SEATING:
            return ()
        found = seated_players(event)
        return [one for one in found if event.origin_of(one.player.id)[0] == self.country] if self.country else found

    def rungs(self, ladder: StandingsTable) -> Sequence[StandingsRow]:
        """Return the players who are shown; nobody before there are standings."""
        if not ladder.deals or self.show == SEATING:
            return ()
        found = [rung for rung in ladder.rungs if rung.country == self.country] if self.country else ladder.rungs
        return found[: self.first or None]

    def teams(self, ladder: StandingsTable, teams: Sequence[TeamStanding]) -> Sequence[TeamStanding]:
        """Return the teams who are shown; a country's are players alone."""
        return () if self.country or not ladder.deals or self.show == SEATING else teams[: self.first or None]

    def asked(self) -> dict[str, object]:
        """Return what of the address stays from page to page."""
        usual = DisplayOptions(LINES, 1, 0, "")
        return {name: value for name, value in self._asdict().items() if value != getattr(usual, name)}


class DisplayPage:
    """Answers screens in the hall."""

    def __init__(self, feed: PublicFeed, access: Access, sheets: Sheets, carrying: Callable[[], Carrying]) -> None:
        self._feed, self._access, self._sheets, self._carrying = feed, access, sheets, carrying

    def routes(self) -> Sequence[Route]:
        """Return the route."""
        return [self._access.route("/display", self.show, "see_public")]

    async def show(self, request: Request) -> Response:
        """Show one page, which names the next: with and without JavaScript the pages follow each other."""
        # An arbiter may have opened it, on a projector: what it shows is what everybody may know, not what they may.
        ladder, options, _ = self._sheets.ladder(Visitor()), DisplayOptions.of(request), translator_for(request)
        snapshot = self._sheets.snapshot(Visitor())
        teams, rungs = options.teams(ladder, snapshot.teams), options.rungs(ladder)
        seats = options.seats(ladder, snapshot.event)
        of_teams = -(-len(teams) // options.names)
        pagination = Pagination.at(
            request.query_params.get("page", ""), of_teams * options.names + len(rungs or seats), options.names
        )
        players = Pagination(pagination.number - of_teams, pagination.of).lines(options.names)
        shown = teams[pagination.lines(options.names)] if pagination.number <= of_teams else rungs[players]
        following = {"page": pagination.number % pagination.of + 1, **options.asked(), "lang": _.language}
        rounds = seating_rounds(snapshot.event.plan)
        to_come = rounds_to_come(rounds, self._feed.current.anchor, options.columns)
        html = (
            environment()
            .get_template("display.html")
            .render(
                view=self._feed.current,
                ladder=ladder,
                likely=any(row.likely for row in shown),
                options=options,
                teams=_in_columns(teams[pagination.lines(options.names)], options)
                if pagination.number <= of_teams
                else (),
                rungs=_in_columns(rungs[players], options) if pagination.number > of_teams else (),
                seats=_in_columns(seats[players], options),
                rounds=rounds[to_come],
                to_come=to_come,
                letters=SEAT_LETTERS,
                round_ends=self._round_ends(),
                version=None if ladder.final else snapshot.event.version,
                stages=[stage for stage in dict.fromkeys(one.stage for one in shown) if stage],
                pagination=pagination,
                following=f"/display?{urlencode(following)}",
                _=_,
                translators=translators(),
            )
        )
        return HTMLResponse(html, headers={"Vary": "Accept-Language, Cookie"})

    def _round_ends(self) -> tuple[int, int] | None:
        """Return the round that is played and about when it ends, ms since 1970; None before the first and at the end.

        Everybody may know it, as what stands on the page of carriers: it is of the plays, and of no result.
        """
        view = self._feed.current
        if not view.plays_in and all(table.state in NOT_BEGUN for table in view.tables):
            return None
        current = self._carrying()
        return (current.round, current.round_ends.usual) if current.round_ends else None


def rounds_to_come(rounds: Sequence[int], over: AnchorView | None, columns: int) -> slice:
    """Return which of all rounds are shown beside the names: those after the last that is over, as many as fit."""
    most = max(1, MOST_ROUNDS // columns)
    first = sum(over is not None and one <= over.round for one in rounds)
    first = min(first, max(0, len(rounds) - most))
    return slice(first, first + most)


def _in_columns(rows: Sequence[Row], options: DisplayOptions) -> list[Sequence[Row]]:
    return [rows[at : at + options.lines] for at in range(0, len(rows), options.lines)]


def _number(request: Request, name: str, most: int) -> int:
    """Read a number of the address; 0 for what is none."""
    text = request.query_params.get(name, "")
    return min(read_number(text, len(str(MOST_FIRST))), most)
