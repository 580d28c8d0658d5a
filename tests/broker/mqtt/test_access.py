"""Permissions derived from the table of topics, and passwords."""

import logging
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.errors import CredentialsExposed, CredentialsMalformed, SettingRefused, UserUnknown
from broker.mqtt.access import (
    OFFICES,
    Credentials,
    Permissions,
    permissions_of_event,
    permissions_of_role,
    user_names,
)
from broker.protocol import LAST_TABLE, TOPICS


def test_a_table_has_its_own_topics_and_no_others() -> None:
    assert permissions_of_event("cup", 3)["table-3"] == Permissions(
        publish=(
            "hm/cup/table/3/state",
            "hm/cup/table/3/log",
            "hm/cup/table/3/beat",
            "hm/cup/table/3/kept",
            "hm/cup/table/3/pin",
            "hm/cup/table/3/count",
        ),
        subscribe=(
            "hm/cup/scorer",
            "hm/cup/receipt/3",
            "hm/cup/assignment/3",
            "hm/cup/served/3",
            "hm/cup/kept/3",
            "hm/cup/order/3",
            "hm/cup/pin/3",
            "hm/cup/counted/3",
        ),
    )


def test_single_roles_have_topics_of_every_table() -> None:
    rights = permissions_of_event("cup", 1)
    assert rights["desk"] == Permissions(
        publish=("hm/cup/order/+",),
        subscribe=("hm/cup/scorer", "hm/cup/traveller/+", "hm/cup/standings", "hm/cup/ruling", "hm/cup/alert"),
    )
    assert rights["scorer"].subscribe == (
        "hm/cup/table/+/state",
        "hm/cup/table/+/log",
        "hm/cup/table/+/beat",
        "hm/cup/scorer",
        "hm/cup/scorer/asked",
        "hm/cup/table/+/kept",
        "hm/cup/order/+",
        "hm/cup/table/+/pin",
        "hm/cup/table/+/count",
        "hm/cup/hall/+/row",
        "hm/cup/hall/+/state",
    )
    assert rights["arbiter"].publish == ()


def test_a_display_only_reads_public_topics() -> None:
    assert permissions_of_event("cup", 2)["display"] == Permissions(
        publish=(), subscribe=("hm/cup/public/deal/+", "hm/cup/public/places")
    )


def test_only_the_table_reads_its_assignment() -> None:
    readers = {
        user for user, may in permissions_of_event("cup", 2).items() if any("assignment" in f for f in may.subscribe)
    }
    assert readers == {"table-1", "table-2"}


@given(tables=st.integers(1, 999))
def test_no_two_users_may_publish_to_the_same_topic(tables: int) -> None:
    said = [topic for may in permissions_of_event("cup", tables).values() for topic in may.publish]
    assert len(said) == len(set(said))


@given(table=st.integers(1, 999))
def test_a_tables_permissions_contain_no_wildcard(table: int) -> None:
    may = permissions_of_role("table", "cup", table=table)
    assert not [one for one in may.publish + may.subscribe if "+" in one or "#" in one]


def test_every_topic_has_a_user_who_may_publish_to_it() -> None:
    rights = permissions_of_event("cup", 1)
    said = {topic for may in rights.values() for topic in may.publish}
    of_halls = {topic for topic in TOPICS if topic.writer == "hall"}
    wanted = {
        topic.at("cup", table=1 if topic.writer == "table" else None) for topic in TOPICS if topic not in of_halls
    }
    assert said == wanted


def test_a_hall_publishes_only_its_own_topics_and_no_table_connects_to_the_centre() -> None:
    rights = permissions_of_event("cup", 4, ["paris", "osaka"])
    assert rights["hall-paris"] == Permissions(
        publish=("hm/cup/hall/paris/row", "hm/cup/hall/paris/state"),
        subscribe=("hm/cup/centre/paris", "hm/cup/centre"),
    )
    assert rights.keys() == {*OFFICES, "hall-paris", "hall-osaka"}
    assert permissions_of_event("cup", 4, []).keys() == {*OFFICES}
    assert user_names(4, ["paris"]) == (*OFFICES, "hall-paris")


def test_users_are_the_keys_of_permissions() -> None:
    assert user_names(4) == tuple(permissions_of_event("cup", 4))


@pytest.mark.parametrize("event", ["", "a.b", "a/b", "+", "#", "A", "a\nuser x", "x" * 33])
def test_an_invalid_event_name_is_refused(event: str) -> None:
    with pytest.raises(SettingRefused) as caught:
        permissions_of_event(event, 1)
    assert caught.value.code == "broker_setting_refused"


@pytest.mark.parametrize("tables", [-1, 0, 10_000])
def test_an_invalid_number_of_tables_is_refused(tables: int) -> None:
    with pytest.raises(SettingRefused):
        permissions_of_event("cup", tables)


def test_the_table_role_requires_a_table_number() -> None:
    with pytest.raises(SettingRefused):
        permissions_of_role("table", "cup")
    with pytest.raises(SettingRefused):
        permissions_of_role("desk", "cup", table=1)


def test_every_user_has_a_different_password() -> None:
    made = Credentials.create(20)
    assert set(made.passwords) == {"scorer", "desk", "arbiter", "display", *(f"table-{n}" for n in range(1, 21))}
    assert len(set(made.passwords.values())) == 24
    assert min(map(len, made.passwords.values())) == 32


def test_saved_credentials_are_loaded_unchanged(tmp_path: Path) -> None:
    made = Credentials.create(3)
    made.save(tmp_path / "credentials.json")
    assert Credentials.load(tmp_path / "credentials.json") == made


def test_only_the_owner_can_read_the_credentials(tmp_path: Path) -> None:
    path = tmp_path / "credentials.json"
    Credentials.ensure(path, 3)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["credentials.json"]


def test_credentials_that_others_can_read_are_refused(tmp_path: Path) -> None:
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
def test_malformed_credentials_are_refused_without_quoting_them(tmp_path: Path, content: str) -> None:
    path = tmp_path / "credentials.json"
    path.write_bytes(content.encode(errors="surrogateescape"))
    path.chmod(0o600)
    with pytest.raises(CredentialsMalformed) as caught:
        Credentials.load(path)
    assert "secret" not in str(caught.value)


def test_ensuring_credentials_again_keeps_existing_passwords(tmp_path: Path) -> None:
    path = tmp_path / "event" / "credentials.json"
    first = Credentials.ensure(path, 2)
    written = path.stat().st_mtime_ns
    assert Credentials.ensure(path, 2) == first
    assert path.stat().st_mtime_ns == written
    more = Credentials.ensure(path, 4)
    assert first.passwords.items() < more.passwords.items()
    assert Credentials.ensure(path, 1) == more


def test_credentials_ensured_concurrently_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "credentials.json"
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: Credentials.ensure(path, 5), range(8)))
    assert made == [Credentials.load(path)] * 8


def test_credentials_do_not_show_passwords(caplog: pytest.LogCaptureFixture) -> None:
    made = Credentials.create(1)
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("test").info("%s %r", made, made)
    for password in made.passwords.values():
        assert password not in f"{made} {made!r} {caplog.text}"


def test_a_user_without_credentials_is_unknown() -> None:
    made = Credentials.create(1)
    assert made.table(1) == ("table-1", made.password("table-1"))
    with pytest.raises(UserUnknown):
        made.password("table-2")


@pytest.mark.parametrize("tables", [0, LAST_TABLE + 1])
def test_credentials_for_an_invalid_number_of_tables_are_refused(tables: int) -> None:
    with pytest.raises(SettingRefused):
        Credentials.create(tables)
