"""Rendering: the Jinja environment and its filters, the signs of tables, pages with forms, and pagination."""

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
from broker.web.auth import Visitor, query_to_keep
from broker.web.forms import as_ranges, read_number
from broker.web.i18n import HtmlTranslator, choose_translator, translators
from broker.web.labels import recorded_text
from broker.web.problems import code_message, error_message

SHOWN_PLAYS: Final = 60
"""Plays on the dashboard. It updates four times a second, which is too much for older plays; `view.json` has them
all."""

SHOWN_GAPS: Final = 5
SHOWN_ALERTS: Final = 5
SHOWN_REFUSALS: Final = 200


def signed_number(number: int | str) -> str:
    """Format a total with its sign, a fraction to two places. U+2212 is as wide as the plus, so columns align."""
    if isinstance(number, str):
        return f"{float(Fraction(number)):+.2f}".replace("-", "\N{MINUS SIGN}")
    return f"{number:+d}".replace("-", "\N{MINUS SIGN}") if number else "0"


def time_tag(at: int, *, seconds: bool = False) -> Markup:
    """Format a timestamp (ms since 1970, UTC) in the server's time zone; `desk.js` converts it to the reader's."""
    moment = datetime.fromtimestamp(at / 1000, UTC)
    text = moment.astimezone().strftime("%H:%M:%S" if seconds else "%H:%M")
    return Markup('<time datetime="{}">{}</time>').format(moment.isoformat(timespec="milliseconds"), text)


def day_time_tag(at: int) -> Markup:
    """Format a date and time (ms since 1970, UTC) with the server's time zone named, as it may be read days later."""
    moment = datetime.fromtimestamp(at / 1000, UTC).astimezone()
    return Markup("{}").format(moment.strftime("%Y-%m-%d %H:%M %Z"))


@pass_context
def recorded(context: Context, text: str) -> Markup:
    """Translate an author or a reason in the record into the reader's language."""
    return recorded_text(context["_"], text)


def datum(number: int | str, _: HtmlTranslator) -> str:
    """Format a datum with its sign, a fraction to two places, with the decimal separator of the reader's language."""
    return signed_number(number) if isinstance(number, int) else _.decimal(float(Fraction(number)), "+0.00;−0.00")


def fraction(number: int | str) -> str:
    """Format an exact fraction unchanged, but with a true minus sign."""
    return str(number).replace("-", "\N{MINUS SIGN}")


TEMPLATES: Final = Path(__file__).with_name("templates")
"""The shared templates. Each feature has a folder of its own beside its views."""


@cache
def environment() -> Environment:
    """Return the environment in which all pages of the desk are rendered."""
    # StrictUndefined, because a missing name is our bug and must not be shown as nothing
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
        need_shapes=NEED_SHAPES,
        legend=LEGEND,
        shown=card_state,
        duration=duration,
        up_at=time_up_at,
        paused_left_ms=paused_left_ms,
        whole_minutes=whole_minutes,
        shown_plays=SHOWN_PLAYS,
        shown_places=SHOWN_PLACES,
        shown_gaps=SHOWN_GAPS,
        shown_alerts=SHOWN_ALERTS,
    )
    return made


PRECOMPILED: Final = ("page.html", "room.html", "arbiter.html", "standings.html", "tables.html", "plays.html")


@cache
def compile_pages() -> None:
    """Compile the templates of the first page. Others are compiled when somebody opens them."""
    for name in PRECOMPILED:
        environment().get_template(name)
    translators()


AbsentState = Literal["unheard", "hall_there", "hall_away", "init", "disconnected", "lost", "silent"]
"""Why the state of a table's play is unknown; shown in place of the state."""

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
"""What the grid shows of a play or of a table, beside the table's state."""

STAGE_SIGNS: Final[dict[PlayStage, StateSign]] = {
    "in": StateSign("tick", "green"),
    "missing": StateSign("warning", "red"),
    "to_come": StateSign("dot", "grey"),
    "offline_unsent": StateSign("hourglass", "red"),
}

NEED_SHAPES: Final[dict[Need, str]] = {
    "calling": "bell",
    "walls": "tiles",
    "offline_unsent": "hourglass",
    "over": "clock",
    "lost": "cross",
    "missing": "warning",
    "gaps": "warning",
    "unwell": "warning",
}
"""The shape for each reason why a table needs attention."""

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
"""The signs explained below the grid."""


