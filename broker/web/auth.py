"""Who is asking, what their role may do, and how often somebody may guess.

`Access` finds the visitor behind a request and guards each route with a right. Whoever asks for too many codes that do
not exist has to wait.
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
"""Under TLS: a browser takes this name only with `Secure`, for this host alone."""
BROWSER_COOKIE: Final = "homologue-browser"
LONGEST_MARKS: Final = 1_000
YEAR_S: Final = 365 * 24 * 60 * 60

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "::1")

LONGEST_TOKEN: Final = 64

RULINGS_PATH: Final = "/rulings"
"""Where arbiters rule: pages that a desk may have."""

PAPER_PATH: Final = "/paper"
"""Where they key result sheets: of an event whose plays have hand values."""

READ_RIGHTS: Final[frozenset[Right]] = frozenset({"see_public", "see_room", "see_metrics"})

PROGRAMS: Final = ("/api/", "/metrics")
"""What other programs read, whatever they say that they accept."""

Handler = Callable[[Request], Response | Awaitable[Response]]
"""Answers a request: as a coroutine, or in a thread where it is a plain function."""


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """A page in the menu: its address, its title (in English), and who may open it."""

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
"""The desk's pages in the order of an arbiter's day. Who looks finds what their desk has and their role may open."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks. Without a session: nobody who is known, and what such a one may do here."""

    session: login.LoginSession | None = None
    form: str = ""
    """What every form of this session carries."""
    open_room: bool = False
    open_public: bool = False
    withheld: frozenset[Right] = frozenset()
    """What nobody can do at this desk."""
    pages: frozenset[str] = frozenset()
    """The addresses of the desk's pages."""
    disk: DiskLevel = "ample"
    """How much room there is on the scorer's disk, for who has logged in."""
    plain: bool = False
    """Whether what tables and the desk send is not encrypted."""
    banners: tuple[Message, ...] = ()
    """What stands in red over the pages of who has logged in."""
    token: programs.Token | None = None
    """By which another program reads."""
    address: str = ""

    @property
    def name(self) -> str:
        """How the audit log calls who asks; empty: nobody who is known."""
        if self.session:
            return self.session.account.name
        return f"(token {self.token.name})" if self.token else ""

    @property
    def is_head(self) -> bool:
        """Whether the head arbiter asks."""
        return self.session is not None and self.session.account.role == "head_arbiter"

    def may(self, right: Right) -> bool:
        """Return whether this visitor has a right. In an open room everybody may look, and nobody may do anything.

        Where the desk is `open_public` everybody may see what players may know.
        """
        if right in self.withheld:
            return False
        if self.token:
            return self.token.may(right)
        if self.session is None:
            return (self.open_room and right in READ_RIGHTS) or (self.open_public and right == "see_public")
        return self.session.account.may(right)

    @property
    def rules(self) -> bool:
        """Whether this visitor may rule on plays, and this desk has the pages for it."""
        return self.may("rule") and RULINGS_PATH in self.pages

    @property
    def keys_sheets(self) -> bool:
        """Whether this visitor may key result sheets, and this event has any."""
        return self.may("rule") and PAPER_PATH in self.pages

    @property
    def menu(self) -> dict[str, list[MenuEntry]]:
        """The pages that this visitor may open, under the part of the day (in English) that they belong to."""
        found = {
            part: [entry for entry in entries if entry.path in self.pages and self.may(entry.right)]
            for part, entries in MENU.items()
        }
        return {part: entries for part, entries in found.items() if entries}


