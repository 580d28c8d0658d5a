"""Which arbiters may rule at a table: their facts name a session that was opened there. Only the scorer judges PINs."""

import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from broker.protocol import (
    AT_THE_TABLE,
    ArbiterPin,
    Confirmed,
    Fact,
    Fine,
    Left,
    LetIn,
    LogMessage,
    Overridden,
    Paused,
    PinAnswer,
    PinGiven,
    Reopen,
    Ruled,
    SigningKey,
    TimeAdded,
    Void,
    decode,
    encode,
    fact_hash,
    is_signed_by,
    topics,
)
from broker.protocol.arbiter_session import SESSION_LIFETIME_MS, PinPlace, seal_pin, unproven_session
from broker.scorer import access
from broker.scorer.access import MOST_IN_ALL, PinCheck
from broker.scorer.lease import Lease
from broker.scorer.service import Scorer
from broker.scorer.standby import LEAVING_S
from tests.broker.scorer.hall import NOW, Clock, Ear, Hall, open_journal
from tests.broker.scorer.small import NAME, event, fact, result
from tests.broker.scorer.test_standby import PEER
from tests.patience import PATIENCE_S
from tests.pins import HASHED, OTHER_HASH, PIN, known_match

DEVICE: Final = SigningKey.from_bytes(b"1" * 32)


@dataclass(frozen=True)
class Room(Hall):
    """A scorer that knows one device at each table, with a monotonic clock."""

    times: list[float]
    """One number: the monotonic clock, in s."""

    def send(
        self, table: int, *facts: Fact, first: int = 1, before: str | None = None, waiting: bool = True
    ) -> list[str | None]:
        """Send facts of a table, signed and chained.

        Return why each was refused, or `waiting` while that is not known.
        """
        return [self.put(one, waiting=waiting) for one in chained(*facts, table=table, first=first, before=before)]

    def put(self, message: LogMessage | PinGiven, topic: str | None = None, *, waiting: bool = True) -> str | None:
        """Send one message. Return why it was refused."""
        kind = topics.LOG if isinstance(message, LogMessage) else topics.PIN_GIVEN
        before = len([*self.journal.refused()])
        self.arrive(topic or kind.at(NAME, table=message.table), encode(message))
        if waiting:
            self.until_judged()
        refused = [*self.journal.refused()]
        return refused[-1].code if len(refused) > before else None

    def until_judged(self) -> None:
        """Let the scorer work until nothing waits for a PIN."""
        while any(one.checking for one in self.scorer.live.access._tables.values()):
            self.scorer.step(timeout=PATIENCE_S)

    def give(self, table: int, pin: str, nonce: str, device: SigningKey = DEVICE) -> PinAnswer | None:
        """Enter a PIN at a table. Return the answer."""
        self.ask(table, pin, nonce, device)
        self.until_judged()
        return self.said(table).answer

    def ask(self, table: int, pin: str, nonce: str, device: SigningKey = DEVICE) -> None:
        """Enter a PIN at a table."""
        given = PinGiven(
            id=f"given-{nonce}",
            event=NAME,
            table=table,
            device=device.device,
            session=nonce,
            sealed=self.seal(table, pin, nonce),
        )
        self.put(device.sign(given), waiting=False)

    def seal(self, table: int, pin: str, nonce: str, device: SigningKey = DEVICE) -> str:
        """Seal a PIN, as a table's device does."""
        return seal_pin(self.scorer.live.access.pin_key.public, pin, PinPlace(NAME, table, device.device, nonce))

    def said(self, table: int) -> ArbiterPin:
        """Return the last message about PINs that was published to a table."""
        found = [one for one in self.ear.heard(f"/pin/{table}") if isinstance(one, ArbiterPin)]
        return found[-1]


def open_room(folder: Path, leaving: ExitStack) -> Room:
    """Start a scorer with a PIN on the store in a folder."""
    journal, clock, ear = leaving.enter_context(open_journal(folder)), Clock(), Ear()
    now = [0.0]
    scorer = Scorer(event(), journal, folder, clock, lambda: now[0])
    scorer.publisher.link = ear
    scorer.live.access.hashed = lambda: HASHED
    for table in event().tables:
        scorer.live.devices.admit(table, DEVICE.public, "kiosk")
    room = Room(scorer, journal, folder, ear, clock, now)
    room.connect(up=True)
    return room


