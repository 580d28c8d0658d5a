"""The process of `homologue scorer`, assembled from broker, store, scorer and desk."""

import gc
import ipaddress
import logging
import os
import re
import resource
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, nullcontext, suppress
from functools import partial
from itertools import count
from typing import Final, NamedTuple, cast, get_args

import click

from broker.cli.encryption import CertificatesFollowed, Logins, certificates_of, desk_certificate
from broker.cli.halls import OneNode
from broker.cli.people import show_first_link
from broker.cli.scorer import ScorerOptions
from broker.cli.server_ports import DeskOpening, Lend, hold_port
from broker.cli.standby import OtherMachine, StandbyPlace, StandingBy, Started, desk_to_follow, reserve_port
from broker.closing import Closing
from broker.daemon import ServiceNotifier, examine_structs, stop_on_signals
from broker.discovery import DeskAnnouncement
from broker.errors import BrokerPortTaken, ScorerActive, StoreError
from broker.event import Event, HallsFile, open_event, read_deals
from broker.event.deals import refuse_altered_deals
from broker.i18n import N_, Message
from broker.logs import set_up_logs
from broker.mqtt import (
    Broker,
    BrokerChoice,
    Credentials,
    Kind,
    MqttBrokerSettings,
    NatsCluster,
    broker_of,
    broker_program,
    choose_broker,
    kind_of_event,
    remember_kind,
)
from broker.people import Authentication, copies, is_loopback
from broker.protocol import HOST_PATTERN, LAST_PORT, wall_clock_ms
from broker.protocol.link import Address
from broker.protocol.tls import fingerprint_of
from broker.scorer.alerts import Concern
from broker.scorer.lease import LeaseLink, LeaseRequest, kept_lease, place_of
from broker.scorer.service import Scorer
from broker.scorer.space import DiskSpace
from broker.store import (
    PAUSE_S,
    STORE,
    BackupWorker,
    CheckedAhead,
    Journal,
    SecondHome,
    SecondHomeWriter,
    database_of,
    event_name,
    gc_paused,
    open_journal,
    stand_by,
)
from broker.store.following import EventCopy
from broker.web import errors
from broker.web.alerts import AuditWatch
from broker.web.api.webhooks import WebhookSender
from broker.web.embargo import Sheets
from broker.web.server import ANYWHERE, ConnectionLimits, DeskServer
from broker.web.services import AuditedRulings, Services
from broker.web.tables.event_pin import EventPin
from broker.web.tables.orders import DeskLink
from broker.web.tables.pairing import BrokerForTables, PairingService
from broker.web.tables.pairing_codes import PairingCodes
from broker.web.tables.standby import StandbyService

BROKER_FOLDER = "broker"
SHARED_PLACE = "database"
POLL_S = 0.01
LOOK_S = 0.2
SWITCH_S = 0.001
"""Seconds after which a thread that renders a page must give way to those that process results."""

OTHER_BROKER = re.compile(
    rf"(?P<host>{HOST_PATTERN.partition('|')[0]}|\[[0-9A-Fa-f:]{{2,45}}\]):(?P<port>[0-9]{{1,5}})"
)


def run_scorer(ahead: CheckedAhead, asked: ScorerOptions) -> None:
    """Run the scorer and desk of an event until a signal stops it. `ahead` is already reading its journal."""
    _set_up_process()
    stop = stop_on_signals()
    with ExitStack() as running:
        place = _take_place(asked, ahead, stop, running)
        begun = _begin(asked, place, ahead, stop, running) if place else None
        if place is None or begun is None:
            return
        work, event = begun.work, begun.event
        if place.followed:
            work.report(Concern("standby_took_over", values={"desk": place.followed}))
        # after a takeover the other scorer does not answer, or has handed over
        alone = _own_broker(asked) and (place.shared is None or place.followed is not None)
        # the store whose lock we hold: a database has one lock for all machines, a file only one for its machine
        store = SHARED_PLACE if database_of(asked.event) else place_of(asked.event / STORE)
        join = running.enter_context(JoinWire(work, begun.journal, begun.address, place=store, alone=alone))
        if not join.wait(stop, standby=asked.standby):
            return
        auth = running.enter_context(closing(Authentication(asked.event)))
        line = DeskLink(event.name, auth, begun.logins.desk(begun.address), work.live.access.sessions)
        running.callback(line.stop)
        backup = _backup(running, asked, work, auth)
        other = running.enter_context(closing(OtherMachine(work, asked.event, begun.logins)))
        nodes = partial(place.shared.look, work.report) if place.shared else other.look
        watches = [begun.watch, join.look, nodes, *([backup.look] if backup else [])]
        desk = _desk(asked, place.desk, begun, line, auth, backup, running)
        if begun.logins.certificates:
            watches.append(CertificatesFollowed(begun.logins.certificates, work.live.devices.admissions, desk).look)
        running.enter_context(place.lend_desk())
        opening = DeskOpening(
            partial(_open_desk, asked, desk, begun, auth, running),
            work.report,
            patient=asked.standby or place.followed is not None,
        )
        opening.look()
        watches.append(opening.look)
        line.start()
        watches.append(ServiceNotifier().alive)
        work.run(stop, _Watches(watches).look)


