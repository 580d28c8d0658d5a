"""Rendering: the Jinja environment with its filters, the signs of tables, pagination, and pages with forms."""

from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from broker.errors import flatten_errors
from broker.i18n import SEAT_LETTERS, SEAT_NAMES, Message, duration, isolated
from broker.protocol import SEATS, PublicState
from broker.scorer import HallContact, TableView, paused_left_ms, time_up_at, whole_minutes
from broker.scorer.grid import Need
from broker.web import labels
from broker.web.alerts import APART, alert_text, alert_value, device_fault_text
from broker.web.auth import Visitor, kept_query
from broker.web.forms import as_ranges, read_number
from broker.web.i18n import HtmlTranslator, choose_translator, translators
from broker.web.labels import recorded_text
from broker.web.problems import code_message, error_message

SHOWN_PLAYS: Final = 60
"""The page is read, not archived: a phone need not take older plays four times a second. `view.json` has them all."""

SHOWN_GAPS: Final = 5
SHOWN_ALERTS: Final = 5
SHOWN_REFUSALS: Final = 200


def signed_number(number: int | str) -> str:
    """Write a sum with its sign, a fraction to two places: U+2212 is as wide as the plus, so columns stand still."""
    if isinstance(number, str):
        return f"{float(Fraction(number)):+.2f}".replace("-", "\N{MINUS SIGN}")
    return f"{number:+d}".replace("-", "\N{MINUS SIGN}") if number else "0"


def time_tag(at: int, *, seconds: bool = False) -> Markup:
    """Write a time (ms since 1970, UTC) in the server's zone; `desk.js` puts it into the reader's."""
    moment = datetime.fromtimestamp(at / 1000, UTC)
    text = moment.astimezone().strftime("%H:%M:%S" if seconds else "%H:%M")
    return Markup('<time datetime="{}">{}</time>').format(moment.isoformat(timespec="milliseconds"), text)


def day_time_tag(at: int) -> Markup:
    """Write a day and a time (ms since 1970, UTC) in the server's zone, which it names: it may be read days later."""
    moment = datetime.fromtimestamp(at / 1000, UTC).astimezone()
    return Markup("{}").format(moment.strftime("%Y-%m-%d %H:%M %Z"))


@pass_context
def recorded(context: Context, text: str) -> Markup:
    """Say an author or a reason of the record in the reader's language."""
    return recorded_text(context["_"], text)


def datum(number: int | str, _: HtmlTranslator) -> str:
    """Write a datum with its sign, a fraction to two places, as the reader's language writes decimals."""
    return signed_number(number) if isinstance(number, int) else _.decimal(float(Fraction(number)), "+0.00;−0.00")


def fraction(number: int | str) -> str:
    """Write an exact fraction as it is, with a true minus."""
    return str(number).replace("-", "\N{MINUS SIGN}")


TEMPLATES: Final = Path(__file__).with_name("templates")
"""Of the frame; each feature has a folder of its own beside its views."""


