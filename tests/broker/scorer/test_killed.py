"""Wherever a scorer is killed, what it acknowledged or published is stored, and resent messages count once."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from math import inf
from pathlib import Path
from typing import Final

from broker.protocol import LogMessage, Receipt, Result, Ruling, Traveller, Void
from broker.protocol.link import Incoming
from broker.store import SqliteJournal
from tests.broker.rulings.ruled import HEAD, draft, state_of
from tests.broker.scorer.hall import STORE, Ear, Hall, make_hall
from tests.broker.scorer.small import NAME, sent, whole_play

BATCHES: Final = [said[at : at + 3] for said in (whole_play(1), whole_play(2)) for at in range(0, len(said), 3)]
SAID: Final = [message for batch in BATCHES for message in batch]

RULED: Final = draft(state_of(SAID), Void(), (1, 1))


class Killed(BaseException):
    """The scorer was killed: nothing happens after this."""


class Life:
    """Counts down steps: a commit that is about to end or has ended, an acknowledgement, a published message."""

    def __init__(self, steps: float) -> None:
        self._left = steps

    def step(self) -> None:
        """Take one step. Raises Killed."""
        if self._left < 1:
            raise Killed
        self._left -= 1


class MortalJournal(SqliteJournal):
    """A store whose scorer may be killed on either side of a commit."""

    life = Life(inf)

    @contextmanager
    def commit(self) -> Iterator[None]:
        """Write a batch as one."""
        with super().commit():
            yield
            self.life.step()
        self.life.step()


class MortalEar(Ear):
    """Records published messages until the scorer is killed, perhaps in the middle of a message."""

    def __init__(self, life: Life) -> None:
        super().__init__()
        self._life = life

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Record a published message."""
        self._life.step()
        super().publish(topic, payload, retain=retain)


@contextmanager
def begun(folder: Path) -> Iterator[tuple[Hall, MortalJournal]]:
    """Start a scorer on the store in a folder."""
    journal = MortalJournal(folder / STORE, NAME)
    try:
        yield make_hall(folder, journal), journal
    finally:
        journal.close()


def lived(folder: Path, life: Life) -> tuple[set[str], Ear, bool]:
    """Let a scorer handle two whole plays, and the desk rule on one.

    Return what it acknowledged and published, and whether it was killed.
    """
    acknowledged = set[str]()

    def acknowledge(message: LogMessage) -> None:
        life.step()
        acknowledged.add(message.id)

    with begun(folder) as (hall, journal):
        journal.life, hall.scorer.publisher.link = life, (ear := MortalEar(life))
        try:
            for batch in BATCHES:
                for message in batch:
                    hall.scorer._inbox.put(Incoming(*sent(message), partial(acknowledge, message)))
                hall.scorer.step(timeout=0)
            hall.scorer.rulings.give(RULED, HEAD)
            hall.scorer.step(timeout=0)
        except Killed:
            return acknowledged, ear, True
    return acknowledged, ear, False


def test_wherever_a_scorer_is_killed_its_receipts_hold_and_resent_facts_count_once(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    assert not lived(tmp_path / "whole", Life(inf))[2]
    with begun(tmp_path / "whole") as (hall, _):
        standings = hall.scorer.state.snapshot().standings
    for steps in count():
        folder = tmp_path / f"{steps}"
        folder.mkdir()
        acknowledged, ear, killed = lived(folder, Life(steps))
        with begun(folder) as (hall, journal):
            ruled = {one.id for one in journal.messages() if isinstance(one, Ruling)}
            assert {one.id for one in ear.heard("") if isinstance(one, Ruling)} <= ruled
            stored = [one for one in journal.messages() if isinstance(one, LogMessage)]
            assert acknowledged <= {one.id for one in stored}
            assert receipted(ear) <= {(one.table, one.seq) for one in stored}
            assert compared(ear) <= {(one.table, one.fact.deal) for one in stored if isinstance(one.fact, Result)}
            hall.hear(*SAID)
            hall.scorer.rulings.give(RULED, HEAD)
            assert [one.id for one in journal.messages()] == [*(one.id for one in SAID), RULED.id]
            assert hall.scorer.state.snapshot().standings == standings
        if not killed:
            break
    assert steps > len(SAID)


def receipted(ear: Ear) -> set[tuple[int, int]]:
    """Return table and number of the facts whose receipts were published."""
    told = [one for one in ear.heard("") if isinstance(one, Receipt)]
    return {(one.table, seq) for one in told for seq in range(1, one.upto + 1) if seq not in one.gaps}


def compared(ear: Ear) -> set[tuple[int, int]]:
    """Return table and deal of the results that were published to arbiters."""
    told = [one for one in ear.heard("") if isinstance(one, Traveller)]
    return {(play.table, one.deal) for one in told for play in one.plays}
