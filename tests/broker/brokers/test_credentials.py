"""Passwords: random, kept, and never shown."""

import logging
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from broker.contract.words import LAST_TABLE
from broker.credentials import Credentials
from broker.errors import CredentialsExposed, CredentialsMalformed, SettingRefused, UserUnknown


def test_every_user_has_a_password_of_his_own() -> None:
    made = Credentials.create(20)
    assert set(made.passwords) == {"scorer", "desk", "arbiter", "display", *(f"table-{n}" for n in range(1, 21))}
    assert len(set(made.passwords.values())) == 24
    assert min(map(len, made.passwords.values())) == 32


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    made = Credentials.create(3)
    made.save(tmp_path / "credentials.json")
    assert Credentials.load(tmp_path / "credentials.json") == made


def test_only_the_owner_reads_the_file(tmp_path: Path) -> None:
    path = tmp_path / "credentials.json"
    Credentials.ensure(path, 3)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["credentials.json"]


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "credentials.json"
    Credentials.create(1).save(path)
    path.chmod(0o640)
    with pytest.raises(CredentialsExposed) as caught:
        Credentials.load(path)
    assert (caught.value.code, isinstance(caught.value, PermissionError)) == (
        "broker_credentials_exposed",
        True,
    )


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"schema": 1}',
        '{"schema": 2, "users": {}}',
        '{"schema": 1, "users": {"desk": "too-short-secret"}, "more": 1}',
        '{"schema": 1, "users": {"desk": "secret"}}',
        '{"schema": 1, "users": {"desk\\nuser root": "a-secret-of-sixteen"}}',
        "\udcff",
    ],
)
def test_a_malformed_file_is_refused_without_being_quoted(tmp_path: Path, content: str) -> None:
    path = tmp_path / "credentials.json"
    path.write_bytes(content.encode(errors="surrogateescape"))
    path.chmod(0o600)
    with pytest.raises(CredentialsMalformed) as caught:
        Credentials.load(path)
    assert "secret" not in str(caught.value)


def test_run_again_everybody_keeps_his_password(tmp_path: Path) -> None:
    path = tmp_path / "event" / "credentials.json"
    first = Credentials.ensure(path, 2)
    written = path.stat().st_mtime_ns
    assert Credentials.ensure(path, 2) == first
    assert path.stat().st_mtime_ns == written
    more = Credentials.ensure(path, 4)
    assert first.passwords.items() < more.passwords.items()
    assert Credentials.ensure(path, 1) == more


def test_run_by_many_at_once_all_agree(tmp_path: Path) -> None:
    path = tmp_path / "credentials.json"
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: Credentials.ensure(path, 5), range(8)))
    assert made == [Credentials.load(path)] * 8


def test_no_password_is_shown(caplog: pytest.LogCaptureFixture) -> None:
    made = Credentials.create(1)
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("test").info("%s %r", made, made)
    for password in made.passwords.values():
        assert password not in f"{made} {made!r} {caplog.text}"


def test_who_has_no_credentials_is_unknown() -> None:
    made = Credentials.create(1)
    assert made.table(1) == ("table-1", made.password("table-1"))
    with pytest.raises(UserUnknown):
        made.password("table-2")


@pytest.mark.parametrize("tables", [0, LAST_TABLE + 1])
def test_what_is_no_number_of_tables_is_refused(tables: int) -> None:
    with pytest.raises(SettingRefused):
        Credentials.create(tables)