@cache
def environment() -> Environment:
    """Return what all pages of the desk are rendered with."""
    # A missing name is a fault of ours and must not be shown as nothing.
    made = Environment(
        loader=FileSystemLoader([TEMPLATES, *sorted(TEMPLATES.parent.glob("*/templates"))]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        signed=signed_number,
        datum=datum,
        time_tag=time_tag,
        day_time_tag=day_time_tag,
        fraction=fraction,
        alert_text=alert_text,
        fault_text=device_fault_text,
        isolated=isolated,
        recorded=recorded,
        alert_value=alert_value,
    )
    made.globals.update(
        labels=labels,
        seat_names=SEAT_NAMES,
        seat_letters=SEAT_LETTERS,
        seats=SEATS,
        as_ranges=as_ranges,
        apart_why=APART,
        signs=SIGNS,
        stages=STAGE_SIGNS,
        want_shapes=WANT_SHAPES,
        legend=LEGEND,
        shown=card_state,
        duration=duration,
        up_at=time_up_at,
        stands_ms=paused_left_ms,
        whole_minutes=whole_minutes,
        shown_plays=SHOWN_PLAYS,
        shown_places=SHOWN_PLACES,
        shown_gaps=SHOWN_GAPS,
        shown_alerts=SHOWN_ALERTS,
    )
    return made


OPENED_FIRST: Final = ("page.html", "room.html", "arbiter.html", "standings.html", "tables.html", "plays.html")


@cache
def compile_pages() -> None:
    """Compile what the first page is made of; the others are, when somebody opens them."""
    for name in OPENED_FIRST:
        environment().get_template(name)
    translators()


AbsentState = Literal["unheard", "hall_there", "hall_away", "init", "disconnected", "lost", "silent"]
"""Why a table says nothing of its play: these stand in place of its state."""

CardState = PublicState | AbsentState


class StateSign(NamedTuple):
    """A shape (drawn in `templates/signs.html`) and a tone (a colour pair in `static/desk.css`)."""

    shape: str
    tone: Literal["grey", "amber", "blue", "violet", "green", "red"]


SIGNS: Final[dict[CardState, StateSign]] = {
    "waiting": StateSign("ring", "grey"),
    "restoring": StateSign("tiles", "amber"),
    "seating": StateSign("person", "amber"),
    "confirming": StateSign("list", "amber"),
    "playing": StateSign("triangle", "blue"),
    "declared": StateSign("flag", "violet"),
    "accepting": StateSign("half disc", "violet"),
    "recorded": StateSign("tick", "green"),
    "finished": StateSign("double tick", "green"),
    "unheard": StateSign("dots", "grey"),
    "hall_there": StateSign("house", "grey"),
    "hall_away": StateSign("house cut off", "red"),
    "init": StateSign("hourglass", "grey"),
    "disconnected": StateSign("bar", "grey"),
    "lost": StateSign("cross", "red"),
    "silent": StateSign("slash", "red"),
}

PlayStage = Literal["in", "missing", "to_come", "offline_unsent"]
"""What the grid says of a play, and of a table, beside a table's state."""

STAGE_SIGNS: Final[dict[PlayStage, StateSign]] = {
    "in": StateSign("tick", "green"),
    "missing": StateSign("warning", "red"),
    "to_come": StateSign("dot", "grey"),
    "offline_unsent": StateSign("hourglass", "red"),
}

WANT_SHAPES: Final[dict[Need, str]] = {
    "calling": "bell",
    "walls": "tiles",
    "offline_unsent": "hourglass",
    "over": "clock",
    "lost": "cross",
    "missing": "warning",
    "gaps": "warning",
    "unwell": "warning",
}
"""The shape of each reason why a table wants looking after."""

LEGEND: Final[tuple[CardState | PlayStage, ...]] = (
    "lost",
    "restoring",
    "playing",
    "declared",
    "accepting",
    "in",
    "missing",
    "offline_unsent",
)
"""What the grid explains at its foot."""


OF_HALL: Final[dict[HallContact, AbsentState]] = {"there": "hall_there", "away": "hall_away"}


def card_state(table: TableView) -> CardState:
    """Return what a table's card says: its state, or why nothing is known of it now."""
    match table.lifecycle:
        case "init" | "disconnected" | "lost":
            return table.lifecycle
        case None:
            return OF_HALL[table.hall] if table.hall else "unheard"
    return "silent" if table.silent else table.state or "unheard"


def translator_for(request: Request) -> HtmlTranslator:
    """Return the language that a reader gets."""
    return choose_translator(request.query_params.get("lang"), request.headers.get("accept-language", ""))


def render_page(
    request: Request,
    template: str,
    title: Message,
    *,
    visitor: Visitor | None = None,
    error: Exception | None = None,
    done: Message | Mapping[str, Message] | None = None,
    values: Mapping[str, object] = MappingProxyType({}),
) -> Response:
    """Render a page with `values`; what went wrong, be it several things, or was done, stands at its top.

    `visitor`: None: the one that `Access.route` found. `done`: what is said where the address says so (`redirect`).
    """
    _ = translator_for(request)
    visitor = visitor or getattr(request.state, "visitor", None) or Visitor()
    refusals = flatten_errors(error) if isinstance(error, ExceptionGroup) else []
    error = refusals[0] if refusals else error
    html = render_template(
        template,
        _=_,
        why=partial(code_message, _),
        visitor=visitor,
        may=visitor.may,
        title=title,
        here=f"{request.url.path}?{urlencode(kept_query(request))}&".replace("?&", "?"),
        to=request.url.path,
        problem=error_message(_, error) if error else "",
        code=getattr(error, "code", ""),
        refusals=refusals[1:SHOWN_REFUSALS],
        done="" if error else _what_was_done(request, _, done),
        **values,
    )
    response = html_response(html, getattr(error, "status", 400) if error else 200)
    if wait := getattr(error, "wait_s", 0):
        response.headers["Retry-After"] = str(wait)
    return response


def _what_was_done(request: Request, _: HtmlTranslator, texts: Message | Mapping[str, Message] | None) -> str:
    done = request.query_params.get("done") if request.method == "GET" else None
    text = texts.get(done or "") if isinstance(texts, Mapping) else texts
    return _(text) if text and done is not None else ""


def render_template(template: str, **values: object) -> str:
    """Render a template."""
    return environment().get_template(template).render(values, translators=translators())


def html_response(html: str, status: int = 200) -> HTMLResponse:
    """Answer with a page, which may differ by language and session."""
    return HTMLResponse(html, status, {"Vary": "Accept-Language, Cookie"})


BYTE_ORDER_MARK: Final = "\ufeff"
"""At the beginning of a CSV: without it Excel garbles Chinese names."""


def download(content: str | bytes, name: str, media: str) -> Response:
    """Answer with a file that a browser saves."""
    return Response(content, media_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def pdf_response(content: bytes, name: str) -> Response:
    """Answer with a PDF that a browser shows, to be printed."""
    header = {"Content-Disposition": f'inline; filename="{name}"'}
    return Response(content, media_type="application/pdf", headers=header)


def redirect(request: Request, path: str, part: str = "", **asked: str) -> RedirectResponse:
    """Lead to a page of this desk in the reader's language, after a form: who loads it again sends nothing again.

    `path` may have a query. `part`: the id of a part of the page; without one the browser keeps the part that the form
    was sent to.
    """
    query = urlencode({**asked, "lang": translator_for(request).language})
    page = f"{request.scope.get('root_path', '')}{path}{'&' if '?' in path else '?'}{query}"
    return RedirectResponse(page + (part and f"#{part}"), status_code=303)


PER_PAGE: Final = 100
"""Lines of a table on one page: a phone draws them at once, and a hall of a thousand tables has ten such pages."""


class Pagination(NamedTuple):
    """Which lines of a long list are on a page. `number` from 1 to `of`."""

    number: int
    of: int
    per_page: int

    @classmethod
    def at(cls, asked: Mapping[str, str], length: int, per_page: int = PER_PAGE) -> "Pagination":
        """Return the `page` that was asked for, or the nearest that there is."""
        of = max(1, -(-length // per_page))
        return cls(min(max(1, read_number(asked.get("page", ""), 6, 1)), of), of, per_page)

    @property
    def lines(self) -> slice:
        """Its lines."""
        return slice((self.number - 1) * self.per_page, self.number * self.per_page)


CARDS_A_PAGE: Final = 60
"""Cards on a page."""

SHOWN_PLACES: Final = 4 * CARDS_A_PAGE
"""Lines of the standings beside them: everybody, where all tables have their cards on one page."""