class Access:
    """Knows visitors. `open_room`: without any account everybody may look, as the desk's address is this machine's.

    `open_public`: who has not logged in may see what players may know. `room` returns what is known of it now. Nobody
    has a right that is `withheld`: there is nothing at this desk to use it on.
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
        self._misses = Misses()
        self.pages = frozenset[str]()
        """The pages that this desk has."""

    def visitor(self, request: Request) -> Visitor:
        """Return who asks."""
        if self.auth is None:
            return self._stranger(request, open_room=self._open_room)
        token = request.cookies.get(cookie_name(request), "")[:LONGEST_TOKEN]
        session = self.auth.known(token, **browser_of(request)) if token else None
        if session is None:
            return self._stranger(request, open_room=self._open_room and not self.auth.accounts.any())
        view = self._room()
        return replace(
            self._stranger(request),
            session=session,
            form=login.csrf_token(token),
            withheld=self._withheld,
            disk=view.disk,
            banners=banners(view),
            address=session.address,
        )

    def reader(self, request: Request) -> Visitor:
        """Return who reads as a program: by a token, or as `visitor`. Raises TokenUnknown, TooManyMisses."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or self.auth is None:
            return self.visitor(request)
        address, now = client_address(request), self.auth.clock()
        if wait := self._misses.wait_ms(address, now):
            raise TooManyMisses(-(-wait // 1000))
        found = self.auth.tokens.find(token.strip()[:LONGEST_TOKEN])
        if found is None:
            self._misses.missed(address, now)
            raise errors.TokenUnknown("this token opens nothing: it was revoked, or was never one")
        return Visitor(token=found, address=address)

    def _stranger(self, request: Request, *, open_room: bool = False) -> Visitor:
        plain = self.unencrypted(request)
        return Visitor(open_room=open_room, open_public=self._open_public, pages=self.pages, plain=plain)

    def unencrypted(self, request: Request) -> bool:
        """Return whether what is typed here, or what the event's parts send each other, crosses a network as it is."""
        return self._plain or (request.url.scheme == "http" and client_address(request) not in LOOPBACK_NAMES)

    def goes_on(self, visitor: Visitor) -> bool:
        """Return whether a stream to this visitor may go on."""
        if visitor.session is None or self.auth is None:
            return self.auth is None or not visitor.open_room or not self.auth.accounts.any()
        return self.auth.goes_on(visitor.session)

    def route(
        self, path: str, answer: Handler, right: Right, methods: tuple[str, ...] = ("GET",), *, tokens: bool = False
    ) -> Route:
        """Return a route that only those with a right may take; the handler finds the visitor in `request.state`.

        `tokens`: it is for other programs too.
        """

        async def guarded(request: Request) -> Response:
            visitor = await run_in_threadpool(self.reader if tokens else self.visitor, request)
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
    """Return whether a person reads the answer: programs and scripts are told by code and not by a page."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(PROGRAMS)


MOST_ASKED, LONGEST_ASKED = 8, 100
"""So many words of an address stay, of so many characters: no page asks for more."""

LONGEST_TAG: Final = 16
"""Of a language."""

OWN_PAGE: Final = re.compile(r"/(?!/)[!-\[\]-~]{0,99}")
"""Printable ASCII but the backslash, which browsers take for a slash: two of these begin the name of another site."""


def kept_query(request: Request) -> dict[str, str]:
    """Return what of an address stays when the language is changed, and while a page follows the room."""
    asked = [one for one in request.query_params.items() if one[0] not in {"lang", "done"}]
    return {name[:LONGEST_ASKED]: text[:LONGEST_ASKED] for name, text in asked[:MOST_ASKED]}


def login_address(request: Request) -> str:
    """Return the login page's, with the language that was asked for and the page to go on to."""
    root, wish = request.scope.get("root_path", ""), request.query_params.get("lang", "")[:LONGEST_TAG]
    asked = own_page(f"{quote(request.url.path.removeprefix(root))}?{urlencode(kept_query(request))}".removesuffix("?"))
    kept = {"lang": wish, "page": "" if asked == "/" else asked}
    return f"{root}/login?{urlencode({name: text for name, text in kept.items() if text})}".removesuffix("?")


def own_page(address: str) -> str:
    """Return an address if it is that of a page on this desk, and on no other site; else nothing."""
    return address if OWN_PAGE.fullmatch(address) else ""


def visitor_of(request: Request) -> Visitor:
    """Return the visitor that `Access.route` found."""
    found: Visitor = request.state.visitor
    return found


def cookie_name(request: Request) -> str:
    """Return the cookie's name on this connection."""
    return SECURE_COOKIE if request.url.scheme == "https" else COOKIE


def set_session_cookie(request: Request, answer: Response, token: str) -> None:
    """Let the browser keep a session's token until it is closed: out of reach of scripts and of other sites."""
    secure = request.url.scheme == "https"
    answer.set_cookie(cookie_name(request), token, path="/", httponly=True, samesite="strict", secure=secure)


def delete_session_cookie(request: Request, answer: Response) -> None:
    """Let the browser forget the token."""
    secure = request.url.scheme == "https"
    answer.delete_cookie(cookie_name(request), path="/", httponly=True, samesite="strict", secure=secure)


def browser_marks(request: Request) -> str:
    """Return what this browser has of logins before."""
    return request.cookies.get(BROWSER_COOKIE, "")[:LONGEST_MARKS]


def set_browser_marks(request: Request, answer: Response, marks: str) -> None:
    """Let the browser keep that somebody has logged in here, for a year: nobody else can then keep them out."""
    secure = request.url.scheme == "https"
    answer.set_cookie(
        BROWSER_COOKIE, marks, max_age=YEAR_S, path="/login", httponly=True, samesite="strict", secure=secure
    )


def browser_of(request: Request) -> dict[str, str]:
    """Return the browser's own description, and its address."""
    return {"agent": request.headers.get("user-agent", ""), "address": client_address(request)}


def client_address(request: Request) -> str:
    """Return the address of who asks, as the socket knows it: headers of proxies are not believed."""
    return request.client.host if request.client else ""


MOST_MISSES: Final = 40
"""Misses of one network in a window, of receipts. Their 80 bits keep codes safe: this spares the machine."""

ANY_NETWORK: Final = ""


class Misses(login.RecentFailures):
    """Counts misses within a window that slides, by the network that somebody cannot choose (of IPv6 the first half).

    Nobody keeps another network out: however many misses there are in all, each has its first tries.
    """

    def __init__(self, most: int = MOST_MISSES, *, in_all: int = 0, fresh: int = 0) -> None:
        """Hear no more of a network after `most` misses, or after `fresh` where there were `in_all` of everybody."""
        super().__init__()
        self._most, self._in_all, self._fresh = most, in_all, fresh

    def wait_ms(self, address: str, now: int) -> int:
        """Return how long from `now` nothing more is looked up for an address; 0: it is."""
        network = login.network_of(address)
        wait = self._wait(network, self._most, now)
        if self._in_all and (of_all := self._wait(ANY_NETWORK, self._in_all, now)):
            return max(wait, min(of_all, self._wait(network, self._fresh, now)))
        return wait

    def missed(self, address: str, now: int, *, of_all: bool = True) -> None:
        """Count a miss: of its network, and where it could have been a guess, of all."""
        self._count(login.network_of(address), self._most, now)
        if self._in_all and of_all:
            self._count(ANY_NETWORK, self._in_all, now)


def note_action(auth: Authentication, request: Request, action: str, about: str, detail: str = "") -> None:
    """Note in the audit log what somebody with a session does."""
    auth.audit.note(auth.clock(), account_of(request).name, action, about, detail, address=client_address(request))


def account_of(request: Request) -> Account:
    """Return whose session a request has: of routes that ask for what nobody may do without one."""
    session = visitor_of(request).session
    if session is None:
        raise TypeError("this route lets nobody in without a session")
    return session.account
