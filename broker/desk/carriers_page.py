"""The page for those who carry: which carrier goes where now, and when the round will be over."""

import dataclasses
from collections.abc import Collection, Sequence
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.routing import Route

from broker.desk.access import Visitor
from broker.desk.carriers_now import CarriersNow, Carrying
from broker.desk.catalogue import Catalogue
from broker.desk.errors import TablesUnreadable
from broker.desk.live_sheet import LiveSheets, Sheet
from broker.desk.ranges import tables_of
from broker.desk.sheets import Leaf
from broker.people.roles import Right
from broker.scorer.carriers.pace import MINUTE
from broker.scorer.view import ViewFeed

WHO: Final[Right] = "see_public"
"""Runners need no more than a display: what stands here is where plays are, and nothing of how they went."""

WAYS: Final = 60
"""Of so many carriers a page tells."""

FEW: Final = 12
"""Of so many one finds one's own at a glance."""

LONGEST: Final = 64
"""Characters of the tables that somebody carries for."""

EVERY: Final = "all"


class CarriersPage:
    """Answers runners and arbiters from the feed's newest view."""

    def __init__(self, feed: ViewFeed, carriers: CarriersNow) -> None:
        self._feed, self._carriers = feed, carriers

    def routes(self, live: LiveSheets) -> Sequence[Route]:
        """Give the routes."""
        return live.routes("/carriers", self.show, WHO)

    def show(self, request: Request, _visitor: Visitor, words: Catalogue) -> Sheet:
        """Show the ways that are to be gone now, those to come, and when the round and the session end.

        `?tables=1-40` keeps to what goes to those tables or comes from them; `?kind=all` shows where all carriers are.
        """
        told, asked = self._carriers.at(self._feed.current), request.query_params
        written, every = asked.get("tables", "").strip()[:LONGEST], asked.get("kind") == EVERY
        try:
            only, unreadable = frozenset(tables_of(written)), False
        except TablesUnreadable:
            only, unreadable = frozenset[int](), True
        part = _part(told, only) if only else told
        ways = (*part.urgent, *part.later)
        leaf = Leaf.at(asked.get("page", ""), len(part.carriers if every else ways), WAYS)
        shown, few = ways[leaf.lines(WAYS)], len(told.carriers) <= WAYS
        values = {
            "told": part,
            "urgent": [move for move in shown if move.urgency == "now"],
            "later": [move for move in shown if move.urgency != "now"],
            "slow": part.slow[:WAYS],
            "carriers": part.carriers[leaf.lines(WAYS)] if every else part.carriers if few else (),
            "every": every,
            "written": written,
            "unreadable": unreadable,
            "longest": LONGEST,
            "leaf": leaf,
            "kept": _kept(every=every, written=written),
            "searched": bool(only) or len(told.carriers) > FEW,
            "minutes": minutes,
        }
        return Sheet("carriers.html", words.say("carriers"), values, (told, written, every, leaf))


def _part(told: Carrying, only: Collection[int]) -> Carrying:
    """Give what those are told who carry for some tables."""
    return dataclasses.replace(
        told,
        moves=tuple(move for move in told.moves if move.to_table in only or move.from_table in only),
        slow=tuple(one for one in told.slow if one.table in only),
        carriers=tuple(one for one in told.carriers if one.table in only),
    )


def _kept(*, every: bool, written: str) -> str:
    """Give what of the address stays on the next page."""
    kept = {name: text for name, text in (("kind", EVERY if every else ""), ("tables", written)) if text}
    return urlencode(kept) + "&" * bool(kept)


def minutes(ms: int) -> int:
    """Give a span in whole minutes."""
    return max(0, round(ms / MINUTE))
