"""Where to sit: a page for everybody, by name and by table, and its prints."""

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.event import Event, SeatingPlace, TableOfRound, by_round, seating_of, seating_rounds, tables_of_rounds
from broker.export.seating import SEATING_PRINTS, seating_pdf
from broker.export.spelling import spelled, unprintable_names
from broker.i18n import folded
from broker.protocol import SEATS, Player
from broker.scorer.view import PLAYING, DashboardView, TableView
from broker.terms import SEAT_LETTERS
from broker.web import Access, HtmlTranslator, LivePage, LivePages, Pagination, Sheets, Visitor, translator_for

LONGEST_SEARCH: Final = 100


class SeatedPlayer(NamedTuple):
    """A player, and their place in each round of the event; None if they sit out."""

    player: Player
    places: tuple[SeatingPlace | None, ...]


class SeatingPage:
    """Answers whoever may see what is public: the plan is no secret."""

    def __init__(self, sheets: Sheets) -> None:
        self._sheets = sheets

    def routes(self, access: Access, live: LivePages) -> Sequence[Route]:
        """Return the routes."""
        return [
            *live.routes("/seating", self.seating, "see_public"),
            *(
                access.route(f"/seating/{kind}.pdf", partial(self.printed, kind), "print_sheets")
                for kind in SEATING_PRINTS
            ),
        ]

    def seating(self, request: Request, visitor: Visitor, _: HtmlTranslator) -> LivePage:
        """Show who sits where, in all rounds: by name, or by table where the address says so."""
        snapshot = self._sheets.snapshot(visitor)
        event, version = snapshot.event, None if snapshot.final else snapshot.event.version
        asked = " ".join(request.query_params.get("q", "").split())[:LONGEST_SEARCH]
        rounds, by_table = seating_rounds(event.plan), request.query_params.get("by") == "table"
        found: Sequence[TableOfRound] | Sequence[SeatedPlayer]
        if by_table:
            found = tables_of_rounds(event.plan)
        else:
            found = [one for one in seated_players(event) if folded(asked) in folded(one.player.name)]
        over = snapshot.rounds_over if snapshot.rounds_over < max(rounds, default=0) else 0
        pagination = Pagination.at(request.query_params.get("page", ""), len(found))
        shown = tuple(found[pagination.lines()])
        values = {
            "by_table": by_table,
            "shown": shown,
            "rounds": rounds,
            "over": over,
            "search": True,
            "asked": asked,
            "kept": "by=table&" if by_table else f"{urlencode({'q': asked})}&" if asked else "",
            "pagination": pagination,
            "letters": SEAT_LETTERS,
            "version": version,
            "seats": SEATS,
            "names": {one.id: one.name for one in event.players.values()},
            "prints": SEATING_PRINTS,
            "unprintable": unprintable_names(event),
        }
        return LivePage(
            "seating.html", _("Seating plan"), values, (shown, rounds, pagination, by_table, asked, version, over)
        )

    async def printed(self, kind: str, request: Request) -> Response:
        """Return one of SEATING_PRINTS."""
        event = self._sheets.snapshot(Visitor()).event
        with spelled(event):
            content = await run_in_threadpool(seating_pdf, event, kind, translator_for(request))
        name = {"Content-Disposition": f'inline; filename="{event.name}-seating-{kind}.pdf"'}
        return Response(content, media_type="application/pdf", headers=name)


def seated_players(event: Event) -> list[SeatedPlayer]:
    """Return all players by name, with their place in each round."""
    rounds, places = seating_rounds(event.plan), seating_of(event.plan)
    listed = sorted(event.players.values(), key=lambda one: (folded(one.name), one.id))
    return [SeatedPlayer(one, tuple(map(by_round(places.get(one.id, ())).get, rounds))) for one in listed]


def next_place(places: Sequence[SeatingPlace], view: DashboardView) -> SeatingPlace | None:
    """Return where a player goes next: after the last of their plays that has begun, as its table says, or is over."""
    tables, over = {one.table: one for one in view.tables}, view.anchor.round if view.anchor else 0
    gone = [one.round <= over or (one.table in tables and _has_begun(tables[one.table], one.round)) for one in places]
    return next((one for at, one in enumerate(places) if not any(gone[at:])), None)


def _has_begun(table: TableView, round_: int) -> bool:
    if table.round == round_:
        return table.state in {*PLAYING, "recorded", "finished"}
    return table.state == "finished" if table.round is None else table.round > round_
