"""What the scorer of a centre does with the rows of its halls: facts go the way of all facts, the rest is adopted."""

from collections.abc import Callable, Iterable, Iterator

from broker.halls.centre import Centre, OfHall
from broker.protocol import Refused, Ruling, topics
from broker.protocol.link import Incoming
from broker.rulings.service import RulingService
from broker.scorer.alerts import Concern, concern_of_hall, concern_of_refusal
from broker.scorer.devices import Devices
from broker.scorer.intake import Intake, IntakeVerdict
from broker.store import Journal, RefusedRow


def rows_of_halls(
    centre: Centre, batch: Iterable[Incoming], note: Callable[[Iterable[Concern]], None]
) -> Iterator[Incoming | OfHall]:
    """Return what is to be judged: facts as if their tables had sent them here, and what halls' desks have decided.

    `note` hears what was refused.
    """
    for one in batch:
        if not centre.is_of_hall(one):
            yield one
            continue
        try:
            row = centre.unpack(one)
        except Refused as refused:
            verdict = IntakeVerdict(None, refused.code, refused.text)
            note((concern_of_refusal(one.topic, topics.parse_topic(one.topic), verdict),))
            continue
        if row is not None:
            yield row.record if isinstance(row.record, Incoming) else row


def adopt(centre: Centre, row: OfHall, rulings: RulingService, devices: Devices) -> Iterator[Concern]:
    """Take in a ruling of a hall's desk, or which device it has admitted; return why not, where that cannot be."""
    try:
        if isinstance(row.record, Ruling):
            centre.adopted(row.hall, rulings.adopt(row.record, centre.keep))
        elif not isinstance(row.record, Incoming):
            centre.adopted(row.hall, devices.adopt(row.record, centre.keep))
    except Refused as refused:
        yield concern_of_hall("hall_ruling_refused", row.hall, f"{refused.code}: {refused.text}")
    row.acknowledge()


def pass_over(centre: Centre, intake: Intake, journal: Journal, event: str, now: int) -> list[tuple[int, int]]:
    """Wait no more for facts that halls have refused; return table and number of those that are new."""
    told, centre.passed_over = centre.passed_over, []
    new = [one for one in dict.fromkeys(told) if intake.pass_over(*one)]
    if new:
        with journal.commit():
            for table, seq in new:
                topic, id_ = topics.LOG.at(event, table=table), f"passed-over-{table}-{seq}"
                journal.refuse(RefusedRow(now, "too_many_facts", topic, b"", table, seq, id_))
    return new
