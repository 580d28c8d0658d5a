"""The event's PIN: one hash in the event's folder, and which tables do not have it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.contract.arbiter_pin import mark_of, opens
from broker.desk.errors import NothingToPairWith, PinUnusable
from broker.desk.event_pin import EventPin, OtherPins
from tests.broker.desk import sample

PIN = "4711"
HEARD = sample.tables()[0]


def test_only_the_hash_of_a_pin_is_kept_and_for_its_owner_alone(tmp_path: Path) -> None:
    pin = EventPin(tmp_path / "arbiter-pin")
    assert pin.hashed() is None
    pin.set(PIN, PIN)
    hashed = pin.hashed()
    assert hashed is not None
    assert (opens(hashed, PIN), opens(hashed, "4712")) == (True, False)
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
    assert pin.others(tuple(tables)) == OtherPins((1,), ())
    pin.set(PIN, PIN)
    tables.append(replace(HEARD, table=3, pin=mark_of(pin.hashed() or "")))
    assert pin.others(tuple(tables)) == OtherPins((1,), (2,))
