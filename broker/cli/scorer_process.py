"""The process of `homologue scorer`, put together from broker, store, scorer and desk."""

import gc
import ipaddress
import logging
import os
import re
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple, cast, get_args

import click

from broker.cli.encryption import CertificatesFollowed, Logins, certificates_of
from broker.cli.encryption import desk_certificate as desk_certificate_of
from broker.cli.nodes import OneNode
from broker.cli.scorer import CREDENTIALS, StoreOptions
from broker.cli.standby import OtherMachine, StandbyPlace, StandingBy, Started, desk_to_follow, free_port
from broker.discovery import Announcement
from broker.errors import ScorerActive, StoreError
from broker.event import Event, open_event, read_deals
from broker.event.deals import refuse_altered_deals
from broker.event.halls import HallsFile
from broker.i18n import N_, Message
from broker.logs import set_up_logs
from broker.mqtt.access import Credentials
from broker.mqtt.brokers import Kind, broker_of
from broker.mqtt.nats import NatsCluster
from broker.mqtt.process import Broker, MqttBrokerSettings
from broker.mqtt.programs import BrokerChoice, broker_program, choose_broker, kind_of_event, remember_kind
from broker.notify import ServiceNotifier
from broker.people import FIRST_LINK_FILE, Authentication
from broker.people.copies import ClosedAccounts, copy_people
from broker.people.webhooks import is_loopback
from broker.protocol import HOST_PATTERN
from broker.protocol.link import Address
from broker.protocol.pairing import LAST_PORT
from broker.protocol.tls import fingerprint_of
from broker.read_ahead import CheckedAhead
from broker.scorer.alerts import Concern, concern_of_second_home
from broker.scorer.lease import LeaseLink, LeaseRequest, kept_lease, place_of
from broker.scorer.service import Scorer
from broker.scorer.space import DiskSpace
from broker.store import STORE, Journal, database_of, gc_paused, open_journal, stand_by
from broker.store.backup_worker import BackupWorker
from broker.store.location import PAUSE_S
from broker.store.second_home import SecondHome, SecondHomeWriter
from broker.structs import examine_structs
from broker.web.api.webhooks import WebhookSender
from broker.web.connections import ConnectionLimits
from broker.web.embargo import Sheets
from broker.web.people.audit_watch import AuditWatch
from broker.web.rulings.audited import AuditedRulings
from broker.web.server import ANYWHERE, DeskServer
from broker.web.services import Services
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
"""After so long a thread that renders a page lets those go on who take results in."""

OTHER_BROKER = re.compile(
    rf"(?P<host>{HOST_PATTERN.partition('|')[0]}|\[[0-9A-Fa-f:]{{2,45}}\]):(?P<port>[0-9]{{1,5}})"
)


