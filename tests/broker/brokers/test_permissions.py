"""Permissions as data."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.contract.topics import TOPICS
from broker.errors import SettingRefused
from broker.permissions import Permissions, as_markdown, of_role, permissions, users

DOCUMENT = Path(__file__).parents[3] / "docs" / "brokers.md"


def test_a_table_has_its_own_topics_and_no_others() -> None:
    assert permissions("cup", 3)["table-3"] == Permissions(
        publish=("hm/cup/table/3/state", "hm/cup/table/3/log", "hm/cup/table/3/count"),
        subscribe=(
            "hm/cup/receipt/3",
            "hm/cup/assignment/3",
            "hm/cup/served/3",
            "hm/cup/order/3",
            "hm/cup/pin/3",
            "hm/cup/counted/3",
        ),
    )


def test_the_offices_have_theirs_at_every_table() -> None:
    rights = permissions("cup", 1)
    assert rights["desk"] == Permissions(
        publish=("hm/cup/order/+", "hm/cup/pin/+"),
        subscribe=("hm/cup/traveller/+", "hm/cup/standings", "hm/cup/ruling", "hm/cup/alert"),
    )
    assert rights["scorer"].subscribe == (
        "hm/cup/table/+/state",
        "hm/cup/table/+/log",
        "hm/cup/order/+",
        "hm/cup/table/+/count",
    )
    assert rights["arbiter"].publish == ()


def test_a_display_reads_what_is_public_and_says_nothing() -> None:
    assert permissions("cup", 2)["display"] == Permissions(
        publish=(), subscribe=("hm/cup/public/deal/+", "hm/cup/public/places")
    )


def test_nobody_but_the_table_reads_its_assignment() -> None:
    readers = {user for user, may in permissions("cup", 2).items() if any("assignment" in f for f in may.subscribe)}
    assert readers == {"table-1", "table-2"}


@given(tables=st.integers(1, 999))
def test_no_two_users_may_say_the_same(tables: int) -> None:
    said = [topic for may in permissions("cup", tables).values() for topic in may.publish]
    assert len(said) == len(set(said))


@given(table=st.integers(1, 999))
def test_a_tables_permissions_hold_no_wildcard(table: int) -> None:
    may = of_role("table", "cup", table=table)
    assert not [one for one in may.publish + may.subscribe if "+" in one or "#" in one]


def test_every_topic_has_one_writer_with_permission() -> None:
    rights = permissions("cup", 1)
    said = {topic for may in rights.values() for topic in may.publish}
    wanted = {topic.at("cup", table=1 if topic.writer == "table" else None) for topic in TOPICS}
    assert said == wanted


def test_users_are_the_keys_of_permissions() -> None:
    assert users(4) == tuple(permissions("cup", 4))


@pytest.mark.parametrize("event", ["", "a.b", "a/b", "+", "#", "A", "a\nuser x", "x" * 33])
def test_what_is_no_event_is_refused(event: str) -> None:
    with pytest.raises(SettingRefused) as caught:
        permissions(event, 1)
    assert caught.value.code == "broker_setting_refused"


@pytest.mark.parametrize("tables", [-1, 0, 10_000])
def test_what_is_no_number_of_tables_is_refused(tables: int) -> None:
    with pytest.raises(SettingRefused):
        permissions("cup", tables)


def test_a_table_without_its_number_is_refused() -> None:
    with pytest.raises(SettingRefused):
        of_role("table", "cup")
    with pytest.raises(SettingRefused):
        of_role("desk", "cup", table=1)


def test_the_document_has_the_table_of_the_code() -> None:
    assert as_markdown() in DOCUMENT.read_text("utf-8")
