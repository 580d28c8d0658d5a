"""From the outbox to the scorer: facts are sent until a receipt names their ids; none is closed before it is stored."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.protocol import (
    CLOCK_TOLERANCE_MS,
    LogMessage,
    Refusal,
    Restored,
    SigningKey,
    TableState,
    decode_on_topic,
    encode,
    fact_hash,
)
from broker.protocol.link import Incoming
from broker.scorer.devices import TableStates
from kiosk.journal import TableJournal
from kiosk.server import read_message
from kiosk.uplink import MOST_AT_ONCE, RESEND_NS, Uplink
from tests.kiosk.journals import HAPPENED, OURS, Broken, receipt, told
from tests.kiosk.tables import EVENT, TABLE

LOG, STATE = f"hm/{EVENT}/table/{TABLE}/log", f"hm/{EVENT}/table/{TABLE}/state"


@dataclass
class FakeSender:
    """Records what is published; while it is down, messages are lost, as with the real link."""

    up: bool = True
    sent: list[tuple[str, bytes, bool]] = field(default_factory=list)

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        if self.up:
            self.sent.append((topic, payload, retain))

    def numbers(self) -> list[int]:
        """Return the numbers of the facts sent, in order, each on the right topic and readable."""
        found = []
        for topic, payload, retain in self.sent:
            _, message = decode_on_topic(topic, payload)
            if isinstance(message, LogMessage):
                assert (topic, retain) == (LOG, False)
                found.append(message.seq)
        return found


@pytest.fixture
def sender() -> FakeSender:
    return FakeSender()


@pytest.fixture
def uplink(journal: TableJournal, sender: FakeSender) -> Uplink:
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
    journal: TableJournal, sender: FakeSender, uplink: Uplink
) -> None:
    (fact,) = told(journal, 1)
    uplink.send([fact], now=10)
    assert not uplink.overdue(10 + RESEND_NS - 1)
    for late in (1, 2, 3):
        assert uplink.overdue(10 + late * RESEND_NS)
        uplink.resend(10 + late * RESEND_NS)
    assert sender.numbers() == [1, 1, 1, 1]
    assert len({payload for _, payload, _ in sender.sent}) == 1
    uplink.apply_receipt(receipt(taken={1: fact.id}), now=10)
    assert (uplink.unsent, uplink.overdue(10**15)) == (0, False)


def test_a_puback_is_no_receipt(journal: TableJournal, sender: FakeSender, uplink: Uplink) -> None:
    """Published, and still to be sent: only the scorer says what is safe."""
    uplink.send(told(journal, 2), now=10)
    assert sender.numbers() == [1, 2]
    assert (uplink.unsent, len(journal.unsent())) == (2, 2)


def test_facts_without_a_connection_are_counted_and_sent_with_the_next_one(
    journal: TableJournal, sender: FakeSender, uplink: Uplink
) -> None:
    uplink.send(told(journal, 2), now=10, connected=False)
    assert (uplink.unsent, sender.numbers()) == (2, [])
    uplink.reconnected(now=20)
    uplink.send(told(journal, 1), now=30)
    assert (uplink.unsent, sender.numbers()) == (3, [1, 2, 3])


def test_a_new_connection_sends_all_open_facts_in_order(
    journal: TableJournal, sender: FakeSender, uplink: Uplink
) -> None:
    sender.up = False
    facts = told(journal, 5)
    uplink.send(facts, now=10)
    uplink.apply_receipt(receipt(taken={2: facts[1].id}, refused={4: (facts[3].id, "wrong_round")}), now=10)
    sender.up = True
    uplink.resend(now=11)
    assert sender.numbers() == [1, 3, 5]
    assert (uplink.unsent, uplink.refused) == (3, ((4, "wrong_round"),))


def answered(journal: TableJournal, sender: FakeSender, uplink: Uplink, now: int) -> list[int]:
    """Let the scorer acknowledge what was sent; return the numbers."""
    numbers = sender.numbers()
    sender.sent.clear()
    ids = {fact.seq: fact.id for fact in journal.unsent()}
    uplink.apply_receipt(receipt(taken={seq: ids[seq] for seq in numbers}, upto=10**6), now)
    return numbers


def test_a_long_day_offline_is_sent_in_portions_each_when_the_one_before_is_safe(
    journal: TableJournal, sender: FakeSender, uplink: Uplink
) -> None:
    told(journal, 2 * MOST_AT_ONCE + 5)
    uplink.reconnected(now=10)
    assert not uplink.overdue(10)
    portions = [answered(journal, sender, uplink, now=10)]
    while uplink.overdue(10):
        uplink.resend(now=10)
        portions.append(answered(journal, sender, uplink, now=10))
    assert [len(portion) for portion in portions] == [MOST_AT_ONCE, MOST_AT_ONCE, 5]
    assert [seq for portion in portions for seq in portion] == [*range(1, 2 * MOST_AT_ONCE + 6)]
    assert uplink.unsent == 0


def test_facts_made_meanwhile_wait_for_their_turn(journal: TableJournal, sender: FakeSender, uplink: Uplink) -> None:
    told(journal, 2 * MOST_AT_ONCE)
    uplink.reconnected(now=10)
    uplink.send(told(journal, 1), now=11)
    assert sender.numbers() == [*range(1, MOST_AT_ONCE + 1)]
    assert uplink.unsent == 2 * MOST_AT_ONCE + 1


def test_a_portion_without_a_receipt_is_not_sent_whole_again(
    journal: TableJournal, sender: FakeSender, uplink: Uplink
) -> None:
    """A scorer that has fallen behind has it already, or is reminded by its first fact until it answers."""
    facts = told(journal, 2 * MOST_AT_ONCE)
    uplink.reconnected(now=10)
    sender.sent.clear()
    for late in (1, 2, 3):
        assert uplink.overdue(10 + late * RESEND_NS)
        uplink.resend(10 + late * RESEND_NS)
    assert sender.numbers() == [1, 1, 1]
    now = 10 + 3 * RESEND_NS
    uplink.apply_receipt(receipt(taken={1: facts[0].id}, upto=1), now)
    assert not uplink.overdue(now + RESEND_NS - 1)
    uplink.apply_receipt(receipt(taken={fact.seq: fact.id for fact in facts[1:MOST_AT_ONCE]}), now)
    assert uplink.overdue(now)
    sender.sent.clear()
    uplink.resend(now)
    assert sender.numbers() == [*range(MOST_AT_ONCE + 1, 2 * MOST_AT_ONCE + 1)]


def test_lost_facts_of_a_portion_are_sent_again_once_the_scorer_answers(
    journal: TableJournal, sender: FakeSender, uplink: Uplink
) -> None:
    facts = told(journal, 5)
    uplink.reconnected(now=10)
    uplink.apply_receipt(receipt(taken={1: facts[0].id}, upto=1), now=11)
    sender.sent.clear()
    assert uplink.overdue(11 + RESEND_NS)
    uplink.resend(11 + RESEND_NS)
    assert sender.numbers() == [2, 3, 4, 5]


def test_unsent_facts_of_an_earlier_run_are_due_at_once(journal: TableJournal, sender: FakeSender) -> None:
    (one, two) = told(journal, 2)
    journal.apply_receipt(receipt(refused={1: (one.id, "wrong_round")}))
    uplink = Uplink(journal, sender, EVENT, TABLE)
    assert (uplink.unsent, uplink.refused, uplink.overdue(0)) == (1, ((1, "wrong_round"),), True)
    uplink.resend(0)
    assert sender.numbers() == [two.seq]


def test_a_refused_fact_is_not_sent_again(journal: TableJournal, sender: FakeSender, uplink: Uplink) -> None:
    (one,) = told(journal, 1)
    uplink.apply_receipt(receipt(refused={1: (one.id, "wrong_round")}), now=10)
    uplink.resend(now=10)
    assert (sender.numbers(), uplink.overdue(10**15)) == ([], False)


def test_refused_facts_are_sent_once_more_after_a_new_connection(
    journal: TableJournal, sender: FakeSender, uplink: Uplink
) -> None:
    """The plan may have been corrected; only a result that is there already needs no second try."""
    one, two, three = told(journal, 3)
    refusals = {1: (one.id, "not_planned"), 2: (two.id, "already_recorded")}
    uplink.apply_receipt(receipt(taken={3: three.id}, refused=refusals), now=10)
    uplink.reconnected(now=10)
    assert (sender.numbers(), uplink.unsent, uplink.refused) == ([1], 1, ((2, "already_recorded"),))


def test_states_are_counted_as_they_are_published(sender: FakeSender, uplink: Uplink) -> None:
    for seq in (4, 4, 5):
        uplink.publish(saying(replace(STATE_NOW, seq=seq)))
    assert [state.count for state in states(sender)] == [1, 2]


def saying(state: TableState) -> Callable[[], TableState]:
    """Return a function that gives the same content under a new id each time."""
    numbers = iter(range(10_000, 99_999))
    return lambda: replace(state, id=f"state-{next(numbers)}")


def test_a_state_is_published_once_and_retained_until_it_changes(sender: FakeSender, uplink: Uplink) -> None:
    say = saying(STATE_NOW)
    for _ in range(3):
        uplink.publish(say)
    ((topic, payload, retain),) = sender.sent
    assert (topic, retain) == (STATE, True)
    assert decode_on_topic(topic, payload)[1] == replace(STATE_NOW, id="state-10000", count=1, at=1_000)


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
def test_a_changed_state_is_published(sender: FakeSender, uplink: Uplink, change: dict[str, Any]) -> None:
    uplink.publish(saying(STATE_NOW))
    uplink.publish(saying(replace(STATE_NOW, **change)))
    assert len(sender.sent) == 2


def test_a_state_has_the_time_and_is_repeated_once_a_receipt_shows_that_the_clock_is_behind(
    journal: TableJournal, sender: FakeSender
) -> None:
    uplink = Uplink(journal, sender, EVENT, TABLE, lambda: 1_000)
    uplink.publish(lambda: STATE_NOW)
    for later in (CLOCK_TOLERANCE_MS, CLOCK_TOLERANCE_MS + 1, CLOCK_TOLERANCE_MS + 2):
        uplink.apply_receipt(replace(receipt(), at=1_000 + later), now=10)
        uplink.publish(lambda: STATE_NOW)
    assert [(one.at, one.heard) for one in states(sender)] == [
        (1_000, None),
        (1_000, 1_000 + CLOCK_TOLERANCE_MS + 1),
    ]


def states(sender: FakeSender) -> list[TableState]:
    """Return the published states."""
    said = [decode_on_topic(topic, payload)[1] for topic, payload, _ in sender.sent]
    return [one for one in said if isinstance(one, TableState)]


@pytest.mark.parametrize("change", [{}, *CHANGES, {"arbiter": "Ada"}])
@pytest.mark.parametrize("heard", [True, False])
def test_a_repeated_state_tells_the_scorer_that_a_table_has_connected(
    sender: FakeSender, uplink: Uplink, change: dict[str, Any], *, heard: bool
) -> None:
    """It answers with its plan, which the broker may not deliver again. `heard`: whether the state before arrived."""
    at_scorer = TableStates()
    uplink.publish(saying(STATE_NOW))
    uplink.publish(saying(replace(STATE_NOW, calling=True)))
    for one in states(sender)[: 1 + heard]:
        at_scorer.apply(one)
    sender.sent.clear()
    uplink.publish(saying(replace(STATE_NOW, **change)), again=True)
    greeted = list[bool]()
    for one in states(sender):
        greeted.append(at_scorer.is_hello(one))
        at_scorer.apply(one)
    assert greeted[-1]


def test_a_receipt_closes_the_facts_that_it_names_by_id(journal: TableJournal) -> None:
    one, two, three = told(journal, 3)
    journal.apply_receipt(receipt(taken={1: one.id}, refused={2: (two.id, "wrong_round")}))
    assert journal.unsent() == (three,)
    assert journal.refused() == ((2, "wrong_round"),)


def numbered(journal: TableJournal) -> list[tuple[int, str]]:
    """Return the facts to be sent, by number and id."""
    return [(one.seq, one.id) for one in journal.unsent()]


def test_a_fact_whose_number_another_device_has_used_gets_a_new_one(journal: TableJournal) -> None:
    one, two = told(journal, 2)
    journal.apply_receipt(receipt(taken={1: "somebody-elses", 2: two.id}, upto=7))
    assert numbered(journal) == [(8, one.id)]
    assert journal.refused() == ()


def test_a_safe_fact_is_sent_again_if_another_devices_fact_has_taken_its_place(journal: TableJournal) -> None:
    """The store was restored from an older copy, and a spare device continued from there."""
    one, two = told(journal, 2)
    journal.apply_receipt(receipt(taken={1: one.id, 2: two.id}))
    journal.apply_receipt(receipt(taken={1: one.id, 2: "somebody-elses"}))
    assert numbered(journal) == [(3, two.id)]


@pytest.mark.parametrize("codes", [("another_device", "conflict"), ("conflict", "another_device")])
def test_a_fact_refused_for_its_device_gets_a_new_number_if_it_clashes(
    journal: TableJournal, codes: tuple[str, str]
) -> None:
    """Even if one receipt says both."""
    (one,) = told(journal, 1)
    journal.apply_receipt(receipt(refused={1: (one.id, "another_device")}))
    both = tuple(Refusal(seq=1, id=one.id, code=code) for code in codes)
    journal.apply_receipt(replace(receipt(taken={1: "somebody-elses"}), refused=both))
    assert (numbered(journal), journal.refused()) == ([(2, one.id)], ())


@pytest.mark.parametrize("code", ["another_device", "unknown_device"])
def test_a_fact_refused_for_its_device_stays_open(journal: TableJournal, code: str) -> None:
    """The receipt may come after the message that this device is now accepted: nobody would send the fact again."""
    (one,) = told(journal, 1)
    journal.apply_receipt(receipt(refused={1: (one.id, code)}))
    assert (journal.unsent(), journal.refused()) == ((one,), ())


def test_an_id_stored_under_another_number_needs_no_attention(journal: TableJournal) -> None:
    (one,) = told(journal, 1)
    journal.apply_receipt(receipt(refused={1: (one.id, "id_reused")}))
    assert (journal.unsent(), journal.refused()) == ((), ())


def test_clashing_facts_all_keep_their_order(journal: TableJournal) -> None:
    messages = told(journal, 4)
    conflicts = {one.seq: (one.id, "conflict") for one in reversed(messages[1:])}
    journal.apply_receipt(receipt(taken={1: messages[0].id}, refused=conflicts, upto=4))
    assert [(one.seq, one.id) for one in journal.unsent()] == [(5 + at, one.id) for at, one in enumerate(messages[1:])]


def test_a_renumbered_fact_is_closed_by_its_id(journal: TableJournal) -> None:
    (one,) = told(journal, 1)
    journal.apply_receipt(receipt(taken={1: "somebody-elses"}))
    journal.apply_receipt(receipt(taken={1: "somebody-elses", 2: one.id}))
    assert (journal.unsent(), journal.refused()) == ((), ())


def test_a_refusal_of_another_devices_fact_is_ignored(journal: TableJournal) -> None:
    (one,) = told(journal, 1)
    journal.apply_receipt(receipt(refused={1: ("somebody-elses", "wrong_round")}))
    assert (journal.unsent(), journal.refused()) == ((one,), ())


def test_a_receipt_for_facts_that_are_not_ours_changes_nothing(journal: TableJournal) -> None:
    (one,) = told(journal, 1)
    journal.apply_receipt(receipt(taken={2: one.id, 9: "somebody-elses"}))
    assert journal.unsent() == (one,)


def test_a_fact_that_was_taken_after_all_is_safe(journal: TableJournal) -> None:
    (one,) = told(journal, 1)
    journal.apply_receipt(receipt(refused={1: (one.id, "not_planned")}))
    journal.apply_receipt(receipt(taken={1: one.id}))
    assert (journal.unsent(), journal.refused()) == ((), ())


def test_a_late_refusal_makes_nothing_unsafe(journal: TableJournal) -> None:
    (one,) = told(journal, 1)
    journal.apply_receipt(receipt(taken={1: one.id}))
    journal.apply_receipt(receipt(upto=1, refused={1: (one.id, "wrong_round")}))
    assert (journal.unsent(), journal.refused()) == ((), ())


@pytest.mark.parametrize(
    ("lost", "again"),
    [
        ({"upto": 0}, [1, 2, 3]),
        ({"upto": 3, "gaps": (1, 2)}, [1, 2]),
        ({"upto": 2, "store": "a-new-store"}, [1, 2, 3]),
    ],
)
def test_facts_that_the_scorers_store_has_lost_are_sent_again(
    journal: TableJournal, lost: dict[str, Any], again: list[int]
) -> None:
    messages = told(journal, 3)
    journal.apply_receipt(receipt(taken={one.seq: one.id for one in messages}))
    journal.apply_receipt(receipt(**lost))
    assert [one.seq for one in journal.unsent()] == again


@pytest.mark.parametrize(("gaps", "again"), [((), [4]), ((2,), [2, 4])])
def test_a_copy_of_the_scorers_store_gets_only_what_it_lacks(
    journal: TableJournal, gaps: tuple[int, ...], again: list[int]
) -> None:
    """It has another name, and its chain ends with a fact of ours."""
    messages = told(journal, 4)
    journal.apply_receipt(receipt(taken={one.seq: one.id for one in messages}))
    copy = replace(receipt(upto=3, store="a-copy-0001", gaps=gaps), head=fact_hash(encode(messages[2])))
    journal.apply_receipt(copy)
    assert [one.seq for one in journal.unsent()] == again


def test_another_store_with_another_chain_gets_everything(journal: TableJournal) -> None:
    messages = told(journal, 3)
    journal.apply_receipt(receipt(taken={one.seq: one.id for one in messages}))
    journal.apply_receipt(replace(receipt(upto=3, store="a-new-store"), head=fact_hash(b"of another device's fact")))
    assert [one.seq for one in journal.unsent()] == [1, 2, 3]


def test_an_error_while_applying_a_receipt_changes_nothing(path: Path) -> None:
    journal = TableJournal(path, OURS)
    one, two = told(journal, 2)
    whole = journal._store
    journal._store = Broken(whole, "UPDATE", 3)  # type: ignore[assignment] # stands in for a failing disk
    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        journal.apply_receipt(receipt(taken={1: one.id, 2: two.id}))
    journal._store = whole
    assert journal.unsent() == (one, two)
    journal.close()


SOMETIMES = st.lists(st.tuples(st.integers(1, 4), st.booleans()), max_size=12)


@given(SOMETIMES)
def test_the_last_receipt_decides_whatever_came_before(
    tmp_path_factory: pytest.TempPathFactory, before: list[tuple[int, bool]]
) -> None:
    with closing(TableJournal(tmp_path_factory.mktemp("receipts") / "table.sqlite", OURS)) as journal:
        journal._store.execute("PRAGMA synchronous=OFF")  # no power fails here
        messages = {one.seq: one for one in told(journal, 4)}
        for seq, taken in before:
            named = {seq: messages[seq].id} if taken else {}
            no = {} if taken else {seq: (messages[seq].id, "wrong_round")}
            journal.apply_receipt(receipt(taken=named, refused=no, upto=4))
        journal.apply_receipt(
            receipt(taken={2: messages[2].id, 4: messages[4].id}, gaps=(1, 3), refused={3: (messages[3].id, "late")})
        )
        assert {one.seq for one in journal.unsent()} | {seq for seq, _ in journal.refused()} == {1, 3}


def test_a_restored_fact_comes_back_from_the_outbox_unchanged(journal: TableJournal) -> None:
    fact = Restored(round=1, deal=1, verified=True, form="a" * 64, refusals=3)
    (message,) = journal.record(HAPPENED, [fact], wall=5)
    assert journal.unsent() == (message,)


def test_a_receipt_is_believed_only_with_the_events_signature_if_the_table_knows_its_key() -> None:
    key, other = SigningKey.new(), SigningKey.new()
    genuine, forged, bare = key.sign(receipt(upto=9)), other.sign(receipt(upto=9)), receipt(upto=9)
    for message, believed in ((genuine, True), (forged, False), (bare, False), (replace(genuine, upto=10), False)):
        payload = encode(message)
        heard = Incoming(f"hm/{EVENT}/receipt/{TABLE}", payload, lambda: None)
        assert read_message(heard, key.public) == ((message, None) if believed else (None, "receipt_unproven"))
        assert read_message(heard)[0] == message  # a table without a key accepts what the broker delivers


def test_a_fact_of_another_device_is_signed_by_this_one_if_the_scorer_does_not_know_the_other(
    journal: TableJournal, tmp_path: Path
) -> None:
    with closing(TableJournal(tmp_path / "dead" / "table.sqlite", OURS)) as dead:
        (one,) = told(dead, 1)
        journal.add_facts(dead.unsent_bodies())
    assert [fact.device for fact in journal.unsent()] == [one.device]
    assert journal.apply_receipt(receipt(refused={1: (one.id, "unknown_device")}))
    assert [(fact.id, fact.device) for fact in journal.unsent()] == [(one.id, journal.device)]
    assert not journal.apply_receipt(receipt(refused={1: (one.id, "unknown_device")}))
    assert [(fact.id, fact.device) for fact in journal.unsent()] == [(one.id, journal.device)]