def run_scorer(  # noqa: C901, PLR0913, PLR0915 - one parameter an option, one statement a part
    ahead: CheckedAhead,
    *,
    event: Path,
    broker: str | None,
    host: str,
    mqtt_port: int,
    desk_host: str,
    desk_port: int,
    desk_name: tuple[str, ...],
    plain: bool,
    desk_certificate: Path | None,
    desk_key: Path | None,
    desk_connections: int,
    broker_name: str | None,
    ca: Path | None,
    credentials: Path | None,
    public: bool,
    wishes: StoreOptions,
    nodes: int = 1,
    node: int | None = None,
) -> None:
    """Run the scorer and desk of an event until it is told to stop. `ahead` reads its journal already.

    `nodes` of its broker are on this machine; or the one with the number `node` is, and others are elsewhere.
    """
    stop = threading.Event()
    _set_up_process(stop)
    names, passwords = host_names(host, desk_host, *desk_name, broker_name), credentials or event / CREDENTIALS

    if wishes.standby_of and broker is not None and broker not in get_args(Kind):
        raise click.UsageError("--standby-of needs a broker of its own: with HOST:PORT use --standby")

    def read_logins() -> Logins:
        return Logins(passwords, certificates_of(event, names, plain=plain), ca)

    with ExitStack() as running:
        shared = OneNode(event, node, host, read_logins(), running) if node else None
        if shared and not shared.wait(stop):
            return
        ours = shared.broker if shared else None
        here = StandbyPlace(broker_name or _reachable_host(host) or "", mqtt_port, desk_port)
        if shared:
            here = here._replace(host=shared.host, broker=shared.port)
        if followed := desk_to_follow(event, wishes.standby_of, here, read_logins, ours):
            ahead.close()  # the journal will be the other machine's

        def standing(place: StandbyPlace) -> StandingBy:
            def start(on: ExitStack) -> Started:
                return _broker(on, broker, open_event(event), event, (host, place.broker), read_logins())

            return StandingBy(event, followed or "", place, read_logins, start, ours)

        stood = _stand_by(here, standing if followed else None, stop, running)
        if stop.is_set():
            return
        _, mqtt_port, desk_port = stood.place
        if followed:
            ahead = running.enter_context(CheckedAhead(event / STORE))
        checked, logins = _open_checked(event), read_logins()
        space = DiskSpace(event)
        journal = _journal(event, checked.name, wishes, stop, ahead) if space.wait(stop, click.echo) else None
        if journal is None:
            return
        running.callback(journal.close)
        with ThreadPoolExecutor(1, "start of the broker") as beside:  # it hashes the passwords of all tables
            already = shared.broker.started if shared else stood.broker
            begun = already or beside.submit(_broker, running, broker, checked, event, (host, mqtt_port), logins, nodes)
            work = _load_scorer(checked, journal, event, space, wishes, passwords)
        address, watch, broker_told = begun if isinstance(begun, tuple) else begun.result()
        if followed:
            told = f"this machine has taken over from {followed}"
            work.report(Concern("standby_took_over", told, values={"desk": followed}))
        own = broker is None or broker in get_args(Kind)
        alone = own and (shared is None or followed is not None)  # then nobody answers, or has handed over
        join = running.enter_context(JoinWire(work, journal, address, place=_place(event), alone=alone))
        if not join.wait(stop, standby=wishes.standby):
            return
        tls = desk_certificate_of(event, desk_certificate, desk_key, logins.certificates)
        auth = running.enter_context(closing(Authentication(event)))
        line = DeskLink(checked.name, auth, logins.desk(address), work.live.access.sessions)
        running.callback(line.stop)
        backup = _backup(running, event, work, checked.name, wishes, auth)
        other = running.enter_context(closing(OtherMachine(work, event, logins)))
        others = partial(shared.look, work.report) if shared else other.look
        watches = [watch, join.look, others, *([backup.look] if backup else [])]
        for_tables = broker_for_tables(checked.name, passwords, address, host if own else None, broker_name)
        vouched = tls.anchor if tls else ""
        services = Services(
            lambda: work.snapshot,
            work.wire,
            open_public=public,
            plain=logins.certificates is None,
            broker=broker_told,
            scorer=work,
            folder=event,
            deals=read_deals(event),
            orders=line.orders,
            broker_kind=kind_of_event(event / BROKER_FOLDER) or "other" if own else "other",
            backup_age_s=lambda: backup.age_s if backup else None,
            standby=None
            if database_of(event) or (tls is None and not is_loopback(desk_host))
            else StandbyService(work, event, address.port, "https" if tls else "http"),
            pairing=PairingService(
                replace(
                    for_tables,
                    certificates=logins.certificates if address.identity else None,
                    certified=lambda: work.ask(watch),
                    tell_pin=lambda: work.ask(work.pin_changed),
                    event_key=work.publisher.key.public,
                    admit=lambda table, key, machine: work.ask(lambda: work.live.devices.admit(table, key, machine)),
                ),
                PairingCodes(fingerprint_of(vouched) if vouched else ""),
                vouched,
                desk_names_for_tables(desk_host, desk_name),
                begun=lambda: work.begun,
            ),
        )
        _follow_audit(running, auth, work)
        sheets = Sheets(lambda: work.snapshot, _wall_clock)
        running.enter_context(WebhookSender(auth, lambda: work.feed.current, sheets))
        desk = running.enter_context(
            DeskServer(
                work.feed,
                desk_host,
                desk_port,
                hosts=desk_name,
                auth=auth,
                tls=tls,
                services=services,
                limits=ConnectionLimits(desk_connections, max(desk_connections, ConnectionLimits().in_all)),
            )
        )
        devices = work.live.devices
        devices.upgrades.desk = next(iter(services.pairing.names), None) if services.pairing else None, desk.port
        if logins.certificates:
            watches.append(CertificatesFollowed(logins.certificates, devices.admissions, desk).look)
        click.echo(f"Desk: {desk.url}")
        if not is_loopback(desk_host):
            announced = [desk_host] if _is_address(desk_host) and desk_host not in ANYWHERE else []
            running.enter_context(Announcement(checked.name, desk.port, announced))
        show_first_link(auth, desk.url, event, open_room=is_loopback(desk_host) and not desk_name)
        line.start()
        watches.append(ServiceNotifier().alive)
        work.run(stop, _Watches(watches).look)


