"""Read an event from its folder and journal, for commands (while a scorer may be running) and for a starting scorer.

Commands lock nothing and write nothing. A starting scorer replays the journal, so that it knows what the previous
scorer knew when each message arrived.
"""

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import compress, groupby
from operator import itemgetter
from pathlib import Path
from typing import Final, NamedTuple, cast

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from broker.errors import RuleError, StoreBroken
from broker.event import (
    HALL,
    DealPar,
    DealRecord,
    Event,
    EventPar,
    HandRecord,
    missing_file,
    open_event,
    par_of_deal,
    read_deals,
    read_devices,
    read_hands,
    read_par,
)
from broker.protocol import DeviceAdmitted, DeviceRecord, LogMessage, Result, Ruling, Seated, fact_hash, is_signed_by
from broker.rules import Profile, points_paid
from broker.rulings import CountedPlay
from broker.scorer.alerts import (
    Concern,
    concern_of_apart,
    concern_of_gap,
    concerns_of_repeats,
    concerns_without_repeats,
)
from broker.scorer.intake import Intake, TableBook, lacks_ruling
from broker.scorer.quarantine import UNEXPLAINED, ApartFact, Judged, PlaysCheck
from broker.scorer.state import EventState
from broker.scorer.tables import Seatings
from broker.scorer.whole_plays import StoredRows, WholePlay, WholePlayFinder
from broker.scoring import Adjustment, ScoredPlay
from broker.store import (
    BAD_SIGNATURE,
    LINK_ALTERED,
    LOST,
    UNREADABLE_ROW,
    WRONG_POINTS,
    DeskDecision,
    Fault,
    Reader,
    Recorded,
    RefusedRow,
    Rows,
    Witness,
    check_sqlite,
    database_of,
    message_of,
    open_reader,
    witness_of,
)


class StoredEvent(Struct, frozen=True):
    """An event, its state at one time, its deals, and the actions in its plays where known. All of it is secret."""

    event: Event
    """The event as corrected by rulings."""
    state: EventState
    deals: Mapping[int, DealRecord]
    hands: Mapping[tuple[int, int], HandRecord]
    """By round and table."""
    par: EventPar | None = None
    """Results of simulated players with its deals. Also None before the standings are final."""

    def par_of(self, deal: int) -> DealPar | None:
        """Return the results of simulated players with a deal, or None if there are none or their key is missing."""
        rules = self.event.profile
        if self.par is None or not isinstance(rules, Profile):
            return None
        try:
            return par_of_deal(self.par, self.event.name, self.event.open_deal(deal), rules.payments)
        except RuleError:
            return None

    def results(self) -> Iterator[tuple[LogMessage, Result]]:
        """Yield all results as they count, by round and table, except those of void or adjusted plays."""
        for key, message in sorted(self.state.results.items(), key=lambda item: (item[0][1], item[0][0])):
            play = self.state.play(key)
            if isinstance(message.fact, Result) and play.points is not None and play.win is not None:
                yield message, _counted_result(message.fact, play) if play.rulings else message.fact

    def played(self) -> Iterator[tuple[int, CountedPlay]]:
        """Yield plays with points, as they count with every ruling, by round and table, each after its time (ms).

        The time is that of the table's result or, if there is none, of the ruling in its place.
        """
        for key in sorted(self.state.touched(), key=lambda key: (key[1], key[0])):
            play, result = self.state.play(key), self.state.results.get(key)
            if play.points is not None and play.win is not None:
                entries = self.state.book.of(key)
                yield (result.at if result else entries[-1].at if entries else 0), play

    def counted(self, *, embargoed: bool) -> Iterator[tuple[CountedPlay, ScoredPlay]]:
        """Yield all plays of which something counts, void and adjusted ones too, by round and table.

        A play still to come is included if somebody was already given or fined something for it. Without `embargoed`,
        plays of deals that a table has still to play are left out.
        """
        for key in sorted(self.state.touched(), key=lambda key: (key[1], key[0])):
            counted = self.state.play(key)
            play = counted.scored()
            if play is not None and (embargoed or not self.embargoed(counted.deal)):
                yield counted, play

    def adjustments(self) -> tuple[Adjustment, ...]:
        """Return the IMPs given and fined outside of plays, by player. They are not under embargo."""
        total: dict[str, Adjustment] = {}
        for one in self.state.adjustments():
            had = total.get(one.name, Adjustment(one.name))
            total[one.name] = Adjustment(one.name, had.imp + one.imp, had.fine + one.fine)
        return tuple(total[name] for name in sorted(total))

    def instead(self, play: CountedPlay) -> str:
        """Return the kind of the ruling that replaces a result, or an empty string if there is none."""
        if not play.settled or play.points is not None or play.source is None:
            return ""
        return self.state.book.entries[play.source].kind

    def sat(self, player: str, round_: int) -> str | None:
        """Return the substitute who sat in a player's seat in a round, or None if the player did."""
        return self.state.snapshot().sat(player, round_)

    @property
    def final(self) -> bool:
        """Whether the standings are final."""
        return self.state.final

    def embargoed(self, deal: int) -> bool:
        """Return whether a table has the deal still to play."""
        return not self.state.complete(deal)


