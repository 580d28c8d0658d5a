"""A scorer's process while it stands by for another machine's scorer, and how it becomes the active one."""

import http.client
import socket
import time
import uuid
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from threading import Event as Stop
from typing import Final, Literal, NamedTuple
from urllib.parse import urlencode, urlsplit

import click
import msgspec

from broker.cli import options
from broker.cli.encryption import DESK_CERTIFICATE, DESK_KEY, Logins
from broker.console import json_lines, problems_of, say
from broker.errors import FollowedDiffers, ScorerActive, StandbyBehind, StandbyRefused, StoreError, StoreInUse
from broker.files import PEOPLE_FILE
from broker.i18n import Message
from broker.mqtt import Certificates
from broker.people import is_loopback
from broker.people.copies import name_copied
from broker.protocol import DESK_PORT, Beat, Refused, ScorerState, decode_on_topic, encode, open_event_key, topics
from broker.protocol.link import Address, Incoming, Link, LinkChanged, passing_id
from broker.protocol.tls import event_context
from broker.scorer.lease import TAKEOVER, Lease, LeaseLink, LeaseRequest, OtherBroker, keep_lease, kept_lease
from broker.scorer.service import Scorer
from broker.scorer.space import DiskSpace
from broker.scorer.standby import (
    SILENT_S,
    FollowAnswer,
    FollowRequest,
    Peer,
    Takeover,
    read_peer,
    secret_of,
    write_peer,
)
from broker.store import STORE, SqliteJournal, database_of, event_name
from broker.store.following import EventCopy, Have
from broker.version import program_version
from broker.web.server import Certificate
from broker.web.tables.standby import FOLLOW_PATH

ANSWER_TIMEOUT_S: Final = 2.5
"""Seconds to wait for an answer."""

SHORT_TIMEOUT_S: Final = 1.0
"""The same once the active scorer is silent, when there are other things to check as well."""

PAUSE_S: Final = 0.2

UNWRITTEN_S: Final = SILENT_S + 2
"""Seconds after which a standby that could not write asks again. Meanwhile nothing is handed over to it."""

REPLACED_TIMEOUT_S: Final = 4.0
"""Seconds for which a restarted scorer tries to learn from the other machine's broker whether it was replaced."""

REPLACED_SHARED_TIMEOUT_S: Final = 60.0
"""The same for a broker that both machines share, which is known to be running."""

TAKEOVER_REQUEST: Final = ".take-over"
"""File in the event's folder with which a person requests that this machine take over."""

Started = tuple[Address, Callable[[], None], Message]
"""A running broker's address, a check to call periodically, and a text about the broker."""


class SharedBroker(NamedTuple):
    """This machine's node of the centre's broker, which the active scorer and its standbys share."""

    started: Started
    lets_in: Callable[[], bool]
    """Returns whether this node is connected with a majority of all nodes."""


class StandbyPlace(NamedTuple):
    """Address and ports of the standby's own desk and broker."""

    host: str
    """Name or address by which others reach it; "" for the address from which it connects."""
    broker: int
    desk: int


class FollowLine:
    """Sends requests to an active scorer's desk, over one connection that is renewed when lost."""

    def __init__(self, folder: Path, url: str) -> None:
        """`folder`: the event's, with its key. Raises NoEvent, StandbyRefused, EventKeyBroken, CertificateRefused."""
        parts = urlsplit(url)
        if parts.scheme not in ("https", "http") or not parts.hostname:
            raise StandbyRefused(f"{url} is not the address of a desk: https://HOST:PORT")
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise StandbyRefused(f"{url}: use https, since the event's keys are copied too")
        self.host, self._port, self._tls = parts.hostname, parts.port or DESK_PORT, parts.scheme == "https"
        self._folder, self._secret = folder, secret_of(open_event_key(folder))
        self._path = f"{FOLLOW_PATH}?{urlencode({'event': event_name(folder)})}"
        self._connection: http.client.HTTPConnection | None = None

    def ask(self, request: FollowRequest, timeout_s: float) -> FollowAnswer | None:
        """Return the answer, or None if there is none in time. Raises StandbyRefused."""
        try:
            self._connection = self._connection or self._connect()
            self._connection.timeout = timeout_s
            if self._connection.sock:
                self._connection.sock.settimeout(timeout_s)
            headers = {"Authorization": f"Bearer {self._secret}", "Accept": "application/json"}
            self._connection.request("POST", self._path, msgspec.msgpack.encode(request), headers)
            response = self._connection.getresponse()
            body = response.read()
            if response.status in (http.client.FORBIDDEN, http.client.NOT_FOUND):
                raise StandbyRefused(f"{self.host}:{self._port}: {body[:300].decode(errors='replace')}")
            return msgspec.msgpack.decode(body, type=FollowAnswer)
        except (OSError, http.client.HTTPException, msgspec.DecodeError) as error:
            if isinstance(error, StandbyRefused):
                raise
            self.close()
            return None

    def _connect(self) -> http.client.HTTPConnection:
        if not self._tls:
            return http.client.HTTPConnection(self.host, self._port)
        own = self._folder / DESK_CERTIFICATE
        trust = Certificate(own, self._folder / DESK_KEY).anchor if own.exists() else None
        context = event_context(trust or Certificates.of_event(self._folder).authority)
        return http.client.HTTPSConnection(self.host, self._port, context=context)

    def close(self) -> None:
        """Close the connection. May be called twice."""
        if self._connection:
            self._connection.close()
            self._connection = None