class _Stood(NamedTuple):
    """What has come of standing by, if we did: the broker that runs, and where we are."""

    broker: Started | None
    place: StandbyPlace


def _stand_by(
    place: StandbyPlace,
    standing: Callable[[StandbyPlace], StandingBy] | None,
    stop: threading.Event,
    running: ExitStack,
) -> _Stood:
    """Stand by for another machine's scorer, where there is one to be followed. Raises StandbyRefused."""
    if standing is None:
        return _Stood(None, place)
    place = StandbyPlace(place.host, place.broker or free_port(), place.desk or free_port())
    return _Stood(standing(place).run(stop, running), place)


def _set_up_process(stop: threading.Event) -> None:
    """Settle what holds for the whole process, and how it is told to end."""
    examine_structs()
    os.umask(0o077)  # results, passwords and the broker's store are nobody else's
    sys.setswitchinterval(SWITCH_S)
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(files, most), most))  # each connection is an open file
    set_up_logs(logging.WARNING)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())


def _open_checked(folder: Path) -> Event:
    """Open an event whose deals are what was committed to. Raises BadEvent."""
    refuse_altered_deals(folder)
    return open_event(folder)


def _load_scorer(
    event: Event, journal: Journal, folder: Path, space: DiskSpace, wishes: StoreOptions, passwords: Path
) -> Scorer:
    """Read the journal. What was read stays, and what comes: nobody is to wait while it is looked through for cycles.

    Of 10,000 results it took a third of a second each time.
    """
    home = _second_home(wishes, event.name)
    with gc_paused():
        work = Scorer(event, journal, folder, _wall_clock, space=space, home=home)
        work.live.access.hashed = EventPin.beside(passwords).hash_or_none
        gc.freeze()
    if _keep_what_stays not in gc.callbacks:
        gc.callbacks.append(_keep_what_stays)
    return work


OLDEST: Final = 2
"""The generation of a whole collection."""

ALL_AGAIN: Final = 20
"""Of so many whole collections one looks through everything: what had stayed for long may be garbage by now."""

_whole_collections = count(1)


def _keep_what_stays(phase: str, about: dict[str, int]) -> None:
    """Look only once through what has outlived a whole collection, and now and then through all of it."""
    if about["generation"] != OLDEST:
        return
    if phase == "stop":
        gc.freeze()
    elif next(_whole_collections) % ALL_AGAIN == 0:
        gc.unfreeze()


def _second_home(wishes: StoreOptions, event: str) -> SecondHome | None:
    return SecondHome(wishes.second_home, event) if wishes.second_home else None


