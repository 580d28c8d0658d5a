"""A starting scorer asks a real broker whether the other machine's scorer has replaced it; a standby takes over."""

import errno
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import NoReturn, cast

import pytest

from broker.cli import standby
from broker.cli.encryption import Logins
from broker.cli.standby import (
    TAKEOVER_REQUEST,
    FollowLine,
    StandbyPlace,
    StandingBy,
    reserve_port,
    tables_heard,
    was_replaced,
)
from broker.errors import ScorerActive
from broker.i18n import N_
from broker.mqtt.access import Credentials
from broker.people.accounts import AuditLog
from broker.people.copies import open_people
from broker.protocol import Beat, ScorerAsked, ScorerState, decode_on_topic, encode, topics
from broker.protocol.link import Address, Incoming, Link, LinkChanged, passing_id
from broker.scorer import lease, space
from broker.scorer.lease import TAKEOVER, Lease, LeaseLink, LeaseRequest, keep_lease
from broker.scorer.space import DiskSpace
from broker.scorer.standby import FollowAnswer, FollowRequest, Peer
from broker.store import STORE, SqliteJournal
from broker.store.following import EventCopy, FollowedEvent, JournalPart
from tests.broker.mqtt.brokers import make_broker
from tests.broker.scorer.folders import event_folder
from tests.broker.scorer.small import NAME
from tests.patience import PATIENCE_S

OURS = Lease("run-before", 7)

GONE = Peer("active", "http://127.0.0.1:1", "127.0.0.1:1", "")
"""The other machine; its desk does not answer."""

PLACE = StandbyPlace("", 1883, 8136)


class Other:
    """The other machine's scorer, which is slow: it answers only the twentieth question, or none."""

    def __init__(self, address: Address, term: int, *, answers: bool, kept: bool = True) -> None:
        """If `kept`, publish a retained state at once."""
        self._term, self._answers, self._heard = term, answers, 0
        self._up = Event()
        self.link = Link(address, passing_id("other"), [topics.SCORER_ASKED.at(NAME)], self._hear, kept=False)
        self.link.start()
        assert self._up.wait(PATIENCE_S)
        if kept:
            self._say(None)
        assert self.link.flush(PATIENCE_S)

    def _say(self, answers: str | None) -> None:
        state = ScorerState(
            id=f"state-{self._heard:04}",
            event=NAME,
            seq=0,
            run="run-of-the-other",
            term=self._term,
            store="store-0001",
            lifecycle="active",
            version="0.1.0",
            answers=answers,
        )
        self.link.publish(topics.SCORER.at(NAME), encode(state), retain=topics.SCORER.retain)

    def _hear(self, item: Incoming | LinkChanged) -> None:
        if isinstance(item, Incoming):
            item.acknowledge()
            self._heard += 1
            question = decode_on_topic(item.topic, item.payload)[1]
            if isinstance(question, ScorerAsked) and self._answers and self._heard == 20:
                self._say(question.run)
        elif item.up:
            self._up.set()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = event_folder(tmp_path / "cup", [])
    with closing(SqliteJournal(made / STORE, NAME)) as journal:
        keep_lease(journal, OURS)
    return made


@pytest.fixture
def address_of(tmp_path: Path) -> Iterator[Callable[[str], Address]]:
    """Return the broker's address for one of its users."""
    passwords = Credentials.create(1)
    with make_broker("embedded", tmp_path / "broker", NAME, passwords, tables=1) as made:
        yield lambda user: Address(made.host, made.port, user, passwords.password(user))


@pytest.fixture
def address(address_of: Callable[[str], Address]) -> Address:
    return address_of("scorer")


