"""The event's PIN: one hash in the event's folder, and which tables do not have it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.protocol.arbiter_session import hash_pin, pin_mark, pin_matches
from broker.web.errors import NothingToPairWith, PinUnusable
from broker.web.tables.event_pin import EventPin, PinsAtTables
from tests.broker.web import sample

PIN = "4711"
HEARD = sample.tables()[0]


def test_only_the_hash_of_a_pin_is_kept_and_for_its_owner_alone(tmp_path: Path) -> None:
    pin = EventPin(tmp_path / "arbiter-pin")
    assert pin.hashed() is None
    pin.set(PIN, PIN)
    hashed = pin.hashed()
    assert hashed is not None
    assert (pin_matches(hashed, PIN), pin_matches(hashed, "4712")) == (True, False)
    assert (PIN in pin.path.read_text(), pin.path.stat().st_mode & 0o077) == (False, 0)


@pytest.mark.parametrize(
    ("pin", "again"), [("123", "123"), ("1" * 13, "1" * 13), ("12a4", "12a4"), ("１２３４",) * 2, (PIN, "")]
)
def test_what_is_no_pin_or_not_twice_the_same_leaves_the_one_before(tmp_path: Path, pin: str, again: str) -> None:
    kept = EventPin(tmp_path / "arbiter-pin")
    with pytest.raises(PinUnusable):
        kept.set(pin, again)
    assert kept.hashed() is None


@pytest.mark.parametrize("content", [b"4711", b"", b"\xff", b"$argon2id$v=19$m=4194304,t=3,p=4$" + b"A" * 66])
def test_a_file_that_holds_no_hash_of_ours_gives_no_device_anything(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "arbiter-pin").write_bytes(content)
    with pytest.raises(NothingToPairWith):
        EventPin(tmp_path / "arbiter-pin").hashed()


def test_tables_without_the_pin_and_with_another_are_named_once_they_were_heard(tmp_path: Path) -> None:
    pin = EventPin(tmp_path / "arbiter-pin")
    said = [(1, None), (2, "0" * 16)]
    tables = [replace(HEARD, table=table, pin=mark) for table, mark in said]
    tables.append(replace(HEARD, table=4, lifecycle=None))
    assert pin.at_tables(tuple(tables)) == PinsAtTables((1,))
    pin.set(PIN, PIN)
    tables.append(replace(HEARD, table=3, pin=pin_mark(pin.hashed() or "")))
    assert pin.at_tables(tuple(tables)) == PinsAtTables((1,), (2,), (3,))


def test_each_pin_is_set_later_than_the_one_before_whatever_the_clock_says(tmp_path: Path) -> None:
    pin, times = EventPin(tmp_path / "arbiter-pin"), []
    for now in (5000, 400, 400):
        pin.set(PIN, PIN, now)
        kept = pin.kept()
        times.append(kept and kept.set_at)
    assert times == [5000, 5001, 5002]


def test_a_file_that_cannot_be_used_lets_nobody_in(tmp_path: Path) -> None:
    hashed = hash_pin(PIN)
    found = []
    for content in (f"{hashed}\n", "4711\n", f"{hashed}\nnoon\n", f"{hashed}\n-1\n", f"{hashed}\n1\n2\n"):
        (tmp_path / "arbiter-pin").write_text(content, encoding="ascii")
        found.append(EventPin(tmp_path / "arbiter-pin").hash_or_none())
    assert found == [hashed, None, None, None, None]