def _counted_result(result: Result, play: CountedPlay) -> Result:
    return replace(
        result,
        deal=play.deal,
        players=dict(play.players),
        win=play.win,
        winners=dict(play.winners),
        discarder=play.discarder,
        hand=play.hand,
        points=dict(play.points or {}),
    )


def open_stored_event(folder: Path) -> StoredEvent:
    """Read an event and its store. Raises ScorerError, StoreError."""
    event = open_event(folder)
    state = EventState(event)
    with closing(open_reader(folder, event.name)) as journal:
        content = read_journal(journal, event)
        if lacks_ruling(content.faults):
            content = content.without(Intake(event, content.messages, faults=content.faults).unplanned)
        state.elsewhere = content.elsewhere
        state.load(
            (one for _, one in _messages_to_load(content, state, lambda _: True)),
            passed_over(journal.refused()),
            judged_from=content.judged_from,
            lost=content.lost(),
        )
    hands = {(hand.round, hand.table): hand for hand in read_hands(folder)}
    par = read_par(folder) if state.final else None
    return StoredEvent(state.event, state, {deal.number: deal for deal in read_deals(folder)}, hands, par)


PastConcern = tuple[int, Concern]
"""When the arbiters were alerted (ms since 1970), and the concern."""


class JournalContent(NamedTuple):
    """The content of a journal: messages that count, and faults."""

    messages: Sequence[Recorded | WholePlay]
    received: Sequence[int]
    """When each message was accepted (for whole plays: their results), ms since 1970."""
    judged_from: int | None
    """Number of messages from before plays were judged. None: all."""
    heads: Mapping[tuple[int, int], str]
    """Hashes of the facts without a successor, by table and number."""
    faults: Sequence[Fault]
    """Rows that do not count or are missing, and altered rows that still count."""
    decided: Sequence[DeskDecision]
    """Decisions of the desk, with their bytes."""
    recorded_faults: Sequence[Fault] = ()
    """All faults ever found, including those repaired since."""
    elsewhere: frozenset[int] | None = None
    """In a hall, the deals that all halls have played, by the centre's last report."""

    def ids(self) -> set[str]:
        """Return the ids of all messages that count."""
        of_plays = (id_ for one in self.messages if isinstance(one, WholePlay) for id_ in one.ids)
        return {one.id for one in self.messages if not isinstance(one, WholePlay)}.union(of_plays)

    def devices(self) -> Iterator[DeviceRecord]:
        """Return the decisions about devices, in order."""
        records = (one.message for one in self.decided if not isinstance(one.message, Ruling))
        return iter(sorted(records, key=lambda record: record.number))

    def lost(self) -> Iterator[tuple[int, int]]:
        """Return table and number of the facts that cannot be read, or could not be read for some time.

        Recovered ones are included: what followed them has counted meanwhile, and still counts.
        """
        faults = (*self.recorded_faults, *self.faults)
        return ((fault.table, fault.seq) for fault in faults if fault.table and fault.seq)

    def with_decided(self, recovered: Sequence[DeskDecision]) -> "JournalContent":
        """Return the same content, with decisions that were recovered."""
        ids = {one.message.id for one in recovered}
        return self._replace(
            messages=[*self.messages, *(one.message for one in recovered)],
            received=[*self.received, *(one.received_at for one in recovered)],
            faults=[fault for fault in self.faults if fault.id not in ids],
            decided=[*self.decided, *recovered],
        ).in_order()

    def with_faults(self, faults: Sequence[Fault]) -> "JournalContent":
        """Return the same content, with more faults."""
        return self._replace(faults=(*self.faults, *faults)) if faults else self

    def without(self, facts: Sequence[LogMessage]) -> "JournalContent":
        """Return the same content as if these facts could not be read."""
        removed = {one.id for one in facts}
        if not removed:
            return self
        remaining = [isinstance(one, WholePlay) or one.id not in removed for one in self.messages]
        return self._replace(
            messages=[*compress(self.messages, remaining)],
            received=[*compress(self.received, remaining)],
            judged_from=None if self.judged_from is None else sum(remaining[: self.judged_from]),
        ).with_faults([Fault(LOST, 0, one.table, one.seq, one.id) for one in facts])

    def in_order(self) -> "JournalContent":
        """Sort rulings by their numbers, so that recovered ones come before those given since."""
        places = [place for place, one in enumerate(self.messages) if isinstance(one, Ruling)]
        messages, received = list(self.messages), list(self.received)
        ordered = sorted(((messages[place], received[place]) for place in places), key=_number_of_ruling)
        for place, (message, at) in zip(places, ordered, strict=True):
            messages[place], received[place] = message, at
        return self._replace(messages=messages, received=received)