class _Place(NamedTuple):
    """Where this scorer runs once it becomes the active one."""

    shared: OneNode | None
    followed: str | None
    """The desk of the machine from which we take over, or None."""
    broker: Started | None
    """The broker, if it is already running."""
    mqtt: int
    desk: int
    lend_mqtt: Lend = nullcontext
    lend_desk: Lend = nullcontext
    """Each lets a server use its port, which was held while this machine stood by."""


def _take_place(asked: ScorerOptions, ahead: CheckedAhead, stop: threading.Event, running: ExitStack) -> _Place | None:
    """Wait for this machine's node of the broker, and stand by for another machine's scorer, if there are any.

    Return None if stopped meanwhile. Raises StandbyRefused, BrokerError, RuleError.
    """
    if asked.standby_of and not _own_broker(asked):
        raise click.UsageError("--standby-of needs a broker of its own: with HOST:PORT use --standby")
    read_logins = partial(_logins, asked)
    shared = OneNode(asked.event, asked.node, asked.host, read_logins(), running) if asked.node else None
    if shared and not shared.wait(stop):
        return None
    ours = shared.broker if shared else None
    here = StandbyPlace(asked.broker_name or _reachable_host(asked.host) or "", asked.mqtt_port, asked.desk_port)
    if shared:
        here = here._replace(host=shared.host, broker=shared.port)
    followed = desk_to_follow(asked.event, asked.standby_of, here, read_logins, ours)
    started = ours.started if ours else None
    place = _Place(shared, followed, started, here.broker, here.desk)
    if followed:
        ahead.close()  # the journal will be replaced by the other machine's
        place = _hold_ports(asked, place, stop, running)
        here = here._replace(broker=place.mqtt, desk=place.desk)

        def start(on: ExitStack) -> Started:
            on.enter_context(place.lend_mqtt())
            return _broker(on, asked, open_event(asked.event), here.broker, read_logins())

        stood = StandingBy(asked.event, followed, here, read_logins, start, ours).run(stop, running)
        if stop.is_set():
            return None
        place = place._replace(broker=started or stood)
    return place


def _hold_ports(asked: ScorerOptions, place: _Place, stop: threading.Event, running: ExitStack) -> _Place:
    """Wait for the ports of desk and broker, and hold them: a machine that could not serve must not stand by.

    Raises StoreInUse if another scorer runs on the folder: that one has the ports too, and keeps them.
    """
    EventCopy(asked.event, event_name(asked.event)).close()
    place = place._replace(mqtt=place.mqtt or reserve_port(), desk=place.desk or reserve_port())
    of_broker, of_desk = (
        (BrokerPortTaken.code, BrokerPortTaken.code),
        (errors.DeskPortTaken.code, errors.AddressRefused.code),
    )
    if not place.shared and (held := hold_port(asked.host, place.mqtt, of_broker, stop, running)):
        place = place._replace(lend_mqtt=held.lent)
    if held := hold_port(asked.desk_host, place.desk, of_desk, stop, running):
        place = place._replace(lend_desk=held.lent)
    return place


class _Begun(NamedTuple):
    """The broker, and the scorer with its journal, which is not connected yet."""

    event: Event
    journal: Journal
    work: Scorer
    logins: Logins
    address: Address
    watch: Callable[[], None]
    broker_told: Message