class StandingBy:
    """One event's standby: follows the active scorer until it has to take its place."""

    def __init__(
        self,
        folder: Path,
        url: str,
        place: StandbyPlace,
        logins: Callable[[], Logins],
        start_broker: Callable[[ExitStack], Started],
        shared: SharedBroker | None = None,
    ) -> None:
        """`url`: the active scorer's desk. `start_broker` starts our broker, which runs until the stack is closed."""
        self._folder, self._name, self._url, self._place = folder, event_name(folder), url, place
        self._logins, self._start_broker, self._shared = logins, start_broker, shared
        self._line = FollowLine(folder, url)
        self._takeover = Takeover(time.monotonic())
        self._last_answer: FollowAnswer | None = None
        self._witnesses: _Witnesses | None = None
        self._requested = self._complete = False
        self._space, self._unwritten = DiskSpace(folder), ""

    def run(self, stop: Stop, running: ExitStack) -> Started | None:
        """Follow until it is time to take over, then return our broker if it is running. Raises StandbyRefused.

        If it returns because of `stop`, nothing was taken over.
        """
        click.echo(f"Standby: following {self._url}")
        copy = EventCopy(self._folder, self._name)
        try:
            while not stop.is_set() and not self._takeover.reason:
                self._step(copy, stop)
            if stop.is_set():
                return None
            click.echo(f"Standby: taking over ({self._takeover.reason})")
            lease = self._become_active(copy)
            return self._witnesses.give_up_broker(running, lease) if self._witnesses else None
        finally:
            copy.close()
            self._line.close()
            self._dismiss_witnesses()

    def _step(self, copy: EventCopy, stop: Stop) -> None:
        if not self._space.wait(stop, click.echo):  # without space it could not take over, and so stays silent
            return
        takeover_request = self._folder / TAKEOVER_REQUEST
        if takeover_request.exists():
            takeover_request.unlink()
            self._requested = True
        silent = self._takeover.silent(time.monotonic())
        host, broker, desk = self._place
        request = FollowRequest(copy.have, program_version(), host, broker, desk, self._line.host, self._requested)
        answer = self._line.ask(request, SHORT_TIMEOUT_S if silent else ANSWER_TIMEOUT_S)
        now = time.monotonic()
        if answer:
            self._takeover.heard(now, answer.tables)
            if self._witnesses:
                click.echo(f"Standby: {self._url} answers again")
            self._dismiss_witnesses()
            self._try_to_store(copy, answer, stop)
        elif self._takeover.silent(now):
            self._ask_witnesses(now)
            if self._requested:
                self._takeover.settle("asked")
            stop.wait(PAUSE_S)
        else:
            stop.wait(PAUSE_S)

    def _try_to_store(self, copy: EventCopy, answer: FollowAnswer, stop: Stop) -> None:
        """Store what was received, or report once why nothing can be written here."""
        unwritten = ""
        try:
            self._store(copy, answer)
        except (OSError, StoreError) as error:
            unwritten = "; ".join(f"{code}: {sentence}" for code, sentence in problems_of(error))
            if unwritten != self._unwritten:
                click.echo(f"Standby: {unwritten}: trying again")
        self._unwritten = unwritten
        if answer.handed_over and copy.journal.height >= answer.part.height:
            self._takeover.settle("handed_over")
        elif unwritten:
            stop.wait(UNWRITTEN_S)

    def _store(self, copy: EventCopy, answer: FollowAnswer) -> None:
        self._last_answer = answer
        here = f"{answer.host}:{self._place.broker}"
        write_peer(self._folder, Peer("standby", self._url, f"{self._line.host}:{answer.broker}", here))
        try:
            complete = copy.take(answer.part)
        except FollowedDiffers as differs:
            click.echo(f"{differs.code}: {differs}: put aside as {copy.begin_anew()}")
            return
        if PEOPLE_FILE in answer.part.files:
            name_copied(self._folder)  # otherwise the audit log would seem truncated
        if complete and not self._complete:
            click.echo(f"Standby: up to date, {copy.journal.height} messages")
        self._complete = self._complete or complete

    def _ask_witnesses(self, now: float) -> None:
        """Find out whether the first scorer is gone, or only cannot be reached from here."""
        peer = read_peer(self._folder)
        if peer is None or not self._complete:
            return  # its event was never completely copied: there is nothing to take over
        if self._witnesses is None:
            click.echo(f"Standby: {self._url} no longer answers")
            self._witnesses = _Witnesses(self._name, self._logins(), peer, self._start_broker, self._shared)
        for table in self._witnesses.tables():
            self._takeover.came(table)
        if self._witnesses.unanswered(now):
            self._takeover.settle("no_answer")

    def _dismiss_witnesses(self) -> None:
        if self._witnesses:
            self._witnesses.close()
            self._witnesses = None

    def _become_active(self, copy: EventCopy) -> Lease:
        """Store that we are the active scorer, with a term that outranks the first scorer's. Return that lease."""
        stored, peer = kept_lease(copy.journal), read_peer(self._folder)
        term = max(stored.term if stored else 0, self._last_answer.term if self._last_answer else 0)
        lease = Lease(uuid.uuid4().hex, term + TAKEOVER)
        keep_lease(copy.journal, lease)
        if peer:
            write_peer(self._folder, msgspec.structs.replace(peer, role="active"))
        return lease