def _number_of_ruling(one: tuple[Recorded | WholePlay, int]) -> int:
    return one[0].number if isinstance(one[0], Ruling) else 0


IsSigned = Callable[[LogMessage, bytes], bool]
"""Checks whether a fact has its device's signature. The bytes are its JSON as stored."""


def read_journal(journal: Reader, event: Event, is_signed: IsSigned | None = None) -> JournalContent:
    """Read a journal, and verify each row. Raises BadEvent, StoreBroken, StoreLost.

    A row's link must fit (broker/store/records.py), it must contain a message, and points must follow from their
    outcome. Signatures were verified when facts were accepted, and links show that the rows have not changed since.
    Verifying all of them again takes long, and is done only if `is_signed` is given.
    """
    faults, reading = list[Fault](), JournalLoader(event, journal.judged_from(), is_signed)
    with closing(journal.columns(faults)) as read:
        content = reading.content(read)
    faults += reading.faults
    content = content._replace(judged_from=_judged_from(journal, faults))
    content = content._replace(recorded_faults=journal.recorded_faults(), elsewhere=_deals_elsewhere(journal, event))
    content = content._replace(faults=_open_faults(journal, faults, content))
    numbers = [one.message.number for one in content.decided if isinstance(one.message, Ruling)]
    return content if numbers == sorted(numbers) else content.in_order()


ELSEWHERE: Final = "elsewhere"
"""Key under which a hall's store has the deals that all halls have played."""


def _deals_elsewhere(journal: Reader, event: Event) -> frozenset[int] | None:
    """Return the stored deals that all halls have played, or None if there is one hall. Raises BadEvent."""
    stored = journal.stored_values(ELSEWHERE).get("")
    if stored and not event.among_halls:  # its deals would become public before others have played them
        raise missing_file(HALL)
    return frozenset(json.loads(stored or "[]")) if event.among_halls else None


class JournalLoader:
    """Loads a journal. `judged_from`: number of rows from before plays were judged."""

    def __init__(self, event: Event, judged_from: int | None, is_signed: IsSigned | None = None) -> None:
        self._judged_from, self._is_signed = judged_from, is_signed
        self._points = PointsCheck(event)
        self._plays = WholePlayFinder(event, self._points.are_right)
        self._decided: list[DeskDecision] = []
        self.faults: list[Fault] = []
        """Faults of rows whose links fit."""

    def content(self, read: Iterable[Rows]) -> JournalContent:
        """Return all that counts in order, with the hashes of the facts without a successor."""
        rows, find_whole = StoredRows(read), self._judged_from is not None and self._is_signed is None
        plays = [*self._plays.find(rows, self._judged_from or 0)] if find_whole else []
        found: list[tuple[int, Recorded | WholePlay]] = [(one.rows[-1], one) for one in plays]
        others = np.ones(len(rows), np.bool_)
        others[[row for play in plays for row in play.rows]] = False
        rest = np.flatnonzero(others).tolist()
        found += ((row, message) for row in rest if (message := self._message(*rows.row(row))) is not None)
        found.sort(key=itemgetter(0))
        places = [row for row, _ in found]
        hashes = {key: fact_hash(rows.body(row)) for key, row in _last_facts(found).items()}
        messages = [one for _, one in found]
        return JournalContent(messages, rows["received"][places].tolist(), None, hashes, (), self._decided)

    def _message(self, height: int, at: int, body: bytes) -> Recorded | None:
        """Decode a row's message, or return None if it does not count."""
        try:
            message = message_of(body)
        except StoreBroken:
            self.faults.append(Fault(UNREADABLE_ROW, height))
            return None
        if not isinstance(message, LogMessage):
            self._decided.append(DeskDecision(message, at, body))
        elif isinstance(message.fact, Result) and not self._points.are_right(message.fact):
            self.faults.append(Fault(WRONG_POINTS, height))
            return None
        elif self._is_signed and not self._is_signed(message, body):
            self.faults.append(Fault(BAD_SIGNATURE, height))
            return None
        return message