def _begin(
    asked: ScorerOptions, place: _Place, ahead: CheckedAhead, stop: threading.Event, running: ExitStack
) -> _Begun | None:
    """Read the journal while the broker starts. Return None if stopped before becoming the active scorer."""
    if place.followed:
        ahead = running.enter_context(CheckedAhead(asked.event / STORE))
    refuse_altered_deals(asked.event)
    event, logins, space = open_event(asked.event), _logins(asked), DiskSpace(asked.event)
    journal = _journal(asked, event.name, stop, ahead) if space.wait(stop, click.echo) else None
    if journal is None:
        return None
    running.callback(journal.close)
    if not place.broker:
        running.enter_context(place.lend_mqtt())
    with ThreadPoolExecutor(1, "start of the broker") as beside:  # the start hashes the passwords of all tables
        starting = None if place.broker else beside.submit(_broker, running, asked, event, place.mqtt, logins)
        work = _load_scorer(asked, event, journal, space)
    address, watch, told = starting.result() if starting else cast("Started", place.broker)
    return _Begun(event, journal, work, logins, address, watch, told)


def _logins(asked: ScorerOptions) -> Logins:
    """Return the credentials of scorer and desk at the broker. Raises BrokerError."""
    hosts = (asked.host, asked.desk_host, *asked.desk_name, asked.broker_name)
    return Logins(asked.passwords, certificates_of(asked.event, hosts, plain=asked.plain), asked.ca)


def _desk(
    asked: ScorerOptions,
    port: int,
    begun: _Begun,
    line: DeskLink,
    auth: Authentication,
    backup: BackupWorker | None,
    running: ExitStack,
) -> DeskServer:
    """Return the desk, which is not open yet. Raises CertificateRefused, PeopleStoreBroken."""
    work, certificates = begun.work, begun.logins.certificates
    tls = desk_certificate(asked.event, asked.desk_certificate, asked.desk_key, certificates)
    pairing = _pairing(asked, begun, tls.anchor if tls else "")
    followable = not database_of(asked.event) and (tls is not None or is_loopback(asked.desk_host))
    services = Services(
        lambda: work.snapshot,
        work.wire,
        open_public=asked.public,
        plain=certificates is None,
        broker=begun.broker_told,
        scorer=work,
        folder=asked.event,
        deals=read_deals(asked.event),
        orders=line.orders,
        broker_kind=(_own_broker(asked) and kind_of_event(asked.event / BROKER_FOLDER)) or "other",
        backup_age_s=lambda: backup.age_s if backup else None,
        standby=StandbyService(work, asked.event, begun.address.port, "https" if tls else "http")
        if followable
        else None,
        pairing=pairing,
    )
    _follow_audit(running, auth, work)
    running.enter_context(WebhookSender(auth, lambda: work.feed.current, Sheets(lambda: work.snapshot, wall_clock_ms)))
    desk = DeskServer(
        work.feed,
        asked.desk_host,
        port,
        hosts=asked.desk_name,
        auth=auth,
        tls=tls,
        services=services,
        limits=ConnectionLimits(asked.desk_connections, max(asked.desk_connections, ConnectionLimits().in_all)),
    )
    running.callback(desk.stop)
    return desk


def _open_desk(asked: ScorerOptions, desk: DeskServer, begun: _Begun, auth: Authentication, running: ExitStack) -> None:
    """Serve the desk, and announce it on the network. Raises DeskError."""
    desk.start()
    reached = _reachable_host(asked.desk_host)
    begun.work.live.devices.upgrades.desk = next(iter((*asked.desk_name, reached))), desk.port
    click.echo(f"Desk: {desk.url}")
    if not is_loopback(asked.desk_host):
        announced = [asked.desk_host] if _is_address(asked.desk_host) and asked.desk_host not in ANYWHERE else []
        running.enter_context(DeskAnnouncement(begun.event.name, desk.port, announced))
    show_first_link(auth, desk.url, asked.event, open_room=is_loopback(asked.desk_host) and not asked.desk_name)


