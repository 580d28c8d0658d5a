"""The display in the room: the public standings in big type, page after page, whoever has opened it."""

from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from broker.desk.access import Access, Visitor
from broker.desk.catalogue import LANGUAGES, catalogues
from broker.desk.forms_page import language
from broker.desk.page import environment
from broker.desk.sheets import Leaf, Sheets
from broker.scorer.view import ViewFeed

LINES: Final = 10
"""Names that can be read from the back of a hall."""

STAY_S: Final = 12
"""How long a page stays: ten lines are read in that time."""


class DisplayPage:
    """Answers screens in the hall."""

    def __init__(self, feed: ViewFeed, access: Access, sheets: Sheets) -> None:
        self._feed, self._access, self._sheets = feed, access, sheets

    def routes(self) -> Sequence[Route]:
        """Give the route."""
        return [self._access.route("/display", self.show, "see_public")]

    async def show(self, request: Request) -> Response:
        """Show one page, which names the next: with and without JavaScript the pages follow each other."""
        # An arbiter may have opened it, on a projector: what it shows is what everybody may know, not what they may.
        ladder, teams = self._sheets.ladder(Visitor()), self._sheets.moment(Visitor()).teams
        of_teams = -(-len(teams) // LINES)
        leaf = Leaf.at(request.query_params.get("page", ""), of_teams * LINES + len(ladder.rungs), LINES)
        words, following = language(request), leaf.number % leaf.of + 1
        html = (
            environment()
            .get_template("display.html")
            .render(
                view=self._feed.current,
                ladder=ladder,
                teams=teams[leaf.lines(LINES)] if leaf.number <= of_teams else (),
                rungs=ladder.rungs[Leaf(leaf.number - of_teams, leaf.of).lines(LINES)]
                if leaf.number > of_teams
                else (),
                leaf=leaf,
                following=f"/display?page={following}&lang={words.language}",
                stay=STAY_S,
                words=words,
                say=words.say,
                names=[(one, catalogues()[one]) for one in LANGUAGES],
            )
        )
        return HTMLResponse(html, headers={"Vary": "Accept-Language, Cookie"})
