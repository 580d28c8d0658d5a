"""A whole scorer's store: what it acknowledges, confirms in a receipt or has ruled is promised."""

import random
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from msgspec import structs

from broker.errors import BadEvent, ScorerError, StoreError
from broker.event import save_event
from broker.protocol import Receipt, Void, decode, encode, topics
from broker.protocol.link import Incoming
from broker.store import Journal, open_journal
from broker.store.journal import fingerprint
from broker.store.records import decoded
from tests.broker.rulings.ruled import HEAD, draft
from tests.broker.scorer.hall import Ear, Hall, make_hall
from tests.broker.scorer.small import NAME, deals, event, fact, plan, registry, restored, sent, whole_event
from tests.power.subject import Cut, Outcome, Subject, Tell, digest

MOST_AT_ONCE = 6


class PromisingEar(Ear):
    """Replaces the connection: what a receipt confirms is promised."""

    def __init__(self, tell: Tell) -> None:
        super().__init__()
        self._promise = tell

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:
        """Promise what a receipt confirms."""
        super().publish(topic, payload, retain=retain)
        if topic.startswith(topics.RECEIPT.at(NAME, table=1)[:-1]):
            said = decode(Receipt, payload)
            taken, refused = [one.id for one in said.taken], [one.id for one in said.refused]
            self._promise("receipt", store=said.store, taken=taken, refused=refused)


@contextmanager
def at_work(folder: Path, ear: Ear) -> Iterator[Hall]:
    """Start a scorer on an event's folder."""
    with closing(open_journal(folder, NAME)) as journal:
        hall = make_hall(folder, journal)
        hall.scorer.publisher.link = ear
        yield replace(hall, ear=ear)


def write(disk: Path, seed: int, tell: Tell) -> None:
    """Let a scorer take in a whole event in batches, refuse wrong facts, and make rulings."""
    chance, folder = random.Random(seed), disk / "cup"
    if not (folder / "event.toml").exists():
        save_event(folder, plan(), deals(), registry())
        tell("event")
    messages = whole_event()
    chance.shuffle(messages)
    with at_work(folder, PromisingEar(tell)) as hall:
        hall.connect(up=True)
        for entry in hall.scorer.rulings.history():
            tell("ruled", id=entry.id)
        while messages:
            batch = [messages.pop() for _ in range(min(len(messages), chance.randint(1, MOST_AT_ONCE)))]
            if chance.random() < 0.3:
                batch.append(fact(batch[0].table, 400 + len(messages), structs.replace(restored(1), deal=9)))
            for message in batch:
                topic, payload = sent(message)
                acknowledge = partial(tell, "acknowledged", id=message.id)
                hall.scorer._inbox.put(Incoming(topic, payload, acknowledge))
            hall.scorer.step(timeout=0)
            if chance.random() < 0.3:
                rule(hall, tell)
        tell("everything", entries=[digest(encode(one)) for one in hall.journal.messages()])


def rule(hall: Hall, tell: Tell) -> None:
    """Let the head arbiter set one more play aside."""
    room = hall.scorer.rulings.room
    for at, play in enumerate(sorted(event().bookings)):
        if (id_ := f"ruling-{at:04}") not in room.book.entries:
            tell("ruled", id=hall.scorer.rulings.give(draft(room, Void(), play, id=id_), HEAD).id)
            return


def check(cut: Cut, outcome: Outcome) -> None:
    """Open the event as a scorer does, check its content, and let the tables send everything again."""
    folder = cut.disk / "cup"
    if not cut.before("event"):
        return  # the event did not exist yet
    if cut.lie != "none" and not (folder / "event.toml").exists():
        outcome.notes["no event"] += 1
        return
    try:
        with at_work(folder, Ear()) as hall:
            there = entries(hall.journal, cut, outcome)
            refused = {row.id for row in hall.journal.refused()}
            first, store = fingerprint(hall.journal), hall.journal.store
        with closing(open_journal(folder, NAME)) as journal:
            outcome.must((fingerprint(journal), journal.store) == (first, store), "a second opening changes something")
    except (ScorerError, StoreError, BadEvent) as broken:
        outcome.must(cut.lie != "none", f"it does not open: {broken.code} {broken}")
        outcome.notes[broken.code] += 1
        return
    receipts = cut.before("receipt")
    named = {one["store"] for one in receipts}
    known = {one["id"] for one in cut.before("ruled")}
    safe = {id_ for one in receipts for id_ in one["taken"]}
    kept_apart = {id_ for one in receipts for id_ in one["refused"]}
    safe_or_refused = {one["id"] for one in cut.before("acknowledged")}
    if cut.lie == "none":
        outcome.must(named <= {store}, "the store has another name")
        outcome.must(safe <= there, f"facts with a receipt are lost: {safe - there}")
        outcome.must(kept_apart <= refused, f"refusals are lost: {kept_apart - refused}")
        outcome.must(safe_or_refused <= there | refused, f"acknowledged and lost: {safe_or_refused - there - refused}")
        outcome.must(known <= there, f"rulings are lost: {known - there}")
        return
    outcome.notes["facts lost that the tables send again"] += bool(safe - there)
    outcome.notes["rulings lost that only a copy has"] += bool(known - there)
    with at_work(folder, Ear()) as hall:
        hall.hear(*whole_event())
        back = entries(hall.journal, cut, outcome)
    outcome.must(safe <= back, f"facts are lost for good: {safe - back}")


def entries(journal: Journal, cut: Cut, outcome: Outcome) -> set[str]:
    """Return the ids in a journal, checking that no message was altered."""
    whole = cut.all("everything")[-1]
    bodies = {digest(encode(one)) for one in whole_event()} | {*whole["entries"]}
    found = [*decoded(journal.entries())]
    strange = [one.id for one in found if digest(encode(one)) not in bodies]
    outcome.must(not strange, f"altered or invented: {strange}")
    outcome.must(len({one.id for one in found}) == len(found) == journal.height, "something is there twice, or not")
    return {one.id for one in found}


SCORER = Subject("scorer", write, check)
