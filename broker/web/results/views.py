"""The pages and files of standings, travellers, players and teams, and receipts for players.

A receipt is open to anybody who has its code, but cannot be guessed. Once the standings are final a deal's page shows
its four walls and, if it was computed, its par; until then the tiles are secret to everybody.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.errors import BrokerError, RuleError
from broker.event import HANDS, PAR, DealPar, SeatPar, par_of_deal, places_of, read_hands, read_par
from broker.export.pmn.record import in_order
from broker.i18n import N_, SEAT_NAMES, tile_signs
from broker.protocol import SEATS, Seat, read_receipt_code, receipt_link
from broker.rules import ROWS, Deal, RiichiProfile
from broker.scorer import (
    DealSheet,
    PlayLine,
    ReceiptSheet,
    Snapshot,
    StandingsHistory,
    StandingsTable,
    deal_sheet,
    standings_history,
    standings_table,
)
from broker.scorer.highlights import TITLES, Highlight, Kind, deal_highlights, greatest, highlight_text
from broker.scoring import Interval
from broker.web import (
    Access,
    HtmlTranslator,
    LivePage,
    LivePages,
    Pagination,
    Sheets,
    Visitor,
    auth,
    client_address,
    embargo,
    errors,
    read_number,
    redirect,
    render,
    render_page,
    svg,
    visitor_of,
)
from broker.web.results.display import next_place

MOST_DIGITS: Final = 2
LEADERS: Final = 6
"""Lines in a chart that can be told apart by colour and dashes."""


class ResultsPage:
    """Serves all who may see what is public; arbiters see everything."""

    def __init__(self, sheets: Sheets, folder: Path | None = None, feeds: embargo.Feeds | None = None) -> None:
        """`folder` is the event's, for par values and recorded plays. `feeds` has the tables' states for live pages."""
        self._sheets, self._feeds = sheets, feeds
        self._played = PlayedDeals(folder)
        self._highlights: dict[int, tuple[object, list[Highlight]]] = {}
        """Highlights by deal, each with what they were computed from."""

    def routes(self, access: Access, live: LivePages) -> Sequence[Route]:
        """Return the routes of the pages and files."""
        return [
            access.route("/standings.json", self.standings_json, "see_public"),
            *live.routes("/standings", self.standings, "see_public"),
            *live.routes("/deals", self.deals, "see_public"),
            *live.routes("/deal/{deal:int}", self.deal, "see_public"),
            *live.routes("/player/{player}", self.player, "see_public"),
            *live.routes("/team/{team:int}", self.team, "see_public"),
        ]

    def standings(self, request: Request, visitor: Visitor, _: HtmlTranslator) -> LivePage:
        """Show everybody's place and the places that they can still reach."""
        ladder, stage = self._sheets.standings(visitor), _stage(request)
        snapshot = self._sheets.snapshot(visitor)
        if any(one.stage == stage for one in snapshot.sections):
            ladder = standings_table(snapshot, stage)
        else:
            stage = None
        pagination = Pagination.at(request.query_params, len(ladder.rungs))
        teams = snapshot.teams if stage is None else snapshot.teams_of_stages[stage]
        values = {
            "ladder": ladder,
            "rungs": ladder.rungs[pagination.lines],
            "pagination": pagination,
            "teams": teams,
            "numbers": {team: at for at, team in enumerate(snapshot.event.plan.teams, 1)},
            "first": partial(self._first, visitor, ladder, _),
            "origins": snapshot.event.has_origins,
            "stages": [one.name for at, one in enumerate(snapshot.event.plan.stages) if snapshot.event.is_seated(at)],
            "stage": None if stage is None else stage + 1,
        }
        return LivePage("ladder.html", _("Standings"), values, (ladder, pagination, teams))

    def _first(
        self, visitor: Visitor, ladder: StandingsTable, _: HtmlTranslator
    ) -> tuple[StandingsHistory, Markup] | None:
        """Return the leaders' IMPs after each deal, as numbers and as a chart."""
        lines = standings_history(self._sheets.snapshot(visitor), [rung.player for rung in ladder.rungs[:LEADERS]])
        about = str(_("The leaders: IMP after each deal"))
        return (
            (lines, svg.course_chart(lines, about))
            if len(lines.deals) > 1 and any(any(one.imps) for one in lines.lines)
            else None
        )

    def deals(self, request: Request, visitor: Visitor, _: HtmlTranslator) -> LivePage:
        """Show all deals of the event."""
        lines = self._sheets.deals(visitor)
        pagination = Pagination.at(request.query_params, len(lines))
        shown, stories = lines[pagination.lines], self._event_highlights()
        values = {
            "lines": shown,
            "pagination": pagination,
            "stories": [
                (TITLES[kind], [(one.deal, highlight_text(_, one, render.signed_number)) for one in of_kind])
                for kind, of_kind in stories.items()
            ],
        }
        return LivePage("deals.html", _("Deals"), values, (shown, pagination, stories))

    def _event_highlights(self) -> dict[Kind, list[Highlight]]:
        """Return the highlights of public deals only, for arbiters too, so that few messages change them."""
        snapshot = self._sheets.snapshot(Visitor())
        for deal in snapshot.complete:
            of = snapshot.parts(deal), snapshot.stand_ins, snapshot.event
            if deal not in self._highlights or self._highlights[deal][0] != of:
                self._highlights[deal] = of, deal_highlights(deal_sheet(snapshot, deal))
        return greatest(one for deal in sorted(snapshot.complete) for one in self._highlights[deal][1])

    def deal(self, request: Request, visitor: Visitor, _: HtmlTranslator) -> LivePage:
        """Show the traveller of one deal."""
        number = request.path_params["deal"]
        sheet = self._sheets.deal(visitor, number)
        numbers = sorted(self._sheets.snapshot(visitor).event.expected)
        at = numbers.index(number)
        before = numbers[at - 1] if at else None
        after = numbers[at + 1] if at + 1 < len(numbers) else None
        pagination = Pagination.at(request.query_params, sheet.plays_in)
        played = self._played.of(self._sheets.snapshot(visitor), number)
        values = {
            "sheet": sheet,
            "stories": [highlight_text(_, one, render.signed_number) for one in deal_highlights(sheet)]
            if sheet.complete
            else (),
            "groups": _plays_on_page(sheet, pagination),
            "pagination": pagination,
            "chart": partial(
                svg.deal_chart,
                sheet,
                str(_("How the deal went around the room: points at each table, in the order of play")),
                _seats(_),
            ),
            "before": before,
            "after": after,
            "played": played,
            "replays": True,
        }
        return LivePage("deal.html", _("Deal {deal}", deal=number), values, (sheet, pagination, before, after, played))

    def player(self, request: Request, visitor: Visitor, _: HtmlTranslator) -> LivePage:
        """Show one player's sheet."""
        sheet = self._sheets.player(visitor, request.path_params["player"])
        chart = partial(
            svg.player_chart, sheet, str(_("Points (horizontal) and the resulting IMPs (vertical)")), _seats(_)
        )
        snapshot = self._sheets.snapshot(visitor)
        plan, version = snapshot.event.plan, snapshot.event.version
        places, skipped = places_of(plan, sheet.player), set(snapshot.skipped)
        played = [one for one in places if (one.round, one.table) not in skipped]
        to_go = next_place(played, self._feeds.of(visitor).current) if self._feeds else None
        values = {
            "sheet": sheet,
            "chart": chart,
            "slips": _receipt_qr(plan.public_address),
            "places": places,
            "skipped": {one.round for one in places} - {one.round for one in played},
            "next": to_go,
            "version": version,
        }
        return LivePage("player.html", sheet.name, values, (sheet, places, played, to_go, version))

    def team(self, request: Request, visitor: Visitor, _: HtmlTranslator) -> LivePage:
        """Show one team's sheet."""
        sheet = self._sheets.team(visitor, request.path_params["team"])
        return LivePage("team.html", sheet.team, {"sheet": sheet}, sheet)

    async def standings_json(self, request: Request) -> Response:
        """Return the standings as JSON, for other programs."""
        standings = msgspec.json.encode(self._sheets.standings(visitor_of(request)))
        return Response(standings, media_type="application/json")


