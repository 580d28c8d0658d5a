"""Access for other programs: tokens with which they read, and webhooks that receive the final results.

Only a token's hash is stored. Because a token lies in a file on another machine for months, it gives fewer rights than
the account of the same role: it can read, but do nothing. Tokens do not expire; the list shows when each was last used.

A webhook's message is stored before it is sent, one for each webhook: changed results replace a message that has not
been delivered. `broker/web/api/webhooks.py` sends them.
"""

import hashlib
import ipaddress
import secrets
import uuid
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, get_args
from urllib.parse import urlsplit

from sqlalchemy import delete, insert, select, update

from broker.people.accounts import NAME, Actor, AuditedStore, Right
from broker.people.database import TOKENS, WEBHOOKS
from broker.people.errors import BadToken, BadWebhook, TokenTaken, TokenUnknown, WebhookTaken, WebhookUnknown

TokenRole = Literal["public", "arbiter", "monitor"]

TOKEN_RIGHTS: Final[dict[TokenRole, frozenset[Right]]] = {
    "public": frozenset({"see_public"}),
    "arbiter": frozenset({"see_public", "see_room", "see_metrics"}),
    # Monitoring often runs on a screen in the hall, so it must not show anything about plays.
    "monitor": frozenset({"see_metrics"}),
}

SEEN_EVERY_MS: Final = 60_000
"""Resolution of the last use of sessions and tokens. Writing it on each request would wear out a memory card."""

TOKEN_BYTES: Final = 32

PREFIX: Final = "homologue_"
"""Prefix of all tokens, by which people and secret scanners recognise a leaked one."""


def token_hash(token: str) -> str:
    """Return the hash under which a token is stored, with which nobody can log in."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Token:
    """A stored token, without the token itself. Times are in ms since 1970, 0 for never."""

    name: str
    role: TokenRole
    made_at: int
    used_at: int
    revoked: bool

    def may(self, right: Right) -> bool:
        """Return whether the token has a right and is not revoked."""
        return not self.revoked and right in TOKEN_RIGHTS[self.role]


class Tokens(AuditedStore):
    """All tokens of an event's folder."""

    def all(self) -> list[Token]:
        """Return all tokens ordered by name, including revoked ones, to which the audit log refers."""
        return [_token(row) for row in self._store.rows(_TOKENS.order_by(TOKENS.c.name))]

    def add(self, name: str, role: str, by: Actor) -> str:
        """Create a token and return it. It is not stored itself. Raises BadToken, TokenTaken."""
        if role not in get_args(TokenRole):
            raise BadToken(f"a token's role is one of {', '.join(get_args(TokenRole))}")
        if not NAME.fullmatch(name):
            raise BadToken("a token's name is 1 to 32 lower-case letters, digits, dots, hyphens and _")
        token = PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
        with self._store.commit() as sql:
            if sql.execute(_TOKENS.where(TOKENS.c.name == name)).first():
                raise TokenTaken(f"there is a token {name!r} already; names are not used again")
            sql.execute(insert(TOKENS).values((token_hash(token), name, role, self._clock(), 0, 0)))
            self._note(by, "token_added", name, role)
        return token

    def revoke(self, name: str, by: Actor) -> None:
        """Revoke a token. Raises TokenUnknown."""
        with self._store.commit() as sql:
            if not sql.execute(_TOKENS.where(TOKENS.c.name == name, TOKENS.c.revoked == 0)).first():
                raise TokenUnknown(f"there is no token {name[:40]!r} that is valid")
            sql.execute(update(TOKENS).where(TOKENS.c.name == name).values(revoked=1))
            self._note(by, "token_revoked", name)

    def find(self, token: str) -> Token | None:
        """Return a token that is not revoked, and record that it was used; None if there is none."""
        key = token_hash(token)
        rows = self._store.rows(_TOKENS.where(TOKENS.c.key == key, TOKENS.c.revoked == 0))
        if not rows:
            return None
        found, now = _token(rows[0]), self._clock()
        if now - found.used_at >= SEEN_EVERY_MS:
            with self._store.commit() as sql:
                sql.execute(update(TOKENS).where(TOKENS.c.key == key).values(used_at=now))
        return found


_TOKENS: Final = select(*(TOKENS.c[name] for name in ("name", "role", "made_at", "used_at", "revoked")))


def _token(row: tuple[Any, ...]) -> Token:
    name, role, made_at, used_at, revoked = row
    return Token(name, role, made_at, used_at, bool(revoked))


PAUSES_MS: Final = (10_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000)
"""Pauses between attempts, in ms. The last one is repeated."""

GIVE_UP_MS: Final = 3 * 24 * 3_600_000
LONGEST_URL: Final = 300
MOST_HOOKS: Final = 16