@pytest.mark.parametrize(
    ("term", "answers", "replaced"),
    [(OURS.term + TAKEOVER, True, True), (OURS.term + TAKEOVER, False, False), (OURS.term + 1, False, False)],
)
def test_a_replaced_scorer_follows_the_other_machine_however_slowly_it_answers(
    folder: Path, address: Address, monkeypatch: pytest.MonkeyPatch, *, term: int, answers: bool, replaced: bool
) -> None:
    monkeypatch.setattr(lease, "ANSWER_S", 0.5)  # the broker sends the other one's state sooner
    monkeypatch.setattr(lease, "AGAIN_S", 0.05)
    monkeypatch.setattr(lease, "LONG_S", PATIENCE_S if replaced else 0.5)
    other = Other(address, term, answers=answers)
    found = was_replaced(folder, GONE, PLACE, address, shared=True)
    other.link.stop()
    assert found is replaced


def test_a_shared_broker_that_knows_no_scorer_yet_is_asked_again(
    folder: Path, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "ANSWER_S", 0.2)
    monkeypatch.setattr(lease, "AGAIN_S", 0.05)
    other = Other(address, OURS.term + TAKEOVER, answers=True, kept=False)
    found = was_replaced(folder, GONE, PLACE, address, shared=True)
    other.link.stop()
    assert found


def outcome_of(address: Address, before: Lease | None) -> Lease | str:
    """Ask for the lease after the run `before`; return it, or the reason why there is none."""
    line = LeaseLink(NAME, address, LeaseRequest(before, "its place"))
    try:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            if lease := line.look(time.monotonic()):
                return lease
            if line.failure:
                return line.failure
    except ScorerActive as active:
        return active.code
    finally:
        line.close()
    return "no answer"


@pytest.mark.parametrize("before", [Lease("run-before", 7, "its place"), None], ids=["restarted", "new"])
def test_a_starting_scorer_finds_an_active_one_without_a_retained_message(
    address: Address, monkeypatch: pytest.MonkeyPatch, before: Lease | None
) -> None:
    monkeypatch.setattr(lease, "ANSWER_S", PATIENCE_S)
    monkeypatch.setattr(lease, "AGAIN_S", 0.05)
    other = Other(address, 8, answers=True, kept=False)
    found = outcome_of(address, before)
    other.link.stop()
    assert found == ScorerActive.code


def test_a_scorer_whose_messages_are_not_delivered_gets_no_lease_but_a_reason(
    address_of: Callable[[str], Address], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "LONG_S", 0.5)
    arbiter = address_of("arbiter")  # may subscribe there, but the broker drops what it publishes
    assert outcome_of(arbiter, None) == "the broker does not deliver what is published; trying again"


def test_a_table_counts_only_for_itself_at_the_standbys_broker() -> None:
    """Otherwise one table could count as more than half of them and make the standby take over."""
    beats = [Beat(id=f"beat-000{table}", event=NAME, table=table, device="d" * 16, start=1) for table in (1, 2, 3)]
    on_its_own = topics.BEAT.at(NAME, table=1)
    assert tables_heard(Incoming(on_its_own, encode(one), lambda: None) for one in beats) == {1}
    said = [Incoming(topics.BEAT.at(NAME, table=one.table), encode(one), lambda: None) for one in beats]
    assert tables_heard(said) == {1, 2, 3}


def test_a_reserved_port_stays_reserved_for_its_server_across_restarts() -> None:
    port = reserve_port()
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", port))
    with pytest.raises(OSError, match="in use"):
        reserve_port(port)
    for _ in range(2):
        with socket.create_server(("127.0.0.1", port)), socket.create_connection(("127.0.0.1", port)):
            pass


