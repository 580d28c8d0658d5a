"""The page of the tables' devices: which are known, which one serves each table, accepting and revoking them.

Any arbiter may hand a table over to a second device that waits there. Only the head arbiter decides which devices are
trusted.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.i18n import N_
from broker.people import Account, Authentication, accounts
from broker.protocol import SILENT_S, DeviceAdmitted, Refused, TableState
from broker.scorer.devices import ID_SHOWN, Offered, Reading, UnknownDevice
from broker.version import program_version
from broker.web import (
    Access,
    Form,
    Pagination,
    account_of,
    errors,
    form_handler,
    form_page,
    note_action,
    read_number,
    redirect,
    render,
    render_page,
)
from broker.web.services import ScorerThread, Services
from broker.web.tables.orders import LONGEST_REASON, order_reason
from broker.web.tables.upgrades import read_upgrade, upgrade_view

RIGHT: Final = "give_orders"
DONE: Final = {
    "handed_over": N_("Table handed over. Both devices show this at once."),
    "accepted": N_("Accepted. What these devices have stored is being sent now."),
    "revoked": N_("Revoked. Nothing more from this device counts."),
    "scorer": N_("The standby is taking over. Continue at its desk; log in there again."),
    "upgrade": N_("Noted. The list shows how far each table is."),
}
CLOCK_OFF_S: Final = 60
LOW_MIB: Final = 512
HOT_CELSIUS: Final = 75
"""Limits beyond which somebody should look at a table's machine."""

TABLE_HANDED_OVER: Final = "table_handed_over"
ACCEPTED, UPGRADE, SCORER_HANDED = "device_accepted", "upgrade_ordered", "scorer_handed_over"
DEVICE: Final = "device-"
"""Prefix of form fields that name the device to accept at a table; the table's number follows."""


class Machine(NamedTuple):
    """What the device serving a table has reported about itself and its machine. None: not reported."""

    table: int
    version: str | None
    silent_s: int | None
    """Seconds since its last message."""
    offset_s: float | None
    """Seconds by which its clock is ahead of ours."""
    disk_mib: int | None
    celsius: int | None
    needs_attention: bool
    """Whether somebody should look at it."""


class _DeviceLists(NamedTuple):
    """The devices as they are now."""

    waiting: Sequence[tuple[int, str, str]]
    """Tables at which a second device waits: the table, the device that serves it, and the one that waits."""
    unknown: Sequence[UnknownDevice]
    known: Sequence[tuple[DeviceAdmitted, bool]]
    """Each with whether it serves its table."""
    machines: Sequence[Machine]