def _pairing(asked: ScorerOptions, begun: _Begun, vouched: str) -> PairingService:
    """Return the service that pairs devices with tables. `vouched`: the certificate that proves the desk, or ""."""
    work, address, own = begun.work, begun.address, _own_broker(asked)
    reached = _reachable_host(asked.desk_host)
    broker = BrokerForTables(
        begun.event.name,
        asked.passwords,
        address.port,
        asked.broker_name or _reachable_host(asked.host if own else address.host),
        None if address.identity else address.ca,
        certificates=begun.logins.certificates if address.identity else None,
        certified=lambda: work.ask(begun.watch),
        here_alone=own and is_loopback(asked.host),
        tell_pin=lambda: work.ask(work.pin_changed),
        event_key=work.publisher.key.public,
        admit=lambda table, key, machine: work.ask(lambda: work.live.devices.admit(table, key, machine)),
    )
    codes = PairingCodes(fingerprint_of(vouched) if vouched else "")
    names = (*asked.desk_name, *([reached] if reached else ()))
    return PairingService(broker, codes, vouched, names, begun=lambda: work.begun)


def _set_up_process() -> None:
    """Prepare structs, umask, thread switching, open files and logs, for the whole process."""
    examine_structs()
    os.umask(0o077)  # results, passwords and the broker's store are for this user only
    sys.setswitchinterval(SWITCH_S)
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(files, most), most))  # each connection is an open file
    set_up_logs(logging.WARNING)


def _load_scorer(asked: ScorerOptions, event: Event, journal: Journal, space: DiskSpace) -> Scorer:
    """Read the journal into a scorer, and exempt what was read from garbage collection, since it stays in use.

    With 10,000 results each full collection would stop all threads for a third of a second.
    """
    home = _second_home(asked, event.name)
    with gc_paused():
        work = Scorer(event, journal, asked.event, wall_clock_ms, space=space, home=home)
        work.live.access.hashed = EventPin.beside(asked.passwords).hash_or_none
        gc.freeze()
    if _keep_what_stays not in gc.callbacks:
        gc.callbacks.append(_keep_what_stays)
    return work


OLDEST: Final = 2
"""The garbage collector's oldest generation, which only a full collection examines."""

ALL_AGAIN: Final = 20
"""One in this many full collections examines everything again: objects that lived long may since be garbage."""

_whole_collections = count(1)


def _keep_what_stays(phase: str, about: dict[str, int]) -> None:
    """Exempt what survives a full collection from later ones, except for one in ALL_AGAIN (a callback of `gc`)."""
    if about["generation"] != OLDEST:
        return
    if phase == "stop":
        gc.freeze()
    elif next(_whole_collections) % ALL_AGAIN == 0:
        gc.unfreeze()


def _second_home(asked: ScorerOptions, event: str) -> SecondHome | None:
    return SecondHome(asked.second_home, event) if asked.second_home else None


def _journal(asked: ScorerOptions, event: str, stop: threading.Event, ahead: CheckedAhead) -> Journal | None:
    """Open the event's store. With --standby, wait until it is free; return None if stopped meanwhile."""
    if asked.standby:
        ahead.close()  # by the time we are the active one there is more to read
        return stand_by(asked.event, event, stop, _tell_why_we_wait, asked.database)
    journal = open_journal(asked.event, event, asked.database)
    journal.read_ahead(ahead)
    return journal


def _tell_why_we_wait(why: StoreError | ScorerActive) -> None:
    click.echo(f"Standby: {why.code}: {why}")


class JoinWire(Closing):
    """Connects a scorer to the broker as soon as it is known that no other scorer is active there."""

    def __init__(self, work: Scorer, journal: Journal, address: Address, *, place: str, alone: bool) -> None:
        """`alone`: no other scorer can be active there, for instance because the broker starts and ends with us."""
        self._work, self._address = work, address
        request = LeaseRequest(kept_lease(journal), place, alone=alone)
        self._line = LeaseLink(work.state.planned.name, address, request)
        self._joined = False

    def wait(self, stop: threading.Event, *, standby: bool) -> bool:
        """Wait until joined or, unless `standby`, the broker fails. Return False if stopped first.

        If another scorer is active, wait for it to end if `standby`, else raise ScorerActive.
        """
        said = False
        while not stop.wait(POLL_S):
            try:
                self.look()
            except ScorerActive as why:
                if not standby:
                    raise
                if not said:
                    _tell_why_we_wait(why)
                said = True
                stop.wait(PAUSE_S)
                self._line.request.again(time.monotonic())
            if self._joined or (self._line.failure and not standby):
                return True
        return False

    def look(self) -> None:
        """Connect the scorer if the lease has been granted. Raises ScorerActive."""
        if not self._joined and (lease := self._line.look(time.monotonic())):
            self._joined = True
            self._line.close()
            self._work.connect(self._address, lease)

    def close(self) -> None:
        """Stop requesting the lease. May be called twice."""
        self._line.close()


