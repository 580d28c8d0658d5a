"""Forms: the routes of pages with forms, and reading forms within limits and only from our own pages (CSRF).

Table numbers are read as people write them (`1 2 5-70`).
"""

import hmac
import re
import uuid
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from broker.errors import CodedError, RuleError
from broker.i18n import N_
from broker.people import Right
from broker.protocol import LAST_TABLE, Refused
from broker.upgrade.bundle import UpgradeError
from broker.web.auth import Access, Handler, Visitor, visitor_of
from broker.web.errors import DeskError, FormForeign, FormMalformed, FormTooLarge, TablesUnreadable

LARGEST: Final = 16 * 1024
MOST_FIELDS: Final = 256
"""Enough for the largest form, which has a field for each of sixty tables. Larger halls list tables in one field."""

READ_BEYOND: Final = 64 * 1024
"""Bytes read beyond the limit of a form that is too large, so that its text can be shown again and shortened."""

LONGEST_SHOWN_AGAIN: Final = 4000
"""Maximum length of a field that is shown again. A longer one is a file's, and showing only part of it would
mislead."""

FORM_MEDIA_TYPE: Final = "application/x-www-form-urlencoded"
CSRF_FIELD: Final = "form"

Form = dict[str, str]

ShowPage = Callable[[Request, Form, Exception | None], Response]
"""Renders a page with what was typed and with the error, if any."""

ActOnForm = Callable[[Request, Form], Response]

REFUSALS: Final = (CodedError, RuleError, Refused, UpgradeError, ExceptionGroup)


def form_page(
    access: Access,
    path: str,
    show: ShowPage,
    act: ActOnForm,
    right: Right,
    *,
    acting: Right | None = None,
    largest: int = LARGEST,
) -> list[Route]:
    """Return the routes of a page with forms. `acting` is the right to send them, if it differs from `right`."""
    sent = form_handler(show, act, largest=largest)
    return [
        access.route(path, lambda request: show(request, {}, None), right),
        access.route(path, sent, acting or right, ("POST",)),
    ]


def form_handler(show: ShowPage, act: ActOnForm, *, largest: int = LARGEST) -> Handler:
    """Return a handler that acts on a form. If that is refused, its page is shown again with what was typed."""

    async def sent(request: Request) -> Response:
        form: Form = {}
        try:
            form = await read_form(request, visitor_of(request), largest=largest)
            return await run_in_threadpool(act, request, form)
        except REFUSALS as error:
            typed = form or (dict(error.typed) if isinstance(error, DeskError) else {})
            return await run_in_threadpool(show, request, typed, error)

    return sent


def new_id(kind: str) -> str:
    """Return a new id for a form that adds something, so that a form sent twice adds it once."""
    return f"{kind}-{uuid.uuid4().hex}"


async def read_form(request: Request, visitor: Visitor | None, *, largest: int = LARGEST) -> Form:
    """Read a form sent by one of our own pages. If a visitor is given, it must carry their session's token.

    Raises FormForeign, FormTooLarge, FormMalformed, with the fields typed so far unless another site sent the form.
    """
    refuse_foreign(request)
    body = await read_body(request, largest + READ_BEYOND)
    try:
        return _parse_checked(body, request.headers.get("content-type", ""), visitor, largest)
    except (FormForeign, FormTooLarge, FormMalformed) as error:
        error.typed = _readable_fields(body if len(body) <= largest + READ_BEYOND else body.rpartition(b"&")[0])
        raise


def _parse_checked(body: bytes, kind: str, visitor: Visitor | None, largest: int) -> Form:
    if len(body) > largest:
        raise FormTooLarge(f"a form has at most {largest} bytes")
    form = parse_form(body, kind)
    token = form.get(CSRF_FIELD, "").encode()  # a token is ASCII; the field sent may not be
    if visitor is not None and not (visitor.csrf_token and hmac.compare_digest(token, visitor.csrf_token.encode())):
        raise FormForeign("this form belongs to another session: reload its page")
    return form