class _Witnesses:
    """What a standby observes while the first scorer is silent: its own broker, and the first scorer's.

    If both share one broker, only that is asked: its nodes are the witnesses.
    """

    def __init__(
        self,
        event: str,
        logins: Logins,
        peer: Peer,
        start_broker: Callable[[ExitStack], Started],
        shared: SharedBroker | None,
    ) -> None:
        self._event, self._leaving, self._broker, self._shared = event, ExitStack(), ExitStack(), shared
        self._news: list[Incoming] = []
        self._up = Stop()
        try:
            self.started = shared.started if shared else start_broker(self._broker)
            if not shared:
                self._listen()
            where = self.started[0] if shared else _address(logins, peer.broker)
            self._line = LeaseLink(event, where, LeaseRequest(Lease(""), "", starts=False))
            self._leaving.callback(self._line.close)
        except BaseException:
            self.close()
            raise

    def _listen(self) -> None:
        mine = passing_id(f"homologue-{self._event}-standby")
        self._link = Link(self.started[0], mine, [topics.BEAT.at(self._event)], self._hear, kept=False)
        self._leaving.callback(self._link.stop)
        self._link.start()

    def _hear(self, item: Incoming | LinkChanged) -> None:
        if isinstance(item, Incoming):
            self._news.append(item)
        elif item.up:  # tables that come here while the first scorer is active go back to it
            self._say("gone", Lease(uuid.uuid4().hex))
            self._up.set()

    def _say(self, lifecycle: Literal["active", "gone"], lease: Lease) -> None:
        state = ScorerState(
            id=uuid.uuid4().hex,
            event=self._event,
            seq=0,
            run=lease.run,
            term=lease.term,
            store=uuid.uuid4().hex,
            lifecycle=lifecycle,
            version=program_version(),
        )
        self._link.publish(topics.SCORER.at(self._event), encode(state), retain=topics.SCORER.retain)

    def tables(self) -> set[int]:
        """Return the tables that have come to our broker since the last call."""
        news, self._news = self._news, []
        for item in news:
            item.acknowledge()
        return tables_heard(news)

    def unanswered(self, now: float) -> bool:
        """Return whether the first scorer's broker answers, but the scorer does not."""
        with suppress(ScorerActive):
            found = self._line.look(now)
            if found is None or self._shared is None or self._shared.lets_in():
                return found is not None
        self._line.request.again(now)
        return False

    def give_up_broker(self, running: ExitStack, lease: Lease) -> Started:
        """Return our broker, which keeps running until `running` is closed.

        From now on it announces who has taken over, since the first scorer may restart before ours has read its
        journal.
        """
        if not self._shared and self._up.wait(ANSWER_TIMEOUT_S):
            self._say("active", lease)
        running.push(self._broker.pop_all())
        return self.started

    def close(self) -> None:
        """Disconnect from both brokers, and stop ours."""
        self._leaving.close()
        self._broker.close()


def tables_heard(beats: Iterable[Incoming]) -> set[int]:
    """Return the tables that sent beats, each on its own topic: a broker lets a table write to no other."""
    found = set[int]()
    for one in beats:
        with suppress(Refused):
            if isinstance(beat := decode_on_topic(one.topic, one.payload)[1], Beat):
                found.add(beat.table)
    return found