def _wall_clock() -> int:
    return time.time_ns() // 1_000_000


def _journal(
    folder: Path, event: str, wishes: StoreOptions, stop: threading.Event, ahead: CheckedAhead
) -> Journal | None:
    """Open the store where it is said to be; None where we stood by until the end."""
    if wishes.standby:
        ahead.close()  # until we are the active one there is more to read
        return stand_by(folder, event, stop, _tell_why_we_wait, wishes.place())
    journal = open_journal(folder, event, wishes.place())
    journal.read_ahead(ahead)
    return journal


def _tell_why_we_wait(why: StoreError | ScorerActive) -> None:
    click.echo(f"Standby: {why.code}: {why}")


def _place(folder: Path) -> str:
    """Name the store whose lock is ours: a database has one lock for all machines, a file one for its own."""
    return SHARED_PLACE if database_of(folder) else place_of(folder / STORE)


class JoinWire:
    """Connects a scorer with the broker as soon as it is known that no other one is active there."""

    def __init__(self, work: Scorer, journal: Journal, address: Address, *, place: str, alone: bool) -> None:
        """`alone`: nobody was active there before, such as where the broker was started by us and ends with us."""
        self._work, self._address = work, address
        request = LeaseRequest(kept_lease(journal), place, alone=alone)
        self._line = LeaseLink(work.state.planned.name, address, request)
        self._joined = False

    def wait(self, stop: threading.Event, *, standby: bool) -> bool:
        """Return whether to go on, as the active one or without a broker. Raises ScorerActive, or stands by."""
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
        """Join as soon as may be. Raises ScorerActive."""
        if not self._joined and (lease := self._line.look(time.monotonic())):
            self._joined = True
            self._line.stop()
            self._work.connect(self._address, lease)

    def __enter__(self) -> "JoinWire":
        """Begin to ask."""
        self._line.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave."""
        self._line.stop()


def _follow_audit(running: ExitStack, auth: Authentication, work: Scorer) -> None:
    """Complete the audit log, and alert the arbiters to what it says, and will say. Raises PeopleStoreBroken."""
    AuditedRulings(work, auth).note_missing()
    watch = AuditWatch(auth.audit, work.report)
    work.recall(watch.past())
    work.log_head = lambda: watch.head
    running.enter_context(watch)


def _backup(
    running: ExitStack, folder: Path, work: Scorer, event: str, wishes: StoreOptions, auth: Authentication
) -> BackupWorker | None:
    """Begin to write a second home and to make copies, if that was asked for."""
    if home := _second_home(wishes, event):
        report = SecondHomeWriter(home, folder, lambda one: work.report(concern_of_second_home(one)))
        work.live.homes.write_to(running.enter_context(report))
    if wishes.backup is None:
        return None
    worker = BackupWorker(
        folder,
        event,
        wishes.backup,
        pause_s=wishes.backup_every * 60,
        keep=wishes.backup_keep,
        clock=_wall_clock,
        tell=work.report_backup,
        further=(copy_people,),
        urgent=ClosedAccounts(auth.store).news,
        found=work.report_faults,
    )
    return running.enter_context(worker)


def show_first_link(auth: Authentication, url: str, event: Path, *, open_room: bool) -> None:
    """Say how the first head arbiter is made. The link itself goes to a terminal, never into a log."""
    link = auth.first_link(url)
    if link is None:
        return
    shown = link if sys.stdout.isatty() else f"the link in {event / FIRST_LINK_FILE}"
    seen = "everybody on this machine sees the page" if open_room else "the page shows nothing"
    click.echo(
        f"No accounts yet: {seen}, and nobody can give orders. Create the first head arbiter within an hour: {shown}"
    )


def _broker(
    running: ExitStack,
    broker: str | None,
    event: Event,
    folder: Path,
    listen: tuple[str, int],
    logins: Logins,
    nodes: int = 1,
) -> tuple[Address, Callable[[], None], Message]:
    """Return the broker, started here or not, what is to be called to look after it, and what is told of it."""
    if broker is not None and broker not in get_args(Kind):
        told = N_("Tables are connected through a broker of its own: {address}.", address=broker)
        return _other_broker(broker, logins), _check_nothing, told
    kept = folder / BROKER_FOLDER
    known = kind_of_event(kept)
    if nodes == 1:
        choice = choose_broker(kept, cast("Kind | None", broker))
    else:
        choice = BrokerChoice(broker_program("embedded"), N_("only this one can have several nodes"))
    child = _start(running, choice.kind, event, kept, listen, logins, nodes)
    program = choice.program
    click.echo(f"Broker: {choice.kind}, port {child.port}: {choice.why}")
    click.echo(f"Broker program: {program}")
    if known not in (None, choice.kind):
        click.echo(f"Broker changed: the event was run on {known} before; from now on it is run on {choice.kind}")
    remember_kind(kept, choice.kind)
    told = N_("Tables are connected through {program}: {why}.", program=program.named, why=choice.why)
    return logins.scorer(child.host, child.port), child.check, told


def _start(
    running: ExitStack,
    kind: Kind,
    event: Event,
    folder: Path,
    listen: tuple[str, int],
    logins: Logins,
    nodes: int,
) -> Broker | NatsCluster:
    """Start a broker for this event; passwords that are not there yet are made."""
    tables, halls = max(event.tables), HallsFile(folder.parent).connecting
    settings = MqttBrokerSettings(
        folder=folder,
        event=event.name,
        credentials=Credentials.ensure(logins.passwords, tables, halls()),
        tables=tables,
        host=listen[0],
        port=listen[1],
        certificates=logins.certificates,
        halls=halls,
    )
    child = broker_of(kind, settings) if nodes == 1 else NatsCluster(settings, nodes)
    running.enter_context(child)
    return child


def _other_broker(broker: str, logins: Logins) -> Address:
    """Return the address of a broker that runs already; new passwords would be none that it knows."""
    found = OTHER_BROKER.fullmatch(broker)
    if not found or not 1 <= int(found["port"]) <= LAST_PORT:
        raise click.UsageError("--broker is embedded, mosquitto, or HOST:PORT")
    return logins.scorer(found["host"].strip("[]"), int(found["port"]))


def broker_for_tables(
    event: str, passwords: Path, broker: Address, own: str | None, name: str | None
) -> BrokerForTables:
    """Return what tables are told of the broker: `own` is where one that was started here listens."""
    host = name or _reachable_host(own or broker.host)
    return BrokerForTables(
        event,
        passwords,
        broker.port,
        host,
        None if broker.identity else broker.ca,
        here_alone=own is not None and is_loopback(own),
    )


def desk_names_for_tables(desk_host: str, desk_names: Sequence[str]) -> tuple[str, ...]:
    """Return the names by which tables can ask for the desk."""
    reached = _reachable_host(desk_host)
    return (*desk_names, *([reached] if reached else ()))


def host_names(*hosts: str | None) -> list[str]:
    """Return the names and addresses under which others reach this machine, for its certificate."""
    return [host for host in hosts if host and host not in ANYWHERE]


def _reachable_host(host: str) -> str | None:
    """Return an address by which others reach this machine, if it is one."""
    return None if is_loopback(host) or host in ANYWHERE else host


def _is_address(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host) is not None
    return False


class _Watches:
    """Looks after what a scorer cannot do without: a few times a second, however many rounds that makes."""

    def __init__(self, watches: Sequence[Callable[[], None]]) -> None:
        self._watches, self._due = watches, 0.0

    def look(self) -> None:
        """Look at all, if that is due."""
        if (now := time.monotonic()) >= self._due:
            self._due = now + LOOK_S
            for look in self._watches:
                look()


def _check_nothing() -> None:
    """Look after nothing: a broker elsewhere is somebody else's to restart."""
