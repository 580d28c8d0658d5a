"""From the outbox to the scorer: sent until a receipt names it, in order, and the state only where it changed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from broker.contract.clock import FAR_MS
from broker.contract.messages import LogMessage, TableState
from broker.contract.wire import decode_at
from kiosk.journal import Journal
from kiosk.uplink import MOST_AT_ONCE, RESEND_NS, Uplink
from tests.kiosk.journals import receipt, told
from tests.kiosk.tables import EVENT, TABLE

LOG, STATE = f"hm/{EVENT}/table/{TABLE}/log", f"hm/{EVENT}/table/{TABLE}/state"


@dataclass
class FakeSender:
    """Takes what is published; while it is down, that is lost, as with the real link."""

    up: bool = True
    sent: list[tuple[str, bytes, bool]] = field(default_factory=list)

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        if self.up:
            self.sent.append((topic, payload, retain))

    def numbers(self) -> list[int]:
        """Give the numbers of the facts that went out, in order; each came on the right topic and can be read."""
        found = []
        for topic, payload, retain in self.sent:
            _, message = decode_at(topic, payload)
            if isinstance(message, LogMessage):
                assert (topic, retain) == (LOG, False)
                found.append(message.seq)
        return found


@pytest.fixture
def sender() -> FakeSender:
    return FakeSender()


@pytest.fixture
def uplink(journal: Journal, sender: FakeSender) -> Uplink:
    return Uplink(journal, sender, EVENT, TABLE, lambda: 1_000)


STATE_NOW = TableState(
    id="state-00001",
    event=EVENT,
    table=TABLE,
    seq=4,
    device="device-1",
    start=1,
    count=0,
    lifecycle="ready",
    state="playing",
    round=1,
    deal=1,
    unsent=0,
    calling=False,
    health={},
)


def test_a_fact_is_sent_again_and_again_until_its_receipt_comes(
    journal: Journal, sender: FakeSender, uplink: Uplink
) -> None:
    (fact,) = told(journal, 1)
    uplink.send([fact], now=10)
    assert not uplink.overdue(10 + RESEND_NS - 1)
    for late in (1, 2, 3):
        assert uplink.overdue(10 + late * RESEND_NS)
        uplink.resend(10 + late * RESEND_NS)
    assert sender.numbers() == [1, 1, 1, 1]
    assert len({payload for _, payload, _ in sender.sent}) == 1
    uplink.settle(receipt(taken={1: fact.id}))
    assert (uplink.unsent, uplink.overdue(10**15)) == (0, False)


def test_a_puback_is_no_receipt(journal: Journal, sender: FakeSender, uplink: Uplink) -> None:
    """Published, and even so still to be sent: only the scorer says what is safe."""
    uplink.send(told(journal, 2), now=10)
    assert sender.numbers() == [1, 2]
    assert (uplink.unsent, len(journal.unsent())) == (2, 2)


def test_after_a_new_connection_all_that_is_open_goes_out_in_order(
    journal: Journal, sender: FakeSender, uplink: Uplink
) -> None:
    sender.up = False
    facts = told(journal, 5)
    uplink.send(facts, now=10)
    uplink.settle(receipt(taken={2: facts[1].id}, refused={4: (facts[3].id, "wrong_round")}))
    sender.up = True
    uplink.resend(now=11)
    assert sender.numbers() == [1, 3, 5]
    assert (uplink.unsent, uplink.refused) == (3, ((4, "wrong_round"),))


def test_a_long_day_offline_goes_out_in_portions_oldest_first(
    journal: Journal, sender: FakeSender, uplink: Uplink
) -> None:
    facts = told(journal, MOST_AT_ONCE + 5)
    uplink.resend(now=10)
    assert sender.numbers() == [*range(1, MOST_AT_ONCE + 1)]
    uplink.settle(receipt(taken={fact.seq: fact.id for fact in facts[:MOST_AT_ONCE]}))
    assert uplink.overdue(10 + RESEND_NS)
    sender.sent.clear()
    uplink.resend(now=10 + RESEND_NS)
    assert sender.numbers() == [51, 52, 53, 54, 55]


def test_what_a_former_run_could_not_send_is_due_at_once(journal: Journal, sender: FakeSender) -> None:
    (one, two) = told(journal, 2)
    journal.settle(receipt(refused={1: (one.id, "wrong_round")}))
    uplink = Uplink(journal, sender, EVENT, TABLE)
    assert (uplink.unsent, uplink.refused, uplink.overdue(0)) == (1, ((1, "wrong_round"),), True)
    uplink.resend(0)
    assert sender.numbers() == [two.seq]


def test_a_refused_fact_is_not_sent_again(journal: Journal, sender: FakeSender, uplink: Uplink) -> None:
    (one,) = told(journal, 1)
    uplink.settle(receipt(refused={1: (one.id, "wrong_round")}))
    uplink.resend(now=10)
    assert (sender.numbers(), uplink.overdue(10**15)) == ([], False)


def test_what_was_refused_is_sent_once_more_after_a_new_connection(
    journal: Journal, sender: FakeSender, uplink: Uplink
) -> None:
    """The plan may have been put right; only a result that is there already needs no second try."""
    one, two, three = told(journal, 3)
    refusals = {1: (one.id, "not_planned"), 2: (two.id, "already_recorded")}
    uplink.settle(receipt(taken={3: three.id}, refused=refusals))
    uplink.reconnected(now=10)
    assert (sender.numbers(), uplink.unsent, uplink.refused) == ([1], 1, ((2, "already_recorded"),))


def test_states_are_counted_as_they_are_published(sender: FakeSender, uplink: Uplink) -> None:
    for seq in (4, 4, 5):
        uplink.say(saying(replace(STATE_NOW, seq=seq)))
    counts = [decode_at(topic, payload)[1] for topic, payload, _ in sender.sent]
    assert [state.count for state in counts if isinstance(state, TableState)] == [1, 2]


def saying(state: TableState) -> Callable[[], TableState]:
    """Give what a program gives: the same content under a new id each time."""
    numbers = iter(range(10_000, 99_999))
    return lambda: replace(state, id=f"state-{next(numbers)}")


def test_a_state_is_published_once_and_retained_until_it_changes(sender: FakeSender, uplink: Uplink) -> None:
    say = saying(STATE_NOW)
    for _ in range(3):
        uplink.say(say)
    ((topic, payload, retain),) = sender.sent
    assert (topic, retain) == (STATE, True)
    assert decode_at(topic, payload)[1] == replace(STATE_NOW, id="state-10000", count=1, at=1_000)


CHANGES: list[dict[str, Any]] = [
    {"seq": 5},
    {"lifecycle": "alert"},
    {"state": "declared"},
    {"round": 2},
    {"deal": None},
    {"unsent": 1},
    {"calling": True},
    {"pin": "0123456789abcdef"},
    {"minutes": 20},
    {"health": {"camera": "camera_missing"}},
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_state_that_changed_is_published(sender: FakeSender, uplink: Uplink, change: dict[str, Any]) -> None:
    uplink.say(saying(STATE_NOW))
    uplink.say(saying(replace(STATE_NOW, **change)))
    assert len(sender.sent) == 2


def test_a_state_says_the_time_and_is_said_again_once_a_receipt_shows_that_the_clock_is_behind(
    journal: Journal, sender: FakeSender
) -> None:
    uplink = Uplink(journal, sender, EVENT, TABLE, lambda: 1_000)
    uplink.say(lambda: STATE_NOW)
    for later in (FAR_MS, FAR_MS + 1, FAR_MS + 2):
        uplink.settle(replace(receipt(), at=1_000 + later))
        uplink.say(lambda: STATE_NOW)
    said = [decode_at(topic, payload)[1] for topic, payload, _ in sender.sent]
    assert [(one.at, one.heard) for one in said if isinstance(one, TableState)] == [
        (1_000, None),
        (1_000, 1_000 + FAR_MS + 1),
    ]


def test_a_state_is_published_again_after_a_new_connection(sender: FakeSender, uplink: Uplink) -> None:
    uplink.say(saying(STATE_NOW))
    uplink.say(saying(STATE_NOW), again=True)
    assert len(sender.sent) == 2
