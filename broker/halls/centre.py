"""The centre's intake of its halls' journals: each row once, in order, and only rows of the hall's own tables.

A row is accepted if it follows the last one of its hall. Any other is ignored: the receipt tells the hall where to
continue. A fact is then processed like any other (`broker/scorer/intake.py`): its signature, its chain and its play are
checked as if its table had sent it here. A hall's rulings and admissions get numbers of the centre's own.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec
from msgspec import Struct, structs

from broker.errors import StoreBroken
from broker.event import Event, Hall, HallsFile
from broker.i18n import duration
from broker.protocol import (
    CLOCK_TOLERANCE_MS,
    MOST_LACKING,
    SILENT_S,
    AnyDecision,
    Award,
    CentreState,
    DeviceRecord,
    FineRuled,
    HallReceipt,
    HallRow,
    HallState,
    LogMessage,
    PlanChanged,
    PlayerCorrected,
    Refused,
    Ruling,
    SigningKey,
    Substitute,
    Undo,
    Withdrawn,
    decode_on_topic,
    players_named,
    topics,
)
from broker.protocol.link import Incoming
from broker.store import FIRST_LINK, Decided, Journal, link_after, message_of

OF_PLAYERS: Final = (Award, FineRuled, Substitute, Withdrawn, PlayerCorrected)
"""Rulings about players rather than plays; they count wherever those players are compared."""

POSITION_PREFIX: Final = "hall/"
"""Prefix of the keys under which the store has each hall's position."""


MOST_ATTEMPTS: Final = 1_000
"""How many attempts a hall may skip. The limit keeps a stolen hall from using up the numbers of its successor."""


class HallPosition(Struct, frozen=True):
    """How much of a hall's journal has arrived here."""

    store: str = ""
    attempt: int = 0
    upto: int = 0
    link: str = FIRST_LINK.hex()
    revoked_at: int = 0
    """Ms since 1970; 0 if it is not revoked."""
    doubted: HallRow | None = None
    """The last row if its link does not match its content. The next row shows whether only the link was altered."""


class HallView(Struct, frozen=True):
    """What the centre's desk shows of a hall."""

    name: str
    title: str
    tables: str
    lifecycle: str | None
    """None until the hall has first reported."""
    silent: bool
    upto: int
    """Number of rows of its journal that have arrived here."""
    behind: int
    """Number of rows that have not arrived, according to its last report."""
    heard_at: int | None
    """Time of its last report, in ms since 1970 by our clock."""
    version: str
    clock_off_ms: int
    """How far the hall's clock was ahead of ours at its last report."""
    refused: int
    revoked: bool
    plays_in: int = 0
    plays_expected: int = 0

    @property
    def clock_span(self) -> str:
        """The error of the hall's clock, or "" if it is within the tolerance."""
        return duration(abs(self.clock_off_ms) / 1000) if abs(self.clock_off_ms) > CLOCK_TOLERANCE_MS else ""


@dataclass(frozen=True, slots=True)
class AcceptedRow:
    """An accepted row. A fact is an `Incoming`, as if its table had sent it; other records do not come from tables."""

    hall: str
    record: Incoming | Ruling | DeviceRecord
    acknowledge: Callable[[], None]


def _link_of(row: HallRow, before: str) -> str:
    """Compute a row's link from its content and the preceding link."""
    return link_after(bytes.fromhex(before), row.height, row.at, row.body.encode()).hex()


def _altered(row: HallRow) -> Refused:
    return Refused("hall_row_altered", f"row {row.height} of hall {row.hall} is not as it was stored there")


@dataclass(slots=True)
class _WhenAll:
    """Acknowledges a message when all of its rows are acknowledged."""

    left: int
    acknowledge: Callable[[], None]

    def __call__(self) -> None:
        self.left -= 1
        if not self.left:
            self.acknowledge()


@dataclass(slots=True)
class _Report:
    state: HallState
    at: int
    seconds: float


