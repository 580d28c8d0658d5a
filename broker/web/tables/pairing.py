"""The page on which devices are paired with tables, and the address where devices ask.

Whoever may set the event up opens codes for tables. Once a table has sent a fact, only the head arbiter may, who alone
sets the arbiters' PIN. A device sends its proof (broker/protocol/pairing.py) and receives its table, the broker and its
password there. No page, log or audit entry contains a password, a proof or a spent code.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
from msgspec import structs
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from broker.errors import BrokerError
from broker.event import MINUTE_MS
from broker.i18n import N_
from broker.mqtt import Certificates, Credentials
from broker.people import Authentication
from broker.protocol import Refused
from broker.protocol.pairing import (
    AUTHORITY_PATH,
    PATH,
    Pairing,
    PairingAnswer,
    PairingOffer,
    PairingRequest,
    TableBroker,
    pairing_text,
)
from broker.scorer import TableView, ViewFeed
from broker.web import (
    Access,
    Form,
    client_address,
    errors,
    form_handler,
    form_page,
    forms,
    note_action,
    read_number,
    redirect,
    render_page,
    svg,
    visitor_of,
)
from broker.web.auth import LOOPBACK_NAMES
from broker.web.tables.event_pin import EventPin, PinsAtTables
from broker.web.tables.pairing_codes import LIFETIME_MS, LOGGED_EACH, PairingCodes, PairingTurns, RepeatFilter

RIGHT: Final = "set_up"
DECIDES: Final = "admit"
"""The right to set the PIN and to pair tables once the event has begun. Organisers, often players' club mates, lack
it."""

MOST_AT_ONCE: Final = 24
LONGEST_TABLES: Final = 200
"""Maximum length of the field for tables."""

LARGEST: Final = 1024


def monotonic_ms() -> int:
    """Return the time in ms of a clock that cannot be set back."""
    return time.monotonic_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class BrokerForTables:
    """What tables are told about the broker. If `host` is None, it is the name by which the device reached the desk."""

    event: str
    passwords: Path
    port: int
    host: str | None = None
    ca: Path | None = None
    """The authority of a third party's broker that uses TLS."""
    certificates: Certificates | None = None
    """The event's certificates, if the broker only accepts clients that have one."""
    certified: Callable[[], None] = lambda: None
    """Tells the broker about a new certificate; otherwise a device that connects at once would be turned away."""
    here_alone: bool = False
    """Whether the broker listens on this machine only, so that no table reaches it."""
    tell_pin: Callable[[], None] = lambda: None
    """Sends a newly set PIN to the tables that are paired."""
    event_key: str | None = None
    """The event's public key, with which tables verify its receipts."""
    admit: Callable[[int, str, str], None] = lambda _table, _key, _machine: None
    """Admits a device, by public key and machine, to speak for a table. Raises ScorerError."""

    @property
    def pin(self) -> EventPin:
        """The arbiters' PIN, stored beside the passwords."""
        return EventPin.beside(self.passwords)

    def pair(self, table: int, host: str, device: PairingRequest) -> Pairing:
        """Admit a device for a table and return what it needs. Raises NothingToPairWith, ScorerError, PairingOutdated.

        A device with an older program has no key and does not know the event's; the head arbiter decides whether to
        trust it. If the broker uses TLS, no device is admitted without a key.
        """
        pairing = self.pairing(table, host)
        if device.key is None:
            if self.certificates:
                raise errors.PairingOutdated("this device's program is older than the desk's: bring it up to date")
            return pairing
        self.admit(table, device.key, device.machine)
        return structs.replace(pairing, event_key=self.event_key, certificate=self._issue(table, device.key))

    def _issue(self, table: int, key: str) -> str | None:
        if self.certificates is None:
            return None
        try:
            given = self.certificates.issue(table, key)
            self.certified()
        except (BrokerError, OSError) as error:
            raise errors.NothingToPairWith(f"table {table} cannot be paired: {error}") from None
        return given

    def pairing(self, table: int, host: str) -> Pairing:
        """Return what a table's device needs. Raises NothingToPairWith."""
        try:
            _, password = Credentials.load(self.passwords).table(table)
            own = self.certificates.authority if self.certificates else None
            ca = self.ca.read_text(encoding="ascii") if self.ca else own
            broker = TableBroker(host=self.host or host, port=self.port, password=password, ca=ca)
            pairing = Pairing(event=self.event, table=table, broker=broker)
            return msgspec.json.decode(msgspec.json.encode(pairing), type=Pairing)  # fails on an unusable host
        except (BrokerError, OSError, UnicodeDecodeError, msgspec.ValidationError) as error:
            raise errors.NothingToPairWith(f"table {table} cannot be paired: {error}") from None