def wait(room: Room, seconds: float) -> None:
    """Let time pass."""
    room.times[0] += seconds


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare each PIN with each hash only once for all tests."""
    monkeypatch.setattr(access, "pin_matches", known_match)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with ExitStack() as leaving:
        yield open_room(tmp_path, leaving)


def nonce(number: int) -> str:
    return f"{number:032x}"


def at(table: int) -> dict[str, Any]:
    return {"round": 1, "deal": event().bookings[table, 1].deal}


def confirmed(table: int) -> Confirmed:
    return Confirmed(**at(table))


def let_in(table: int, session: str | None, author: str = AT_THE_TABLE, sealed: str | None = None) -> LetIn:
    return LetIn(
        author=author, by="pin" if author == AT_THE_TABLE else "desk", session=session, sealed=sealed, **at(table)
    )


def left(table: int, session: str | None, author: str = AT_THE_TABLE) -> Left:
    return Left(author=author, session=session, **at(table))


def void(table: int, session: str | None, author: str = AT_THE_TABLE) -> Ruled:
    return Ruled(
        decision=Void(), author=author, role="table_arbiter", reason="tiles lay wrong", session=session, **at(table)
    )


def paused(table: int, session: str | None, author: str = AT_THE_TABLE) -> Paused:
    return Paused(begin=True, author=author, session=session, **at(table))


def by_desk(room: Room, table: int, author: str = "Anne", command: str = "admit") -> str:
    return room.scorer.live.access.sessions.open(table, command, author, nonce(7), NOW + SESSION_LIFETIME_MS)


def session_of(answer: PinAnswer | None) -> str:
    assert answer is not None
    assert answer.session is not None
    return answer.session


# ---- a PIN --------------------------------------------------------------------------------------


def test_the_right_pin_opens_a_session_for_ruling_at_that_table(room: Room) -> None:
    session = session_of(room.give(1, PIN, nonce(1)))
    assert room.send(1, confirmed(1), let_in(1, session), void(1, session), left(1, session)) == [None] * 4
    assert ("ruled_at_table", 1) in room.alerts()


def test_a_wrong_pin_opens_no_session_and_raises_an_alert(room: Room) -> None:
    answer = room.give(1, "4712", nonce(1))
    assert answer == PinAnswer(asked=nonce(1), code="pin_wrong")
    assert room.alerts() == [("pin_wrong", 1)]


def test_messages_to_a_table_are_signed_and_do_not_contain_the_pin(room: Room) -> None:
    room.give(1, PIN, nonce(1))
    key = room.scorer.publisher.key.public
    told = [(payload, retain) for topic, payload, retain in room.ear.said if "/pin/" in topic]
    signed = [is_signed_by(key, payload, decode(ArbiterPin, payload).signature) for payload, _ in told]
    assert (all(signed), {retain for _, retain in told}) == (True, {True})
    assert {b"argon2" in payload for payload, _ in told} == {False}
    by_itself = re.compile(rb"\b%b\b" % PIN.encode())  # random ids may have the same digits in them
    assert [payload for _, payload, _ in room.ear.said if by_itself.search(payload)] == []


def test_term_and_number_order_the_answers_to_pins(room: Room) -> None:
    room.scorer.publisher.lease = Lease("run", 4)
    orders = list[tuple[int, int]]()
    for _ in range(2):
        room.scorer.pin_changed()
        orders.append(((said := room.said(1)).term, said.seq))
    assert [term for term, _ in orders] == [4, 4]
    assert orders == sorted(set(orders))


@pytest.mark.parametrize(
    ("device", "signed", "code"),
    [(SigningKey.from_bytes(b"2" * 32), True, "unknown_device"), (DEVICE, False, "unsigned")],
)
def test_a_pin_not_sent_by_a_device_of_the_table_is_not_judged(
    room: Room, device: SigningKey, *, signed: bool, code: str
) -> None:
    """The sender has only the table's password."""
    given = PinGiven(
        id="given-000", event=NAME, table=1, device=device.device, session=nonce(1), sealed=room.seal(1, PIN, nonce(1))
    )
    assert room.put(device.sign(given) if signed else given) == code
    assert room.said(1).answer is None


def test_a_sealed_pin_opens_nothing_at_another_table(room: Room) -> None:
    given = PinGiven(
        id="given-000", event=NAME, table=2, device=DEVICE.device, session=nonce(1), sealed=room.seal(1, PIN, nonce(1))
    )
    room.put(DEVICE.sign(given))
    assert room.said(2).answer == PinAnswer(asked=nonce(1), code="pin_wrong")


def test_wrong_pins_make_only_their_own_table_wait(room: Room) -> None:
    answers = [room.give(1, "0000", nonce(number)) for number in range(1, 4)]
    assert [one and one.code for one in answers] == ["pin_wrong"] * 3
    assert room.give(1, PIN, nonce(4)) == PinAnswer(asked=nonce(4), code="pin_locked")
    session_of(room.give(2, PIN, nonce(5)))
    wait(room, 60)
    session_of(room.give(1, PIN, nonce(6)))


