"""Request every route of the desk with every method as every user, and send every form as another site could.

Routes are taken from the program, and fields from its templates; `allowed` defines who may do what.
"""

import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Final

import httpx
from starlette.routing import Route

import broker.web
from broker.people import ROLES
from broker.people.login import csrf_token
from broker.web.app import create_app
from tests.attack.allowed import NOBODY, OPEN_ROUTES, REVOKED, TOKENS, may_take, refusals
from tests.attack.ledger import Ledger
from tests.attack.target import LOST, PASSWORD, Target
from tests.broker.web.pages.desks import cup, quickly, whole

ROUTES: Final = "desk: routes"
FORGED: Final = "desk: forms of other sites"
RUBBISH: Final = "desk: rubbish in forms"

OTHER_METHODS: Final = ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "post")
FILLED: Final = {"player": "p01", "name": "results.csv", "code": "ABCDEFG"}
PARAMETER: Final = re.compile(r"\{(\w+)(?::\w+)?\}")
FIELD: Final = re.compile(r'<(?:input|select|textarea|button)[^>]*\bname="([a-z_]+)"')

WORDS: Final = {
    "name": "mallory",
    "full": "Mallory",
    "role": "head_arbiter",
    "password": PASSWORD,
    "pin": "1357",
    "again": "1357",
    "kind": "pause",
    "tables": "1",
    "reason": "because",
    "do": "add",
}
"""Values for fields of these names; other fields are filled with `1`."""


@cache
def routes() -> tuple[tuple[str, frozenset[str]], ...]:
    """Return the paths and methods of all routes of a desk with every page."""
    with quickly(), tempfile.TemporaryDirectory() as folder, whole(Path(folder) / "cup", cup()) as made:
        app = create_app(made.scorer.feed, auth=made.auth, services=made.services)
        found = [one for one in app.routes if isinstance(one, Route)]
    methods: dict[str, frozenset[str]] = {}
    for one in found:
        methods[one.path] = methods.get(one.path, frozenset()) | frozenset(one.methods or ())
    return tuple(methods.items())


def address(path: str) -> str:
    """Return an address of a route."""
    return PARAMETER.sub(lambda match: FILLED.get(match[1], "1"), path)


@cache
def fields() -> dict[str, str]:
    """Return a form that has every field of every page, filled in."""
    pages = Path(broker.web.__file__).parent.rglob("*.html")
    names = {name for page in pages for name in FIELD.findall(page.read_text(encoding="utf-8"))} - {"form"}
    return {name: WORDS.get(name, "1") for name in sorted(names | WORDS.keys())}


@contextmanager
def identities(target: Target) -> Iterator[dict[str, tuple[str, httpx.Client]]]:
    """Return the users who send requests: the role that each must be treated as, and a browser."""
    with ExitStack() as leaving:
        found: dict[str, tuple[str, httpx.Client]] = {
            role: (role, leaving.enter_context(target.logged_in(role))) for role in ROLES
        }
        found["nobody"] = NOBODY, leaving.enter_context(target.browser())
        guess = leaving.enter_context(target.browser())
        guess.cookies.set(target.cookie, "A" * 43)
        found["a guessed session"] = NOBODY, guess
        left = leaving.enter_context(target.logged_in("head_arbiter"))
        session = left.cookies[target.cookie]
        left.post("/logout", data={"form": csrf_token(session)})
        left.cookies.set(target.cookie, session)
        found["a session that was logged out"] = NOBODY, left
        owner = leaving.enter_context(target.logged_in("table_arbiter"))
        thief = leaving.enter_context(target.browser(agent="Mallory's browser"))
        thief.cookies.set(target.cookie, owner.cookies[target.cookie])
        found["a session stolen by another browser"] = NOBODY, thief
        dismissed = leaving.enter_context(target.logged_in(LOST))
        target.dismiss(LOST)
        found["a dismissed arbiter"] = NOBODY, dismissed
        for role in (*TOKENS, REVOKED):
            program = leaving.enter_context(target.browser(address=f"127.7.0.{len(found)}"))
            program.headers["Authorization"] = f"Bearer {target.token(role)}"
            found[role] = role, program
        yield found


