"""In and out: the form to log in, the way out, and the link of the first start."""

from collections.abc import Sequence

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.desk.access import COOKIE, Access, address, agent, cookie_name, give_cookie, take_cookie
from broker.desk.errors import DeskError
from broker.desk.forms import Form, read_form
from broker.desk.forms_page import lead, render
from broker.people.accounts import Account
from broker.people.door import Door
from broker.people.errors import LinkSpent, PeopleError
from broker.people.passwords import SHORTEST

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")


class Login:
    """Answers who wants to come in."""

    def __init__(self, access: Access, door: Door) -> None:
        self._access, self._door = access, door

    def routes(self) -> Sequence[Route]:
        """Give the routes; these alone need no session."""
        return [
            Route("/login", self.form),
            Route("/login", self.log_in, methods=["POST"]),
            Route("/logout", self.log_out, methods=["POST"]),
            Route("/welcome", self.welcome_form),
            Route("/welcome", self.welcome, methods=["POST"]),
        ]

    async def form(self, request: Request) -> Response:
        """Show the form."""
        return self._login_page(request)

    async def log_in(self, request: Request) -> Response:
        """Let somebody in, or say that name and password do not belong together."""
        name = ""
        try:
            form = await read_form(request, None)
            name = form.get("name", "").strip()[:32]
            before = await run_in_threadpool(self._access.visitor, request)
            token = await run_in_threadpool(self._begin, request, name, form.get("password", ""))
        except (PeopleError, DeskError) as error:
            return self._login_page(request, name=name, error=error)
        if before.session:  # this browser's old session would go on unseen
            await run_in_threadpool(self._door.log_out, before.session, address(request))
        return self._inside(request, token)

    async def log_out(self, request: Request) -> Response:
        """End this browser's session."""
        visitor = await run_in_threadpool(self._access.visitor, request)
        answer = lead(request, "/login")
        if visitor.session:
            await read_form(request, visitor)
            await run_in_threadpool(self._door.log_out, visitor.session, address(request))
        take_cookie(request, answer)
        answer.headers["Clear-Site-Data"] = '"cache"'
        return answer

    async def welcome_form(self, request: Request) -> Response:
        """Show the form by which the first head arbiter is made."""
        token = request.query_params.get("token", "")[:64]
        try:
            await run_in_threadpool(self._door.check_link, token)
        except LinkSpent as error:
            return self._welcome_page(request, {}, error=error)
        return self._welcome_page(request, {"token": token})

    async def welcome(self, request: Request) -> Response:
        """Make the first head arbiter, and let them in."""
        form: Form = {}
        try:
            form = await read_form(request, None)
            account = await run_in_threadpool(self._first, form, address(request))
        except LinkSpent as error:
            return self._welcome_page(request, {}, error=error)
        except (PeopleError, DeskError) as error:
            return self._welcome_page(request, form, error=error)
        token = self._door.admit(account, agent=agent(request), address=address(request))
        return self._inside(request, token)

    def _first(self, form: Form, where: str) -> Account:
        token, name, full, password = (form.get(field, "") for field in ("token", "name", "full", "password"))
        return self._door.welcome(token, name, full, password, where)

    def _begin(self, request: Request, name: str, password: str) -> str:
        return self._door.log_in(name, password, agent=agent(request), address=address(request))

    def _inside(self, request: Request, token: str) -> Response:
        answer = lead(request, "/")
        give_cookie(request, answer, token)
        return answer

    def _login_page(self, request: Request, *, name: str = "", error: Exception | None = None) -> Response:
        values = {"name": name, "plain": is_plain(request)}
        return render(request, "login.html", "log_in", error=error, values=values)

    def _welcome_page(self, request: Request, form: Form, error: Exception | None = None) -> Response:
        token, name, full = (form.get(field, "")[:64] for field in ("token", "name", "full"))
        plain = is_plain(request)
        filled: dict[str, object] = {"token": token, "name": name, "full": full}
        return render(
            request, "welcome.html", "welcome", error=error, values=filled | {"plain": plain, "shortest": SHORTEST}
        )


def is_plain(request: Request) -> bool:
    """Say whether a password would cross a network as it is typed."""
    return cookie_name(request) == COOKIE and address(request) not in LOOPBACK_NAMES