HALL_STATES: Final[dict[HallContact, AbsentState]] = {"there": "hall_there", "away": "hall_away"}


def card_state(table: TableView) -> CardState:
    """Return the state that a table's card shows, or why its state is unknown."""
    match table.lifecycle:
        case "init" | "disconnected" | "lost":
            return table.lifecycle
        case None:
            return HALL_STATES[table.hall] if table.hall else "unheard"
    return "silent" if table.silent else table.state or "unheard"


def translator_for(request: Request) -> HtmlTranslator:
    """Return the translator for the reader's language."""
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
    """Render a page with `values`. Errors, or a confirmation of what was done, are shown at the top.

    `visitor` defaults to the one found by `Access.route`. `done` is the confirmation shown if the query says so (see
    `redirect`).
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
        here=f"{request.url.path}?{urlencode(query_to_keep(request))}&".replace("?&", "?"),
        to=request.url.path,
        problem=error_message(_, error) if error else "",
        code=getattr(error, "code", ""),
        refusals=refusals[1:SHOWN_REFUSALS],
        done="" if error else _confirmation(request, _, done),
        **values,
    )
    response = html_response(html, getattr(error, "status", 400) if error else 200)
    if wait := getattr(error, "wait_s", 0):
        response.headers["Retry-After"] = str(wait)
    return response


def _confirmation(request: Request, _: HtmlTranslator, texts: Message | Mapping[str, Message] | None) -> str:
    done = request.query_params.get("done") if request.method == "GET" else None
    text = texts.get(done or "") if isinstance(texts, Mapping) else texts
    return _(text) if text and done is not None else ""


def render_template(template: str, **values: object) -> str:
    """Render a template."""
    return environment().get_template(template).render(values, translators=translators())


def html_response(html: str, status: int = 200) -> HTMLResponse:
    """Return a page as a response that caches must keep apart by language and session."""
    return HTMLResponse(html, status, {"Vary": "Accept-Language, Cookie"})


BYTE_ORDER_MARK: Final = "\ufeff"
"""Begins a CSV file; without it Excel garbles Chinese names."""


def download(content: str | bytes, name: str, media: str) -> Response:
    """Return a response that a browser saves as a file."""
    return Response(content, media_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def pdf_response(content: bytes, name: str) -> Response:
    """Return a PDF that a browser displays for printing."""
    header = {"Content-Disposition": f'inline; filename="{name}"'}
    return Response(content, media_type="application/pdf", headers=header)


def redirect(request: Request, path: str, fragment: str = "", **query: str) -> RedirectResponse:
    """Redirect to a page of this desk after a form, in the reader's language, so that reloading does not send it again.

    `path` may have a query. `fragment` is the id of an element on the page; without one, the browser keeps the fragment
    of the page from which the form was sent.
    """
    fields = urlencode({**query, "lang": translator_for(request).language})
    page = f"{request.scope.get('root_path', '')}{path}{'&' if '?' in path else '?'}{fields}"
    return RedirectResponse(page + (fragment and f"#{fragment}"), status_code=303)


PER_PAGE: Final = 100
"""Rows of a table on one page: a phone renders them at once, and a hall of a thousand tables needs only ten pages."""


class Pagination(NamedTuple):
    """The rows of a long list that are on one page. `number` counts from 1 to `of`."""

    number: int
    of: int
    per_page: int

    @classmethod
    def at(cls, query: Mapping[str, str], length: int, per_page: int = PER_PAGE) -> "Pagination":
        """Return the page requested as `page`, or the nearest one that exists."""
        of = max(1, -(-length // per_page))
        return cls(min(max(1, read_number(query.get("page", ""), 6, 1)), of), of, per_page)

    @property
    def lines(self) -> slice:
        """The rows on this page."""
        return slice((self.number - 1) * self.per_page, self.number * self.per_page)


CARDS_A_PAGE: Final = 60
"""Table cards on one page."""

SHOWN_PLACES: Final = 4 * CARDS_A_PAGE
"""Standings rows shown beside the cards: all players, if all tables' cards fit on one page."""
