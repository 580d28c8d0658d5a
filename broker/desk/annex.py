"""Pages of other rooms at the desk: rooms above this one bring their routes, the desk brings frame and rights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.routing import Route

from broker.desk.access import Access, Way
from broker.desk.live_sheet import LiveSheets
from broker.scorer.view import ViewFeed


@dataclass(frozen=True, slots=True)
class Annex:
    """Pages of one kind. Each route is made by `Access.route`, which asks for a right."""

    routes: Callable[[Access, ViewFeed], Sequence[Route]]
    ways: tuple[Way, ...] = ()
    live: Callable[[LiveSheets], Sequence[Route]] = lambda _: ()
    """Pages that follow the room by themselves."""
