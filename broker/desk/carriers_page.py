"""The page for those who carry: which carrier goes where now, and when the round will be over."""

from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.routing import Route

from broker.desk.access import Visitor
from broker.desk.carriers_now import CarriersNow
from broker.desk.catalogue import Catalogue
from broker.desk.live_sheet import LiveSheets, Sheet
from broker.people.roles import Right
from broker.scorer.carriers.pace import MINUTE
from broker.scorer.view import ViewFeed

WHO: Final[Right] = "see_public"
"""Runners need no more than a display: what stands here is where plays are, and nothing of how they went."""


class CarriersPage:
    """Answers runners and arbiters from the feed's newest view."""

    def __init__(self, feed: ViewFeed, carriers: CarriersNow) -> None:
        self._feed, self._carriers = feed, carriers

    def routes(self, live: LiveSheets) -> Sequence[Route]:
        """Give the routes."""
        return live.routes("/carriers", self.show, WHO)

    def show(self, _request: Request, _visitor: Visitor, words: Catalogue) -> Sheet:
        """Show the ways that are to be gone now, those to come, and when the round and the session end."""
        told = self._carriers.at(self._feed.current)
        return Sheet("carriers.html", words.say("carriers"), {"told": told, "minutes": minutes}, told)


def minutes(ms: int) -> int:
    """Give a span in whole minutes."""
    return max(0, round(ms / MINUTE))
