"""The process of `homologue scorer`, assembled from broker, store, scorer and desk."""

import gc
import ipaddress
import logging
import os
import re
import resource
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, nullcontext, suppress
from functools import partial
from itertools import count
from threading import Event as Stop
from typing import Final, NamedTuple, cast, get_args

import click

from broker.cli.encryption import Logins, RevocationSync, certificates_of, desk_certificate
from broker.cli.halls import OneNode
from broker.cli.people import show_first_link
from broker.cli.scorer import ScorerOptions
from broker.cli.server_ports import DeskOpening, PortLease, hold_port
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
from broker.scorer.lease import LeaseLink, LeaseRequest, place_of, stored_lease
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
CHECK_INTERVAL_S = 0.2
SWITCH_S = 0.001
"""Seconds after which a thread that renders a page must give way to those that process results."""

OTHER_BROKER = re.compile(
    rf"(?P<host>{HOST_PATTERN.partition('|')[0]}|\[[0-9A-Fa-f:]{{2,45}}\]):(?P<port>[0-9]{{1,5}})"
)


def run_scorer(ahead: CheckedAhead, options: ScorerOptions) -> None:
    """Run the scorer and desk of an event until a signal stops it. `ahead` is already reading its journal."""
    _set_up_process()
    stop = stop_on_signals()
    with ExitStack() as running:
        place = _take_place(options, ahead, stop, running)
        loaded = _load(options, place, ahead, stop, running) if place else None
        if place is None or loaded is None:
            return
        work, event = loaded.work, loaded.event
        if place.followed:
            work.report(Concern("standby_took_over", values={"desk": place.followed}))
        # after a takeover the other scorer does not answer, or has handed over
        alone = _own_broker(options) and (place.shared is None or place.followed is not None)
        # the store whose lock we hold: a database has one lock for all machines, a file only one for its machine
        store = SHARED_PLACE if database_of(options.event) else place_of(options.event / STORE)
        join = running.enter_context(BrokerJoin(work, loaded.journal, loaded.address, place=store, alone=alone))
        if not join.wait(stop, standby=options.standby):
            return
        auth = running.enter_context(closing(Authentication(options.event)))
        desk_link = DeskLink(event.name, auth, loaded.logins.desk(loaded.address), work.live.access.sessions)
        running.callback(desk_link.stop)
        backup = _backup(running, options, work, auth)
        other = running.enter_context(closing(OtherMachine(work, options.event, loaded.logins)))
        nodes = partial(place.shared.report_news, work.report) if place.shared else other.check
        checks = [loaded.watch, join.try_join, nodes, *([backup.look] if backup else [])]
        desk = _desk(options, place.desk, loaded, desk_link, auth, backup, running)
        if loaded.logins.certificates:
            checks.append(RevocationSync(loaded.logins.certificates, work.live.devices.admissions, desk).sync)
        running.enter_context(place.lend_desk())
        opening = DeskOpening(
            partial(_open_desk, options, desk, loaded, auth, running),
            work.report,
            patient=options.standby or place.followed is not None,
        )
        opening.try_open()
        checks.append(opening.try_open)
        desk_link.start()
        checks.append(ServiceNotifier().alive)
        work.run(stop, _PeriodicChecks(checks).run_due)


class _Place(NamedTuple):
    """Where this scorer runs once it becomes the active one."""

    shared: OneNode | None
    followed: str | None
    """The desk of the machine from which we take over, or None."""
    broker: Started | None
    """The broker, if it is already running."""
    mqtt: int
    desk: int
    lend_mqtt: PortLease = nullcontext
    lend_desk: PortLease = nullcontext
    """Each lets a server use its port, which was held while this machine stood by."""


def _take_place(options: ScorerOptions, ahead: CheckedAhead, stop: Stop, running: ExitStack) -> _Place | None:
    """Wait for this machine's node of the broker, and stand by for another machine's scorer, if there are any.

    Return None if stopped meanwhile. Raises StandbyRefused, BrokerError, RuleError.
    """
    if options.standby_of and not _own_broker(options):
        raise click.UsageError("--standby-of needs a broker of its own: with HOST:PORT use --standby")
    read_logins = partial(_logins, options)
    shared = OneNode(options.event, options.node, options.host, read_logins(), running) if options.node else None
    if shared and not shared.wait(stop):
        return None
    ours = shared.broker if shared else None
    here = StandbyPlace(
        options.broker_name or _reachable_host(options.host) or "", options.mqtt_port, options.desk_port
    )
    if shared:
        here = here._replace(host=shared.host, broker=shared.port)
    followed = desk_to_follow(options.event, options.standby_of, here, read_logins, ours)
    started = ours.started if ours else None
    place = _Place(shared, followed, started, here.broker, here.desk)
    if followed:
        ahead.close()  # the journal will be replaced by the other machine's
        place = _hold_ports(options, place, stop, running)
        here = here._replace(broker=place.mqtt, desk=place.desk)

        def start(on: ExitStack) -> Started:
            on.enter_context(place.lend_mqtt())
            return _broker(on, options, open_event(options.event), here.broker, read_logins())

        stood = StandingBy(options.event, followed, here, read_logins, start, ours).run(stop, running)
        if stop.is_set():
            return None
        place = place._replace(broker=started or stood)
    return place