def _readable_fields(body: bytes) -> Form:
    """Return the readable fields of a form that was refused, so that nobody has to type them again."""
    pairs = parse_qsl(body.decode("ascii", "replace"), errors="replace")
    return {name: value for name, value in pairs if len(value) <= LONGEST_SHOWN_AGAIN and "\0" not in name + value}


def refuse_foreign(request: Request) -> None:
    """Refuse a form sent by another site's page. Browsers tell where a form is from by one of two headers."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        if site != "same-origin":
            raise FormForeign("a page of another site has sent this form")
        return
    origin = urlsplit(request.headers.get("origin", ""))
    if (origin.scheme, origin.netloc) != (request.url.scheme, request.headers.get("host", "")) or not origin.netloc:
        raise FormForeign("the header Origin does not show that this desk's own page sent the form")


def parse_form(body: bytes, kind: str) -> Form:
    """Parse a form in which each field occurs once. Raises FormMalformed."""
    if kind.partition(";")[0].strip().lower() != FORM_MEDIA_TYPE:
        raise FormMalformed(f"a form is sent as {FORM_MEDIA_TYPE}")
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(body),
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
    except ValueError:  # includes UnicodeDecodeError
        raise FormMalformed("the body is not a valid form") from None
    form = dict(pairs)
    if len(form) != len(pairs):
        raise FormMalformed("a field occurs twice")
    if any("\0" in value for value in form.values()):
        raise FormMalformed("a field contains a NUL character")
    return form


async def read_body(request: Request, most: int) -> bytes:
    """Read the request's body, or the first `most` + 1 bytes of a longer one. Raises FormMalformed."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > most:
                return bytes(body[: most + 1])
    except ClientDisconnect:
        raise FormMalformed("the form was cut short") from None
    return bytes(body)


MOST_TICK_BOXES: Final = 60
"""Maximum number of tables that get a box each to tick. In a larger hall table numbers are typed."""

MOST_BOXES_ONLY: Final = 12
"""Maximum number of tables for which boxes suffice and no field for typing is shown."""

TABLE_SEPARATOR: Final = re.compile(r"[\s,;、，；]+")
TABLE_RANGE: Final = re.compile(r"([0-9]{1,4})(?:[-\N{EN DASH}]([0-9]{1,4}))?", re.ASCII)
SHORTEST_RANGE: Final = 3
"""Minimum number of consecutive tables that is written as a range."""


def read_number(text: str, digits: int = 4, default: int = 0) -> int:
    """Parse a number of at most `digits` digits; return `default` for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else default


def ticked_tables(form: Form) -> set[int]:
    """Return the ticked tables. Each has a field of its own, since no field may occur twice."""
    return {read_number(name.removeprefix("table-")) for name in form if name.startswith("table-")}


def read_tables(text: str) -> list[int]:
    """Parse table numbers and ranges in the order in which they are written. Raises TablesUnreadable."""
    found: list[int] = []
    for word in filter(None, TABLE_SEPARATOR.split(text)):
        match = TABLE_RANGE.fullmatch(word)
        first = int(match[1]) if match else 0
        last = int(match[2] or first) if match else 0
        if not 1 <= first <= last or len(found) + last - first >= LAST_TABLE:
            raise TablesUnreadable(N_("{word} is not a table number or a range such as 5-9", word=repr(word[:20])))
        found.extend(range(first, last + 1))
    return found


def read_known_tables(known: Iterable[int], text: str) -> list[int]:
    """Parse table numbers that must be among `known`. Raises TablesUnreadable."""
    found = read_tables(text)
    if unknown := set(found) - set(known):
        raise TablesUnreadable(N_("this event has no table {tables}", tables=as_ranges(unknown)[:60]))
    return found


def as_ranges(tables: Iterable[int], separator: str = ", ") -> str:
    """Write table numbers with ranges, short enough for a hall of a thousand tables and readable by `read_tables`."""
    grouped = groupby(enumerate(sorted(set(tables))), lambda numbered: numbered[1] - numbered[0])
    runs = [[table for _, table in run] for _, run in grouped]
    return separator.join(
        f"{run[0]}-{run[-1]}" if len(run) >= SHORTEST_RANGE else separator.join(map(str, run)) for run in runs
    )
