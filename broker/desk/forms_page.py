"""Pages with forms: one way to render them, with who has logged in and what went wrong."""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from broker.desk.access import Visitor
from broker.desk.catalogue import LANGUAGES, Catalogue, catalogues, choose
from broker.desk.page import environment
from broker.desk.why import sentence, told


def language(request: Request) -> Catalogue:
    """Give the language that a reader gets."""
    return choose(request.query_params.get("lang"), request.headers.get("accept-language", ""))


def render(
    request: Request,
    template: str,
    title: str,
    visitor: Visitor | None = None,
    *,
    error: Exception | None = None,
    done: str = "",
    values: Mapping[str, object] = MappingProxyType({}),
) -> Response:
    """Render a page with `values`; what went wrong, or was done (a key of the catalogue), is told at its top."""
    words = language(request)
    html = (
        environment()
        .get_template(template)
        .render(
            words=words,
            say=words.say,
            why=partial(sentence, words),
            names=[(one, catalogues()[one]) for one in LANGUAGES],
            visitor=visitor or Visitor(),
            title=title,
            here=f"{request.url.path}?{_kept(request)}",
            to=request.url.path,
            problem=told(words, error) if error else "",
            code=getattr(error, "code", ""),
            done=words.say(done) if done else "",
            **values,
        )
    )
    headers = {"Vary": "Accept-Language, Cookie"}
    if wait := getattr(error, "wait_s", 0):
        headers["Retry-After"] = str(wait)
    return HTMLResponse(html, getattr(error, "status", 400) if error else 200, headers)


def lead(request: Request, path: str, **asked: str) -> RedirectResponse:
    """Lead to a page of this desk in the reader's language, after a form: who loads it again sends nothing again."""
    query = urlencode({**asked, "lang": language(request).language})
    return RedirectResponse(f"{request.scope.get('root_path', '')}{path}?{query}", status_code=303)


def _kept(request: Request) -> str:
    """Give what of an address stays when the language is changed: which table it is about, and nothing else."""
    table = request.query_params.get("table", "")
    return f"table={table}&" if table.isascii() and table.isdigit() else ""
