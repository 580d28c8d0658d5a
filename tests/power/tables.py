"""The table's journal and outbox: in a whole kiosk program, and alone with receipts of all kinds."""

import random
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from broker.protocol import LogMessage, decode, decode_on_topic
from kiosk.errors import JournalBroken
from kiosk.journal import TableJournal
from kiosk.table import Phase
from kiosk.table.events import Restarted
from tests.kiosk.cuts.days import KINDS, day
from tests.kiosk.cuts.hands import Running, set_up
from tests.kiosk.cuts.run import POWER_ON
from tests.kiosk.journals import CONFIRMED, HAPPENED, OURS, core, receipt
from tests.kiosk.tables import S, sitting_in
from tests.power.subject import Cut, Outcome, Said, Subject, Tell, digest

JOURNAL = Path("cup") / "table-1" / "table.sqlite"
"""The folders of a paired device, which do not exist at first."""

DRAFTS = ("draft", "panel", "restoring_draft")


def outbox(journal: TableJournal) -> list[list[Any]]:
    """Return number, id, state and a digest of each fact, without its signature and chain."""
    rows = journal._store.execute("SELECT seq, id, state, body FROM outbox ORDER BY seq")
    return [[seq, id_, state, digest(decode(LogMessage, body).fact)] for seq, id_, state, body in rows]


def happened(journal: TableJournal) -> list[str]:
    """Return a digest of each event."""
    return [digest(msgspec.json.encode(event)) for event in journal.events()]


def stands(journal: TableJournal) -> Said:
    """Return the whole content of a journal."""
    drafts = [getattr(journal, name) for name in DRAFTS]
    return {"events": happened(journal), "facts": outbox(journal), "drafts": drafts}


def program(disk: Path, seed: int, tell: Tell) -> None:
    """Let a whole program play a day at a table; what its screen shows is promised."""
    set_up(disk)

    def heard(topic: str, payload: bytes) -> None:
        _, message = decode_on_topic(topic, payload)
        if isinstance(message, LogMessage):
            tell("sent", seq=message.seq, id=message.id)

    table = Running(disk, 0, POWER_ON, heard)
    table.begin()
    for action in day([*KINDS][seed % len(KINDS)], seed):
        table.take(action)
        tell("stands", **stands(table._journal))
    table.close()


def journal_alone(disk: Path, seed: int, tell: Tell) -> None:
    """Record a day, with receipts that list facts as stored, refused or missing, or come from another store."""
    chance = random.Random(seed)
    with closing(TableJournal(disk / JOURNAL, OURS)) as journal:
        table = core(journal)
        tell("stands", **stands(journal))
        journal.allocate_log()
        table.restarted(50 * S)
        done = sum(not isinstance(event, Restarted) for event in journal.events())
        for event in sitting_in(Phase.FINISHED).events[done:]:
            for message in table.apply(event):
                tell("sent", seq=message.seq, id=message.id)
            tell("stands", **stands(journal))
            if chance.random() < 0.4:
                settle(journal, chance)
                tell("stands", **stands(journal))
            with journal.with_drafts(draft=str(chance.random())):
                journal.restoring_draft = f"at {chance.random()}"
            tell("stands", **stands(journal))


def settle(journal: TableJournal, chance: random.Random) -> None:
    """Process a random receipt, with anything that a scorer may send."""
    known = {seq: id_ for seq, id_, *_ in outbox(journal)}
    some = {seq: id_ for seq, id_ in known.items() if chance.random() < 0.7}
    match chance.randrange(5):
        case 0:
            refused = {seq: (id_, "conflict") for seq, id_ in some.items() if seq % 3 == 0}
            journal.apply_receipt(receipt(taken={}, refused=refused, upto=max(known, default=0)))
        case 1:
            journal.apply_receipt(receipt(taken=known, gaps=tuple(seq for seq in some if seq % 2)))
        case 2:
            journal.apply_receipt(receipt(taken=some, store="another-store"))
        case _:
            journal.apply_receipt(receipt(taken=known))


def check(path: Path, cut: Cut, outcome: Outcome) -> None:
    """Open a table's journal, check its content, let the table continue, and open it again."""
    try:
        first = opened(path)
        with closing(TableJournal(path, OURS)) as journal:
            core(journal)
            outcome.must(stands(journal) == first, "a second opening changes something")
    except JournalBroken as broken:
        outcome.must(cut.lie != "none", f"it does not open: {broken}")
        outcome.notes[broken.code] += 1
        return
    everything = cut.all("stands")[-1]
    outcome.must(first["events"] == everything["events"][: len(first["events"])], "an event is another, or invented")
    facts = {id_: said for _, id_, _, said in everything["facts"]}
    for seq, id_, _, said in first["facts"]:
        outcome.must(facts.get(id_) == said, f"fact {seq} is another, or invented")
    if cut.lie == "none":
        nothing_lost(first, cut, outcome)
    goes_on(path, cut, outcome)


def opened(path: Path) -> Said:
    """Return the content after the program itself has opened the journal."""
    with closing(TableJournal(path, OURS)) as journal:
        core(journal)
        return stands(journal)


def nothing_lost(found: Said, cut: Cut, outcome: Outcome) -> None:
    """Compare the content with what was last shown before the cut, and what was first shown after it."""
    around = cut.around("stands")
    allowed = [row for one in around for row in one["facts"]]
    drafts = [one["drafts"] for one in around]
    for last in cut.before("stands")[-1:]:
        missing = len(last["events"]) - len(found["events"])
        outcome.must(missing <= 0, f"{missing} events are lost")
        known, there = ({id_ for _, id_, *_ in one["facts"]} for one in (last, found))
        outcome.must(known <= there, f"facts are lost: {known - there}")
        strange = [row for row in found["facts"] if row not in allowed and row[1] in known]
        outcome.must(not strange, f"of facts there is what was never so: {strange}")
        kept = all(draft in column for draft, *column in zip(found["drafts"], *drafts, strict=True))
        outcome.must(kept, f"drafts are {found['drafts']}, not {drafts}")


def goes_on(path: Path, cut: Cut, outcome: Outcome) -> None:
    """Let the table add facts: no sequence number that was sent may be reused for another fact."""
    sent = {one["seq"]: one["id"] for one in cut.before("sent")}
    with closing(TableJournal(path, OURS)) as journal:
        journal.allocate_log()  # as the program does at its start
        messages = journal.record(HAPPENED, [CONFIRMED], wall=1)
        clashing = [one for one in messages if sent.get(one.seq, one.id) != one.id]
        if clashing and cut.lie != "none":
            outcome.notes["a number used twice, and given again by the receipt"] += 1
            refused = {one.seq: (one.id, "conflict") for one in clashing}
            taken = {seq: id_ for seq, id_ in sent.items() if seq not in refused}
            journal.apply_receipt(receipt(taken=taken, refused=refused, upto=max(sent)))
            new = {id_: seq for seq, id_, *_ in outbox(journal)}
            clashing = [one for one in clashing if new[one.id] in sent]
        outcome.must(not clashing, f"numbers that were sent are used again: {[one.seq for one in clashing]}")


def check_program(cut: Cut, outcome: Outcome) -> None:
    """Open the journal of a whole program."""
    check(cut.disk / "table.sqlite", cut, outcome)


def check_alone(cut: Cut, outcome: Outcome) -> None:
    """Open the journal that was written alone."""
    check(cut.disk / JOURNAL, cut, outcome)


KIOSK = Subject("kiosk", program, check_program, kills=False)
TABLE_JOURNAL = Subject("journal", journal_alone, check_alone)
