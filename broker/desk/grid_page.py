"""The arbiters' grid of tables and rounds, and the feed of the wire."""

import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.routing import Route

from broker.contract.topics import TOPICS
from broker.desk.access import Visitor
from broker.desk.carriers_now import CarriersNow
from broker.desk.catalogue import Catalogue
from broker.desk.live_sheet import LiveSheets, Sheet
from broker.desk.sheets import DealLine, Leaf, Sheets
from broker.scorer.carriers.dispatch import Carrier
from broker.scorer.sheets.grid import grid
from broker.scorer.times import TableTimes
from broker.scorer.view import TableView, View, ViewFeed
from broker.scorer.wirelog import WireLog

TABLES_A_PAGE: Final = 50
MESSAGES_A_PAGE: Final = 100


class Outstanding(NamedTuple):
    """A deal that some table has yet to play, and its carriers."""

    line: DealLine
    carriers: list[Carrier]


class GridPage:
    """Answers arbiters."""

    def __init__(self, feed: ViewFeed, sheets: Sheets, times: TableTimes, carriers: CarriersNow) -> None:
        self._feed, self._sheets, self._times, self._carriers = feed, sheets, times, carriers

    def routes(self, live: LiveSheets) -> Sequence[Route]:
        """Give the routes."""
        return live.routes("/grid", self.show, "see_room")

    def show(self, request: Request, visitor: Visitor, words: Catalogue) -> Sheet:
        """Show where each play stands, who calls since when, and what is the matter."""
        view = self._feed.current
        only = request.query_params.get("kind") == "wants"
        rows = grid(self._sheets.moment(visitor), view.tables) if only else None
        chosen = [row.view for row in rows.rows if row.wants] if rows else list(view.tables)
        leaf = Leaf.at(request.query_params.get("page", ""), len(chosen), TABLES_A_PAGE)
        values = {
            "view": view,
            "grid": grid(self._sheets.moment(visitor), chosen[leaf.lines(TABLES_A_PAGE)]),
            "leaf": leaf,
            "only": only,
            "calls": self._calls(view.tables),
            "playing": self._times.playing,
            "pausing": self._times.pausing,
            "outstanding": self._outstanding(visitor, view),
        }
        return Sheet("grid.html", words.say("grid"), values)

    def _calls(self, tables: Sequence[TableView]) -> list[tuple[TableView, int | None]]:
        """Give the tables that call and since when, the longest waiting first."""
        since = {table: one.at for table, one in self._times.calling.copy().items()}
        calling = [(table, since.get(table.table)) for table in tables if table.calling]
        return sorted(calling, key=lambda pair: (pair[1] or time.time_ns(), pair[0].table))

    def _outstanding(self, visitor: Visitor, view: View) -> list[Outstanding]:
        """Give the deals that some table has yet to play, and where their carriers are."""
        carriers: dict[int, list[Carrier]] = {}
        for one in self._carriers.at(view).carriers:
            carriers.setdefault(one.deal, []).append(one)
        lines = self._sheets.deals(visitor)
        return [Outstanding(line, carriers.get(line.deal, [])) for line in lines if not line.complete]


class WirePage:
    """Shows arbiters the messages on the wire as they are."""

    def __init__(self, wire: WireLog) -> None:
        self._wire = wire

    def routes(self, live: LiveSheets) -> Sequence[Route]:
        """Give the routes."""
        return live.routes("/wire", self.show, "see_room")

    def show(self, request: Request, _visitor: Visitor, words: Catalogue) -> Sheet:
        """Show the newest messages that the filter lets through."""
        asked = {name: request.query_params.get(name, "")[:64] for name in ("kind", "table", "text")}
        table = int(asked["table"]) if asked["table"].isascii() and asked["table"].isdigit() else None
        found = self._wire.newest(kind=asked["kind"], table=table, text=asked["text"])
        shown = [one for one, _ in zip(found, range(MESSAGES_A_PAGE), strict=False)]
        values = {"messages": shown, "asked": asked, "kinds": [topic.name for topic in TOPICS], "most": MESSAGES_A_PAGE}
        return Sheet("wire.html", words.say("wire"), values)
