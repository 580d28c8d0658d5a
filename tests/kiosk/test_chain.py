"""A table's facts form one chain: whatever happens to its devices, each is stored once, after the one before it."""

from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import (
    Confirmed,
    LetIn,
    LogMessage,
    Receipt,
    SigningKey,
    decode,
    encode,
    fact_hash,
    is_signed_by,
    topics,
)
from broker.scorer.service import Scorer
from kiosk.config import KEY_FILE, open_device_key
from kiosk.journal import TableJournal
from kiosk.journal_file import JournalOwner
from tests.broker.scorer.hall import Clock, Ear, Hall, open_journal
from tests.broker.scorer.small import NAME, event
from tests.kiosk.journals import HAPPENED, OURS, receipt, told

TABLE = 1
WHOSE = JournalOwner(NAME, TABLE)
LOG = topics.LOG.at(NAME, table=TABLE)
FACT = Confirmed(round=1, deal=event().bookings[TABLE, 1].deal)


def bodies(journal: TableJournal) -> list[bytes]:
    rows = journal._store.execute("SELECT body FROM outbox ORDER BY seq").fetchall()
    return [body for (body,) in rows]


def test_each_fact_is_signed_by_the_device_and_names_the_fact_before_it(journal: TableJournal) -> None:
    told(journal, 3)
    before = None
    for body in bodies(journal):
        message = decode(LogMessage, body)
        assert (message.device, message.before) == (journal.key.device, before)
        assert is_signed_by(journal.key.public, body, message.signature)
        before = fact_hash(body)


def test_a_new_device_continues_after_the_last_fact_that_the_scorer_has(journal: TableJournal) -> None:
    journal.apply_receipt(msgspec.structs.replace(receipt(upto=7), head="a" * 64))
    first, second = told(journal, 2)
    assert [(one.seq, one.before) for one in (first, second)] == [(8, "a" * 64), (9, fact_hash(encode(first)))]


def test_the_key_survives_the_journal_and_nobody_else_can_read_it(path: Path) -> None:
    devices = set()
    for _ in range(2):
        with closing(TableJournal(path, OURS)) as journal:
            devices.add(journal.device)
        path.unlink()
    key = path.with_name(KEY_FILE)
    assert (len(devices), key.stat().st_mode & 0o077) == (1, 0)


def test_a_damaged_key_is_set_aside_and_the_table_can_be_played_at(tmp_path: Path) -> None:
    key = tmp_path / KEY_FILE
    key.write_text("no key", encoding="ascii")
    made = open_device_key(key)
    assert open_device_key(key).public == made.public
    assert key.with_name(f"{KEY_FILE}.spoilt").read_text(encoding="ascii") == "no key"


NEW_FIELDS = ("device", "before", "signature", "sender")


def test_unsigned_facts_of_an_older_program_are_signed_when_the_journal_is_opened(path: Path) -> None:
    with closing(TableJournal(path, OURS)) as journal:
        messages = told(journal, 3)
        journal.apply_receipt(receipt(taken={1: messages[0].id}))
        for one in messages:
            old = {name: value for name, value in msgspec.to_builtins(one).items() if name not in NEW_FIELDS}
            journal._store.execute("UPDATE outbox SET body = ? WHERE seq = ?", (msgspec.json.encode(old), one.seq))
    with closing(TableJournal(path, OURS)) as journal:
        first, *rest = bodies(journal)
        assert decode(LogMessage, first).signature is None  # the scorer has it as it is
        assert [one.id for one in journal.unsent()] == [one.id for one in messages[1:]]
        before = fact_hash(first)
        for body in rest:
            message = decode(LogMessage, body)
            assert message.before == before
            assert is_signed_by(journal.key.public, body, message.signature)
            before = fact_hash(body)