def _hold_ports(options: ScorerOptions, place: _Place, stop: Stop, running: ExitStack) -> _Place:
    """Wait for the ports of desk and broker, and hold them: a machine that could not serve must not stand by.

    Raises StoreInUse if another scorer runs on the folder: that one has the ports too, and keeps them.
    """
    EventCopy(options.event, event_name(options.event)).close()
    place = place._replace(mqtt=place.mqtt or reserve_port(), desk=place.desk or reserve_port())
    of_broker, of_desk = (
        (BrokerPortTaken.code, BrokerPortTaken.code),
        (errors.DeskPortTaken.code, errors.AddressRefused.code),
    )
    if not place.shared and (held := hold_port(options.host, place.mqtt, of_broker, stop, running)):
        place = place._replace(lend_mqtt=held.lent)
    if held := hold_port(options.desk_host, place.desk, of_desk, stop, running):
        place = place._replace(lend_desk=held.lent)
    return place


class _LoadedScorer(NamedTuple):
    """The broker, and the scorer with its journal, which is not connected yet."""

    event: Event
    journal: Journal
    work: Scorer
    logins: Logins
    address: Address
    watch: Callable[[], None]
    broker_text: Message


def _load(
    options: ScorerOptions, place: _Place, ahead: CheckedAhead, stop: Stop, running: ExitStack
) -> _LoadedScorer | None:
    """Read the journal while the broker starts. Return None if stopped before becoming the active scorer."""
    if place.followed:
        ahead = running.enter_context(CheckedAhead(options.event / STORE))
    refuse_altered_deals(options.event)
    event, logins, space = open_event(options.event), _logins(options), DiskSpace(options.event)
    journal = _journal(options, event.name, stop, ahead) if space.wait(stop, click.echo) else None
    if journal is None:
        return None
    running.callback(journal.close)
    if not place.broker:
        running.enter_context(place.lend_mqtt())
    with ThreadPoolExecutor(1, "start of the broker") as executor:  # the start hashes the passwords of all tables
        starting = None if place.broker else executor.submit(_broker, running, options, event, place.mqtt, logins)
        work = _load_scorer(options, event, journal, space)
    address, watch, text = starting.result() if starting else cast("Started", place.broker)
    return _LoadedScorer(event, journal, work, logins, address, watch, text)


def _logins(options: ScorerOptions) -> Logins:
    """Return the credentials of scorer and desk at the broker. Raises BrokerError."""
    hosts = (options.host, options.desk_host, *options.desk_name, options.broker_name)
    return Logins(options.passwords, certificates_of(options.event, hosts, plain=options.plain), options.ca)


def _desk(
    options: ScorerOptions,
    port: int,
    loaded: _LoadedScorer,
    desk_link: DeskLink,
    auth: Authentication,
    backup: BackupWorker | None,
    running: ExitStack,
) -> DeskServer:
    """Return the desk, which is not open yet. Raises CertificateRefused, PeopleStoreBroken."""
    work, certificates = loaded.work, loaded.logins.certificates
    tls = desk_certificate(options.event, options.desk_certificate, options.desk_key, certificates)
    pairing = _pairing(options, loaded, tls.anchor if tls else "")
    followable = not database_of(options.event) and (tls is not None or is_loopback(options.desk_host))
    services = Services(
        lambda: work.snapshot,
        work.wire,
        open_public=options.public,
        plain=certificates is None,
        broker=loaded.broker_text,
        scorer=work,
        folder=options.event,
        deals=read_deals(options.event),
        orders=desk_link.orders,
        broker_kind=(_own_broker(options) and kind_of_event(options.event / BROKER_FOLDER)) or "other",
        backup_age_s=lambda: backup.age_s if backup else None,
        standby=StandbyService(work, options.event, loaded.address.port, "https" if tls else "http")
        if followable
        else None,
        pairing=pairing,
    )
    _follow_audit(running, auth, work)
    running.enter_context(WebhookSender(auth, lambda: work.feed.current, Sheets(lambda: work.snapshot, wall_clock_ms)))
    desk = DeskServer(
        work.feed,
        options.desk_host,
        port,
        hosts=options.desk_name,
        auth=auth,
        tls=tls,
        services=services,
        limits=ConnectionLimits(options.desk_connections, max(options.desk_connections, ConnectionLimits().in_all)),
    )
    running.callback(desk.stop)
    return desk


