"""The event's PIN: its stored hash, and which tables do not have it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.protocol.arbiter_session import hash_pin, pin_mark, pin_matches
from broker.web.errors import NothingToPairWith, PinUnusable
from broker.web.tables.event_pin import EventPin, PinsAtTables
from tests.broker.web import sample

PIN = "4711"
HEARD = sample.tables()[0]


def test_only_a_pins_hash_is_stored_in_a_private_file(tmp_path: Path) -> None:
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
def test_an_invalid_or_mistyped_pin_is_not_stored(tmp_path: Path, pin: str, again: str) -> None:
    kept = EventPin(tmp_path / "arbiter-pin")
    with pytest.raises(PinUnusable):
        kept.set(pin, again)
    assert kept.hashed() is None


@pytest.mark.parametrize("content", [b"4711", b"", b"\xff", b"$argon2id$v=19$m=4194304,t=3,p=4$" + b"A" * 66])
def test_a_file_without_a_valid_hash_raises_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "arbiter-pin").write_bytes(content)
    with pytest.raises(NothingToPairWith):
        EventPin(tmp_path / "arbiter-pin").hashed()


def test_connected_tables_are_grouped_by_their_pin(tmp_path: Path) -> None:
    pin = EventPin(tmp_path / "arbiter-pin")
    said = [(1, None), (2, "0" * 16)]
    tables = [replace(HEARD, table=table, pin=mark) for table, mark in said]
    tables.append(replace(HEARD, table=4, lifecycle=None))
    assert pin.at_tables(tuple(tables)) == PinsAtTables((1,))
    pin.set(PIN, PIN)
    tables.append(replace(HEARD, table=3, pin=pin_mark(pin.hashed() or "")))
    assert pin.at_tables(tuple(tables)) == PinsAtTables((1,), (2,), (3,))


def test_each_pin_has_a_later_timestamp_than_the_previous_one(tmp_path: Path) -> None:
    pin, times = EventPin(tmp_path / "arbiter-pin"), []
    for now in (5000, 400, 400):
        pin.set(PIN, PIN, now)
        kept = pin.kept()
        times.append(kept and kept.set_at)
    assert times == [5000, 5001, 5002]


def test_an_unusable_file_counts_as_no_pin(tmp_path: Path) -> None:
    hashed = hash_pin(PIN)
    found = []
    for content in (f"{hashed}\n", "4711\n", f"{hashed}\nnoon\n", f"{hashed}\n-1\n", f"{hashed}\n1\n2\n"):
        (tmp_path / "arbiter-pin").write_text(content, encoding="ascii")
        found.append(EventPin(tmp_path / "arbiter-pin").hash_or_none())
    assert found == [hashed, None, None, None, None]
