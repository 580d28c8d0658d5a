"""The embedded broker: cached password hashes, and restarts because of its log."""

from pathlib import Path

import bcrypt
import pytest

from broker.errors import BrokerDied, ProgramMissing
from broker.mqtt.access import Credentials
from broker.mqtt.nats import HASHES, STORE_FAILURES, password_hashes
from tests.broker.mqtt.brokers import make_broker
from tests.broker.mqtt.hall import EVENT, TABLES

PASSWORDS = {"scorer": "s" * 32, "table-1": "t" * 32}


def test_a_hash_is_reused_while_user_and_password_are_the_same(tmp_path: Path) -> None:
    before = password_hashes(tmp_path, PASSWORDS)
    after = password_hashes(tmp_path, PASSWORDS | {"table-1": "new" * 10, "table-2": "t" * 32})
    assert after["scorer"] == before["scorer"]
    assert not {after["table-1"], after["table-2"]} & {*before.values()}
    assert bcrypt.checkpw(b"new" * 10, after["table-1"].encode())


def test_hashes_of_removed_users_are_deleted(tmp_path: Path) -> None:
    before = password_hashes(tmp_path, PASSWORDS)
    password_hashes(tmp_path, {"scorer": PASSWORDS["scorer"]})
    assert before["table-1"] not in (tmp_path / HASHES).read_text()


def test_only_the_owner_can_read_the_hashes(tmp_path: Path) -> None:
    password_hashes(tmp_path, PASSWORDS)
    assert (tmp_path / HASHES).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"scorer":"x"}'])
def test_unreadable_hashes_are_recomputed(tmp_path: Path, content: bytes) -> None:
    (tmp_path / HASHES).write_bytes(content)
    assert bcrypt.checkpw(PASSWORDS["scorer"].encode(), password_hashes(tmp_path, PASSWORDS)["scorer"].encode())


@pytest.mark.parametrize("started_over", [False, True])
def test_a_broker_that_stores_nothing_is_restarted_even_after_a_log_rotation(
    tmp_path: Path, credentials: Credentials, *, started_over: bool
) -> None:
    with make_broker("embedded", tmp_path, EVENT, credentials, tables=TABLES) as broker:
        before = broker.pid
        broker.check()
        assert broker.pid == before
        with broker.log.open("wb" if started_over else "ab") as log:
            log.write(STORE_FAILURES[0] + b"\n")
        broker.check()
        assert broker.pid not in (None, before)


def test_a_broker_that_cannot_be_restarted_counts_as_died(
    tmp_path: Path, credentials: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would be mistaken for one that was stopped on purpose."""
    with make_broker("embedded", tmp_path, EVENT, credentials, tables=TABLES) as broker:
        with broker.log.open("ab") as log:
            log.write(STORE_FAILURES[0] + b"\n")
        with monkeypatch.context() as without_setpriv:
            without_setpriv.setenv("PATH", "")
            with pytest.raises(ProgramMissing):
                broker.check()
        with pytest.raises(BrokerDied):
            broker.check()
