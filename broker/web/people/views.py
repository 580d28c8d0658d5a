"""Logging in and out, the link of the first start, and the page on which a head arbiter manages accounts."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from broker.i18n import N_
from broker.people import ROLES, Account, Actor, AuditEntry, Authentication, PeopleError, programs
from broker.people.accounts import EMBARGO_READ, SHORTEST_PASSWORD, audit_line
from broker.people.errors import AuditBroken, LinkSpent
from broker.web import (
    Access,
    Form,
    Visitor,
    client_address,
    errors,
    form_page,
    forms,
    redirect,
    render,
    render_page,
    visitor_of,
)
from broker.web.auth import (
    browser_marks,
    browser_of,
    delete_session_cookie,
    own_page,
    set_browser_marks,
    set_session_cookie,
)


class Login:
    """Serves people who want to log in."""

    def __init__(self, access: Access, auth: Authentication) -> None:
        self._access, self._auth = access, auth

    def routes(self) -> Sequence[Route]:
        """Return the routes; these need no session."""
        return [
            Route("/login", self.form),
            Route("/login", self.log_in, methods=["POST"]),
            Route("/logout", self.log_out, methods=["POST"]),
            Route("/welcome", self.welcome_form),
            Route("/welcome", self.welcome, methods=["POST"]),
        ]

    async def form(self, request: Request) -> Response:
        """Show the login form."""
        return self._login_page(request, page=request.query_params.get("page", ""))

    async def log_in(self, request: Request) -> Response:
        """Log somebody in, or report that name and password do not match."""
        name = page = ""
        try:
            form = await forms.read_form(request, None)
            name, page = form.get("name", "").strip()[:32], form.get("page", "")
            before = await run_in_threadpool(self._access.visitor, request)
            known = {**browser_of(request), "browser": browser_marks(request)}
            token = await run_in_threadpool(self._auth.log_in, name, form.get("password", ""), **known)
        except (PeopleError, errors.DeskError) as error:
            return self._login_page(request, name=name, page=page, error=error)
        if before.session:  # else this browser's old session would continue unnoticed
            await run_in_threadpool(self._auth.log_out, before.session, client_address(request))
        return await self._logged_in(request, token, own_page(page) or "/")

    async def log_out(self, request: Request) -> Response:
        """End this browser's session."""
        visitor = await run_in_threadpool(self._access.visitor, request)
        answer = redirect(request, "/login")
        if visitor.session:
            await forms.read_form(request, visitor)
            await run_in_threadpool(self._auth.log_out, visitor.session, client_address(request))
        delete_session_cookie(request, answer)
        answer.headers["Clear-Site-Data"] = '"cache"'
        return answer

    async def welcome_form(self, request: Request) -> Response:
        """Show the form that creates the first head arbiter."""
        token = request.query_params.get("token", "")[:64]
        try:
            await run_in_threadpool(self._auth.check_link, token)
        except LinkSpent as error:
            return self._welcome_page(request, {}, error=error)
        return self._welcome_page(request, {"token": token})

    async def welcome(self, request: Request) -> Response:
        """Create the first head arbiter and log them in."""
        form: Form = {}
        try:
            form = await forms.read_form(request, None)
            account = await run_in_threadpool(self._create_first, form, client_address(request))
        except LinkSpent as error:
            return self._welcome_page(request, {}, error=error)
        except (PeopleError, errors.DeskError) as error:
            return self._welcome_page(request, form, error=error)
        token = self._auth.admit(account, **browser_of(request))
        return await self._logged_in(request, token)

    def _create_first(self, form: Form, where: str) -> Account:
        token, name, full, password = (form.get(field, "") for field in ("token", "name", "full", "password"))
        return self._auth.welcome(token, name, full, password, where)

    async def _logged_in(self, request: Request, token: str, page: str = "/") -> Response:
        answer = redirect(request, page)
        set_session_cookie(request, answer, token)
        set_browser_marks(request, answer, await run_in_threadpool(self._marks, request, token))
        return answer

    def _marks(self, request: Request, token: str) -> str:
        """Return the browser's marks, with that of the account that has just logged in."""
        session = self._auth.known(token, **browser_of(request))
        marks = browser_marks(request)
        return self._auth.with_mark(session.account, marks) if session else marks

    def _login_page(self, request: Request, *, page: str, name: str = "", error: Exception | None = None) -> Response:
        visitor, filled = Visitor(plain=self._access.unencrypted(request)), {"name": name, "page": own_page(page)}
        return render_page(request, "login.html", N_("Log in"), visitor=visitor, error=error, values=filled)

    def _welcome_page(self, request: Request, form: Form, error: Exception | None = None) -> Response:
        token, name, full = (form.get(field, "")[:64] for field in ("token", "name", "full"))
        visitor = Visitor(plain=self._access.unencrypted(request))
        filled: dict[str, object] = {"token": token, "name": name, "full": full}
        return render_page(
            request,
            "welcome.html",
            N_("The first head arbiter"),
            visitor=visitor,
            error=error,
            values=filled | {"shortest": SHORTEST_PASSWORD},
        )


