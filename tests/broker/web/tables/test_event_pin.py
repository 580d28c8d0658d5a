"""The event's PIN: one hash in the event's folder, and which tables do not have it."""

import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.protocol import ArbiterPin, decode_on_topic
from broker.protocol.arbiter_pin import hash_pin, pin_mark, pin_matches
from broker.web import NothingToPairWith, PinUnusable
from broker.web.tables import event_pin
from broker.web.tables.event_pin import EventPin, PinPublisher, PinsAtTables
from tests.broker.scorer.hall import Ear
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


def heard(ear: Ear) -> list[tuple[int, str, int]]:
    """Return table, hash and time of what was told, all of it to be kept by the broker."""
    assert {retain for *_, retain in ear.said} <= {True}
    told = [decode_on_topic(topic, payload)[1] for topic, payload, _ in ear.said]
    return [(one.table, one.hash, one.set_at) for one in told if isinstance(one, ArbiterPin)]


def test_each_table_is_told_each_pin_as_later_than_the_one_before_whatever_the_clock_says(tmp_path: Path) -> None:
    pin, ear = EventPin(tmp_path / "arbiter-pin"), Ear()
    teller = PinPublisher("cup", (1, 7), pin, ear)
    teller.tell()
    for now in (5000, 400, 400):
        pin.set(PIN, PIN, now)
        teller.tell()
    assert [(table, at) for table, _, at in heard(ear)] == [
        (table, at) for at in (5000, 5001, 5002) for table in (1, 7)
    ]
    assert heard(ear)[-1][1] == pin.hashed()


class Turn:
    """A lock that says when a second thread wants it."""

    def __init__(self, wanted: threading.Event) -> None:
        self._lock, self._wanted = threading.Lock(), wanted

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self._wanted.set()
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def test_while_one_thread_tells_a_pin_another_sets_and_tells_the_next_and_the_next_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin, ear, on = EventPin(tmp_path / "arbiter-pin"), Ear(), threading.Event()
    monkeypatch.setattr(event_pin, "TURN", Turn(on))
    pin.set(PIN, PIN, 1)

    def set_another() -> None:
        pin.set("2222", "2222", 2)
        PinPublisher("cup", (1, 7), pin, ear).tell()
        on.set()

    other = threading.Thread(target=set_another)

    class Slow(Ear):
        def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
            if not other.ident:
                other.start()
                assert on.wait(10)
            ear.publish(topic, payload, retain=retain)

    PinPublisher("cup", (1, 7), pin, Slow()).tell()
    other.join()
    assert [(table, at) for table, _, at in heard(ear)] == [(1, 1), (7, 1), (1, 2), (7, 2)]


def test_a_pin_from_before_desks_told_it_is_told_as_older_than_any_other_and_a_broken_one_not_at_all(
    tmp_path: Path,
) -> None:
    ear, hashed = Ear(), hash_pin(PIN)
    for content in (f"{hashed}\n", "4711\n", f"{hashed}\nnoon\n", f"{hashed}\n-1\n", f"{hashed}\n1\n2\n"):
        (tmp_path / "arbiter-pin").write_text(content, encoding="ascii")
        PinPublisher("cup", (3,), EventPin(tmp_path / "arbiter-pin"), ear).tell()
    assert heard(ear) == [(3, hashed, 0)]