def _last_facts(found: Iterable[tuple[int, Recorded | WholePlay]]) -> dict[tuple[int, int], int]:
    """Return the rows of facts without a successor, by table and number."""
    last: dict[int, tuple[int, int]] = {}
    others: dict[tuple[int, int], int] = {}
    for row, one in found:
        if isinstance(one, WholePlay):
            table, first, seq = one.key[0], one.first, one.last
        elif isinstance(one, LogMessage):
            table, first, seq = one.table, one.seq, one.seq
        else:
            continue
        before = last.get(table)
        if before is not None and before[0] != first - 1:
            others[table, before[0]] = before[1]
            others.pop((table, first - 1), None)
        last[table] = seq, row
    return others | {(table, seq): row for table, (seq, row) in last.items()}


def _judged_from(journal: Reader, faults: Iterable[Fault]) -> int | None:
    """Return how many of the messages that count are from before plays were judged. None: all."""
    rows = journal.judged_from()
    if rows is None:
        return None
    return rows - len({fault.height for fault in faults if fault.height <= rows and fault.code != LINK_ALTERED})


def _open_faults(journal: Reader, found: Iterable[Fault], content: JournalContent) -> Sequence[Fault]:
    """Return the faults found now and the losses recorded before, by name, without what was recovered."""
    lost = [fault for fault in content.recorded_faults if fault.code == LOST]
    ids = content.ids() if lost else set()
    return (*journal.unrepaired(found), *(fault for fault in lost if fault.id not in ids))


class Verified(NamedTuple):
    """The outcome of verifying a whole store."""

    event: str
    messages: int
    """Number of messages that count."""
    has_links: bool
    faults: Sequence[Fault]


def verify_store(folder: Path) -> Verified:
    """Read the store of an event's folder, or of a copy, and verify every row, including signatures.

    Raises ScorerError, StoreError.
    """
    event = open_event(folder)
    if database_of(folder) is None:
        check_sqlite(folder)
    with closing(open_reader(folder, event.name)) as journal:
        records = read_journal(journal, event).devices()
        keys = {(one.table, one.device): one.key for one in records if isinstance(one, DeviceAdmitted)}
        keys |= {(one.table, one.device): one.key for one in read_devices(folder)}
        content = read_journal(journal, event, partial(_has_signature, keys))
        lost = [
            fault for fault in journal.lost(Witness(witness_of(folder), read_only=True)) if fault not in content.faults
        ]
        return Verified(event.name, len(content.messages), journal.has_links, (*content.faults, *lost))


def _has_signature(keys: Mapping[tuple[int, str], str | None], fact: LogMessage, body: bytes) -> bool:
    """Return whether a fact has its device's signature. Facts from old programs have none."""
    if fact.signature is None:
        return True
    key = keys.get((fact.table, fact.device or ""))
    return key is not None and is_signed_by(key, body, fact.signature)


