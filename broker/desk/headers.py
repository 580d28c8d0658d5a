"""What every answer says to the browser about itself."""

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Nothing inline, nothing from elsewhere: a name that slipped through escaping still could not run.
POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)

HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer a browser would not tell us either where a form is from
    "Cross-Origin-Resource-Policy": "same-origin",
}

LIVE: Final = "no-store"
STATIC: Final = "no-cache"
"""Kept, but asked about each time: a page never runs with the style of an older version."""


class Guarded:
    """Puts the headers on every answer, refusals included. Plain ASGI, because it must not hold up a stream."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caching = STATIC if scope["path"].startswith("/static/") else LIVE

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers["Cache-Control"] = caching
            await send(message)

        await self._app(scope, receive, send_guarded)
