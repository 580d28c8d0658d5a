"""What the centre of an event takes from its halls: their rows, each once, in order, and of their own tables alone.

A row is taken where it follows the last one of its hall. Any other is passed over: the receipt says to the hall where
to go on. A fact goes the way of every fact from there (`broker/scorer/intake.py`): its signature, its chain and its
play are judged as if its table had sent it here. A hall's rulings and admissions get numbers of the centre's own.
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
from broker.store import FIRST_LINK, DeskDecision, Journal, link_after, message_of

OF_PLAYERS: Final = (Award, FineRuled, Substitute, Withdrawn, PlayerCorrected)
"""Rulings of no play that count wherever those players are compared."""

KEPT: Final = "hall/"
"""Under which keys the store keeps how far each hall has come."""


MOST_ATTEMPTS: Final = 1_000
"""So often a hall may have begun again since it was heard of: a stolen one leaves numbers for who comes after it."""


class HallPosition(Struct, frozen=True):
    """How far a hall's journal has come here."""

    store: str = ""
    attempt: int = 0
    upto: int = 0
    link: str = FIRST_LINK.hex()
    revoked_at: int = 0
    """Ms since 1970; 0: it is not revoked."""
    doubted: HallRow | None = None
    """The last row, where its link is not that of its content: the next one tells whether only the link was altered."""


class HallView(Struct, frozen=True):
    """What the desk of the centre shows of a hall."""

    name: str
    title: str
    tables: str
    lifecycle: str | None
    """None until it has been heard of."""
    silent: bool
    upto: int
    """Rows of its journal that are here."""
    behind: int
    """Rows of it that are not, by its last report."""
    heard_at: int | None
    """Ms since 1970, by our clock."""
    version: str
    clock_off_ms: int
    """How far the hall's clock was ahead of ours when it was heard of last."""
    refused: int
    revoked: bool
    plays_in: int = 0
    plays_expected: int = 0

    @property
    def clock_span(self) -> str:
        """By how much its clock is wrong, where that is much."""
        return duration(abs(self.clock_off_ms) / 1000) if abs(self.clock_off_ms) > CLOCK_TOLERANCE_MS else ""


@dataclass(frozen=True, slots=True)
class OfHall:
    """A row that was taken: a fact's is an `Incoming`, as if its table had sent it; others are not of tables."""

    hall: str
    record: Incoming | Ruling | DeviceRecord
    acknowledge: Callable[[], None]


def _link_of(row: HallRow, before: str) -> str:
    """Return a row's link by its content, and the link before it."""
    return link_after(bytes.fromhex(before), row.height, row.at, row.body.encode()).hex()


def _altered(row: HallRow) -> Refused:
    return Refused("hall_row_altered", f"row {row.height} of hall {row.hall} is not as it was stored there")


@dataclass(slots=True)
class _OnceAll:
    """Acknowledges a message once each of its rows is acknowledged."""

    left: int
    acknowledge: Callable[[], None]

    def __call__(self) -> None:
        self.left -= 1
        if not self.left:
            self.acknowledge()


@dataclass(slots=True)
class _Heard:
    state: HallState
    at: int
    seconds: float