def _open_desk(
    options: ScorerOptions, desk: DeskServer, loaded: _LoadedScorer, auth: Authentication, running: ExitStack
) -> None:
    """Serve the desk, and announce it on the network. Raises DeskError."""
    desk.start()
    reached = _reachable_host(options.desk_host)
    loaded.work.live.devices.upgrades.desk = next(iter((*options.desk_name, reached))), desk.port
    click.echo(f"Desk: {desk.url}")
    if not is_loopback(options.desk_host):
        announced = [options.desk_host] if _is_address(options.desk_host) and options.desk_host not in ANYWHERE else []
        running.enter_context(DeskAnnouncement(loaded.event.name, desk.port, announced))
    show_first_link(auth, desk.url, options.event, open_room=is_loopback(options.desk_host) and not options.desk_name)


def _pairing(options: ScorerOptions, loaded: _LoadedScorer, vouched: str) -> PairingService:
    """Return the service that pairs devices with tables. `vouched`: the certificate that proves the desk, or ""."""
    work, address, own = loaded.work, loaded.address, _own_broker(options)
    reached = _reachable_host(options.desk_host)
    broker = BrokerForTables(
        loaded.event.name,
        options.passwords,
        address.port,
        options.broker_name or _reachable_host(options.host if own else address.host),
        None if address.identity else address.ca,
        certificates=loaded.logins.certificates if address.identity else None,
        certified=lambda: work.ask(loaded.watch),
        here_alone=own and is_loopback(options.host),
        tell_pin=lambda: work.ask(work.pin_changed),
        event_key=work.publisher.key.public,
        admit=lambda table, key, machine: work.ask(lambda: work.live.devices.admit(table, key, machine)),
    )
    codes = PairingCodes(fingerprint_of(vouched) if vouched else "")
    names = (*options.desk_name, *([reached] if reached else ()))
    return PairingService(broker, codes, vouched, names, begun=lambda: work.begun)


def _set_up_process() -> None:
    """Prepare structs, umask, thread switching, open files and logs, for the whole process."""
    examine_structs()
    os.umask(0o077)  # results, passwords and the broker's store are for this user only
    sys.setswitchinterval(SWITCH_S)
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(files, most), most))  # each connection is an open file
    set_up_logs(logging.WARNING)


def _load_scorer(options: ScorerOptions, event: Event, journal: Journal, space: DiskSpace) -> Scorer:
    """Read the journal into a scorer, and exempt what was read from garbage collection, since it stays in use.

    With 10,000 results each full collection would stop all threads for a third of a second.
    """
    home = _second_home(options, event.name)
    with gc_paused():
        work = Scorer(event, journal, options.event, wall_clock_ms, space=space, home=home)
        work.live.access.hashed = EventPin.beside(options.passwords).hash_or_none
        gc.freeze()
    if _freeze_survivors not in gc.callbacks:
        gc.callbacks.append(_freeze_survivors)
    return work


OLDEST: Final = 2
"""The garbage collector's oldest generation, which only a full collection examines."""

UNFREEZE_EVERY: Final = 20
"""One in this many full collections examines everything again: objects that lived long may since be garbage."""

_full_collections = count(1)


def _freeze_survivors(phase: str, about: dict[str, int]) -> None:
    """Exempt what survives a full collection from later ones, except for one in UNFREEZE_EVERY (a callback of `gc`)."""
    if about["generation"] != OLDEST:
        return
    if phase == "stop":
        gc.freeze()
    elif next(_full_collections) % UNFREEZE_EVERY == 0:
        gc.unfreeze()


def _second_home(options: ScorerOptions, event: str) -> SecondHome | None:
    return SecondHome(options.second_home, event) if options.second_home else None


def _journal(options: ScorerOptions, event: str, stop: Stop, ahead: CheckedAhead) -> Journal | None:
    """Open the event's store. With --standby, wait until it is free; return None if stopped meanwhile."""
    if options.standby:
        ahead.close()  # by the time we are the active one there is more to read
        return stand_by(options.event, event, stop, _report_waiting, options.database)
    journal = open_journal(options.event, event, options.database)
    journal.read_ahead(ahead)
    return journal


def _report_waiting(why: StoreError | ScorerActive) -> None:
    click.echo(f"Standby: {why.code}: {why}")


