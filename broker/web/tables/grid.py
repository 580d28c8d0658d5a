"""The arbiters' grid of tables and rounds, and the feed of messages."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.routing import Route

from broker.protocol import TOPICS
from broker.scorer import DashboardView, Snapshot, TableView, ViewFeed
from broker.scorer.carriers import Carrier
from broker.scorer.grid import NEEDS, GridRow, grid, urgent
from broker.scorer.live_event import WireLog
from broker.web import HtmlTranslator, LivePage, LivePages, Pagination, Sheets, Visitor, alerts, embargo
from broker.web.tables.carriers import CarriersNow

TABLES_A_PAGE: Final = 50
MESSAGES_A_PAGE: Final = 60
DEALS: Final = 16
"""Maximum number of outstanding deals beside the grid; the page of carriers has all of them."""


ALL_NEEDS: Final = "wants"
"""Value of `kind` for tables that need attention for any reason."""


class Outstanding(NamedTuple):
    """A deal that some table has yet to play, with its carriers."""

    line: embargo.DealInfo
    carriers: list[Carrier]


class GridPage:
    """Serves the grid to arbiters. `clock` returns ms since 1970."""

    def __init__(self, feed: ViewFeed, sheets: Sheets, carriers: CarriersNow, clock: Callable[[], int]) -> None:
        self._feed, self._sheets, self._carriers, self._clock = feed, sheets, carriers, clock
        self._rows: tuple[Snapshot, Sequence[TableView], tuple[GridRow, ...]] | None = None

    def routes(self, live: LivePages) -> Sequence[Route]:
        """Return the routes of the page and its stream."""
        return live.routes("/grid", self.show, "see_room")

    def show(self, request: Request, visitor: Visitor, _: HtmlTranslator) -> LivePage:
        """Show the state of each play and its time left, the calls and since when, and the alerts.

        Nothing in the page changes by the second, because the browser counts. A table that runs over its time becomes
        one more that needs attention.
        """
        view, snapshot = self._feed.current, self._sheets.snapshot(visitor)
        wanting = urgent(self._all(snapshot, view.tables), self._clock())
        only = request.query_params.get("kind", "")
        only = only if only in (ALL_NEEDS, *NEEDS) else ""
        chosen = [row.view for row, wants in wanting if only in (ALL_NEEDS, *wants)] if only else list(view.tables)
        pagination = Pagination.at(request.query_params, len(chosen), TABLES_A_PAGE)
        values = {
            "view": view,
            "grid": grid(snapshot, chosen[pagination.lines]),
            "pagination": pagination,
            "only": only,
            "wanting": {row.view.table: wants for row, wants in wanting},
            "wants": Counter(want for _, wants in wanting for want in wants),
            "calls": alerts.calling_tables(view.tables),
            "alerts": alerts.split_alerts(view.alerts),
            "outstanding": (outstanding := self._outstanding(visitor, view))[:DEALS],
            "outstanding_more": len(outstanding) - DEALS,
        }
        return LivePage("grid.html", _("Grid"), values)

    def _all(self, snapshot: Snapshot, tables: Sequence[TableView]) -> tuple[GridRow, ...]:
        """Return the rows of all tables, computed once for all readers."""
        if self._rows is None or self._rows[0] is not snapshot or self._rows[1] is not tables:
            self._rows = snapshot, tables, grid(snapshot, tables).rows
        return self._rows[2]

    def _outstanding(self, visitor: Visitor, view: DashboardView) -> list[Outstanding]:
        """Return the deals that some table has yet to play, and where their carriers are.

        If there are many, those with the fewest plays missing come first.
        """
        carriers: dict[int, list[Carrier]] = {}
        for one in self._carriers.at(view).carriers:
            carriers.setdefault(one.deal, []).append(one)
        lines = self._sheets.deals(visitor)
        left = [line for line in lines if not line.complete]
        if len(left) > DEALS:
            left.sort(key=lambda line: line.expected - (line.plays_in or 0))
        return [Outstanding(line, carriers.get(line.deal, [])) for line in left]


class WirePage:
    """Shows arbiters the messages as they were sent."""

    def __init__(self, wire: WireLog, feed: ViewFeed, trace: embargo.EmbargoTrace) -> None:
        self._wire, self._feed, self._trace = wire, feed, trace

    def routes(self, live: LivePages) -> Sequence[Route]:
        """Return the routes of the page and its stream."""
        return live.routes("/wire", self.show, "see_room")

    def show(self, request: Request, visitor: Visitor, _: HtmlTranslator) -> LivePage:
        """Show the newest messages that match the filter."""
        self._trace.note_page(visitor, "wire", hidden=self._feed.current.under_way)
        filters = {name: request.query_params.get(name, "")[:64] for name in ("kind", "table", "text")}
        table = int(filters["table"]) if filters["table"].isascii() and filters["table"].isdigit() else None
        found = self._wire.newest(kind=filters["kind"], table=table, text=filters["text"])
        shown = [one for one, _ in zip(found, range(MESSAGES_A_PAGE), strict=False)]
        values = {
            "messages": shown,
            "filters": filters,
            "kinds": [topic.name for topic in TOPICS],
            "most": MESSAGES_A_PAGE,
        }
        return LivePage("wire.html", _("Feed"), values)