def code_of(answer: httpx.Response) -> str:
    """Return the code of a refusal, or the status of another answer."""
    answer.read()
    try:
        return str(answer.json()["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return str(answer.status_code)


def reach(target: Target, ledger: Ledger) -> None:
    """Request every route with every method as every user: only authorised users may get in, and nothing may change."""
    with identities(target) as everybody:
        before = target.kept()
        for who, (role, browser) in everybody.items():
            form = {**fields(), "form": csrf_token(browser.cookies.get(target.cookie) or "")}
            for path, methods in routes():
                if path in OPEN_ROUTES:
                    continue
                for method in ("GET", "HEAD", "POST"):
                    if may_take(role, path) and method != "HEAD":
                        continue  # forms of authorised users are tested with their pages
                    data = form if method == "POST" else None
                    with browser.stream(method, address(path), data=data) as answer:
                        why = _wrong(role, path, answer) if method in methods else _unknown(answer)
                    ledger.tried(ROUTES, f"{method} {path} by {who}", held=not why, why=why)
                for method in OTHER_METHODS if who in {"nobody", "head_arbiter"} else ():
                    status = browser.request(method, address(path)).status_code
                    refused = status in {400, 401, 404, 405}
                    ledger.tried(ROUTES, f"{method} {path} by {who}", held=refused, why=f"answered {status}")
        _unchanged(target, ledger, ROUTES, before)


def _unknown(answer: httpx.Response) -> str:
    """Return what is wrong with the answer to a method that the route does not have; "" if nothing."""
    status = answer.status_code
    return "" if status == httpx.codes.METHOD_NOT_ALLOWED else f"answered {status}, and has no such method"


def _wrong(role: str, path: str, answer: httpx.Response) -> str:
    """Return what is wrong with an answer; "" if it is right for the role."""
    status = answer.status_code
    if may_take(role, path):
        code = code_of(answer) if status >= httpx.codes.BAD_REQUEST else ""
        return f"refused, though {role} may: {code}" if status in {401, 403, 405} or code == "page_unknown" else ""
    return "" if status in refusals(role, path) else f"answered {status}"


def forge(target: Target, ledger: Ledger) -> None:
    """Send every form as a page of another site could make the head arbiter's browser send it; none may be accepted."""
    with target.logged_in("head_arbiter") as browser, target.logged_in("table_arbiter") as other:
        before = target.kept()
        own, others = (csrf_token(one.cookies[target.cookie]) for one in (browser, other))
        evil = "https://evil.example"
        cases: dict[str, tuple[str | None, dict[str, str | None]]] = {
            "without a token": (None, {}),
            "with another session's token": (others, {}),
            "from another site": (own, {"Origin": evil}),
            "from another port": (own, {"Origin": f"{httpx.URL(target.url).scheme}://127.0.0.1:1"}),
            "from a sandboxed page": (own, {"Origin": "null"}),
            "from another site, as the browser says": (own, {"Sec-Fetch-Site": "cross-site"}),
            "from another name of this site": (own, {"Sec-Fetch-Site": "same-site"}),
            "from nowhere": (own, {"Origin": None}),
            "as plain text": (own, {"Content-Type": "text/plain"}),
            "as JSON": (own, {"Content-Type": "application/json"}),
        }
        for path, methods in routes():
            for case, (token, headers) in cases.items() if "POST" in methods and path not in OPEN_ROUTES else ():
                form = fields() if token is None else {**fields(), "form": token}
                request = browser.build_request("POST", address(path), data=form)
                for name, value in headers.items():
                    request.headers.pop(name, None)
                    if value is not None:
                        request.headers[name] = value
                status = browser.send(request).status_code
                # 400 and 409 are validation errors: these forms would be refused for their contents anyway.
                wanted = httpx.codes.BAD_REQUEST if "Content-Type" in headers else httpx.codes.FORBIDDEN
                ledger.tried(FORGED, f"POST {path} {case}", held=status == wanted, why=f"answered {status}")
        for path in ("/login", "/welcome"):
            with target.browser() as visitor:
                data = {"name": "head_arbiter", "password": PASSWORD, "token": "A" * 43, "full": "Mallory"}
                answer = visitor.post(path, data=data, headers={"Origin": evil})
                held = answer.status_code >= httpx.codes.BAD_REQUEST and target.cookie not in visitor.cookies
                ledger.tried(FORGED, f"POST {path} from another site", held=held, why=f"answered {answer.status_code}")
        _unchanged(target, ledger, FORGED, before)


HOSTILE: Final = (
    "",
    "\0",
    "'; DROP TABLE accounts; --",
    "<script>alert(1)</script>",
    "{{7*7}}",
    "../../etc/passwd",
    "9" * 400,
    "-1",
    "1e309",
    "\u202e\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    "\r\nSet-Cookie: homologue=1",
    "x" * 15_000,
)
"""Values to enter in each field of each form, one after the other."""


def rubbish(target: Target, ledger: Ledger) -> None:
    """Enter invalid values in every form as an authorised head arbiter; each must be refused without a server error."""
    with target.logged_in("head_arbiter") as browser:
        before = target.kept()
        token = csrf_token(browser.cookies[target.cookie])
        for path, methods in routes():
            for number, word in enumerate(HOSTILE if "POST" in methods and path != "/logout" else ()):
                form = {
                    **dict.fromkeys(fields(), word if len(word) < 1_000 else word[:50]),
                    "reason": word,
                    "form": token,
                }
                answer = browser.post(address(path), data=form)
                bad = answer.status_code >= httpx.codes.INTERNAL_SERVER_ERROR and code_of(answer) == "500"
                held = not bad and "<script>alert" not in answer.text
                ledger.tried(RUBBISH, f"POST {path}, rubbish {number}", held=held, why=f"answered {answer.status_code}")
        _unchanged(target, ledger, RUBBISH, before)


def _unchanged(target: Target, ledger: Ledger, group: str, before: dict[str, object]) -> None:
    after = target.kept()
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    ledger.tried(group, "nothing is changed by it", held=not changed, why=f"changed: {', '.join(changed)}")
