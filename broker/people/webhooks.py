"""Addresses that are told the final results, and what waits for each of them.

What a hook is to be told is stored before it is sent, one message a hook: results that have changed since take the
place of those that nobody has taken. `broker/web/api/webhooks.py` sends.
"""

import hashlib
import ipaddress
import secrets
import uuid
from collections.abc import Callable
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from sqlalchemy import delete, insert, select, update

from broker.people.accounts import NAME, Actor, AuditLog
from broker.people.database import WEBHOOKS, PeopleDatabase
from broker.people.errors import BadWebhook, WebhookTaken, WebhookUnknown

PAUSES_MS: Final = (10_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000)
"""Between tries; the last one again and again."""

GIVE_UP_MS: Final = 3 * 24 * 3_600_000
LONGEST_URL: Final = 300
MOST_HOOKS: Final = 16


class Webhook(NamedTuple):
    """A registered address, and what it is still to be told. Times in ms since 1970."""

    name: str
    url: str
    secret: str
    inner: int
    """Whether it may lie in a private network."""
    made_at: int
    seen: str
    """Hash of the last results that were put down for it."""
    delivery: str
    """Id of what waits for it, the same in each try; empty: nothing waits."""
    body: bytes
    since: int
    tries: int
    due_at: int
    failure: str

    @property
    def state(self) -> str:
        """What became of the last results: `nothing yet`, `waiting`, `told` or `failed`, when it was given up."""
        return "waiting" if self.delivery else "failed" if self.failure else "told" if self.seen else "nothing yet"


class Webhooks:
    """The hooks of an event's folder, and what waits for them."""

    def __init__(self, store: PeopleDatabase, audit: AuditLog, clock: Callable[[], int]) -> None:
        self._store, self._audit, self._clock = store, audit, clock

    def all(self) -> list[Webhook]:
        """Return all, by name."""
        return [Webhook(*row) for row in self._store.rows(select(WEBHOOKS).order_by(WEBHOOKS.c.name))]

    def add(self, name: str, url: str, by: Actor, *, inner: bool = False) -> str:
        """Register an address and return the secret that signs what it is sent. Raises BadWebhook, WebhookTaken."""
        if not NAME.fullmatch(name):
            raise BadWebhook("a webhook's name is 1 to 32 lower-case letters, digits, dots, hyphens and _")
        check_url(url)
        secret = secrets.token_hex(32)
        with self._store.commit() as sql:
            known = self.all()
            if any(one.name == name for one in known):
                raise WebhookTaken(f"there is a webhook {name!r} already: remove it first")
            if len(known) >= MOST_HOOKS:
                raise BadWebhook(f"an event has at most {MOST_HOOKS} webhooks")
            made = Webhook(name, url, secret, int(inner), self._clock(), "", "", b"", 0, 0, 0, "")
            sql.execute(insert(WEBHOOKS).values(made))
            self._audit.note(self._clock(), by.who, "webhook_added", name, url, address=by.address)
        return secret

    def remove(self, name: str, by: Actor) -> None:
        """Tell an address nothing any more. Raises WebhookUnknown."""
        with self._store.commit() as sql:
            if not sql.execute(delete(WEBHOOKS).where(WEBHOOKS.c.name == name)).rowcount:
                raise WebhookUnknown(f"there is no webhook {name[:40]!r}")
            self._audit.note(self._clock(), by.who, "webhook_removed", name, address=by.address)

    def hurry(self, name: str, by: Actor) -> None:
        """Let what waits for an address be sent at once. Raises WebhookUnknown."""
        with self._store.commit() as sql:
            if not sql.execute(update(WEBHOOKS).where(WEBHOOKS.c.name == name).values(due_at=self._clock())).rowcount:
                raise WebhookUnknown(f"there is no webhook {name[:40]!r}")
            self._audit.note(self._clock(), by.who, "webhook_hurried", name, address=by.address)

    def put_down(self, body: bytes) -> None:
        """Let each hook be told of results, unless they are those that it was to be told last."""
        digest, now = hashlib.sha256(body).hexdigest(), self._clock()
        with self._store.commit() as sql:
            for hook in self.all():
                if hook.seen != digest:
                    values = {"seen": digest, "delivery": uuid.uuid4().hex, "body": body, "since": now, "tries": 0}
                    self._update(sql, hook, **values, due_at=now, failure="")

    def due(self) -> list[Webhook]:
        """Return the hooks that are to be told something now; a clock that was put back keeps nobody waiting."""
        now = self._clock()
        return [one for one in self.all() if one.delivery and not 0 < one.due_at - now <= PAUSES_MS[-1]]

    def tried(self, hook: Webhook, failure: str) -> None:
        """Take in how a try ended; an empty failure: it was taken."""
        now = self._clock()
        with self._store.commit() as sql:
            if not failure or now - hook.since >= GIVE_UP_MS:
                self._update(sql, hook, delivery="", body=b"", failure=failure)
            else:
                pause = PAUSES_MS[min(hook.tries, len(PAUSES_MS) - 1)]
                self._update(sql, hook, tries=hook.tries + 1, due_at=now + pause, failure=failure[:200])

    def _update(self, sql: Any, hook: Webhook, **values: object) -> None:  # noqa: ANN401 - the library's connection
        # Not of a hook that has something else to be told by now.
        same = (WEBHOOKS.c.name == hook.name) & (WEBHOOKS.c.delivery == hook.delivery)
        sql.execute(update(WEBHOOKS).where(same).values(**values))


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine itself, as it is written."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_url(url: str) -> None:
    """Raise BadWebhook unless something may be sent there: by TLS, or to this machine itself."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise BadWebhook(f"{url[:LONGEST_URL]!r} is no address") from None
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url or not host:
        raise BadWebhook(f"an address has at most {LONGEST_URL} ASCII characters and a host")
    if parts.username is not None or parts.fragment:
        raise BadWebhook("an address has no user, password or fragment: what is sent is signed")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        raise BadWebhook("an address begins with https://, or is this machine's own (http://127.0.0.1:PORT/)")