class PointsCheck:
    """Checks whether the points of results follow from their outcomes. Most outcomes recur, so they are cached."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._right: dict[tuple[object, ...], bool] = {}

    def are_right(self, result: Result) -> bool:
        """Return whether they follow, as far as the plan knows the deal and the rules."""
        if result.profile != self._event.profile.id or result.deal not in self._event.expected:
            return True  # other checks reject plays that are not the event's
        if result.hand is not None:
            return self._compute(result)
        outcome = (result.win, result.discarder, *result.winners.items(), None, *result.points.items())
        right = self._right.get(outcome)
        if right is None:
            right = self._right[outcome] = self._compute(result)
        return right

    def _compute(self, result: Result) -> bool:
        try:
            return points_paid(result, self._event.winds(result.deal)[1], self._event.profile) == result.points
        except RuleError:
            return False


def passed_over(refused: Iterable[RefusedRow]) -> Iterator[tuple[int, int]]:
    """Yield table and number of refused facts that are not waited for."""
    for row in refused:
        if row.table is not None and row.seq is not None and row.code not in UNEXPLAINED:
            yield row.table, row.seq


ONE_BY_ONE: Final = 1_000
"""Number of plays examined one by one when not all can be added together. It doubles with each further attempt."""


def _messages_to_load(
    content: JournalContent, state: EventState, are_valid: PlaysCheck
) -> Iterator[tuple[int, Recorded]]:
    """Yield the messages that a state has to load, with the time of each, except plays that it has added as a whole."""
    messages = zip(map(type, content.messages), content.messages, content.received, strict=True)
    for kind, same in groupby(messages, itemgetter(0)):
        if kind is not WholePlay:
            yield from ((at, one) for _, one, at in same if not isinstance(one, WholePlay))
            continue
        remaining, size = cast("list[WholePlay]", [*map(itemgetter(1), same)]), ONE_BY_ONE
        while remaining and not state.take_all(remaining, are_valid):
            plays, remaining, size = iter(remaining[:size]), remaining[size:], 2 * size
            while (judged := state.take_whole(plays, are_valid)) is not None:
                yield from judged.facts()


def replay_journal(state: EventState, content: JournalContent, refused: Iterable[RefusedRow]) -> list[PastConcern]:
    """Load a state from a journal. Return the concerns of each fact when it counted or was kept apart."""
    found: list[PastConcern] = []
    now = 0

    def one_by_one() -> Iterator[Recorded]:
        nonlocal now
        for now, one in _messages_to_load(content, state, clock.are_right):
            yield clock.corrected(one, now) if isinstance(one, LogMessage) else one

    def judged(one: Judged) -> None:
        if isinstance(one, ApartFact):
            found.append((now, concern_of_apart(one)))
            return
        for concern in concerns_without_repeats(state, one, now):
            found.append((now, concern))  # noqa: PERF401 - nearly always there is none

    clock = state.tables.clock
    state.elsewhere = content.elsewhere
    state.load(one_by_one(), passed_over(refused), judged, judged_from=content.judged_from, lost=content.lost())
    repeated = state.tables.seatings.repeated(state.planned)
    found.extend(_past_repeats(state.event, repeated, content, state.quarantine.ids() if repeated else ()))
    return found


def _past_repeats(
    event: Event, deals: Container[int], content: JournalContent, apart: Container[str]
) -> Iterable[PastConcern]:
    """Yield the concerns for players who sat down to a deal again, given the few deals for which that happened."""
    seatings = Seatings()
    for message, at in _facts_one_by_one(content) if deals else ():
        if message.fact.deal in deals and isinstance(message.fact, Seated | Result) and message.id not in apart:
            seatings.apply(message)
            yield from ((at, concern) for concern in concerns_of_repeats(event, seatings, message, message.fact))


def _facts_one_by_one(content: JournalContent) -> Iterator[tuple[LogMessage, int]]:
    """Yield all facts of a journal with the times of acceptance. Those of a whole play come at its result."""
    for one, at in zip(content.messages, content.received, strict=True):
        if isinstance(one, LogMessage):
            yield one, at
        elif isinstance(one, WholePlay):
            yield from ((fact, then) for then, fact in one.facts())


def past_gaps(books: Mapping[int, TableBook], content: JournalContent) -> Iterator[PastConcern]:
    """Yield the concerns for gaps that are still open, by when the fact after each was accepted."""
    after = {(table, seq + 1) for table, book in books.items() for seq in book.missing if seq + 1 in book.accepted}
    if not after:
        return
    for message, at in _facts_one_by_one(content):
        if (message.table, message.seq) in after:
            yield at, concern_of_gap(message.table, message.seq)


def past_refusals(refused: Iterable[RefusedRow]) -> Iterator[PastConcern]:
    """Yield the concerns for refusals. Their codes are stored, but not the texts of the alerts."""
    for row in refused:
        text = f"fact {row.seq}" if row.seq else row.code
        about = row.seq if row.code == "conflict" else None
        yield row.received_at, Concern(row.code, row.table, about=about, topic=row.topic, found=text)
