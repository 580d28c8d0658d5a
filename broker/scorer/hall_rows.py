"""Journal rows between halls and centre: how the centre handles them, and how tables hear that they arrived.

At the centre, facts are handled like all other facts, and decisions of the halls' desks are adopted.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from broker.halls.centre import AcceptedRow, Centre
from broker.halls.link import HallLink, RowsAtCentre
from broker.protocol import AtCentre, DeviceRecord, LogMessage, Refused, Ruling, topics
from broker.protocol.link import Incoming
from broker.rulings.service import RulingService
from broker.scorer.alerts import Concern, concern_of_hall, concern_of_refusal
from broker.scorer.devices import Devices
from broker.scorer.intake import Intake, IntakeVerdict, TableBook
from broker.scorer.publisher import PAUSE_S, Throttle
from broker.store import Journal, RefusedRow


class FactsAtCentre:
    """Tells each table of a hall which of its facts are at the centre, too. At most once per PAUSE_S."""

    def __init__(
        self, link: HallLink, journal: Journal, books: Mapping[int, TableBook], seconds: Callable[[], float]
    ) -> None:
        self._link, self._journal, self._books = link, journal, books
        self._due = Throttle(PAUSE_S, seconds)
        self._rows: RowsAtCentre | None = None
        self._facts: dict[int, AtCentre] = {}
        self._waiting: dict[int, int] = {}
        """The first fact that has not reached the centre, by table."""
        self._follow()

    def of(self, table: int) -> AtCentre | None:
        """Return what the centre has of a table's facts, or None if the centre was never heard from."""
        return self._facts.get(table)

    def tell(self, receipt: Callable[[int], None]) -> None:
        """Publish changed receipts, but not for a table with more facts on their way."""
        if self._link.at_centre != self._rows:
            self._due.ask()
        if self._due.due():
            before = self._facts
            self._follow()
            for table, now in self._facts.items():
                last = before.get(table)
                if now != last and (last is None or now.upto < last.upto or table not in self._waiting):
                    receipt(table)

    def _follow(self) -> None:
        self._rows = rows = self._link.at_centre
        if rows is None:
            return
        self._waiting, lacks = self._journal.first_facts(rows.upto), dict[int, list[int]]()
        for table, seq in rows.lacks:
            lacks.setdefault(table, []).append(seq)
        self._facts = {
            table: AtCentre(
                upto=min(*book.gaps()[:1], self._waiting.get(table, book.upto + 1), book.upto + 1) - 1,
                lacks=tuple(lacks.get(table, ())),
            )
            for table, book in self._books.items()
        }


def rows_of_halls(
    centre: Centre, batch: Iterable[Incoming], note: Callable[[Iterable[Concern]], None]
) -> Iterator[Incoming | AcceptedRow]:
    """Yield the rows to judge: facts as if their tables had sent them here, and decisions of halls' desks.

    `note` is called with concerns about refused rows.
    """
    for one in batch:
        if not centre.is_of_hall(one):
            yield one
            continue
        for row in centre.unpack(one):
            if isinstance(row, AcceptedRow):
                yield row.record if isinstance(row.record, Incoming) else row
            else:
                verdict = IntakeVerdict(None, row.code, row.text)
                note((concern_of_refusal(one.topic, topics.parse_topic(one.topic), verdict),))


def adopt(centre: Centre, rows: list[AcceptedRow], rulings: RulingService, devices: Devices) -> Iterator[Concern]:
    """Adopt the device records, in one commit, and the rulings of halls' desks. Yield a concern for each refusal."""
    first = {row.record.id: row.record for row in reversed(rows) if isinstance(row.record, DeviceRecord)}
    devices.record(*reversed(first.values()))
    for row in rows:
        try:
            if isinstance(row.record, Ruling):
                centre.note_stored(row.hall, rulings.adopt(row.record))
            elif isinstance(row.record, DeviceRecord):
                centre.note_stored(row.hall, row.record)
        except Refused as refused:
            yield concern_of_hall("hall_ruling_refused", row.hall, f"{refused.code}: {refused.text}")
        row.acknowledge()
    rows.clear()


def note_judged(centre: Centre, verdicts: Iterable[IntakeVerdict]) -> None:
    """Tell the centre which facts were refused, for the receipts of their halls."""
    for one in verdicts:
        if isinstance(one.message, LogMessage):
            centre.note_judged(one.message, refused=one.code is not None)


def pass_over(centre: Centre, intake: Intake, journal: Journal, event: str, now: int) -> list[tuple[int, int]]:
    """Stop waiting for facts that halls have refused. Return the table and number of those that are new."""
    told, centre.passed_over = centre.passed_over, []
    new = [one for one in dict.fromkeys(told) if intake.pass_over(*one)]
    if new:
        with journal.commit():
            for table, seq in new:
                topic, id_ = topics.LOG.at(event, table=table), f"passed-over-{table}-{seq}"
                journal.refuse(RefusedRow(now, "too_many_facts", topic, b"", table, seq, id_))
    return new
