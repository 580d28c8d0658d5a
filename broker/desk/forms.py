"""Forms: read within bounds, and only from a page of our own (CSRF)."""

import hmac
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import ClientDisconnect, Request

from broker.desk.access import Visitor
from broker.desk.errors import FormForeign, FormMalformed, FormTooLarge

LARGEST: Final = 16 * 1024
MOST_FIELDS: Final = 64
KIND: Final = "application/x-www-form-urlencoded"
TOKEN: Final = "form"  # noqa: S105 - a field's name

Form = dict[str, str]


async def read_form(request: Request, visitor: Visitor | None, *, largest: int = LARGEST) -> Form:
    """Read a form that one of our own pages has sent; with a visitor it must carry their session's token.

    Raises FormForeign, FormTooLarge, FormMalformed.
    """
    refuse_foreign(request)
    form = parse(await _body(request, largest), request.headers.get("content-type", ""))
    if visitor is not None and not (visitor.form and hmac.compare_digest(form.get(TOKEN, ""), visitor.form)):
        raise FormForeign("this form is not of your session: load its page again")
    return form


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


async def _body(request: Request, largest: int) -> bytes:
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > largest:
                raise FormTooLarge(f"a form has at most {largest} bytes")
    except ClientDisconnect:
        raise FormMalformed("the form was cut short") from None
    return bytes(body)