def _receipt_qr(address: str) -> Callable[[str], Markup] | None:
    """Return a function that draws the QR code of a receipt; None if there is no public address to link to."""
    return (lambda code: svg.qr(receipt_link(address, code))) if address else None


def _seats(_: HtmlTranslator) -> dict[str, str]:
    return {seat: str(_(SEAT_NAMES[seat])) for seat in SEATS}


def _stage(request: Request) -> int | None:
    """Return the requested stage's number from 0, or None."""
    number = read_number(request.query_params.get("stage", ""), MOST_DIGITS)
    return number - 1 if number else None


def _plays_on_page(sheet: DealSheet, pagination: Pagination) -> list[tuple[int, Sequence[PlayLine]]]:
    """Return the plays on this page by group, each group with its number in the sheet."""
    lines, begin = pagination.lines, 0
    found: list[tuple[int, Sequence[PlayLine]]] = []
    for number, group in enumerate(sheet.groups):
        shown = group.plays[max(0, lines.start - begin) : max(0, lines.stop - begin)]
        begin += len(group.plays)
        if shown:
            found.append((number, shown))
    return found


class ReceiptPage:
    """Serves players. Logins give no further rights here: a code opens what it stands for, and no more."""

    def __init__(self, feed: embargo.PublicFeed, sheets: Sheets) -> None:
        self._feed, self._sheets, self._misses = feed, sheets, auth.MissLimiter()

    def routes(self) -> Sequence[Route]:
        """Return the routes."""
        return [Route("/receipt", self.ask), Route("/receipt/{code}", self.show)]

    async def ask(self, request: Request) -> Response:
        """Show the form for a code; a typed code is redirected to its own address."""
        typed = request.query_params.get("code", "").strip()
        if typed:
            code = read_receipt_code(typed) or typed[:64]
            return redirect(request, f"/receipt/{quote(code, safe='')}")
        return render_page(request, "receipt_ask.html", N_("Receipt"), values={"typed": ""})

    async def show(self, request: Request) -> Response:
        """Show the result that a code stands for."""
        typed = request.path_params["code"]
        try:
            sheet = self._find(client_address(request), typed)
        except errors.DeskError as error:
            return render_page(request, "receipt_ask.html", N_("Receipt"), error=error, values={"typed": typed[:64]})
        known = receipt_link(self._sheets.snapshot(Visitor()).event.plan.public_address, sheet.code)
        here = known or f"{request.base_url}receipt/{sheet.code}"
        values = {"sheet": sheet, "qr": svg.qr(here), "link": here, "anchor": self._feed.current.anchor}
        return render_page(request, "receipt.html", N_("Receipt"), values=values)

    def _find(self, who: str, typed: str) -> ReceiptSheet:
        now = time.monotonic_ns() // 1_000_000
        if wait := self._misses.wait_ms(who, now):
            raise errors.TooManyMisses(-(-wait // 1000))
        code = read_receipt_code(typed)
        try:
            if code is None:
                raise errors.SheetUnknown("this is not a receipt code")
            return self._sheets.receipt(Visitor(), code)
        except errors.SheetUnknown:
            self._misses.count_miss(who, now)
            raise


HAND = ROWS[0]

T = TypeVar("T")


class DrawnTile(NamedTuple):
    """A tile as the page draws it."""

    suit: str
    rank: str
    sign: str


class SeatTray(NamedTuple):
    """The tiles of a seat: the hand sorted, the wall in drawing order."""

    hand: Sequence[DrawnTile]
    wall: Sequence[DrawnTile]


class PlayedDeal(NamedTuple):
    """A deal that is public."""

    deal: Deal
    par: DealPar | None
    replay: bool = False
    """Whether some table's play of it was recorded step by step."""

    def trays(self) -> dict[Seat, SeatTray]:
        """Return the tiles of each seat."""
        return {
            seat: SeatTray(_drawn(in_order(tray[:HAND])), _drawn(tray[HAND:]))
            for seat, tray in ((seat, self.deal.faces[seat]) for seat in SEATS)
        }

    def seats(self) -> Mapping[Seat, SeatPar]:
        """Return the par of each seat; empty if it was not computed."""
        return self.par.seats() if self.par else {}

    def bar(self, seat: Seat) -> Markup:
        """Draw the expected points of a seat within the range where most plays ended."""
        seats = self.seats()
        ends = [end for one in seats.values() for end in (one.least, one.most)]
        found = seats[seat]
        return svg.interval_bar(Interval(found.mean, found.least, found.most), (min(0, *ends), max(0, *ends)))


def _drawn(faces: Sequence[str]) -> list[DrawnTile]:
    return [DrawnTile(face[1], *tile_signs(face)) for face in faces]


class CachedFile(Generic[T]):
    """A file in an event's folder, read again when it has changed."""

    def __init__(self, folder: Path | None, name: str, read: Callable[[Path], T | None]) -> None:
        self._folder, self._name, self._read = folder, name, read
        self._cached: tuple[int, T | None] = 0, None

    def read(self) -> T | None:
        """Return the file's current content; None if it does not exist or cannot be read."""
        if self._folder is None:
            return None
        try:
            at = (self._folder / self._name).stat().st_mtime_ns
            if at != self._cached[0]:
                self._cached = at, self._read(self._folder)
        except (OSError, RuleError, BrokerError):
            return None
        return self._cached[1]


class PlayedDeals:
    """Opens deals once they are public. `folder` is the event's; without it there is no par and no replay."""

    def __init__(self, folder: Path | None = None) -> None:
        self._par = CachedFile(folder, PAR, read_par)
        self._replayed = CachedFile(folder, HANDS, lambda inside: {hand.deal for hand in read_hands(inside)})

    def of(self, snapshot: Snapshot, deal: int) -> PlayedDeal | None:
        """Return a deal; None while it is secret, if its key is missing, and for riichi, whose red fives differ."""
        event = snapshot.event
        if not snapshot.final or isinstance(event.profile, RiichiProfile):
            return None
        try:
            opened = event.open_deal(deal)
        except (RuleError, BrokerError, KeyError):
            return None
        par = par_of_deal(self._par.read(), event.name, opened, event.profile.payments)
        return PlayedDeal(opened, par, replay=deal in (self._replayed.read() or ()))