class OtherMachine:
    """Watches the other machine for the active scorer."""

    def __init__(self, work: Scorer, folder: Path, logins: Logins) -> None:
        self._work, self._logins = work, logins
        self._peer: Peer | None = None
        self._broker: OtherBroker | None = None
        work.standby.peer = read_peer(folder)

    def check(self) -> None:
        """Check whether another scorer has become active there. Raises ScorerReplaced."""
        peer, publisher = self._work.standby.peer, self._work.publisher
        if peer is None or publisher.link is None:
            return
        if peer != self._peer:
            self.close()
            self._peer = peer
            self._broker = OtherBroker(
                self._work.state.planned.name,
                _address(self._logins, peer.broker),
                publisher.lease,
                lambda: publisher.state_elsewhere(peer.here),
            )
        if self._broker:
            self._broker.look(time.monotonic())

    def close(self) -> None:
        """Disconnect from the other machine's broker. May be called twice."""
        if self._broker:
            self._broker.close()
            self._broker = None


def _address(logins: Logins, place: str) -> Address:
    host, _, port = place.rpartition(":")
    return logins.scorer(host.strip("[]"), int(port))


def was_replaced(folder: Path, peer: Peer, place: StandbyPlace, broker: Address, *, shared: bool) -> bool:
    """Return whether the other machine's scorer became active while this one, active before, was away.

    Its desk is asked, and the broker at which it would announce that. `shared`: both machines share the broker, which
    must know a scorer, and is asked again until it names one.
    """
    with closing(EventCopy(folder, event_name(folder))) as copy:
        before, have = kept_lease(copy.journal) or Lease(""), copy.have
    if _desk_replaces(folder, peer, place, have, before):
        return True
    deadline = time.monotonic() + (REPLACED_SHARED_TIMEOUT_S if shared else REPLACED_TIMEOUT_S)
    try:
        with LeaseLink(event_name(folder), broker, LeaseRequest(before, "", starts=False)) as line:
            while ((now := time.monotonic()) < deadline or line.request.replaced) and not line.failure:
                if line.look(now) is not None:
                    if line.request.informed or not shared:
                        break
                    line.request.again(now)
                time.sleep(PAUSE_S / 10)
    except ScorerActive:
        return True
    return _desk_replaces(folder, peer, place, have, before)


def _desk_replaces(folder: Path, peer: Peer, place: StandbyPlace, have: Have, before: Lease) -> bool:
    """Return whether the other machine's desk answers, and its scorer outranks the last run on this one."""
    with suppress(StandbyRefused), closing(FollowLine(folder, peer.desk)) as line:
        answer = line.ask(FollowRequest(have, program_version(), *place, line.host), SHORT_TIMEOUT_S)
        return answer is not None and answer.term > before.term
    return False


def desk_to_follow(
    folder: Path, named: str | None, place: StandbyPlace, logins: Callable[[], Logins], shared: SharedBroker | None
) -> str | None:
    """Return the desk that a starting scorer has to follow, or None if it is the active one. `place`: our own.

    The folder takes precedence over the command line, which is the same at each start.
    """
    peer = read_peer(folder)
    if database_of(folder) is not None:
        if named:
            raise StandbyRefused("the journal is in a database: both scorers need --standby, not --standby-of")
        return None
    if peer is None:
        return named
    if peer.role == "standby":
        return peer.desk
    broker = shared.started[0] if shared else _address(logins(), peer.broker)
    if was_replaced(folder, peer, place, broker, shared=shared is not None):
        click.echo(f"Standby: the other machine, {peer.desk}, has taken over")
        return peer.desk
    return None


def reserve_port(port: int = 0) -> int:
    """Return a free port, and reserve it as long as this process runs. Raises OSError if `port` is taken.

    It is bound here but not listened on. So a server that sets SO_REUSEADDR, as ours and the brokers do, may listen on
    it, and again after it has ended.
    """
    with socket.socket() as held:
        held.bind(("", port))  # without SO_REUSEADDR, so that it fails if another process has reserved it
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        port = int(held.getsockname()[1])
        held.detach()  # the socket stays open
    return port


@click.command("take-over", short_help="Let a standby become the active scorer of its event.")
@options.folder_argument
@json_lines
def take_over(folder: Path) -> None:
    """Let the standby that runs on this machine take over.

    The active scorer hands everything over first, if it can be reached. FOLDER is the event's folder on this machine.

    \b
    homologue take-over my-event
    """
    peer = read_peer(folder)
    if peer is None or peer.role != "standby":
        raise StandbyBehind(f"{folder} does not belong to a standby: homologue scorer --standby-of makes it one")
    with suppress(StoreInUse):
        SqliteJournal(folder / STORE, event_name(folder)).close()
        raise StandbyBehind(f"no standby runs on {folder}")
    (folder / TAKEOVER_REQUEST).touch()
    say("the standby takes over", folder=folder)
