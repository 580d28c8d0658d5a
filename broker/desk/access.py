"""Who asks: the session behind each request, and what its role may do. What is not allowed here is refused."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from broker.desk.errors import LoginNeeded, NotAllowed
from broker.people.door import Door
from broker.people.roles import Right
from broker.people.sessions import Session, form_token

COOKIE: Final = "homologue"
SECURE_COOKIE: Final = "__Host-homologue"
"""Under TLS: a browser takes this name only with `Secure`, for this host alone."""

LONGEST_TOKEN: Final = 64

LONGEST_TAG: Final = 16
"""Of a language."""

RULINGS: Final = "/rulings"
"""Where arbiters rule: pages that a desk may have."""

LOOKING: Final[frozenset[Right]] = frozenset({"see_public", "see_room"})

Answer = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Way:
    """A page that the strip at the top leads to: its address, its title in the catalogue, who may go there."""

    path: str
    title: str
    right: Right


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks. Without a session: nobody who is known, and what such a one may do here."""

    session: Session | None = None
    form: str = ""
    """What every form of this session carries."""
    open_room: bool = False
    open_public: bool = False
    withheld: frozenset[Right] = frozenset()
    """What nobody can do at this desk."""
    ways: tuple[Way, ...] = ()
    """Pages of other rooms at this desk."""

    def may(self, right: Right) -> bool:
        """Say whether this visitor has a right. In an open room everybody may look, and nobody may do anything.

        Where the desk is `open_public` everybody may see what players may know.
        """
        if right in self.withheld:
            return False
        if self.session is None:
            return (self.open_room and right in LOOKING) or (self.open_public and right == "see_public")
        return self.session.account.may(right)

    @property
    def rules(self) -> bool:
        """Whether this visitor may rule on plays, and this desk has the pages for it."""
        return self.may("rule") and any(way.path == RULINGS for way in self.ways)


class Access:
    """Knows visitors. `open_room`: without any account everybody may look, as the desk's address is this machine's.

    `open_public`: who has not logged in may see what players may know.
    """

    def __init__(self, door: Door | None, *, open_room: bool, open_public: bool = False) -> None:
        self.door, self._open_room, self._open_public = door, open_room, open_public
        self._withheld: frozenset[Right] = frozenset()
        self._ways: tuple[Way, ...] = ()

    def withhold(self, right: Right) -> None:
        """Let nobody have a right at this desk: there is nothing here to use it on."""
        self._withheld |= {right}

    def lead_to(self, ways: Iterable[Way]) -> None:
        """Show the way to further pages to those who may go there."""
        self._ways += tuple(ways)

    def visitor(self, request: Request) -> Visitor:
        """Say who asks."""
        if self.door is None:
            return Visitor(open_room=self._open_room, open_public=self._open_public, ways=self._ways)
        token = request.cookies.get(cookie_name(request), "")[:LONGEST_TOKEN]
        session = self.door.known(token, agent=agent(request), address=address(request)) if token else None
        if session:
            return Visitor(session, form_token(token), withheld=self._withheld, ways=self._ways)
        open_room = self._open_room and not self.door.accounts.any()
        return Visitor(open_room=open_room, open_public=self._open_public, ways=self._ways)

    def goes_on(self, visitor: Visitor) -> bool:
        """Say whether a stream to this visitor may go on."""
        if visitor.session is None or self.door is None:
            return self.door is None or not visitor.open_room or not self.door.accounts.any()
        return self.door.goes_on(visitor.session)

    def route(self, path: str, answer: Answer, right: Right, methods: tuple[str, ...] = ("GET",)) -> Route:
        """Give a route that only those with a right may take; the handler finds the visitor in `request.state`."""

        async def guarded(request: Request) -> Response:
            visitor = await run_in_threadpool(self.visitor, request)
            request.state.visitor = visitor
            if visitor.may(right):
                return await answer(request)
            if visitor.session:
                raise NotAllowed("your role may not do this")
            if self.door is not None and request.method in {"GET", "HEAD"} and is_read(request):
                return RedirectResponse(request.scope.get("root_path", "") + "/login" + _wish(request), status_code=303)
            raise LoginNeeded("log in first")

        return Route(path, guarded, methods=list(methods))


def _wish(request: Request) -> str:
    """Give the language that was asked for, for the page that is shown instead."""
    wish = request.query_params.get("lang", "")
    return f"?{urlencode({'lang': wish[:LONGEST_TAG]})}" if wish else ""


def is_read(request: Request) -> bool:
    """Say whether a person reads the answer: programs and scripts are told by code and not by a page."""
    return "text/html" in request.headers.get("accept", "")


def visitor_of(request: Request) -> Visitor:
    """Give the visitor that `Access.route` found."""
    found: Visitor = request.state.visitor
    return found


def cookie_name(request: Request) -> str:
    """Give the cookie's name on this connection."""
    return SECURE_COOKIE if request.url.scheme == "https" else COOKIE


def give_cookie(request: Request, answer: Response, token: str) -> None:
    """Let the browser keep a session's token until it is closed: out of reach of scripts and of other sites."""
    secure = request.url.scheme == "https"
    answer.set_cookie(cookie_name(request), token, path="/", httponly=True, samesite="strict", secure=secure)


def take_cookie(request: Request, answer: Response) -> None:
    """Let the browser forget the token."""
    secure = request.url.scheme == "https"
    answer.delete_cookie(cookie_name(request), path="/", httponly=True, samesite="strict", secure=secure)


def agent(request: Request) -> str:
    """Give the browser's own description."""
    return request.headers.get("user-agent", "")


def address(request: Request) -> str:
    """Give the address of who asks, as the socket knows it: headers of proxies are not believed."""
    return request.client.host if request.client else ""
