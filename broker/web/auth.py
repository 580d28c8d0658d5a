"""Who sends a request, what their role allows, and how many wrong guesses are tolerated.

`Access` finds the visitor behind a request and guards each route with a right. Clients that ask for too many codes that
do not exist have to wait.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from inspect import iscoroutinefunction
from typing import Final
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from broker.i18n import N_, Message
from broker.people import Account, Authentication, Right, errors, login, programs
from broker.scorer import READ_ONLY, DashboardView, DiskLevel
from broker.web.errors import DeskReadOnly, LoginNeeded, NotAllowed, TooManyMisses
from broker.web.labels import banners

COOKIE: Final = "homologue"
SECURE_COOKIE: Final = "__Host-homologue"
"""The cookie's name under TLS. Browsers accept this prefix only with `Secure`, and for this host alone."""
BROWSER_COOKIE: Final = "homologue-browser"
LONGEST_MARKS: Final = 1_000
YEAR_S: Final = 365 * 24 * 60 * 60

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "::1")

LONGEST_TOKEN: Final = 64

RULINGS_PATH: Final = "/rulings"
"""The pages where arbiters make rulings, if the desk has them."""

PAPER_PATH: Final = "/paper"
"""The pages where arbiters key in result sheets, if the event's plays have hand values."""

READ_RIGHTS: Final[frozenset[Right]] = frozenset({"see_public", "see_room", "see_metrics"})

PROGRAMS: Final = ("/api/", "/metrics")
"""Paths read by other programs, whatever their Accept header says."""

Handler = Callable[[Request], Response | Awaitable[Response]]
"""Answers a request: a coroutine function, or a plain function, which runs in a thread."""


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """A page in the menu: its address, its title (in English), and the right to open it."""

    path: str
    title: str
    right: Right


MENU: Final[dict[str, tuple[MenuEntry, ...]]] = {
    N_("Before play"): (
        MenuEntry("/setup", N_("Set-up"), "set_up"),
        MenuEntry("/people", N_("People"), "keep_people"),
        MenuEntry("/pairing", N_("Pair tables"), "set_up"),
        MenuEntry("/checkin", N_("Check-in"), "check_in"),
        MenuEntry("/players", N_("Players"), "set_up"),
        MenuEntry("/seating", N_("Seating plan"), "see_public"),
    ),
    N_("During play"): (
        MenuEntry("/", N_("Room"), "see_public"),
        MenuEntry("/orders", N_("Orders"), "give_orders"),
        MenuEntry(RULINGS_PATH, N_("Rulings"), "see_room"),
        MenuEntry("/what-happened", N_("What happened?"), "rule"),
        MenuEntry("/what-if", N_("What if"), "see_room"),
        MenuEntry("/riichi", N_("Riichi"), "see_room"),
        MenuEntry(PAPER_PATH, N_("Paper"), "rule"),
        MenuEntry("/carriers", N_("Carriers"), "see_public"),
        MenuEntry("/grid", N_("Grid"), "see_room"),
        MenuEntry("/wire", N_("Feed"), "see_room"),
    ),
    N_("Results"): (
        MenuEntry("/standings", N_("Standings"), "see_public"),
        MenuEntry("/deals", N_("Deals"), "see_public"),
        MenuEntry("/luck", N_("Luck and strength"), "see_public"),
        MenuEntry("/final", N_("Stages and final"), "see_room"),
        MenuEntry("/ceremony", N_("Ceremony"), "see_public"),
        MenuEntry("/display", N_("Display"), "see_public"),
        MenuEntry("/exports", N_("Exports"), "see_public"),
    ),
}
"""The desk's pages in the order of an arbiter's day. Visitors see those that the desk has and their role may open."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """The sender of a request. Without a session or token they are unknown, and `open_*` say what they may see."""

    session: login.LoginSession | None = None
    csrf_token: str = ""
    """The CSRF token that every form of this session carries."""
    open_room: bool = False
    open_public: bool = False
    withheld: frozenset[Right] = frozenset()
    """Rights that nobody has at this desk."""
    pages: frozenset[str] = frozenset()
    """The paths of the desk's pages."""
    disk: DiskLevel = "ample"
    """Free space on the scorer's disk; only set for users who have logged in."""
    plain: bool = False
    """Whether traffic of tables and desk is unencrypted."""
    banners: tuple[Message, ...] = ()
    """Warnings in red on every page of a user who may see the room; empty for others."""
    token: programs.Token | None = None
    """The token with which another program reads."""
    address: str = ""

    @property
    def name(self) -> str:
        """The visitor's name in the audit log; empty if unknown."""
        if self.session:
            return self.session.account.name
        return f"(token {self.token.name})" if self.token else ""

    @property
    def is_head(self) -> bool:
        """Whether the visitor is the head arbiter."""
        return self.session is not None and self.session.account.role == "head_arbiter"

    def may(self, right: Right) -> bool:
        """Return whether this visitor has a right. In an open room everybody may look, and nobody may do anything.

        At a desk that is `open_public` everybody may see what players may know.
        """
        if right in self.withheld:
            return False
        if self.token:
            return self.token.may(right)
        if self.session is None:
            return (self.open_room and right in READ_RIGHTS) or (self.open_public and right == "see_public")
        return self.session.account.may(right)

    @property
    def may_rule(self) -> bool:
        """Whether this visitor may rule on plays and this desk has the pages for it."""
        return self.may("rule") and RULINGS_PATH in self.pages

    @property
    def may_key_sheets(self) -> bool:
        """Whether this visitor may key in result sheets and this event has any."""
        return self.may("rule") and PAPER_PATH in self.pages

    @property
    def menu(self) -> dict[str, list[MenuEntry]]:
        """The pages that this visitor may open, grouped by part of the day (in English)."""
        found = {
            part: [entry for entry in entries if entry.path in self.pages and self.may(entry.right)]
            for part, entries in MENU.items()
        }
        return {part: entries for part, entries in found.items() if entries}


