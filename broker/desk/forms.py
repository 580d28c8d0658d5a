"""Forms: read within bounds, and only from a page of our own (CSRF)."""

import hmac
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import ClientDisconnect, Request

from broker.desk.access import Visitor
from broker.desk.errors import DeskError, FormForeign, FormMalformed, FormTooLarge

LARGEST: Final = 16 * 1024
MOST_FIELDS: Final = 256
"""The form of the most fields has one for each of sixty tables: in a larger hall tables are written in one field."""

LOOKED_BEYOND: Final = 64 * 1024
"""Bytes that are still looked at of a form that is too large: who typed it is shown it again, and can shorten it."""

LONGEST_KEPT: Final = 4000
"""Characters of a field that is shown again. A longer one is a file's, of which a part must not pass for all of it."""

KIND: Final = "application/x-www-form-urlencoded"
TOKEN: Final = "form"  # noqa: S105 - a field's name

Form = dict[str, str]


async def read_form(request: Request, visitor: Visitor | None, *, largest: int = LARGEST) -> Form:
    """Read a form that one of our own pages has sent; with a visitor it must carry their session's token.

    Raises FormForeign, FormTooLarge, FormMalformed; but for another site's form they have what was typed.
    """
    refuse_foreign(request)
    body = await _body(request, largest + LOOKED_BEYOND)
    try:
        return _checked(body, request.headers.get("content-type", ""), visitor, largest)
    except (FormForeign, FormTooLarge, FormMalformed) as error:
        error.typed = _typed(body if len(body) <= largest + LOOKED_BEYOND else body.rpartition(b"&")[0])
        raise


def typed(form: Form, error: Exception) -> Form:
    """Give what somebody has typed in a form that was refused, be it as a whole."""
    return form or (dict(error.typed) if isinstance(error, DeskError) else {})


def _checked(body: bytes, kind: str, visitor: Visitor | None, largest: int) -> Form:
    if len(body) > largest:
        raise FormTooLarge(f"a form has at most {largest} bytes")
    form = parse(body, kind)
    token = form.get(TOKEN, "").encode()  # a token is ASCII; what was sent may not be
    if visitor is not None and not (visitor.form and hmac.compare_digest(token, visitor.form.encode())):
        raise FormForeign("this form is not of your session: load its page again")
    return form


def _typed(body: bytes) -> Form:
    """Give the fields that can be read of a form that is none, so that nobody has to type them again."""
    pairs = parse_qsl(body.decode("ascii", "replace"), errors="replace")
    return {name: value for name, value in pairs if len(value) <= LONGEST_KEPT and "\0" not in name + value}


def refuse_foreign(request: Request) -> None:
    """Refuse what another site's page makes a browser send. A browser tells where a form is from in one of two ways."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        if site != "same-origin":
            raise FormForeign("a page of another site has sent this form")
        return
    origin = urlsplit(request.headers.get("origin", ""))
    if (origin.scheme, origin.netloc) != (request.url.scheme, request.headers.get("host", "")) or not origin.netloc:
        raise FormForeign("it is not said that one of our own pages has sent this form (header Origin)")


def parse(body: bytes, kind: str) -> Form:
    """Read a form's fields, each once. Raises FormMalformed."""
    if kind.partition(";")[0].strip().lower() != KIND:
        raise FormMalformed(f"a form is sent as {KIND}")
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(body),
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
    except ValueError:  # of Unicode too
        raise FormMalformed("this is no form") from None
    form = dict(pairs)
    if len(form) != len(pairs):
        raise FormMalformed("a field comes twice")
    if any("\0" in value for value in form.values()):
        raise FormMalformed("a field has a character that no text has")
    return form


async def _body(request: Request, most: int) -> bytes:
    """Read a form; of one that is longer no more than so many bytes and one."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > most:
                return bytes(body[: most + 1])
    except ClientDisconnect:
        raise FormMalformed("the form was cut short") from None
    return bytes(body)
