"""Event folders with a store, for tests."""

from collections.abc import Iterable
from pathlib import Path

from broker.event import Plan, save_event
from broker.protocol import FinalDeclared, LogMessage, Ruling
from broker.store import STORE, SqliteJournal
from tests.broker.scorer.small import NAME, deals, plan, registry, whole_event


def event_folder(
    folder: Path, said: Iterable[LogMessage] | None = None, of: Plan | None = None, *, heard_at: int = 0
) -> Path:
    """Write the small event and a store with everything that its tables report, unless told otherwise.

    `of`: another plan.
    """
    save_event(folder, of or plan(), deals(), registry())
    journal = SqliteJournal(folder / STORE, NAME)
    with journal.commit():
        for message in whole_event() if said is None else said:
            journal.append(message, heard_at)
    journal.close()
    return folder


def declare(folder: Path) -> Path:
    """Have the head arbiter declare the standings of an event's folder final."""
    said = Ruling(
        id="declared-0001",
        event=NAME,
        number=1,
        after=None,
        decision=FinalDeclared(),
        author="Hélène Roy",
        account="helene",
        role="head_arbiter",
        reason="all is settled",
        at=0,
    )
    journal = SqliteJournal(folder / STORE, NAME)
    with journal.commit():
        journal.append(said, 0)
    journal.close()
    return folder


def until_round(last: int) -> list[LogMessage]:
    """Return what the tables report up to a round."""
    return [message for message in whole_event() if message.fact.round <= last]