def test_facts_signed_again_name_the_device_that_sealed_a_pin(path: Path) -> None:
    let_in = LetIn(round=1, deal=FACT.deal, author="arbiter", by="pin", session=f"given.{1:032}", sealed="0" * 120)
    keys = [SigningKey.from_bytes(bytes([number]) * 32) for number in (1, 2, 3)]
    for number, key in enumerate(keys):
        with closing(TableJournal(path, OURS, key)) as journal:
            if not number:
                journal.record(HAPPENED, [FACT, let_in], wall=5)
            with journal._transaction():
                journal._sign_from(1, in_place=True)
            told = [decode(LogMessage, body).fact for body in bodies(journal)]
    assert told == [FACT, msgspec.structs.replace(let_in, sealed_by=keys[0].device)]


class Devices:
    """Two devices of one table, and the scorer. Messages to the scorer arrive or are lost."""

    def __init__(self, folder: Path, leaving: ExitStack) -> None:
        stored = leaving.enter_context(open_journal(folder))
        clock, ear = Clock(), Ear()
        scorer = Scorer(event(), stored, folder, clock)
        scorer.publisher.link = ear
        self.hall = Hall(scorer, stored, folder, ear, clock)
        self.keys = [SigningKey.from_bytes(bytes([number]) * 32) for number in (1, 2)]
        for key in self.keys:
            scorer.live.devices.admit(TABLE, key.public, "")
        self._paths = [folder / str(number) / "table.sqlite" for number in (1, 2)]
        self.journals = [self._opened(which) for which in (0, 1)]
        self.made: list[str] = []
        leaving.callback(self.close)

    def _opened(self, which: int) -> TableJournal:
        journal = TableJournal(self._paths[which], WHOSE, self.keys[which])
        journal._store.execute("PRAGMA synchronous=OFF")  # no power fails here
        return journal

    def do(self, what: str, which: int) -> None:
        journal, other = self.journals[which], self.journals[1 - which]
        match what:
            case "record":
                self.made += [one.id for one in journal.record(HAPPENED, [FACT], wall=5)]
            case "send":
                self.send(journal.unsent_bodies())
            case "send the first":
                self.send(journal.unsent_bodies()[:1])
            case "lose the first":
                self.send(journal.unsent_bodies()[1:])
            case "settle":
                self.settle(journal)
            case "restart":
                journal.close()
                self.journals[which] = self._opened(which)
            case "take in":
                journal.add_facts(other.unsent_bodies())

    def send(self, facts: tuple[bytes, ...]) -> None:
        for body in facts:
            self.hall.arrive(LOG, body)

    def settle(self, journal: TableJournal) -> None:
        """Deliver a receipt to a device."""
        self.hall.scorer.publisher.receipt(TABLE)
        journal.apply_receipt([one for one in self.hall.ear.heard(f"receipt/{TABLE}") if isinstance(one, Receipt)][-1])

    def finish(self) -> None:
        """Let both connect, one after the other, until all facts are safe."""
        for _ in range(20):
            for journal in self.journals:
                self.settle(journal)
                journal.reopen_refused()
                self.send(journal.unsent_bodies())
                self.settle(journal)
            if not any(journal.unsent() or journal.refused() for journal in self.journals):
                return
        raise AssertionError([(one.unsent(), one.refused()) for one in self.journals])

    def close(self) -> None:
        for journal in self.journals:
            journal.close()


DOES = st.sampled_from(["record", "record", "send", "send the first", "lose the first", "settle", "restart", "take in"])


@given(st.lists(st.tuples(DOES, st.integers(0, 1)), max_size=24))
def test_each_fact_of_two_devices_is_stored_once_and_the_chain_is_whole(
    steps: list[tuple[str, int]],
) -> None:
    with TemporaryDirectory() as folder, ExitStack() as leaving:
        devices = Devices(Path(folder), leaving)
        for what, which in steps:
            devices.do(what, which)
        devices.finish()
        stored = {one.seq: one for one in devices.hall.journal.messages() if isinstance(one, LogMessage)}
        assert sorted(one.id for one in stored.values()) == sorted(devices.made)
        for seq, one in stored.items():
            assert is_signed_by(public_of(devices, one), encode(one), one.signature)
            if seq - 1 in stored:
                assert one.before == fact_hash(encode(stored[seq - 1]))


def public_of(devices: Devices, message: LogMessage) -> str:
    return next(key.public for key in devices.keys if key.device == message.device)