class Centre:
    """The halls of one event. On the scorer's thread alone."""

    def __init__(
        self,
        planned: Callable[[], Event],
        file: HallsFile,
        journal: Journal,
        decided: Sequence[DeskDecision],
        has: Callable[[str], bool],
        clock: Callable[[], int],
        seconds: Callable[[], float],
    ) -> None:
        """`planned` returns the event as it is planned now.

        `file` lists the halls. What was revoked since it was written, by another machine that has a file of its own,
        stays revoked until this one is written again. `decided`: what is stored that is no fact; `has`: whether a fact
        or ruling of this id was taken.
        """
        self._planned, self._event = planned, planned().name
        self._journal, self._clock, self._seconds = journal, clock, seconds
        self._decided = {one.message.id for one in decided}
        self._has_fact = has
        self.halls: dict[str, Hall] = {}
        self.hall_of: dict[int, str] = {}
        kept = journal.stored_values(KEPT)  # read strictly: a hall that was revoked must not be let in again
        self._at = {name: msgspec.json.decode(text, type=HallPosition) for name, text in kept.items()}
        self._unkept: set[str] = set()
        """Halls of which rows have come, or that were revoked or admitted, which is not stored yet."""
        self._due: set[str] = set()
        """Halls that are to be told how far they have come."""
        self._heard: dict[str, _Heard] = {}
        self._refused: Counter[str] = Counter()
        self._lacking: defaultdict[str, dict[tuple[int, int], None]] = defaultdict(dict)
        """Of each hall table and number of the facts that were refused, the latest last."""
        self._complete: frozenset[int] | None = None
        self._said_at = 0.0
        """When it was said last which deals are over everywhere."""
        self._silent: set[str] = set()
        self.passed_over: list[tuple[int, int]] = []
        """Table and number of facts that halls have refused, as they have said since this was looked at last."""
        self._seated: tuple[Event | None, dict[int, set[str]]] = None, {}
        """Who plays at each table, by the plan that was looked at last."""
        revoked = {name for name, at in self._at.items() if at.revoked_at > file.written_at}
        self._file, self._listed = file, file.now()
        self._take_list([structs.replace(one, revoked=one.revoked or one.name in revoked) for one in self._listed])
        self._taken_from: dict[str, set[str]] = {}
        """Ids of the rulings that came from each hall."""
        for one in (record.message for record in decided):
            if isinstance(one, Ruling) and (hall := self._hall_of_ruling(one)):
                self._taken_from.setdefault(hall, set()).add(one.id)

    def follow(self) -> bool:
        """Take in the list of halls, if its file was written again; return whether that is news."""
        before, self._listed = self._listed, self._file.now()
        return self._listed is not before and self._take_list(self._listed)

    def _take_list(self, halls: Sequence[Hall]) -> bool:
        found = {hall.name: hall for hall in halls}
        if found == self.halls:
            return False
        self.halls = found
        self.hall_of = {table: hall.name for hall in halls for table in hall.numbers}
        for name, hall in found.items():
            at = self._at.get(name, HallPosition())
            if bool(at.revoked_at) != hall.revoked:
                at = structs.replace(at, revoked_at=self._clock() if hall.revoked else 0)
                self._unkept.add(name)
            self._at[name] = at
        self._due |= found.keys()
        return True

    # ---- what comes -------------------------------------------------------------------------

    def is_of_hall(self, one: Incoming) -> bool:
        """Return whether a message comes from a hall."""
        place = topics.parse_topic(one.topic)
        return place is not None and place.topic in {topics.HALL_ROW, topics.HALL_STATE}

    def unpack(self, one: Incoming) -> Iterator[OfHall | Refused]:
        """Return the rows that a hall has sent and that are to be judged now, and why others cannot be.

        Not those that were here before, do not follow, are no rows, or are for their hall alone. The message is
        acknowledged once all of its rows are.
        """
        try:
            _, message = decode_on_topic(one.topic, one.payload)
            hall = self._may_send(message) if isinstance(message, HallRow) else None
        except Refused as refused:
            one.acknowledge()
            yield refused
            return
        if isinstance(message, HallState):
            self._hear(message)
        if hall is None or not isinstance(message, HallRow):
            one.acknowledge()
            return
        acknowledge = _OnceAll(1 + len(message.then), one.acknowledge)
        doubted: HallRow | None = None
        for row in message.each():
            proved = self._proved(row)
            if doubted and doubted not in proved:
                yield _altered(doubted)
            acknowledge.left += len(proved)
            for known in proved:
                yield from self._taken(known, replace(one, acknowledge=acknowledge))
            acknowledge()
            doubted = row if self._at[hall.name].doubted is row else None
        if doubted:  # what is refused now counts after all where the next message proves it
            yield _altered(doubted)

    def _hear(self, state: HallState) -> None:
        self._heard[state.hall] = _Heard(state, self._clock(), self._seconds())
        if state.hall not in self.halls:
            return
        self._due.add(state.hall)  # the receipt before may be lost, and a hall without one sends nothing
        if self.halls[state.hall].revoked:
            return
        ours = (one for one in state.passed_over if self.hall_of.get(one[0]) == state.hall)
        self.passed_over.extend(ours)

    def _may_send(self, row: HallRow) -> Hall:
        hall = self.halls.get(row.hall)
        if hall is None:
            raise Refused("unknown_hall", f"this event has no hall {row.hall}")
        if hall.revoked:
            raise Refused("hall_cut_off", f"hall {row.hall} was revoked")
        self._due.add(row.hall)
        return hall

    def _proved(self, row: HallRow) -> list[HallRow]:
        """Go on to a row that follows; return the rows of which it is known by now that they are as they were stored.

        A row is proved by its link or, where that alone was altered, by the link of the next.
        """
        at = self._at[row.hall]
        begins = row.height == 1 and 0 < row.attempt - at.attempt <= MOST_ATTEMPTS
        # The links prove that it is the same journal: a standby's copy of it, or a restored one, has another name.
        follows = (row.attempt, row.height, row.before) == (at.attempt, at.upto + 1, at.link)
        if not begins and not follows:
            return []
        last = at.doubted if follows else None
        both = last is not None and row.link == _link_of(row, _link_of(last, last.before))
        alone = row.height > 1 and row.before == FIRST_LINK.hex()  # its hall does not have the row before it
        known = not row.body or both or alone or row.link == _link_of(row, row.before)
        self._at[row.hall] = HallPosition(row.store, row.attempt, row.height, row.link, doubted=None if known else row)
        self._unkept.add(row.hall)
        return [one for one, is_proved in ((last, both), (row, known)) if one and is_proved and one.body]

    def _taken(self, row: HallRow, one: Incoming) -> Iterator[OfHall | Refused]:
        try:
            record = self._record(row, one)
        except Refused as refused:
            one.acknowledge()
            yield refused
            return
        if record is None:
            one.acknowledge()
        else:
            yield OfHall(row.hall, record, one.acknowledge)

    def _record(self, row: HallRow, one: Incoming) -> Incoming | Ruling | DeviceRecord | None:
        body = row.body.encode()
        try:
            message = message_of(body)
        except StoreBroken as error:
            raise Refused("malformed", str(error)) from None
        if self._has_fact(message.id) or message.id in self._decided:
            if isinstance(message, LogMessage):
                self._lacking[row.hall].pop((message.table, message.seq), None)
            return None
        if isinstance(message, Ruling):
            return message if self._is_for_all(message, row.hall) else None
        if self.hall_of.get(message.table) != row.hall:
            raise Refused("not_of_hall", f"table {message.table} is none of hall {row.hall}")
        if isinstance(message, LogMessage):
            return Incoming(topics.LOG.at(self._event, table=message.table), body, one.acknowledge, one.came_at)
        return message

    def _is_for_all(self, ruling: Ruling, hall: str) -> bool:
        """Return whether a ruling of a hall's desk counts at the centre: it is of the hall's own tables and players.

        Not one of the hall as a whole, such as the end of its correction period. Raises Refused if it reaches into
        another hall.
        """
        decision = ruling.decision
        if isinstance(decision, Undo):
            ours = decision.ruling in self._taken_from.get(hall, ())
        elif isinstance(decision, PlanChanged):
            changed = {one.table for one in decision.plays} | {table for table, _ in decision.dropped}
            if any(self.hall_of.get(table) != hall for table in changed):
                raise Refused(
                    "not_of_hall", f"ruling {ruling.number} changes plays of tables that are none of hall {hall}"
                )
            ours = decision.stage is None
        elif ruling.table is None:
            ours = isinstance(decision, OF_PLAYERS)
        else:
            ours = True
            if self.hall_of.get(ruling.table) != hall:
                raise Refused("not_of_hall", f"ruling {ruling.number}: table {ruling.table} is none of hall {hall}")
        if ours and self._others_named(decision, hall):
            raise Refused("not_of_hall", f"ruling {ruling.number} names players who do not play in hall {hall}")
        return ours

    def _others_named(self, decision: AnyDecision, hall: str) -> set[str]:
        """Return whom a ruling of a hall names though they do not play there."""
        named = set(players_named(decision)) - self._players_of(hall)
        if isinstance(decision, PlanChanged):  # who enters, or had no seat, plays nowhere else
            named.update(*(one.players.values() for one in decision.plays))
            named &= self._players_of(*self.halls.keys() - {hall}) - self._players_of(hall)
        return named

    def _hall_of_ruling(self, ruling: Ruling) -> str | None:
        """Return the hall of whose tables or players a stored ruling is."""
        if ruling.table is not None:
            return self.hall_of.get(ruling.table)
        if isinstance(ruling.decision, Undo):
            return next((hall for hall, ids in self._taken_from.items() if ruling.decision.ruling in ids), None)
        named = set(players_named(ruling.decision))
        return next((hall for hall in self.halls if named and named <= self._players_of(hall)), None)

    def _players_of(self, *halls: str) -> set[str]:
        """Return who plays in these halls by the plan as it is now."""
        if (planned := self._planned()) is not self._seated[0]:
            at = defaultdict[int, set[str]](set)
            for (table, _), play in planned.places.items():
                at[table].update(play.players.values())
            self._seated = planned, at
        return {
            player for hall in halls for table in self.halls[hall].numbers for player in self._seated[1].get(table, ())
        }

    def adopted(self, hall: str, record: Ruling | DeviceRecord) -> None:
        """Remember a ruling or an admission that is stored here."""
        self._decided.add(record.id)
        if isinstance(record, Ruling):
            self._taken_from.setdefault(hall, set()).add(record.id)

    def judged(self, fact: LogMessage, *, refused: bool) -> None:
        """Note whether a fact was refused."""
        if hall := self.hall_of.get(fact.table):
            self._lacking[hall].pop((fact.table, fact.seq), None)
            if refused:
                self._refused[hall] += 1
                self.lack([(fact.table, fact.seq)])

    def lack(self, facts: Iterable[tuple[int, int]]) -> None:
        """Let halls be told, and by them their tables, that these facts were refused."""
        for table, seq in facts:
            if hall := self.hall_of.get(table):
                lacking = self._lacking[hall]
                lacking[table, seq] = None
                if len(lacking) > MOST_LACKING:
                    del lacking[next(iter(lacking))]

    def keep(self) -> None:
        """Keep how far the halls have come, in the commit in which their rows are."""
        for hall in sorted(self._unkept):
            self._journal.set_struct(f"{KEPT}{hall}", self._at[hall])
        self._unkept.clear()

    @property
    def unkept(self) -> bool:
        """Whether something has changed since it was kept last how far the halls are."""
        return bool(self._unkept)

    def look(self) -> list[str]:
        """Return the halls that are not heard of any more, once each."""
        now = self._seconds()
        silent = {
            name
            for name, heard in self._heard.items()
            if heard.state.lifecycle == "gone" or now - heard.seconds > SILENT_S
        }
        new, self._silent = silent - self._silent, silent
        return sorted(new)

    # ---- what goes --------------------------------------------------------------------------

    def again(self) -> None:
        """Tell all halls everything again: there is a new connection."""
        self._due |= self.halls.keys()
        self._complete = None

    def receipts(self, height: int, key: SigningKey) -> Iterator[HallReceipt]:
        """Return what is to be told to halls of which rows have come."""
        due, self._due = self._due - self._unkept, self._due & self._unkept
        for name in sorted(due & self.halls.keys()):  # one may be in the list no more
            at = self._at[name]
            receipt = HallReceipt(
                id=f"{name}-{height}-{at.attempt}-receipt",
                event=self._event,
                seq=height,
                hall=name,
                store=at.store or None,
                attempt=at.attempt,
                upto=at.upto,
                link=at.link if at.upto else None,
                refused=self._refused[name],
                lacks=tuple(sorted(self._lacking[name])),
                revoked=self.halls[name].revoked,
            )
            yield key.sign(receipt)

    def word(self, complete: frozenset[int], height: int, key: SigningKey) -> CentreState | None:
        """Return which deals are over everywhere, if that has changed or a hall may have missed it."""
        now = self._seconds()
        if complete == self._complete and now - self._said_at < SILENT_S:
            return None
        self._complete, self._said_at = complete, now
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
        """Return what the desk shows of the halls."""
        return tuple(map(self._view, self.halls.values()))

    def _view(self, hall: Hall) -> HallView:
        heard, upto = self._heard.get(hall.name), self._at[hall.name].upto
        state = heard.state if heard else None
        there = heard is not None and heard.state.lifecycle == "there"
        return HallView(
            name=hall.name,
            title=hall.title,
            tables=hall.tables,
            lifecycle=state.lifecycle if state else None,
            silent=heard is not None and there and self._seconds() - heard.seconds > SILENT_S,
            upto=upto,
            behind=max(0, state.height - upto) if state else 0,
            heard_at=heard.at if heard else None,
            version=state.version if state else "",
            # What is said of a hall that is gone was written when it came, by its broker's hand.
            clock_off_ms=state.at - heard.at if there and heard and state and state.at is not None else 0,
            refused=self._refused[hall.name],
            revoked=hall.revoked,
        )