class Centre:
    """The halls of one event. Used only on the scorer's thread."""

    def __init__(
        self,
        planned: Callable[[], Event],
        file: HallsFile,
        journal: Journal,
        decided: Sequence[Decided],
        is_stored: Callable[[str], bool],
        clock: Callable[[], int],
        seconds: Callable[[], float],
    ) -> None:
        """`planned` returns the event with its current plan.

        `file` lists the halls. A hall that was revoked after the file was written, by another machine with a file of
        its own, stays revoked until this file is written again. `decided` are the stored records other than facts.
        `is_stored` returns whether a fact or ruling with this id is stored.
        """
        self._planned, self._event = planned, planned().name
        self._journal, self._clock, self._seconds = journal, clock, seconds
        self._decided = {record.message.id for record in decided}
        self._is_stored = is_stored
        self.halls: dict[str, Hall] = {}
        self.hall_of: dict[int, str] = {}
        stored = journal.remembered(POSITION_PREFIX)  # decoded strictly: a revoked hall must not be admitted again
        self._positions = {name: msgspec.json.decode(text, type=HallPosition) for name, text in stored.items()}
        self._unstored: set[str] = set()
        """Halls whose position has changed, by rows, revocation or admission, and is not stored yet."""
        self._due: set[str] = set()
        """Halls to which a receipt is to be sent."""
        self._reports: dict[str, _Report] = {}
        self._refused: Counter[str] = Counter()
        self._lacking: defaultdict[str, dict[tuple[int, int], None]] = defaultdict(dict)
        """For each hall, table and number of the refused facts, the latest last."""
        self._complete: frozenset[int] | None = None
        self._state_sent_at = 0.0
        """When the deals that are over everywhere were last published."""
        self._silent: set[str] = set()
        self.passed_over: list[tuple[int, int]] = []
        """Table and number of the facts that halls have reported as refused, until the scorer empties the list."""
        self._seated: tuple[Event | None, dict[int, set[str]]] = None, {}
        """A cache: the plan, and the players at each table according to it."""
        revoked = {name for name, position in self._positions.items() if position.revoked_at > file.written_at}
        self._file, self._listed = file, file.now()
        self._use_list([structs.replace(hall, revoked=hall.revoked or hall.name in revoked) for hall in self._listed])
        self._rulings_of: dict[str, set[str]] = {}
        """Ids of the rulings that came from each hall."""
        for ruling in (record.message for record in decided):
            if isinstance(ruling, Ruling) and (name := self._hall_of_ruling(ruling)):
                self._rulings_of.setdefault(name, set()).add(ruling.id)

    def reload_list(self) -> bool:
        """Reload the list of halls if its file was written again. Return whether the list has changed."""
        before, self._listed = self._listed, self._file.now()
        return self._listed is not before and self._use_list(self._listed)

    def _use_list(self, halls: Sequence[Hall]) -> bool:
        found = {hall.name: hall for hall in halls}
        if found == self.halls:
            return False
        self.halls = found
        self.hall_of = {table: hall.name for hall in halls for table in hall.numbers}
        for name, hall in found.items():
            position = self._positions.get(name, HallPosition())
            if bool(position.revoked_at) != hall.revoked:
                position = structs.replace(position, revoked_at=self._clock() if hall.revoked else 0)
                self._unstored.add(name)
            self._positions[name] = position
        self._due |= found.keys()
        return True

    # ---- receiving --------------------------------------------------------------------------

    def is_of_hall(self, message: Incoming) -> bool:
        """Return whether a message comes from a hall."""
        place = topics.parse_topic(message.topic)
        return place is not None and place.topic in {topics.HALL_ROW, topics.HALL_STATE}

    def unpack(self, incoming: Incoming) -> Iterator[AcceptedRow | Refused]:
        """Return the rows in a hall's message that are to be judged now, and why others cannot be.

        Rows that are known already, do not follow, are empty or concern only their own hall are left out. The message
        is acknowledged once all of its rows are.
        """
        try:
            _, message = decode_on_topic(incoming.topic, incoming.payload)
            hall = self._sending_hall(message) if isinstance(message, HallRow) else None
        except Refused as refused:
            incoming.acknowledge()
            yield refused
            return
        if isinstance(message, HallState):
            self._note_report(message)
        if hall is None or not isinstance(message, HallRow):
            incoming.acknowledge()
            return
        acknowledge = _WhenAll(1 + len(message.then), incoming.acknowledge)
        doubted: HallRow | None = None
        for row in message.each():
            proved = self._proved(row)
            if doubted and doubted not in proved:
                yield _altered(doubted)
            acknowledge.left += len(proved)
            for known in proved:
                yield from self._accepted(known, replace(incoming, acknowledge=acknowledge))
            acknowledge()
            doubted = row if self._positions[hall.name].doubted is row else None
        if doubted:  # refused for now; it counts after all if the next message proves it
            yield _altered(doubted)

    def _note_report(self, state: HallState) -> None:
        self._reports[state.hall] = _Report(state, self._clock(), self._seconds())
        if state.hall not in self.halls:
            return
        self._due.add(state.hall)  # an earlier receipt may be lost, and a hall without one sends nothing
        if self.halls[state.hall].revoked:
            return
        ours = (one for one in state.passed_over if self.hall_of.get(one[0]) == state.hall)
        self.passed_over.extend(ours)

    def _sending_hall(self, row: HallRow) -> Hall:
        hall = self.halls.get(row.hall)
        if hall is None:
            raise Refused("unknown_hall", f"this event has no hall {row.hall}")
        if hall.revoked:
            raise Refused("hall_cut_off", f"hall {row.hall} was revoked")
        self._due.add(row.hall)
        return hall

    def _proved(self, row: HallRow) -> list[HallRow]:
        """Advance to a row if it follows the last one. Return the rows that are now proved to be as they were stored.

        A row is proved by its own link or, if only that link was altered, by the link of the next row.
        """
        position = self._positions[row.hall]
        begins = row.height == 1 and 0 < row.attempt - position.attempt <= MOST_ATTEMPTS
        # The links prove that it is the same journal. A standby's copy or a restored one has another store id.
        follows = (row.attempt, row.height, row.before) == (position.attempt, position.upto + 1, position.link)
        if not begins and not follows:
            return []
        last = position.doubted if follows else None
        both = last is not None and row.link == _link_of(row, _link_of(last, last.before))
        alone = row.height > 1 and row.before == FIRST_LINK.hex()  # its hall lacks the row before it
        known = not row.body or both or alone or row.link == _link_of(row, row.before)
        doubted = None if known else row
        self._positions[row.hall] = HallPosition(row.store, row.attempt, row.height, row.link, doubted=doubted)
        self._unstored.add(row.hall)
        return [one for one, is_proved in ((last, both), (row, known)) if one and is_proved and one.body]

    def _accepted(self, row: HallRow, message: Incoming) -> Iterator[AcceptedRow | Refused]:
        try:
            record = self._record(row, message)
        except Refused as refused:
            message.acknowledge()
            yield refused
            return
        if record is None:
            message.acknowledge()
        else:
            yield AcceptedRow(row.hall, record, message.acknowledge)

    def _record(self, row: HallRow, came: Incoming) -> Incoming | Ruling | DeviceRecord | None:
        body = row.body.encode()
        try:
            message = message_of(body)
        except StoreBroken as error:
            raise Refused("malformed", str(error)) from None
        if self._is_stored(message.id) or message.id in self._decided:
            if isinstance(message, LogMessage):
                self._lacking[row.hall].pop((message.table, message.seq), None)
            return None
        if isinstance(message, Ruling):
            return message if self._is_for_all(message, row.hall) else None
        if self.hall_of.get(message.table) != row.hall:
            raise Refused("not_of_hall", f"table {message.table} does not belong to hall {row.hall}")
        if isinstance(message, LogMessage):
            return Incoming(topics.LOG.at(self._event, table=message.table), body, came.acknowledge, came.came_at)
        return message

    def _is_for_all(self, ruling: Ruling, hall: str) -> bool:
        """Return whether a ruling of a hall's desk counts at the centre: it concerns the hall's own tables or players.

        Rulings about the hall as a whole, such as the end of its correction period, do not. Raises Refused if the
        ruling affects another hall.
        """
        decision = ruling.decision
        if isinstance(decision, Undo):
            counts = decision.ruling in self._rulings_of.get(hall, ())
        elif isinstance(decision, PlanChanged):
            changed = {one.table for one in decision.plays} | {table for table, _ in decision.dropped}
            if any(self.hall_of.get(table) != hall for table in changed):
                raise Refused("not_of_hall", f"ruling {ruling.number} changes plays of tables outside hall {hall}")
            counts = decision.stage is None
        elif ruling.table is None:
            counts = isinstance(decision, OF_PLAYERS)
        else:
            counts = True
            if self.hall_of.get(ruling.table) != hall:
                text = f"ruling {ruling.number}: table {ruling.table} does not belong to hall {hall}"
                raise Refused("not_of_hall", text)
        if counts and self._players_of_others(decision, hall):
            raise Refused("not_of_hall", f"ruling {ruling.number} names players who do not play in hall {hall}")
        return counts

    def _players_of_others(self, decision: AnyDecision, hall: str) -> set[str]:
        """Return the players whom a hall's ruling names although they do not play in that hall."""
        named = set(players_named(decision)) - self._players_of(hall)
        if isinstance(decision, PlanChanged):  # new players, and those without a seat, play in no other hall
            named.update(*(one.players.values() for one in decision.plays))
            named &= self._players_of(*self.halls.keys() - {hall}) - self._players_of(hall)
        return named

    def _hall_of_ruling(self, ruling: Ruling) -> str | None:
        """Return the hall whose table or players a stored ruling concerns, or None."""
        if ruling.table is not None:
            return self.hall_of.get(ruling.table)
        if isinstance(ruling.decision, Undo):
            return next((hall for hall, ids in self._rulings_of.items() if ruling.decision.ruling in ids), None)
        named = set(players_named(ruling.decision))
        return next((hall for hall in self.halls if named and named <= self._players_of(hall)), None)

    def _players_of(self, *halls: str) -> set[str]:
        """Return the players in these halls according to the current plan."""
        if (planned := self._planned()) is not self._seated[0]:
            at = defaultdict[int, set[str]](set)
            for (table, _), play in planned.places.items():
                at[table].update(play.players.values())
            self._seated = planned, at
        return {
            player for hall in halls for table in self.halls[hall].numbers for player in self._seated[1].get(table, ())
        }

    def note_stored(self, hall: str, record: Ruling | DeviceRecord) -> None:
        """Note that a hall's ruling or admission has been stored here."""
        self._decided.add(record.id)
        if isinstance(record, Ruling):
            self._rulings_of.setdefault(hall, set()).add(record.id)

    def note_judged(self, fact: LogMessage, *, refused: bool) -> None:
        """Note whether a fact was accepted or refused."""
        if hall := self.hall_of.get(fact.table):
            self._lacking[hall].pop((fact.table, fact.seq), None)
            if refused:
                self._refused[hall] += 1
                self.note_refused([(fact.table, fact.seq)])

    def note_refused(self, facts: Iterable[tuple[int, int]]) -> None:
        """Report these facts as refused in the receipts to their halls, which inform their tables."""
        for table, seq in facts:
            if hall := self.hall_of.get(table):
                lacking = self._lacking[hall]
                lacking[table, seq] = None
                if len(lacking) > MOST_LACKING:
                    del lacking[next(iter(lacking))]

    def store_positions(self) -> None:
        """Store the halls' positions, in the same commit as their rows."""
        for hall in sorted(self._unstored):
            self._journal.keep(f"{POSITION_PREFIX}{hall}", self._positions[hall])
        self._unstored.clear()

    @property
    def has_unstored(self) -> bool:
        """Whether a hall's position has changed since the positions were last stored."""
        return bool(self._unstored)

    def newly_silent(self) -> list[str]:
        """Return the halls that have gone silent since the last call."""
        now = self._seconds()
        silent = {
            name
            for name, report in self._reports.items()
            if report.state.lifecycle == "gone" or now - report.seconds > SILENT_S
        }
        new, self._silent = silent - self._silent, silent
        return sorted(new)

    # ---- sending ----------------------------------------------------------------------------

    def resend_all(self) -> None:
        """Send everything to all halls again, on a new connection."""
        self._due |= self.halls.keys()
        self._complete = None

    def receipts(self, height: int, key: SigningKey) -> Iterator[HallReceipt]:
        """Return the signed receipts that are due, for halls whose positions are stored."""
        due, self._due = self._due - self._unstored, self._due & self._unstored
        for name in sorted(due & self.halls.keys()):  # a hall may no longer be in the list
            position = self._positions[name]
            receipt = HallReceipt(
                id=f"{name}-{height}-{position.attempt}-receipt",
                event=self._event,
                seq=height,
                hall=name,
                store=position.store or None,
                attempt=position.attempt,
                upto=position.upto,
                link=position.link if position.upto else None,
                refused=self._refused[name],
                lacks=tuple(sorted(self._lacking[name])),
                revoked=self.halls[name].revoked,
            )
            yield key.sign(receipt)

    def state_if_due(self, complete: frozenset[int], height: int, key: SigningKey) -> CentreState | None:
        """Return the deals that are over everywhere, if they have changed or a hall may have missed them."""
        now = self._seconds()
        if complete == self._complete and now - self._state_sent_at < SILENT_S:
            return None
        self._complete, self._state_sent_at = complete, now
        return key.sign(
            CentreState(
                id=f"centre-{height}-state",
                event=self._event,
                seq=height,
                complete=tuple(sorted(complete)),
                halls=len(self.halls),
                store=self._journal.store,
            )
        )

    def views(self) -> tuple[HallView, ...]:
        """Return what the centre's desk shows of the halls."""
        return tuple(map(self._view, self.halls.values()))

    def _view(self, hall: Hall) -> HallView:
        report, upto = self._reports.get(hall.name), self._positions[hall.name].upto
        state = report.state if report else None
        present = report is not None and report.state.lifecycle == "there"
        return HallView(
            name=hall.name,
            title=hall.title,
            tables=hall.tables,
            lifecycle=state.lifecycle if state else None,
            silent=report is not None and present and self._seconds() - report.seconds > SILENT_S,
            upto=upto,
            behind=max(0, state.height - upto) if state else 0,
            heard_at=report.at if report else None,
            version=state.version if state else "",
            # The state of a hall that is gone is its MQTT will, which was written when it connected.
            clock_off_ms=state.at - report.at if present and report and state and state.at is not None else 0,
            refused=self._refused[hall.name],
            revoked=hall.revoked,
        )