class DevicesPage:
    """Serves the page for arbiters."""

    def __init__(self, access: Access, scorer: ScorerThread, auth: Authentication, services: Services) -> None:
        """`services` provides the broker that connects the devices, the standby, and the event's folder."""
        self._access, self._scorer, self._auth = access, scorer, auth
        self._broker, self._folder, self._standby = services.broker, services.folder, services.standby

    def routes(self) -> Sequence[Route]:
        """Return the routes of the page and its forms."""
        acts = {
            "accept": self._accept,
            "revoke": self._revoke,
            "upgrade": self._upgrade,
            "standby": self._hand_scorer_over,
        }
        return [
            *form_page(self._access, "/devices", self._page, self._hand_over, RIGHT),
            *(
                self._access.route(f"/devices/{name}", form_handler(self._page, act), RIGHT, ("POST",))
                for name, act in acts.items()
            ),
        ]

    def _hand_over(self, request: Request, form: Form) -> Response:
        """Let a waiting second device serve its table."""
        table, to = read_number(form.get("table", "")), form.get("to", "")
        about = f"{to[:ID_SHOWN]}; {order_reason(form.get('reason', ''))}"
        devices = self._scorer.live.devices
        self._audited(request, TABLE_HANDED_OVER, table, about, lambda _: devices.hand_over(table, to))
        return redirect(request, "/devices", done="handed_over")

    def _accept(self, request: Request, form: Form) -> Response:
        """Accept the devices that were shown on the page, but none that has come since."""
        _head_arbiter(request)
        chosen = {
            read_number(name.removeprefix(DEVICE)): device for name, device in form.items() if name.startswith(DEVICE)
        }
        unsigned = [one.table for one in self._query()[0].unknown if one.key is None and one.table in chosen]
        if unsigned and "unsigned" not in form:
            raise errors.UnsignedDevice(f"a device that signs nothing at table {unsigned[0]}")
        for table, device in chosen.items():
            self._audited(request, ACCEPTED, table, device, self._accepting(table, device))
        return redirect(request, "/devices", done="accepted")

    def _accepting(self, table: int, device: str) -> Callable[[Account], None]:
        return lambda by: self._scorer.live.devices.accept(table, device, by.full, by.name)

    def _revoke(self, request: Request, form: Form) -> Response:
        """Stop trusting a device."""
        _head_arbiter(request)
        table, device = read_number(form.get("table", "")), form.get("device", "")
        reason = order_reason(form.get("reason", ""))
        self._audited(
            request,
            accounts.DEVICE_REVOKED,
            table,
            f"{device}; {reason}",
            lambda by: self._scorer.live.devices.revoke(table, device, reason, by.full, by.name),
        )
        return redirect(request, "/devices", done="revoked")

    def _upgrade(self, request: Request, form: Form) -> Response:
        """Offer another version of the program, or let tables install it."""
        _head_arbiter(request)
        about, do = read_upgrade(
            form, self._folder, self._scorer.live.devices.upgrades, {*self._scorer.rulings.room.event.tables}
        )
        self._audited(request, UPGRADE, 0, about, lambda _: do())
        return redirect(request, "/devices", done="upgrade")

    def _hand_scorer_over(self, request: Request, form: Form) -> Response:
        """Let the standby take over the event."""
        _head_arbiter(request)
        if self._standby is None or form.get("sure") != "on":
            raise errors.FormMalformed("the standby takes over when the box is ticked")
        with self._auth.store.commit():
            note_action(self._auth, request, SCORER_HANDED, "", "")
            self._standby.hand_over()
        return redirect(request, "/devices", done="scorer")

    def _audited(self, request: Request, action: str, table: int, about: str, do: Callable[[Account], None]) -> None:
        """Write the audit entry first and commit it last, so that a refused action leaves no entry."""
        account = account_of(request)
        with self._auth.store.commit():
            note_action(self._auth, request, action, str(table), about)
            self._scorer.ask(lambda: do(account))

    def _query(self) -> tuple[_DeviceLists, tuple[Offered | None, dict[int, TableState]]]:
        """Return the devices, and for upgrades the offered version and the tables' states."""

        def read() -> tuple[_DeviceLists, tuple[Offered | None, dict[int, TableState]]]:
            devices = self._scorer.live.devices
            waiting = [(table, serves, to) for table, (serves, to) in devices.serving.waiting().items()]
            known = [(one, devices.serving.of(one.table)[0] == one.device) for one in devices.admissions.all()]
            now = time.monotonic()
            machines = [
                _machine(table, state.version, devices.readings.get(table), now)
                for table, state in sorted(devices.states.last.items())
            ]
            upgrade = devices.upgrades.offered, dict(devices.states.last)
            return _DeviceLists(waiting, [one for _, one in sorted(devices.unknown.items())], known, machines), upgrade

        return self._scorer.ask(read)

    def _page(self, request: Request, _form: Form, error: Exception | None = None) -> Response:
        seen, offered = self._query()
        longest = max(map(len, seen))
        pagination = Pagination.at(request.query_params, longest, render.CARDS_A_PAGE)
        lines = pagination.lines
        values = {
            "waiting": seen.waiting[lines],
            "unknown": seen.unknown[lines],
            "known": seen.known[lines],
            "machines": seen.machines[lines],
            "program": program_version(),
            "upgrade": upgrade_view(self._folder, *offered),
            "pagination": pagination,
            "decides": account_of(request).may("admit"),
            "shown": ID_SHOWN,
            "asks_again": isinstance(error, errors.UnsignedDevice),
            "longest": LONGEST_REASON,
            "broker": self._broker,
            "standby": self._standby.summary if self._standby else None,
        }
        return render_page(request, "devices.html", N_("Devices"), error=error, done=DONE, values=values)


def _machine(table: int, version: str | None, reading: Reading | None, now: float) -> Machine:
    """Return one row of the page. `now` is in seconds of the monotonic clock."""
    if reading is None:
        return Machine(table, version, None, None, None, None, needs_attention=version != program_version())
    silent, offset = int(max(0, now - reading.heard_at)), reading.offset_ms
    seconds = None if offset is None else round(offset / 1000, 1)
    needs_attention = (
        version != program_version()
        or silent > SILENT_S
        or abs(seconds or 0) > CLOCK_OFF_S
        or (reading.disk_mib is not None and reading.disk_mib < LOW_MIB)
        or (reading.celsius or 0) > HOT_CELSIUS
    )
    return Machine(table, version, silent, seconds, reading.disk_mib, reading.celsius, needs_attention)


def _head_arbiter(request: Request) -> None:
    """Refuse everybody but the head arbiter. Raises Refused."""
    if not account_of(request).may("admit"):
        raise Refused("head_arbiter_only", "only the head arbiter decides which devices are trusted")
