"""A network between an active scorer and PostgreSQL that fails at the worst time: nothing is lost, doubled or late."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.errors import StoreLost, StoreUnreachable
from broker.scorer.service import Scorer
from broker.store import DatabaseAddress, Journal, open_journal, stand_by, write_address
from broker.store import postgresql as postgresql_module
from tests.broker.scorer.hall import NOW, Ear, admitting, put
from tests.broker.scorer.small import NAME, event, whole_log
from tests.broker.store.server import OWNER, Server
from tests.broker.store.stores import Kept, fill
from tests.e2e.proxy import Proxy

LOG = whole_log(1)
SOCKET = ".s.PGSQL.5432"


@pytest.fixture
def network(server: Server) -> Iterator[Proxy]:
    """A proxy between the active scorer's machine and the server."""
    proxy = Proxy(server.folder / SOCKET)
    yield proxy
    proxy.close()


@pytest.fixture
def active(postgresql: Kept, network: Proxy, tmp_path: Path) -> Iterator[Journal]:
    """The journal of a scorer that reaches the server over that network. `postgresql` is the standby's folder."""
    folder = tmp_path / "active"
    folder.mkdir()
    password = folder / "store-password"
    password.touch(mode=0o600)
    password.write_bytes((postgresql.folder / "store-password").read_bytes())
    address = f"postgresql://{OWNER}@127.0.0.1:{network.port}/{postgresql.database}?sslmode=disable"
    write_address(folder, DatabaseAddress(address, password.name))
    journal = open_journal(folder, NAME)
    yield journal
    journal.close()


def taken_over(kept: Kept) -> Journal:
    journal = stand_by(kept.folder, NAME, threading.Event(), lambda _: None, pause_s=0.05)
    assert journal is not None
    return journal


def messages(journal: Journal) -> list[object]:
    return list(journal.messages())


def test_a_commit_whose_answer_was_lost_is_stored_once_however_often_it_is_resent(
    postgresql: Kept, network: Proxy, active: Journal
) -> None:
    fill(active, LOG[0])
    network.lose_answer_to(b"COMMIT")
    with pytest.raises(StoreLost):
        fill(active, LOG[1])
    with pytest.raises(StoreLost):
        active.check()
    journal = taken_over(postgresql)
    assert messages(journal) == LOG[:2]
    scorer = admitting(Scorer(event(), journal, postgresql.folder, lambda: NOW))
    for _ in range(2):
        put(scorer, *LOG[:3])
        scorer.step(timeout=0)
    assert messages(journal) == LOG[:3]
    journal.close()


def test_an_interrupted_commit_stores_nothing_and_its_facts_are_resent(
    postgresql: Kept, network: Proxy, active: Journal
) -> None:
    fill(active, LOG[0])

    def cut_in_the_middle() -> None:
        with active.commit():
            active.append(LOG[1], 7)
            network.cut()

    with pytest.raises(StoreLost):
        cut_in_the_middle()
    journal = taken_over(postgresql)
    assert messages(journal) == LOG[:1]
    fill(journal, LOG[1])
    assert messages(journal) == LOG[:2]
    journal.close()


def test_a_scorer_behind_a_dead_network_is_replaced_and_writes_nothing_afterwards(
    postgresql: Kept, network: Proxy, active: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql_module, "SILENCE_S", 1)
    fill(active, LOG[0])
    active.check()
    network.swallow()
    second = taken_over(postgresql)
    fill(second, LOG[1])
    network.heal()
    with pytest.raises(StoreLost):
        fill(active, LOG[2])
    with pytest.raises(StoreLost):
        active.check()
    assert messages(second) == LOG[:2]
    second.close()


def test_a_scorer_that_lost_its_store_does_not_overwrite_the_others_standings(
    postgresql: Kept, active: Journal, network: Proxy
) -> None:
    scorer, ear = admitting(Scorer(event(), active, postgresql.folder, lambda: NOW)), Ear()
    scorer.publisher.link = ear
    put(scorer, *LOG)
    scorer.step(timeout=0)
    ear.forget()
    scorer.publisher.standings_due.ask()  # standings of a large event, which are delayed
    network.cut()
    with pytest.raises(StoreLost):
        scorer.run(threading.Event())
    assert ear.story == ["stopped"]


@pytest.mark.parametrize(
    "words",
    [b"SHOW fsync", b"show transaction isolation level", b"pg_advisory_xact_lock", b"pg_try_advisory_lock", b"COMMIT"],
)
def test_a_standby_that_loses_its_server_while_opening_the_store_tries_again(
    network: Proxy, active: Journal, tmp_path: Path, words: bytes
) -> None:
    """As when the primary dies and the replica is promoted just then."""
    active.close()
    network.lose_answer_to(words)
    told = list[str]()
    journal = stand_by(tmp_path / "active", NAME, threading.Event(), lambda why: told.append(why.code), pause_s=0.05)
    assert journal is not None
    journal.close()
    assert told == [StoreUnreachable.code]
