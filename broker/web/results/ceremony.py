"""The ceremony: the places with their prizes, the last first, each hidden until somebody opens it."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.export.archive import BY_NAME
from broker.export.certificates import Row, group_name, members_of, name_of, prize_of
from broker.export.spelling import unprintable_names
from broker.i18n import N_
from broker.scorer.snapshot import Snapshot
from broker.web import Access, Sheets, Visitor, render_page, visitor_of

LEAST: Final = 3
"""Places that are read out if there are no prizes."""


class Winner(NamedTuple):
    """Who is read out."""

    place: int
    name: str
    imp: object
    prize: str
    members: Sequence[str]


class CeremonyPage:
    """Answers everybody; nobody is named before the standings are final."""

    def __init__(self, access: Access, sheets: Sheets) -> None:
        self._access, self._sheets = access, sheets

    def routes(self) -> Sequence[Route]:
        """Return the route."""
        return [self._access.route("/ceremony", self.show, "see_public")]

    async def show(self, request: Request) -> Response:
        """Show the places, the last first."""
        snapshot, visitor = self._sheets.snapshot(Visitor()), visitor_of(request)
        values = {
            "final": snapshot.final,
            "groups": winners(snapshot) if snapshot.final else (),
            "booklet": BY_NAME["booklet.pdf"].lacking(snapshot.event) is None,
            "unprintable": unprintable_names(snapshot.event),
            "event_title": snapshot.event.plan.title,
        }
        return render_page(request, "ceremony.html", N_("Ceremony"), visitor, values=values)


def winners(snapshot: Snapshot) -> list[tuple[str, list[Winner]]]:
    """Return who is read out, by stage and section, the last place first; of a team event teams."""
    event, most = snapshot.event, max(LEAST, len(snapshot.event.plan.prizes))
    last = event.plan.stages[-1].name if event.plan.stages else ""
    rows: Sequence[Row] = snapshot.teams or snapshot.standings
    found = []
    for about, group in groupby((row for row in rows if row.stage == last), key=group_name):
        read_out = [row for row in group if row.place <= most]
        named = [
            Winner(row.place, name_of(row), row.imp, prize_of(event, row), members_of(event, row)) for row in read_out
        ]
        found.append((about, named[::-1]))
    return found