class Access:
    """Identifies visitors and guards routes.

    `open_room`: while there is no account, everybody may look, because only this machine can reach the desk.
    `open_public`: visitors who have not logged in may see what players may know. `room` returns the current view.
    Nobody gets a right in `withheld`: this desk has nothing to use it on.
    """

    def __init__(
        self,
        auth: Authentication | None,
        room: Callable[[], DashboardView],
        *,
        open_room: bool,
        open_public: bool = False,
        plain: bool = False,
        withheld: frozenset[Right] = frozenset(),
    ) -> None:
        self.auth, self._room, self._withheld = auth, room, withheld
        self._open_room, self._open_public, self._plain = open_room, open_public, plain
        self._misses = MissLimiter()
        self.pages = frozenset[str]()
        """The paths of this desk's pages."""

    def visitor(self, request: Request) -> Visitor:
        """Return the visitor who sent a request."""
        if self.auth is None:
            return self._anonymous(request, open_room=self._open_room)
        token = request.cookies.get(cookie_name(request), "")[:LONGEST_TOKEN]
        session = self.auth.known(token, **browser_of(request)) if token else None
        if session is None:
            return self._anonymous(request, open_room=self._open_room and not self.auth.accounts.any())
        view = self._room()
        visitor = replace(
            self._anonymous(request),
            session=session,
            csrf_token=login.csrf_token(token),
            withheld=self._withheld,
            disk=view.disk,
            address=session.address,
        )
        return replace(visitor, banners=banners(view)) if visitor.may("see_room") else visitor

    def visitor_or_program(self, request: Request) -> Visitor:
        """Return the program that reads with a token, else the `visitor`. Raises TokenUnknown, TooManyMisses."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or self.auth is None:
            return self.visitor(request)
        address, now = client_address(request), self.auth.clock()
        if wait := self._misses.wait_ms(address, now):
            raise TooManyMisses(-(-wait // 1000))
        found = self.auth.tokens.find(token.strip()[:LONGEST_TOKEN])
        if found is None:
            self._misses.count_miss(address, now)
            raise errors.TokenUnknown("this token is not valid: it was revoked or never existed")
        return Visitor(token=found, address=address)

    def _anonymous(self, request: Request, *, open_room: bool = False) -> Visitor:
        plain = self.unencrypted(request)
        return Visitor(open_room=open_room, open_public=self._open_public, pages=self.pages, plain=plain)

    def unencrypted(self, request: Request) -> bool:
        """Return whether this page, or traffic between the event's machines, crosses a network unencrypted."""
        return self._plain or (request.url.scheme == "http" and client_address(request) not in LOOPBACK_NAMES)

    def may_continue(self, visitor: Visitor) -> bool:
        """Return whether a stream to this visitor may continue."""
        if visitor.session is None or self.auth is None:
            return self.auth is None or not visitor.open_room or not self.auth.accounts.any()
        return self.auth.goes_on(visitor.session)

    def route(
        self, path: str, answer: Handler, right: Right, methods: tuple[str, ...] = ("GET",), *, tokens: bool = False
    ) -> Route:
        """Return a route that requires a right; its handler finds the visitor in `request.state`.

        With `tokens`, other programs may use it too.
        """

        async def guarded(request: Request) -> Response:
            visitor = await run_in_threadpool(self.visitor_or_program if tokens else self.visitor, request)
            request.state.visitor = visitor
            if visitor.may(right):
                if request.method == "POST" and visitor.disk in READ_ONLY:
                    raise DeskReadOnly("the scorer's disk is nearly full, and the desk is read-only")
                found = answer(request) if iscoroutinefunction(answer) else await run_in_threadpool(answer, request)
                return await found if isinstance(found, Awaitable) else found
            if visitor.session or visitor.token:
                raise NotAllowed("your role may not do this")
            if self.auth is not None and request.method in {"GET", "HEAD"} and wants_html(request):
                return RedirectResponse(login_address(request), status_code=303)
            raise LoginNeeded("log in first")

        return Route(path, guarded, methods=list(methods))