class BrokerJoin(Closing):
    """Connects a scorer to the broker as soon as it is known that no other scorer is active there."""

    def __init__(self, work: Scorer, journal: Journal, address: Address, *, place: str, alone: bool) -> None:
        """`alone`: no other scorer can be active there, for instance because the broker starts and ends with us."""
        self._work, self._address = work, address
        request = LeaseRequest(stored_lease(journal), place, alone=alone)
        self._lease_link = LeaseLink(work.state.planned.name, address, request)
        self._joined = False

    def wait(self, stop: Stop, *, standby: bool) -> bool:
        """Wait until joined or, unless `standby`, the broker fails. Return False if stopped first.

        If another scorer is active, wait for it to end if `standby`, else raise ScorerActive.
        """
        reported = False
        while not stop.wait(POLL_S):
            try:
                self.try_join()
            except ScorerActive as why:
                if not standby:
                    raise
                if not reported:
                    _report_waiting(why)
                reported = True
                stop.wait(PAUSE_S)
                self._lease_link.request.again(time.monotonic())
            if self._joined or (self._lease_link.failure and not standby):
                return True
        return False

    def try_join(self) -> None:
        """Connect the scorer if the lease has been granted. Raises ScorerActive."""
        if not self._joined and (lease := self._lease_link.look(time.monotonic())):
            self._joined = True
            self._lease_link.close()
            self._work.connect(self._address, lease)

    def close(self) -> None:
        """Stop requesting the lease. May be called twice."""
        self._lease_link.close()


def _follow_audit(running: ExitStack, auth: Authentication, work: Scorer) -> None:
    """Complete the audit log, and alert the arbiters to its past and future entries. Raises PeopleStoreBroken."""
    AuditedRulings(work, auth).note_missing()
    watch = AuditWatch(auth.audit, work.report)
    work.recall(watch.past())
    work.log_head = lambda: watch.head
    running.enter_context(watch)


def _backup(running: ExitStack, options: ScorerOptions, work: Scorer, auth: Authentication) -> BackupWorker | None:
    """Start writing the second home and making copies, if requested. Return the worker that makes copies, or None."""
    event = work.state.planned.name
    if home := _second_home(options, event):
        report = SecondHomeWriter(home, options.event, partial(work.report_backup, of="second_home"))
        work.live.homes.write_to(running.enter_context(report))
    if options.backup is None:
        return None
    worker = BackupWorker(
        options.event,
        event,
        options.backup,
        pause_s=options.backup_every * 60,
        keep=options.backup_keep,
        clock=wall_clock_ms,
        on_report=work.report_backup,
        copiers=(copies.copy_people,),
        urgent=copies.ClosedAccounts(auth.store).news,
        on_faults=work.report_faults,
    )
    return running.enter_context(worker)


def _broker(running: ExitStack, options: ScorerOptions, event: Event, port: int, logins: Logins) -> Started:
    """Start the broker, unless it is an external one. Return its address, a check to call, and a text about it."""
    if options.broker and not _own_broker(options):
        text = N_("Tables are connected through an external broker: {address}.", address=options.broker)
        return _other_broker(options.broker, logins), lambda: None, text  # its owner looks after it
    folder = options.event / BROKER_FOLDER
    previous = kind_of_event(folder)
    if options.nodes == 1:
        choice = choose_broker(folder, cast("Kind | None", options.broker))
    else:
        choice = BrokerChoice(broker_program("embedded"), N_("only this one can have several nodes"))
    tables, halls = max(event.tables), HallsFile(options.event).connecting
    settings = MqttBrokerSettings(
        folder=folder,
        event=event.name,
        credentials=Credentials.ensure(logins.passwords, tables, halls()),
        tables=tables,
        host=options.host,
        port=port,
        certificates=logins.certificates,
        halls=halls,
    )
    broker: Broker | NatsCluster = (
        broker_of(choice.kind, settings) if options.nodes == 1 else NatsCluster(settings, options.nodes)
    )
    running.enter_context(broker)
    program = choice.program
    click.echo(f"Broker: {choice.kind}, port {broker.port}: {choice.why}")
    click.echo(f"Broker program: {program}")
    if previous not in (None, choice.kind):
        click.echo(f"Broker changed: the event used {previous} before; from now on it uses {choice.kind}")
    remember_kind(folder, choice.kind)
    text = N_("Tables are connected through {program}: {why}.", program=program.named, why=choice.why)
    return logins.scorer(broker.host, broker.port), broker.check, text


def _own_broker(options: ScorerOptions) -> bool:
    """Return whether the broker is started here, and not an external one."""
    return options.broker is None or options.broker in get_args(Kind)


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


class _PeriodicChecks:
    """Calls a scorer's periodic checks a few times a second, however often `run_due` is called."""

    def __init__(self, checks: Sequence[Callable[[], None]]) -> None:
        self._checks, self._due = checks, 0.0

    def run_due(self) -> None:
        """Call all checks if they are due."""
        if (now := time.monotonic()) >= self._due:
            self._due = now + CHECK_INTERVAL_S
            for check in self._checks:
                check()