SHOWN: Final = 50
"""Audit log entries on the page; the file has all of them."""


class PeoplePage:
    """Serves head arbiters."""

    def __init__(self, access: Access, auth: Authentication) -> None:
        self._access, self._auth = access, auth

    def routes(self) -> Sequence[Route]:
        """Return the routes of the page and the audit log."""
        return [
            *form_page(self._access, "/people", self._page, self._act, "keep_people"),
            self._access.route("/audit.csv", self.audit, "keep_people"),
        ]

    async def audit(self, _request: Request) -> Response:
        """Return the whole audit log as a CSV file."""
        name = {"Content-Disposition": 'attachment; filename="audit.csv"'}
        return StreamingResponse(iterate_in_threadpool(self._lines()), media_type="text/csv", headers=name)

    def _lines(self) -> Iterator[str]:
        yield render.BYTE_ORDER_MARK + ",".join(AuditEntry._fields) + "\r\n"
        try:
            for entry in self._auth.audit.checked():
                yield audit_line(entry, as_csv=True)
        except AuditBroken as broken:
            yield f"{broken.code},{broken}\r\n"

    def _act(self, request: Request, form: Form) -> Response:
        """Carry out the action of a form."""
        visitor = visitor_of(request)
        by = Actor(visitor.name, client_address(request))
        accounts, name = self._auth.accounts, form.get("name", "").strip()
        actions: dict[str, Callable[[], object]] = {
            "add": lambda: accounts.add(name, form.get("full", ""), form.get("role", ""), form.get("password", ""), by),
            "disable": lambda: accounts.disable(name, by),
            "enable": lambda: accounts.enable(name, by),
            "password": lambda: accounts.set_password(name, form.get("password", ""), by),
            "remove_webhook": lambda: self._auth.webhooks.remove(name, by),
            "hurry_webhook": lambda: self._auth.webhooks.hurry(name, by),
            "revoke_token": lambda: self._auth.tokens.revoke(name, by),
            "end_sessions": lambda: accounts.end_sessions(name, by, but=visitor.session.key if visitor.session else ""),
        }
        if form.get("action") == "add_token":
            token = self._auth.tokens.add(name, form.get("role", ""), by)
            page = self._page(request, {}, token=token)
            page.headers["Cache-Control"] = "no-store"  # a token must not be shown again
            return page
        act = actions.get(form.get("action", ""))
        if act is None:
            raise errors.FormMalformed("the form names no known action")
        act()
        return redirect(request, "/people", done="saved")

    def _page(
        self,
        request: Request,
        form: Form,
        error: Exception | None = None,
        token: str = "",
    ) -> Response:
        """Show the page, with a new `token` shown only this once."""
        adding, asking = (form if form.get("action") == action else {} for action in ("add", "add_token"))
        values: dict[str, object] = {
            "accounts": [(one, self._auth.sessions.of(one.name)) for one in self._auth.accounts.all()],
            "entries": self._auth.audit.newest(SHOWN),
            "embargo_reads": self._auth.audit.newest(SHOWN, EMBARGO_READ),
            "tokens": self._auth.tokens.all(),
            "token": token,
            "webhooks": self._auth.webhooks.all(),
            "token_roles": tuple(programs.TOKEN_RIGHTS),
            "roles": ROLES,
            "shortest": SHORTEST_PASSWORD,
            "filled": {field: adding.get(field, "")[:64] for field in ("name", "full", "role")},
            "new_token": {field: asking.get(field, "")[:64] for field in ("name", "role")},
        }
        return render_page(request, "people.html", N_("People"), error=error, done=N_("Saved."), values=values)
