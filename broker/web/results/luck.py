"""Luck and strength: what the results reveal about both, using only deals that everybody has played.

Shown at the desk for one event; for several events as an HTML page that needs no server.
"""

from collections.abc import Sequence
from importlib import resources
from typing import Final, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.i18n import N_
from broker.protocol import Standing
from broker.scorer import Snapshot
from broker.scoring import GOALS, MOST_PLAYERS, EventStrength, Interval, event_strength
from broker.web import Access, HtmlTranslator, Pagination, Sheets, Visitor, render, render_page, svg

PARTS: Final = {
    "deal": N_("Deal and seat"),
    "own": N_("Own strength"),
    "opponents": N_("Opponents’ strength"),
    "play": N_("The play itself"),
}
DESCRIPTIONS: Final = {
    "deal": N_("the tiles dealt: the comparison cancels this out"),
    "own": N_("what a player brings to every table"),
    "opponents": N_("who sat at the same table"),
    "play": N_("draws, discards and decisions of that one play"),
}
WHOLE: Final = (0.0, 1.0)


class StrengthRow(NamedTuple):
    """A player in the standings. `ahead`: the probability of being stronger than the next, or than a chosen player."""

    line: Standing
    strength: Interval
    ahead: float | None


class RatedPlayer(NamedTuple):
    """A player in a rating. `stronger`: the probability of being stronger than the next; None for the last."""

    name: str
    plays: int
    strength: Interval
    stronger: float | None


STYLES: Final = (("broker.web", "desk.css"), ("broker.web.results", "charts.css"), ("broker.web.results", "luck.css"))


def rating_page(_: HtmlTranslator, events: Sequence[str], found: EventStrength, rows: Sequence[RatedPlayer]) -> str:
    """Return a rating over several events as HTML with its style embedded."""
    sheets = (resources.files(package).joinpath("static", name) for package, name in STYLES)
    style = "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    values = {"events": events, "found": found, "rows": rows, "span": _span(found), "bar": svg.interval_bar}
    return render.render_template("rating.html", _=_, style=style, **values)


class LuckPage:
    """Serves everybody the same page, without anything under embargo even for arbiters."""

    def __init__(self, access: Access, sheets: Sheets) -> None:
        self._access, self._sheets = access, sheets
        self._cached: tuple[Snapshot, EventStrength | None] | None = None

    def routes(self) -> Sequence[Route]:
        """Return the route."""
        return [self._access.route("/luck", self.show, "see_public")]

    async def show(self, request: Request) -> Response:
        """Show how much of the standings is strength, where points come from, and how strong each player is."""
        snapshot = self._sheets.snapshot(Visitor())
        if self._cached is None or self._cached[0] is not snapshot:
            self._cached = snapshot, await run_in_threadpool(event_strength, snapshot.ledger)
        found = self._cached[1]
        lines = [line for line in snapshot.standings if found and line.player in found.number]
        pagination = Pagination.at(request.query_params, len(lines))
        than = next((line for line in lines if line.player == request.query_params.get("than")), None)
        ahead = found.ahead([line.player for line in lines], than.player if than else None) if found else []
        rows = [
            StrengthRow(line, found.strengths[line.player], stronger)
            for line, stronger in [*zip(lines, ahead, strict=True)][pagination.lines]
            if found
        ]
        values: dict[str, object] = {
            "found": found,
            "rows": rows,
            "than": than,
            "pagination": pagination,
            "most": MOST_PLAYERS,
            "final": snapshot.final,
            "bar": svg.interval_bar,
            "whole": WHOLE,
        }
        if found:
            values["goals"] = [(round(100 * goal), found.plays_for(goal)) for goal in GOALS]
            shares = found.shares._asdict()
            values["shares"] = [(PARTS[name], DESCRIPTIONS[name], share) for name, share in shares.items()]
            values["span"] = _span(found)
        return render_page(request, "luck.html", N_("Luck and strength"), values=values)


def _span(found: EventStrength) -> tuple[float, float]:
    """Return a span that covers all intervals, with 0 in the middle."""
    most = max(max(abs(one.low or 0), abs(one.high or 0)) for one in found.strengths.values())
    return (-most, most) if most else (-1, 1)
