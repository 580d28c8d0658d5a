"""Delivers the final results to webhooks by signed POSTs, repeated until accepted.

Sending uses threads of its own, so no scoring waits for somebody's server. The connection goes to the address that was
checked, follows no redirect and leads into no private network unless this was allowed when the hook was registered. So
a hook cannot be used to reach what only this machine can reach (SSRF).
"""

import hashlib
import hmac
import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from broker.people import Authentication, PeopleError, errors, is_loopback, programs
from broker.protocol import TeamStanding
from broker.scorer import DashboardView, StandingsRow, as_json
from broker.version import program_version
from broker.web import Sheets, Visitor

POLL_S: Final = 1.0
TIMEOUT_S: Final = 10.0
"""A server that does not answer for this long has not accepted a message."""

SIGNATURE: Final = "Homologue-Signature"
DELIVERY: Final = "Homologue-Delivery"


class FinalResults(Struct, frozen=True):
    """The body sent to a webhook. `event` is the event's name."""

    type: str
    event: str
    title: str
    profile: str
    standings: Sequence[StandingsRow]
    teams: Sequence[TeamStanding]


class WebhookSender:
    """Queues results once they are final and sends due deliveries: one thread that polls, and one per attempt."""

    def __init__(self, auth: Authentication, view: Callable[[], DashboardView], sheets: Sheets) -> None:
        """`sheets` must not be shared: it is for one thread only."""
        self._hooks, self._view, self._sheets = auth.webhooks, view, sheets
        self._stop, self._sending, self._lock = threading.Event(), set[str](), threading.Lock()
        self._seen: DashboardView | None = None

    def __enter__(self) -> "WebhookSender":
        """Start polling."""
        threading.Thread(target=self._run, name="webhooks", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop. An attempt under way is not waited for; it is repeated after the next start."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(POLL_S):
            try:
                self.poll()
            except PeopleError:
                continue  # the disk is full, or the database is unreachable: queued deliveries are sent later

    def poll(self) -> list[threading.Thread]:
        """Queue results that are final, and start sending deliveries that are due. Raises PeopleError."""
        view = self._view()
        if view.final and view is not self._seen:
            self._hooks.put_down(as_json(final_results(view, self._sheets)))
            self._seen = view
        with self._lock:
            due = [one for one in self._hooks.due() if one.name not in self._sending]
            self._sending |= {one.name for one in due}
        threads = [threading.Thread(target=self._attempt, args=(one,), daemon=True) for one in due]
        for thread in threads:
            thread.start()
        return threads

    def _attempt(self, hook: programs.Webhook) -> None:
        try:
            self._hooks.tried(hook, send(hook, self._sheets.now() // 1000))
        except PeopleError:
            return  # acceptance could not be recorded, so it is sent again with the same id
        finally:
            with self._lock:
                self._sending.discard(hook.name)


def final_results(view: DashboardView, sheets: Sheets) -> FinalResults:
    """Return the body to send; it contains public information only."""
    anyone = Visitor()
    return FinalResults(
        type="results.final",
        event=view.event,
        title=view.title,
        profile=view.profile,
        standings=sheets.standings(anyone).rungs,
        teams=sheets.snapshot(anyone).teams,
    )


def signature(secret: str, at: int, body: bytes) -> str:
    """Return the header that proves sender and time (s since 1970): an old message cannot be replayed as new."""
    return f"t={at},v1={hmac.new(secret.encode(), f'{at}.'.encode() + body, hashlib.sha256).hexdigest()}"


def send(hook: programs.Webhook, at: int, timeout_s: float = TIMEOUT_S) -> str:
    """Try to send a delivery; return the error, or an empty string. `at` is in s since 1970."""
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"homologue/{program_version()}",
        DELIVERY: hook.delivery,
        SIGNATURE: signature(hook.secret, at, hook.body),
    }
    parts = urlsplit(hook.url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        with closing(_Connection(hook, timeout_s)) as connection:
            connection.request("POST", path, hook.body, headers)
            status = connection.getresponse().status
    except (OSError, http.client.HTTPException, errors.BadWebhook) as error:
        return f"{type(error).__name__}: {error}"
    return "" if 200 <= status < 300 else f"answered {status}"  # noqa: PLR2004 - HTTP's range for success


class _Connection(http.client.HTTPConnection):
    """A connection to the address that was checked, even if the name resolves differently a moment later."""

    def __init__(self, hook: programs.Webhook, timeout_s: float) -> None:
        parts = urlsplit(hook.url)
        self._hook, self._tls = hook, parts.scheme == "https"
        super().__init__(str(parts.hostname), parts.port or (443 if self._tls else 80), timeout=timeout_s)

    def connect(self) -> None:
        """Connect. Raises OSError, BadWebhook."""
        found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        addresses = [str(one[4][0]) for one in found]
        for address in addresses:
            if not _may_reach(address, self._hook):
                raise errors.BadWebhook(f"{self.host} is {address}, in a private network")
        self.sock = socket.create_connection((addresses[0], self.port), self.timeout)
        if self._tls:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)


def _may_reach(address: str, hook: programs.Webhook) -> bool:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(parsed, "ipv4_mapped", None) or parsed
    if mapped.is_loopback:
        return is_loopback(str(urlsplit(hook.url).hostname))
    return bool(hook.inner) or (mapped.is_global and not mapped.is_multicast)