class Webhook(NamedTuple):
    """A registered webhook and its pending message. Times are in ms since 1970."""

    name: str
    url: str
    secret: str
    inner: int
    """Whether the address may be in a private network."""
    made_at: int
    seen: str
    """Hash of the last results queued for it."""
    delivery: str
    """Id of the pending message, the same in each attempt; empty if none is pending."""
    body: bytes
    since: int
    tries: int
    due_at: int
    failure: str

    @property
    def state(self) -> str:
        """State of the last results: `nothing yet`, `waiting`, `told` (delivered) or `failed` (given up)."""
        return "waiting" if self.delivery else "failed" if self.failure else "told" if self.seen else "nothing yet"


class Webhooks(AuditedStore):
    """The webhooks of an event's folder, with their pending messages."""

    def all(self) -> list[Webhook]:
        """Return all webhooks, ordered by name."""
        return [Webhook(*row) for row in self._store.rows(select(WEBHOOKS).order_by(WEBHOOKS.c.name))]

    def add(self, name: str, url: str, by: Actor, *, inner: bool = False) -> str:
        """Register a webhook; return the secret that signs its messages. Raises BadWebhook, WebhookTaken."""
        if not NAME.fullmatch(name):
            raise BadWebhook("a webhook's name is 1 to 32 lower-case letters, digits, dots, hyphens and _")
        check_url(url)
        secret = secrets.token_hex(32)
        with self._store.commit() as sql:
            known = self.all()
            if any(hook.name == name for hook in known):
                raise WebhookTaken(f"there is a webhook {name!r} already: remove it first")
            if len(known) >= MOST_HOOKS:
                raise BadWebhook(f"an event has at most {MOST_HOOKS} webhooks")
            made = Webhook(name, url, secret, int(inner), self._clock(), "", "", b"", 0, 0, 0, "")
            sql.execute(insert(WEBHOOKS).values(made))
            self._note(by, "webhook_added", name, url)
        return secret

    def remove(self, name: str, by: Actor) -> None:
        """Remove a webhook. Raises WebhookUnknown."""
        with self._store.commit() as sql:
            if not sql.execute(delete(WEBHOOKS).where(WEBHOOKS.c.name == name)).rowcount:
                raise WebhookUnknown(f"there is no webhook {name[:40]!r}")
            self._note(by, "webhook_removed", name)

    def hurry(self, name: str, by: Actor) -> None:
        """Make a webhook's pending message due at once. Raises WebhookUnknown."""
        with self._store.commit() as sql:
            if not sql.execute(update(WEBHOOKS).where(WEBHOOKS.c.name == name).values(due_at=self._clock())).rowcount:
                raise WebhookUnknown(f"there is no webhook {name[:40]!r}")
            self._note(by, "webhook_hurried", name)

    def put_down(self, body: bytes) -> None:
        """Queue results for every webhook, unless they are the last ones queued for it."""
        digest, now = hashlib.sha256(body).hexdigest(), self._clock()
        with self._store.commit() as sql:
            for hook in self.all():
                if hook.seen != digest:
                    values = {"seen": digest, "delivery": uuid.uuid4().hex, "body": body, "since": now, "tries": 0}
                    self._update(sql, hook, **values, due_at=now, failure="")

    def due(self) -> list[Webhook]:
        """Return the webhooks whose message is due. A clock that was set back does not delay them."""
        now = self._clock()
        return [hook for hook in self.all() if hook.delivery and not 0 < hook.due_at - now <= PAUSES_MS[-1]]

    def tried(self, hook: Webhook, failure: str) -> None:
        """Record the result of an attempt; an empty `failure` means that it was delivered."""
        now = self._clock()
        with self._store.commit() as sql:
            if not failure or now - hook.since >= GIVE_UP_MS:
                self._update(sql, hook, delivery="", body=b"", failure=failure)
            else:
                pause = PAUSES_MS[min(hook.tries, len(PAUSES_MS) - 1)]
                self._update(sql, hook, tries=hook.tries + 1, due_at=now + pause, failure=failure[:200])

    def _update(self, sql: Any, hook: Webhook, **values: object) -> None:  # noqa: ANN401 - SQLAlchemy's connection
        # Leave the webhook alone if another message has been queued since.
        same = (WEBHOOKS.c.name == hook.name) & (WEBHOOKS.c.delivery == hook.delivery)
        sql.execute(update(WEBHOOKS).where(same).values(**values))


def is_loopback(host: str) -> bool:
    """Return whether a host, as written, is this machine itself. It is not resolved."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_url(url: str) -> None:
    """Raise BadWebhook unless the address is valid and uses TLS or is on this machine."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise BadWebhook(f"{url[:LONGEST_URL]!r} is not an address") from None
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url or not host:
        raise BadWebhook(f"an address has at most {LONGEST_URL} ASCII characters and a host")
    if parts.username is not None or parts.fragment:
        raise BadWebhook("an address has no user, password or fragment: what is sent is signed")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        raise BadWebhook("an address begins with https://, or is this machine's own (http://127.0.0.1:PORT/)")