def test_the_same_request_repeated_counts_as_one_pin(room: Room) -> None:
    for _ in range(5):
        room.give(1, "0000", nonce(1))
    session_of(room.give(1, PIN, nonce(2)))


def test_after_many_wrong_pins_in_all_tables_that_entered_one_wait_sooner(room: Room) -> None:
    room.scorer.live.access._wrong.extend([0.0] * MOST_IN_ALL)
    room.give(1, "0000", nonce(1))
    again, elsewhere = room.give(1, PIN, nonce(2)), room.give(2, PIN, nonce(3))
    assert again == PinAnswer(asked=nonce(2), code="pin_locked")
    session_of(elsewhere)


# ---- while a PIN is compared with its hash ------------------------------------------------------


class Gate:
    """Holds up the comparison of PINs until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.compared: list[str] = []
        self._open = threading.Event()
        monkeypatch.setattr(access, "pin_matches", self._matches)

    def open(self) -> None:
        """Let all PINs be compared from now on."""
        self._open.set()

    def _matches(self, hashed: str, pin: str) -> bool:
        self._open.wait()
        self.compared.append(pin)
        return known_match(hashed, pin)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate(monkeypatch)
    yield made
    made.open()


def test_other_tables_get_receipts_while_a_pin_is_compared(room: Room, gate: Gate) -> None:
    room.ask(1, PIN, nonce(1))
    assert room.send(2, confirmed(2), waiting=False) == [None]
    assert (room.ear.told("receipt/2")["upto"], room.said(1).answer) == (1, None)
    gate.open()
    room.until_judged()
    session_of(room.said(1).answer)


def test_only_facts_of_the_table_wait_while_its_pin_is_compared_and_keep_their_order(room: Room, gate: Gate) -> None:
    assert room.send(1, confirmed(1), *offline(room, PIN), waiting=False) == [None] * 4
    room.send(2, confirmed(2), waiting=False)
    assert [room.ear.told(f"receipt/{table}")["upto"] for table in (1, 2)] == [1, 1]
    gate.open()
    room.until_judged()
    told = room.ear.told("receipt/1")
    assert (told["upto"], told["gaps"], told["refused"]) == (4, [], [])
    assert len(room.scorer.state.book.of((1, 1))) == 1


def test_a_table_that_floods_pins_has_only_two_compared(room: Room, gate: Gate) -> None:
    for number in range(1, 30):
        room.ask(1, f"{number:04}", nonce(number))
    room.ask(2, PIN, nonce(99))
    gate.open()
    room.until_judged()
    assert sorted(gate.compared) == ["0001", "0029", PIN]
    session_of(room.said(2).answer)


def test_facts_beyond_the_limit_of_waiting_ones_are_accepted_when_resent(
    room: Room, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "MOST_HELD", 2)
    facts = (confirmed(1), *offline(room, PIN))
    room.send(1, *facts, waiting=False)
    gate.open()
    room.until_judged()
    assert (room.ear.told("receipt/1")["upto"], room.ear.told("receipt/1")["refused"]) == (3, [])
    assert room.send(1, *facts) == [None] * 4
    assert room.ear.told("receipt/1")["upto"] == 4


def test_messages_deferred_for_a_standby_are_accepted_if_it_does_not_take_over(room: Room) -> None:
    checks: list[PinCheck] = []
    room.scorer.live.access._start = checks.append
    room.send(1, confirmed(1), *offline(room, PIN), waiting=False)
    room.scorer.standby.heard(height := room.journal.height, PEER)
    room.scorer.standby.hand_over()
    for check in checks:
        room.scorer._post(partial(room.scorer._handle_pin_check, check, right=True))
    room.send(2, confirmed(2), waiting=False)
    assert room.journal.height == height
    wait(room, LEAVING_S + 1)
    room.scorer.step(timeout=0)
    assert [room.ear.told(f"receipt/{table}")["upto"] for table in (1, 2)] == [4, 1]


def test_a_pin_changed_while_it_is_compared_opens_no_session(room: Room, gate: Gate) -> None:
    room.ask(1, PIN, nonce(1))
    room.scorer.live.access.hashed = lambda: OTHER_HASH
    gate.open()
    room.until_judged()
    assert (room.said(1).answer, gate.compared) == (PinAnswer(asked=nonce(1), code="pin_wrong"), [PIN, PIN])


# ---- sessions -----------------------------------------------------------------------------------


def test_the_desk_lets_an_arbiter_in_only_under_their_own_name(room: Room) -> None:
    session = by_desk(room, 1)
    codes = room.send(1, confirmed(1), let_in(1, session, "Anne"), void(1, session, "Bert"), void(1, session, "Anne"))
    assert codes == [None, None, "session_unknown", None]


def test_a_forged_ruling_at_a_table_is_refused_with_an_alert(room: Room) -> None:
    """The fact is signed by the device, but no arbiter was let in."""
    elsewhere = by_desk(room, 2)
    made_up = f"pin.{nonce(1)}.{NOW + SESSION_LIFETIME_MS}.{nonce(2)}"
    forged = void(1, None), void(1, elsewhere, "Anne"), void(1, made_up), void(1, unproven_session(nonce(3)))
    assert room.send(1, *forged) == ["session_missing", "session_unknown", "session_unknown", "session_unknown"]
    assert {code for code, _ in room.alerts()} == {"session_missing", "session_unknown"}
    assert room.scorer.state.book.of((1, 1)) == []


@pytest.mark.parametrize("kind", ["pause", "time", "override", "let_in", "left", "fine"])
def test_every_kind_of_arbiter_fact_needs_a_session(room: Room, kind: str) -> None:
    forged: dict[str, Fact] = {
        "pause": paused(1, None),
        "time": TimeAdded(minutes=5, author="Anne", reason="", **at(1)),
        "override": Overridden(guards=("out_of_order",), reason="why", author="Anne", **at(1)),
        "let_in": let_in(1, None),
        "left": left(1, None),
        "fine": replace(result(1), fines={"west": Fine(imp=4, reason="why", author="Anne")}),
    }
    assert room.send(1, forged[kind]) == ["session_missing"]


def test_a_session_ends_when_its_arbiter_leaves_or_another_is_let_in(room: Room) -> None:
    one, other = session_of(room.give(1, PIN, nonce(1))), by_desk(room, 1)
    codes = room.send(
        1,
        let_in(1, one),
        let_in(1, other, "Anne"),
        void(1, one),
        left(1, other, "Anne"),
        void(1, other, "Anne"),
        let_in(1, one),
    )
    assert codes == [None, None, "session_ended", None, "session_ended", "session_ended"]


def test_an_expired_session_is_refused(room: Room) -> None:
    session = session_of(room.give(1, PIN, nonce(1)))
    room.clock.read = lambda: NOW + SESSION_LIFETIME_MS + 1
    assert room.send(1, let_in(1, session)) == ["session_ended"]


def test_an_order_session_is_valid_once_and_only_for_its_order(room: Room) -> None:
    session = by_desk(room, 1, command="pause")
    codes = room.send(
        1, void(1, session, "Anne"), paused(1, session, "Anne"), paused(1, session, "Anne"), let_in(1, session, "Anne")
    )
    assert codes == ["session_unknown", None, "session_ended", "session_unknown"]
    reopened = Ruled(
        decision=Reopen(),
        author="Anne",
        role="table_arbiter",
        reason="ordered",
        session=by_desk(room, 1, command="reopen"),
        **at(1),
    )
    assert room.send(1, reopened, first=9) == [None]


def test_a_fine_counts_although_its_arbiter_left_before_the_result(room: Room) -> None:
    session = session_of(room.give(1, PIN, nonce(1)))
    fined = replace(result(1), fines={"west": Fine(imp=4, reason="why", author=AT_THE_TABLE, session=session)})
    assert room.send(1, confirmed(1), let_in(1, session), left(1, session), fined) == [None] * 4


def test_a_resent_ruling_is_not_stored_twice(room: Room) -> None:
    session = by_desk(room, 1)
    room.send(1, let_in(1, session, "Anne"))
    message = DEVICE.sign(replace(fact(1, 2, void(1, session, "Anne")), device=DEVICE.device))
    assert [room.put(message), room.put(message)] == [None, None]
    assert room.put(replace(message, seq=3)) == "bad_signature"
    assert len(room.scorer.state.book.of((1, 1))) == 1


def test_open_and_ended_sessions_stay_so_after_a_restart(tmp_path: Path) -> None:
    with ExitStack() as leaving:
        room = open_room(tmp_path, leaving)
        one, other = session_of(room.give(1, PIN, nonce(1))), session_of(room.give(2, PIN, nonce(2)))
        assert room.send(1, let_in(1, one), left(1, one)) == [None, None]
        assert room.send(2, let_in(2, other)) == [None]
    with ExitStack() as leaving:
        again = open_room(tmp_path, leaving)
        assert again.send(1, void(1, one), first=3) == ["session_ended"]
        assert again.send(2, void(2, other), first=2) == [None]


def test_an_arbiter_let_in_before_sessions_had_names_may_rule_until_leaving(room: Room) -> None:
    room.scorer.live.access._of(1).visits[0] = let_in(1, None)
    assert room.send(1, paused(1, None), left(1, None), paused(1, None)) == [None, None, "session_missing"]


def chained(*facts: Fact, table: int = 1, first: int = 1, before: str | None = None) -> Iterator[LogMessage]:
    """Return facts as their table sends them: signed, and each with the hash of the one before."""
    for seq, said in enumerate(facts, first):
        yield (one := DEVICE.sign(replace(fact(table, seq, said), device=DEVICE.device, before=before, signature=None)))
        before = fact_hash(encode(one))


# ---- a PIN that was given offline ---------------------------------------------------------------


def offline(room: Room, pin: str, number: int = 1, table: int = 1) -> tuple[LetIn, Ruled, Left]:
    """Return what an arbiter does at a table that has no contact with the scorer."""
    session = unproven_session(nonce(number))
    sealed = room.seal(table, pin, nonce(number))
    return let_in(table, session, sealed=sealed), void(table, session), left(table, session)


def test_a_ruling_made_offline_counts_once_its_pin_is_found_right(room: Room) -> None:
    assert room.send(1, confirmed(1), *offline(room, PIN)) == [None] * 4
    assert room.said(1).answer == PinAnswer(asked=nonce(1), session=unproven_session(nonce(1)))
    assert len(room.scorer.state.book.of((1, 1))) == 1


@pytest.mark.parametrize("changed", [False, True])
def test_a_ruling_made_offline_with_a_wrong_pin_is_refused_with_alerts(room: Room, *, changed: bool) -> None:
    """The PIN was wrong, or was changed meanwhile: the old one no longer lets anybody rule."""
    if changed:
        room.scorer.live.access.hashed = lambda: OTHER_HASH
    codes = room.send(1, confirmed(1), *offline(room, PIN if changed else "4712"))
    assert codes == [None, "pin_unproven", "session_unknown", "session_unknown"]
    assert room.said(1).answer == PinAnswer(asked=nonce(1), code="pin_wrong")
    assert {"pin_wrong", "pin_unproven", "session_unknown"} <= {code for code, _ in room.alerts()}
    assert room.scorer.state.book.of((1, 1)) == []


@pytest.mark.parametrize("named", [True, False])
def test_a_pin_entered_at_a_dead_device_counts_when_its_successor_sends_it(room: Room, *, named: bool) -> None:
    """The head arbiter had not accepted the first device. The second one signed everything that it sent."""
    gone, (let, ruled, leaves) = SigningKey.from_bytes(bytes(32)), offline(room, PIN)
    let = replace(let, sealed=room.seal(1, PIN, nonce(1), gone), sealed_by=gone.device if named else None)
    codes = room.send(1, confirmed(1), let, ruled, leaves)
    assert codes == ([None] * 4 if named else [None, "pin_unproven", "session_unknown", "session_unknown"])


def test_a_ruling_that_arrives_before_its_session_is_resent_and_counts(room: Room) -> None:
    """A scorer whose store has lost messages receives new facts before the older ones are resent."""
    told = chained(confirmed(1), *offline(room, PIN))
    began, let, ruled, left_ = told
    assert [room.put(one) for one in (ruled, began, ruled)] == [None] * 3
    assert room.scorer.state.book.of((1, 1)) == []
    assert [room.put(one) for one in (let, ruled, left_)] == [None] * 3
    assert len(room.scorer.state.book.of((1, 1))) == 1


def test_wrong_pins_entered_offline_make_their_table_wait_too(room: Room) -> None:
    tries = [offline(room, f"000{number}", number)[0] for number in range(1, 4)]
    assert room.send(1, *tries, offline(room, PIN, 9)[0]) == ["pin_unproven"] * 3 + ["pin_locked"]
    wait(room, 60)
    assert room.send(1, offline(room, PIN, 9)[0], first=5) == [None]


def test_a_new_pin_is_announced_to_all_tables_only_by_its_mark(room: Room) -> None:
    before = room.said(1).mark
    room.scorer.live.access.hashed = lambda: OTHER_HASH
    room.scorer.pin_changed()
    marks = {room.said(table).mark for table in event().tables}
    assert (len(marks), before in marks) == (1, False)
    room.scorer.live.access.hashed = lambda: None
    room.scorer.pin_changed()
    assert room.said(1).mark is None