@dataclass(frozen=True, slots=True)
class PairingService:
    """The services behind the pairing page."""

    broker: BrokerForTables
    codes: PairingCodes
    anchor: str = ""
    """The certificate (PEM) that vouches for the desk; "" without TLS."""
    names: Sequence[str] = ()
    """Host names by which tables can reach the desk."""
    clock: Callable[[], int] = monotonic_ms
    begun: Callable[[], bool] = lambda: False
    """Returns whether a table of the event has sent a fact."""


class PairingPage:
    """Serves organisers and head arbiters and, at one address, devices."""

    def __init__(self, access: Access, feed: ViewFeed, auth: Authentication, pairing: PairingService) -> None:
        self._access, self._feed, self._auth, self._broker = access, feed, auth, pairing.broker
        self._codes, self._names, self._clock = pairing.codes, pairing.names, pairing.clock
        self._begun, self._anchor = pairing.begun, pairing.anchor
        self._refused, self._counting = RepeatFilter(), threading.Lock()
        self._turns = PairingTurns()

    def routes(self) -> Sequence[Route]:
        """Return the routes. A device has no session; its proof is what admits it."""
        return [
            *form_page(self._access, "/pairing", self._page, self._do, RIGHT),
            self._access.route("/pairing/pin", form_handler(self._page, self._set_pin), RIGHT, ("POST",)),
            Route(PATH, self.take, methods=["POST"]),
            *([Route(AUTHORITY_PATH, self.authority)] if self._anchor else ()),
        ]

    # ---- people -----------------------------------------------------------------------------

    def _set_pin(self, request: Request, form: Form) -> Response:
        """Set the event's PIN for arbiters."""
        if not visitor_of(request).may(DECIDES):
            raise Refused("head_arbiter_only", "the head arbiter sets the arbiters' PIN")
        self._broker.pin.set(form.get("pin", ""), form.get("pin_again", ""), self._auth.clock())
        self._broker.tell_pin()
        note_action(self._auth, request, "arbiters_pin_set", "")
        return redirect(request, "/pairing", "pin", new="1", done="pin")

    def _do(self, request: Request, form: Form) -> Response:
        """Open codes, or withdraw one."""
        if withdrawn := read_number(form.get("withdraw", "")):
            self._codes.withdraw(withdrawn)
            note_action(self._auth, request, "pairing_withdrawn", str(withdrawn))
            return redirect(request, "/pairing")
        if not self._may_pair(request):
            raise Refused("head_arbiter_only", "the event has begun: the head arbiter pairs tables")
        tables = self._chosen(form)
        for table in tables:
            self._codes.open(table, self._clock())
        note_action(self._auth, request, "pairing_opened", ",".join(map(str, tables)))
        return redirect(request, "/pairing")

    def _may_pair(self, request: Request) -> bool:
        return visitor_of(request).may(DECIDES) or not self._begun()

    def _chosen(self, form: Form) -> list[int]:
        """Return the requested tables. Raises NoTableChosen, TableHasDevice."""
        known = {table.table: table for table in self._feed.current.tables}
        named = {*forms.ticked_tables(form), *forms.read_known_tables(known, form.get("tables", ""))}
        free = [table.table for table in known.values() if not _has_device(table) and table.table not in named]
        now = self._clock()
        waiting = {one.table for one in self._codes.newest(now) if one.state(now) == "open"}
        without_code = [table for table in free if table not in waiting]
        chosen = sorted(named | set(without_code[: read_number(form.get("next", ""))]))
        if not chosen or len(chosen) > MOST_AT_ONCE or not set(chosen) <= known.keys():
            raise errors.NoTableChosen(f"choose 1 to {MOST_AT_ONCE} tables of this event")
        if "anyway" not in form and (served := [str(one) for one in chosen if _has_device(known[one])]):
            raise errors.TableHasDevice(f"tables that have a device: {', '.join(served)}")
        return chosen

    def _page(self, request: Request, form: Form, error: Exception | None = None) -> Response:
        now, host = self._clock(), self._host(request)
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        pending = self._codes.newest(now)
        tables = self._feed.current.tables
        values: dict[str, object] = {
            "all": len(tables),
            "tables": [(table, _has_device(table)) for table in tables] if len(tables) <= forms.MOST_TICK_BOXES else (),
            "served": forms.as_ranges(table.table for table in tables if _has_device(table)),
            "chosen": forms.ticked_tables(form),
            "next_ones": form.get("next", "")[:4],
            "writes": len(tables) > forms.MOST_BOXES_ONLY,
            "written": form.get("tables", "")[:LONGEST_TABLES],
            "longest_tables": LONGEST_TABLES,
            "asking": error is not None or not pending or "new" in request.query_params,
            "asks_again": isinstance(error, errors.TableHasDevice),
            "most": MOST_AT_ONCE,
            "minutes": LIFETIME_MS // MINUTE_MS,
            "desk": f"[{host}]:{port}" if ":" in host else f"{host}:{port}",
            "pending": [(one, one.state(now), -(-(one.until - now) // MINUTE_MS)) for one in pending],
            "qr": lambda one: svg.qr(pairing_text(PairingOffer(host, port, one.code, self._codes.fingerprint))),
            "unreachable": host in LOOPBACK_NAMES or self._broker.here_alone,
            "plain": not self._codes.fingerprint,
            "may_pair": self._may_pair(request),
            "sets_pin": visitor_of(request).may(DECIDES),
            **self._pin_values(),
        }
        done = N_("The PIN is set.")
        return render_page(request, "pairing.html", N_("Pair tables"), error=error, done=done, values=values)

    def _pin_values(self) -> dict[str, object]:
        """Return what the page shows about the PIN. A file that cannot be used counts as no PIN, so it is set again."""
        try:
            return {"pin": self._broker.pin.hashed(), "pins": self._broker.pin.at_tables(self._feed.current.tables)}
        except errors.NothingToPairWith:
            return {"pin": None, "pins": PinsAtTables()}

    def _host(self, request: Request) -> str:
        """Return the host name for tables: this page's, unless that is a loopback name."""
        here = request.url.hostname or ""
        return next(iter(self._names), here) if here in LOOPBACK_NAMES else here

    # ---- devices ----------------------------------------------------------------------------

    async def authority(self, _request: Request) -> Response:
        """Serve the certificate that vouches for the desk. A device verifies it with the code or its fingerprint."""
        return Response(self._anchor, media_type="application/x-pem-file")

    async def take(self, request: Request) -> Response:
        """Pair a device that has a code; refuse any other request with an error code."""
        where = client_address(request)
        self._codes.check_blocked(where, self._clock())
        body = await _parse_request(request)
        async with self._turns.turn(where):
            # A flood occupies one of the threads that make pages; the rest of it waits here for a turn.
            return await run_in_threadpool(self._take, body, request.url.hostname or "", where)

    def _take(self, body: PairingRequest, host: str, where: str) -> Response:
        now = self._auth.clock()
        try:
            taken, keys, pairing = self._codes.take(
                body, where, self._clock(), lambda table: self._broker.pair(table, host, body)
            )
        except errors.PairingDelayed:
            raise  # not heard and so not logged, or anybody could fill the disk with entries
        except errors.DeskError as error:
            self._note_refusal(now, error.code, body.machine, where)
            raise
        self._auth.audit.note(now, "", "pairing_taken", str(taken.table), body.machine, address=where)
        text = msgspec.json.encode(pairing).decode()
        answer = PairingAnswer(pairing=text, seal=keys.seal(text))
        return JSONResponse(msgspec.to_builtins(answer))

    def _note_refusal(self, now: int, code: str, machine: str, where: str) -> None:
        with self._counting:
            count = self._refused.count(code, self._clock())
        if count:
            about = machine if count <= LOGGED_EACH else f"{machine}: {count} times within an hour"
            self._auth.audit.note(now, "", "pairing_refused", code, about, address=where)


async def _parse_request(request: Request) -> PairingRequest:
    """Parse a device's request. Raises FormTooLarge, FormMalformed."""
    body = await forms.read_body(request, LARGEST)
    if len(body) > LARGEST:
        raise errors.FormTooLarge(f"a pairing request has at most {LARGEST} bytes")
    try:
        return msgspec.json.decode(body, type=PairingRequest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise errors.FormMalformed("the body is not a pairing request") from None


def _has_device(table: TableView) -> bool:
    return table.lifecycle is not None and not table.away
