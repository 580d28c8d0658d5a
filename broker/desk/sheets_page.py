"""The pages and files of travellers, players and standings."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import msgspec
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.contract.public_address import receipt_link
from broker.contract.words import SEATS
from broker.desk.access import Access, Visitor, visitor_of
from broker.desk.catalogue import Catalogue
from broker.desk.charts import course_chart, points_and_imps, round_the_room
from broker.desk.live_sheet import LiveSheets, Sheet
from broker.desk.qr import qr
from broker.desk.sheets import Leaf, Sheets
from broker.scorer.sheets.course import Course, course
from broker.scorer.sheets.deal import DealSheet, PlayLine
from broker.scorer.sheets.ladder import Ladder

LEADERS: Final = 6
"""Lines of a chart that can be told apart, by colour and by dashes."""


class SheetsPage:
    """Answers whoever may see what is public; arbiters see all."""

    def __init__(self, access: Access, sheets: Sheets, live: LiveSheets) -> None:
        self._access, self._sheets, self._live = access, sheets, live

    def routes(self) -> Sequence[Route]:
        """Give the routes."""
        return [
            self._access.route("/standings.json", self.standings_json, "see_public"),
            self._access.route("/deal/{deal:int}.json", self.deal_json, "see_public"),
            self._access.route("/player/{player}.json", self.player_json, "see_public"),
            self._access.route("/team/{team:int}.json", self.team_json, "see_public"),
            *self._live.routes("/standings", self.standings, "see_public"),
            *self._live.routes("/deals", self.deals, "see_public"),
            *self._live.routes("/deal/{deal:int}", self.deal, "see_public"),
            *self._live.routes("/player/{player}", self.player, "see_public"),
            *self._live.routes("/team/{team:int}", self.team, "see_public"),
        ]

    def standings(self, request: Request, visitor: Visitor, words: Catalogue) -> Sheet:
        """Everybody's place, and the places that they can still reach."""
        ladder = self._sheets.ladder(visitor)
        leaf = _leaf(request, len(ladder.rungs))
        teams = self._sheets.moment(visitor).teams
        values = {
            "ladder": ladder,
            "rungs": ladder.rungs[leaf.lines()],
            "leaf": leaf,
            "teams": teams,
            "numbers": {team: at for at, team in enumerate(self._sheets.moment(visitor).event.plan.teams, 1)},
            "first": partial(self._first, visitor, ladder, words),
            "origins": self._sheets.moment(visitor).event.has_origins,
        }
        return Sheet("ladder.html", words.say("standings"), values, (ladder, leaf, teams))

    def _first(self, visitor: Visitor, ladder: Ladder, words: Catalogue) -> tuple[Course, Markup] | None:
        """Give the way of those who lead, as numbers and as a chart."""
        lines = course(self._sheets.moment(visitor), [rung.player for rung in ladder.rungs[:LEADERS]])
        about = str(words.say("chart_course"))
        return (
            (lines, course_chart(lines, about))
            if len(lines.deals) > 1 and any(any(one.imps) for one in lines.lines)
            else None
        )

    def deals(self, request: Request, visitor: Visitor, words: Catalogue) -> Sheet:
        """All deals of the event."""
        lines = self._sheets.deals(visitor)
        leaf = _leaf(request, len(lines))
        shown = lines[leaf.lines()]
        return Sheet("deals.html", words.say("deals"), {"lines": shown, "leaf": leaf}, (shown, leaf))

    def deal(self, request: Request, visitor: Visitor, words: Catalogue) -> Sheet:
        """Show one traveller."""
        number = request.path_params["deal"]
        moment = self._sheets.moment(visitor)
        sheet = self._sheets.deal(visitor, number)
        numbers = sorted(moment.event.expected)
        at = numbers.index(number)
        leaf = _leaf(request, sheet.plays_in)
        values = {
            "sheet": sheet,
            "groups": _cut(sheet, leaf),
            "leaf": leaf,
            "chart": partial(round_the_room, sheet, str(words.say("chart_deal")), _seats(words)),
            "before": numbers[at - 1] if at else None,
            "after": numbers[at + 1] if at + 1 < len(numbers) else None,
        }
        key = (moment.parts(number), sheet.complete, leaf, moment.stand_ins, moment.event)
        return Sheet("deal.html", words.say("deal", deal=number), values, key)

    def player(self, request: Request, visitor: Visitor, words: Catalogue) -> Sheet:
        """Show one player's sheet."""
        sheet = self._sheets.player(visitor, request.path_params["player"])
        chart = partial(points_and_imps, sheet, str(words.say("chart_player")), _seats(words))
        slips = _slips(self._sheets.moment(visitor).event.plan.public_address)
        return Sheet("player.html", sheet.name, {"sheet": sheet, "chart": chart, "slips": slips}, sheet)

    def team(self, request: Request, visitor: Visitor, _words: Catalogue) -> Sheet:
        """Show one team's sheet."""
        sheet = self._sheets.team(visitor, request.path_params["team"])
        return Sheet("team.html", sheet.team, {"sheet": sheet}, sheet)

    async def standings_json(self, request: Request) -> Response:
        """The standings, for other programs."""
        return _json(self._sheets.ladder(visitor_of(request)))

    async def deal_json(self, request: Request) -> Response:
        """One traveller, for other programs."""
        return _json(self._sheets.deal(visitor_of(request), request.path_params["deal"]))

    async def player_json(self, request: Request) -> Response:
        """One player's sheet, for other programs."""
        return _json(self._sheets.player(visitor_of(request), request.path_params["player"]))

    async def team_json(self, request: Request) -> Response:
        """One team's sheet, for other programs."""
        return _json(self._sheets.team(visitor_of(request), request.path_params["team"]))


def _slips(address: str) -> Callable[[str], Markup] | None:
    """Give what draws the QR code of a receipt; None where no address is made known for it to lead to."""
    return (lambda code: qr(receipt_link(address, code))) if address else None


def _seats(words: Catalogue) -> dict[str, str]:
    return {seat: str(words.say(f"seat_{seat}")) for seat in SEATS}


def _json(sheet: msgspec.Struct) -> Response:
    return Response(msgspec.json.encode(sheet), media_type="application/json")


def _leaf(request: Request, length: int) -> Leaf:
    return Leaf.at(request.query_params.get("page", ""), length)


def _cut(sheet: DealSheet, leaf: Leaf) -> list[tuple[int, Sequence[PlayLine]]]:
    """Give of each group, by its number in the sheet, the plays that are on this page."""
    lines, begin = leaf.lines(), 0
    found: list[tuple[int, Sequence[PlayLine]]] = []
    for number, group in enumerate(sheet.groups):
        shown = group.plays[max(0, lines.start - begin) : max(0, lines.stop - begin)]
        begin += len(group.plays)
        if shown:
            found.append((number, shown))
    return found