def test_a_standby_announces_its_takeover_before_it_reads_its_journal(
    folder: Path, tmp_path: Path, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first scorer may be restarted just then, before anything else answers it."""
    first = event_folder(tmp_path / "first", [])
    told = list[FollowAnswer]()

    def ask(_line: FollowLine, asked: FollowRequest, _patience_s: float) -> FollowAnswer | None:
        if told and not told[-1].part.states and asked.have.files:
            (folder / TAKEOVER_REQUEST).touch()
            return None
        told.append(FollowAnswer(FollowedEvent(first, NAME).part(asked.have), OURS.term, 1883, "127.0.0.1", 0))
        return told[-1]

    monkeypatch.setattr(FollowLine, "ask", ask)
    monkeypatch.setattr(standby, "PAUSE_S", 0.01)
    nowhere = cast("Logins", SimpleNamespace(scorer=lambda host, port: Address(host, port, "scorer", "")))
    standing = StandingBy(
        folder, "https://127.0.0.1:1", PLACE, lambda: nowhere, lambda _: (address, lambda: None, N_("ours"))
    )
    with ExitStack() as running:
        assert standing.run(Event(), running)
        line = LeaseLink(NAME, address, LeaseRequest(OURS, "", starts=False))
        running.callback(line.close)
        until = time.monotonic() + PATIENCE_S
        while not line.request.replaced and time.monotonic() < until:
            assert line.look(time.monotonic()) is None
        assert line.request.replaced


def handed_over_at_once(first: Path) -> Callable[..., FollowAnswer]:
    """Return a `FollowLine.ask` that hands over as soon as the standby has everything."""

    def ask(_line: FollowLine, asked: FollowRequest, _patience_s: float) -> FollowAnswer:
        part = FollowedEvent(first, NAME).part(asked.have)
        has_all = bool(asked.have.files) and not part.states
        return FollowAnswer(part, 1, 1883, "127.0.0.1", 0, handed_over=has_all)

    return ask


def nothing(*_: object) -> NoReturn:
    raise AssertionError("not needed while the first machine answers")


def test_the_audit_log_stays_valid_across_a_takeover(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = event_folder(tmp_path / "first", [])
    with closing(open_people(first, 0)) as people:
        for action in ("account_added", "logged_in", "pairing_opened"):
            AuditLog(people).note(0, "anne", action)

    monkeypatch.setattr(FollowLine, "ask", handed_over_at_once(first))
    standing = StandingBy(folder, "https://127.0.0.1:1", PLACE, nothing, nothing)
    with ExitStack() as running:
        assert standing.run(Event(), running) is None
    with closing(open_people(first, 0)) as there, closing(open_people(folder, 0)) as here:
        assert list(AuditLog(here).checked()) == list(AuditLog(there).checked())


def test_a_standby_with_a_full_disk_waits_until_there_is_space(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, rooms, seen = event_folder(tmp_path / "first", []), [10**9, 0, 0, 10**9], list[int]()
    tell, free = handed_over_at_once(first), 0

    def ask(line: FollowLine, asked: FollowRequest, patience_s: float) -> FollowAnswer:
        seen.append(free)
        return tell(line, asked, patience_s)

    def room(_: Path) -> tuple[int, int]:
        nonlocal free
        free = rooms.pop(0) if len(rooms) > 1 else rooms[0]
        return free, 2 * 10**9

    monkeypatch.setattr(FollowLine, "ask", ask)
    monkeypatch.setattr(DiskSpace, "_make", lambda _: None)
    monkeypatch.setattr(space, "WAIT_S", 0.01)
    monkeypatch.setattr(standby, "DiskSpace", partial(DiskSpace, room=room))
    with ExitStack() as running:
        assert StandingBy(folder, "https://127.0.0.1:1", PLACE, nothing, nothing).run(Event(), running) is None
    assert set(seen) == {10**9}
    assert rooms == [10**9]


def test_a_standby_that_cannot_write_says_why_and_tries_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, take, fails = event_folder(tmp_path / "first", []), EventCopy.take, [True, True, False]

    def take_or_fail(copy: EventCopy, part: JournalPart) -> bool:
        if fails[0]:
            fails.pop(0)
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), "event.toml")
        return take(copy, part)

    monkeypatch.setattr(FollowLine, "ask", handed_over_at_once(first))
    monkeypatch.setattr(EventCopy, "take", take_or_fail)
    monkeypatch.setattr(standby, "UNWRITTEN_S", 0.01)
    with ExitStack() as running:
        assert StandingBy(folder, "https://127.0.0.1:1", PLACE, nothing, nothing).run(Event(), running) is None
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "trying again" in line] == [
        "Standby: file_failed: event.toml: Permission denied: trying again"
    ]
    assert lines[-1] == "Standby: taking over (handed_over)"