def _follow_audit(running: ExitStack, auth: Authentication, work: Scorer) -> None:
    """Complete the audit log, and alert the arbiters to its past and future entries. Raises PeopleStoreBroken."""
    AuditedRulings(work, auth).note_missing()
    watch = AuditWatch(auth.audit, work.report)
    work.recall(watch.past())
    work.log_head = lambda: watch.head
    running.enter_context(watch)


def _backup(running: ExitStack, asked: ScorerOptions, work: Scorer, auth: Authentication) -> BackupWorker | None:
    """Start writing the second home and making copies, if requested. Return the worker that makes copies, or None."""
    event = work.state.planned.name
    if home := _second_home(asked, event):
        report = SecondHomeWriter(home, asked.event, partial(work.report_backup, of="second_home"))
        work.live.homes.write_to(running.enter_context(report))
    if asked.backup is None:
        return None
    worker = BackupWorker(
        asked.event,
        event,
        asked.backup,
        pause_s=asked.backup_every * 60,
        keep=asked.backup_keep,
        clock=wall_clock_ms,
        tell=work.report_backup,
        further=(copies.copy_people,),
        urgent=copies.ClosedAccounts(auth.store).news,
        found=work.report_faults,
    )
    return running.enter_context(worker)


def _broker(running: ExitStack, asked: ScorerOptions, event: Event, port: int, logins: Logins) -> Started:
    """Start the broker, unless it is an external one. Return its address, a check to call, and a text about it."""
    if asked.broker and not _own_broker(asked):
        told = N_("Tables are connected through an external broker: {address}.", address=asked.broker)
        return _other_broker(asked.broker, logins), lambda: None, told  # its owner looks after it
    kept = asked.event / BROKER_FOLDER
    known = kind_of_event(kept)
    if asked.nodes == 1:
        choice = choose_broker(kept, cast("Kind | None", asked.broker))
    else:
        choice = BrokerChoice(broker_program("embedded"), N_("only this one can have several nodes"))
    tables, halls = max(event.tables), HallsFile(asked.event).connecting
    settings = MqttBrokerSettings(
        folder=kept,
        event=event.name,
        credentials=Credentials.ensure(logins.passwords, tables, halls()),
        tables=tables,
        host=asked.host,
        port=port,
        certificates=logins.certificates,
        halls=halls,
    )
    child: Broker | NatsCluster = (
        broker_of(choice.kind, settings) if asked.nodes == 1 else NatsCluster(settings, asked.nodes)
    )
    running.enter_context(child)
    program = choice.program
    click.echo(f"Broker: {choice.kind}, port {child.port}: {choice.why}")
    click.echo(f"Broker program: {program}")
    if known not in (None, choice.kind):
        click.echo(f"Broker changed: the event used {known} before; from now on it uses {choice.kind}")
    remember_kind(kept, choice.kind)
    told = N_("Tables are connected through {program}: {why}.", program=program.named, why=choice.why)
    return logins.scorer(child.host, child.port), child.check, told


def _own_broker(asked: ScorerOptions) -> bool:
    """Return whether the broker is started here, and not an external one."""
    return asked.broker is None or asked.broker in get_args(Kind)


def _other_broker(broker: str, logins: Logins) -> Address:
    """Return the address of an external broker. Its passwords must exist, since it would not know new ones."""
    found = OTHER_BROKER.fullmatch(broker)
    if not found or not 1 <= int(found["port"]) <= LAST_PORT:
        raise click.UsageError("--broker is embedded, mosquitto, or HOST:PORT")
    return logins.scorer(found["host"].strip("[]"), int(found["port"]))


def _reachable_host(host: str) -> str | None:
    """Return the host if others can reach this machine by it, else None."""
    return None if is_loopback(host) or host in ANYWHERE else host


def _is_address(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host) is not None
    return False


class _Watches:
    """Calls a scorer's periodic checks a few times a second, however often `look` is called."""

    def __init__(self, watches: Sequence[Callable[[], None]]) -> None:
        self._watches, self._due = watches, 0.0

    def look(self) -> None:
        """Call all checks if they are due."""
        if (now := time.monotonic()) >= self._due:
            self._due = now + LOOK_S
            for look in self._watches:
                look()