def wants_html(request: Request) -> bool:
    """Return whether a person reads the answer. Programs and scripts get an error code instead of a page."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(PROGRAMS)


MOST_QUERY_FIELDS, LONGEST_QUERY_FIELD = 8, 100
"""Limits on the part of a query that is kept: the number of fields, and characters in each. No page needs more."""

LONGEST_TAG: Final = 16
"""Maximum length of a language tag."""

OWN_PAGE: Final = re.compile(r"/(?!/)[!-\[\]-~]{0,99}")
"""Printable ASCII without the backslash, which browsers read as a slash: two slashes would begin another site's
name."""


def query_to_keep(request: Request) -> dict[str, str]:
    """Return the query to keep when the language changes and while a page is live."""
    fields = [field for field in request.query_params.items() if field[0] not in {"lang", "done"}]
    return {name[:LONGEST_QUERY_FIELD]: text[:LONGEST_QUERY_FIELD] for name, text in fields[:MOST_QUERY_FIELDS]}


def login_address(request: Request) -> str:
    """Return the address of the login page, with the requested language and the page to continue to."""
    root, language = request.scope.get("root_path", ""), request.query_params.get("lang", "")[:LONGEST_TAG]
    path = quote(request.url.path.removeprefix(root))
    page = own_page(f"{path}?{urlencode(query_to_keep(request))}".removesuffix("?"))
    query = {"lang": language, "page": "" if page == "/" else page}
    return f"{root}/login?{urlencode({name: text for name, text in query.items() if text})}".removesuffix("?")


def own_page(address: str) -> str:
    """Return an address if it is a page of this desk and not of another site, else an empty string."""
    return address if OWN_PAGE.fullmatch(address) else ""


def visitor_of(request: Request) -> Visitor:
    """Return the visitor found by `Access.route`."""
    found: Visitor = request.state.visitor
    return found


def cookie_name(request: Request) -> str:
    """Return the session cookie's name for this connection."""
    return SECURE_COOKIE if request.url.scheme == "https" else COOKIE


def set_session_cookie(request: Request, answer: Response, token: str) -> None:
    """Store a session's token in the browser until it is closed, out of reach of scripts and of other sites."""
    secure = request.url.scheme == "https"
    answer.set_cookie(cookie_name(request), token, path="/", httponly=True, samesite="strict", secure=secure)


def delete_session_cookie(request: Request, answer: Response) -> None:
    """Remove the session's token from the browser."""
    secure = request.url.scheme == "https"
    answer.delete_cookie(cookie_name(request), path="/", httponly=True, samesite="strict", secure=secure)


def browser_marks(request: Request) -> str:
    """Return the marks of earlier logins that this browser has stored."""
    return request.cookies.get(BROWSER_COOKIE, "")[:LONGEST_MARKS]


def set_browser_marks(request: Request, answer: Response, marks: str) -> None:
    """Store for a year that somebody has logged in with this browser, so that nobody else can lock them out."""
    secure = request.url.scheme == "https"
    answer.set_cookie(
        BROWSER_COOKIE, marks, max_age=YEAR_S, path="/login", httponly=True, samesite="strict", secure=secure
    )


def browser_of(request: Request) -> dict[str, str]:
    """Return the browser's user agent and address."""
    return {"agent": request.headers.get("user-agent", ""), "address": client_address(request)}


def client_address(request: Request) -> str:
    """Return the client's address as the socket has it. Proxy headers are not trusted."""
    return request.client.host if request.client else ""


MOST_MISSES: Final = 40
"""Wrong receipt codes allowed per network in a window. Their 80 bits keep codes safe; the limit spares the machine."""

ANY_NETWORK: Final = ""


class MissLimiter(login.RecentFailures):
    """Counts misses per network in a sliding window. An IPv6 network is the first half of an address.

    Clients cannot choose their network, and none can lock out another: each network gets its first tries, however many
    misses there are in all.
    """

    def __init__(self, most: int = MOST_MISSES, *, in_all: int = 0, fresh: int = 0) -> None:
        """Block a network after `most` misses, or after `fresh` once everybody together has had `in_all`."""
        super().__init__()
        self._most, self._in_all, self._fresh = most, in_all, fresh

    def wait_ms(self, address: str, now: int) -> int:
        """Return for how many ms from `now` nothing is looked up for an address; 0 if it is not blocked."""
        network = login.network_of(address)
        wait = self._wait(network, self._most, now)
        if self._in_all and (of_all := self._wait(ANY_NETWORK, self._in_all, now)):
            return max(wait, min(of_all, self._wait(network, self._fresh, now)))
        return wait

    def count_miss(self, address: str, now: int, *, of_all: bool = True) -> None:
        """Count a miss for its network and, if it could have been a guess, towards the total."""
        self._count(login.network_of(address), self._most, now)
        if self._in_all and of_all:
            self._count(ANY_NETWORK, self._in_all, now)


def note_action(auth: Authentication, request: Request, action: str, about: str, detail: str = "") -> None:
    """Write an action of a user with a session to the audit log."""
    auth.audit.note(auth.clock(), account_of(request).name, action, about, detail, address=client_address(request))


def account_of(request: Request) -> Account:
    """Return the account of a request's session. For routes with a right that only accounts have."""
    session = visitor_of(request).session
    if session is None:
        raise TypeError("this route lets nobody in without a session")
    return session.account
