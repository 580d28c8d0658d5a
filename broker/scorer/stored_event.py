"""An event read from its folder and journal: by commands while a scorer may be at work, and by a scorer that starts.

For a command nothing is locked and nothing written. A starting scorer replays the journal so that it knows what the
scorer before it knew when each message came.
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
from broker.scorer.quarantine import UNEXPLAINED, ApartFact, Judged
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
    Decided,
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
    """An event, its room at one moment, its deals, and what was done in its plays where that is known. All secret."""

    event: Event
    """As corrections of its plan have it."""
    room: EventState
    deals: Mapping[int, DealRecord]
    hands: Mapping[tuple[int, int], HandRecord]
    """By round and table."""
    par: EventPar | None = None
    """What simulated players made of its deals; None too before the standings are final."""

    def par_of(self, deal: int) -> DealPar | None:
        """Return what simulated players made of a deal; None if nothing is known, or its key is missing."""
        rules = self.event.profile
        if self.par is None or not isinstance(rules, Profile):
            return None
        try:
            return par_of_deal(self.par, self.event.name, self.event.open_deal(deal), rules.payments)
        except RuleError:
            return None

    def results(self) -> Iterator[tuple[LogMessage, Result]]:
        """Return all results as they count, by round and table: not those of plays that are void or adjusted."""
        for key, message in sorted(self.room.results.items(), key=lambda item: (item[0][1], item[0][0])):
            play = self.room.play(key)
            if isinstance(message.fact, Result) and play.points is not None and play.win is not None:
                yield message, _counted_result(message.fact, play) if play.rulings else message.fact

    def played(self) -> Iterator[tuple[int, CountedPlay]]:
        """Return all plays that have points, as they count with every ruling, by round and table; and when, ms.

        The time is that of the table's result; of a play that has none, of the ruling in its place.
        """
        for key in sorted(self.room.touched(), key=lambda key: (key[1], key[0])):
            play, result = self.room.play(key), self.room.results.get(key)
            if play.points is not None and play.win is not None:
                entries = self.room.book.of(key)
                yield (result.at if result else entries[-1].at if entries else 0), play

    def counted(self, *, embargoed: bool) -> Iterator[tuple[CountedPlay, ScoredPlay]]:
        """Return all plays of which something counts, by round and table: void and adjusted ones too.

        A play that is still to come is among them if somebody was given or fined something for it already. Without
        `embargoed` those of deals that a table has still to play are left out.
        """
        for key in sorted(self.room.touched(), key=lambda key: (key[1], key[0])):
            counted = self.room.play(key)
            play = counted.scored()
            if play is not None and (embargoed or not self.embargoed(counted.deal)):
                yield counted, play

    def beside(self) -> tuple[Adjustment, ...]:
        """Return what each player was given and fined of no play, by player. It is under no embargo."""
        total: dict[str, Adjustment] = {}
        for one in self.room.adjustments():
            had = total.get(one.name, Adjustment(one.name))
            total[one.name] = Adjustment(one.name, had.imp + one.imp, had.fine + one.fine)
        return tuple(total[name] for name in sorted(total))

    def instead(self, play: CountedPlay) -> str:
        """Return the word for what was ruled in place of a result; nothing if none was."""
        if not play.settled or play.points is not None or play.source is None:
            return ""
        return self.room.book.entries[play.source].kind

    def sat(self, player: str, round_: int) -> str | None:
        """Return the substitute who sat in a player's seat in a round; None if the player did."""
        return self.room.snapshot().sat(player, round_)

    @property
    def final(self) -> bool:
        """Whether the standings are final."""
        return self.room.final

    def embargoed(self, deal: int) -> bool:
        """Return whether a table has the deal still to play."""
        return not self.room.complete(deal)


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
    room = EventState(event)
    with closing(open_reader(folder, event.name)) as journal:
        content = read_journal(journal, event)
        if lacks_ruling(content.faults):
            content = content.without(Intake(event, content.messages, faults=content.faults).without_place)
        room.elsewhere = content.elsewhere
        room.load(
            (one for _, one in _in_turn(content, room, lambda _: True)),
            passed_over(journal.refused()),
            judged_from=content.judged_from,
            lost=content.lost(),
        )
    hands = {(hand.round, hand.table): hand for hand in read_hands(folder)}
    par = read_par(folder) if room.final else None
    return StoredEvent(room.event, room, {deal.number: deal for deal in read_deals(folder)}, hands, par)


PastConcern = tuple[int, Concern]
"""When the arbiters were alerted (ms since 1970), and to what."""


class JournalContent(NamedTuple):
    """A whole journal: what proves itself, and what does not."""

    messages: Sequence[Recorded | WholePlay]
    received: Sequence[int]
    """When each was taken, of whole plays the result; ms since 1970."""
    judged_from: int | None
    """How many of them are from before plays were judged; None: all."""
    heads: Mapping[tuple[int, int], str]
    """Hashes of facts, by table and number, after which none has come."""
    faults: Sequence[Fault]
    """What does not count, and what is gone; also what counts though its row was changed."""
    decided: Sequence[Decided]
    """What is no fact of a table, with its bytes."""
    set_aside: Sequence[Fault] = ()
    """What was ever found wrong, though it may have come back since."""
    elsewhere: frozenset[int] | None = None
    """In a hall among others, the deals that all halls have played, as the centre has said last."""

    def ids(self) -> set[str]:
        """Return the ids of all that counts."""
        of_plays = (id_ for one in self.messages if isinstance(one, WholePlay) for id_ in one.ids)
        return {one.id for one in self.messages if not isinstance(one, WholePlay)}.union(of_plays)

    def devices(self) -> Iterator[DeviceRecord]:
        """Return what was decided about devices, in that order."""
        records = (one.message for one in self.decided if not isinstance(one.message, Ruling))
        return iter(sorted(records, key=lambda record: record.number))

    def lost(self) -> Iterator[tuple[int, int]]:
        """Return table and number of the facts that were there and cannot be read, or could not for some time.

        Of those too that have come back: what followed them has counted meanwhile, and counts on.
        """
        faults = (*self.set_aside, *self.faults)
        return ((fault.table, fault.seq) for fault in faults if fault.table and fault.seq)

    def with_decided(self, back: Sequence[Decided]) -> "JournalContent":
        """Return the same with what has come back to its journal."""
        ids = {one.message.id for one in back}
        return self._replace(
            messages=[*self.messages, *(one.message for one in back)],
            received=[*self.received, *(one.received_at for one in back)],
            faults=[fault for fault in self.faults if fault.id not in ids],
            decided=[*self.decided, *back],
        ).in_order()

    def with_faults(self, faults: Sequence[Fault]) -> "JournalContent":
        """Return the same, of which more is known to be gone."""
        return self._replace(faults=(*self.faults, *faults)) if faults else self

    def without(self, facts: Sequence[LogMessage]) -> "JournalContent":
        """Return the same as if these facts could not be read."""
        gone = {one.id for one in facts}
        if not gone:
            return self
        left = [isinstance(one, WholePlay) or one.id not in gone for one in self.messages]
        return self._replace(
            messages=[*compress(self.messages, left)],
            received=[*compress(self.received, left)],
            judged_from=None if self.judged_from is None else sum(left[: self.judged_from]),
        ).with_faults([Fault(LOST, 0, one.table, one.seq, one.id) for one in facts])

    def in_order(self) -> "JournalContent":
        """Put rulings into the order of their numbers: one that has come back stands before those given since."""
        places = [place for place, one in enumerate(self.messages) if isinstance(one, Ruling)]
        messages, received = list(self.messages), list(self.received)
        ordered = sorted(((messages[place], received[place]) for place in places), key=_number_of_ruling)
        for place, (message, at) in zip(places, ordered, strict=True):
            messages[place], received[place] = message, at
        return self._replace(messages=messages, received=received)


def _number_of_ruling(one: tuple[Recorded | WholePlay, int]) -> int:
    return one[0].number if isinstance(one[0], Ruling) else 0


IsSigned = Callable[[LogMessage, bytes], bool]
"""Whether a fact has its device's signature; the bytes are its JSON as it is kept."""


def read_journal(journal: Reader, event: Event, is_signed: IsSigned | None = None) -> JournalContent:
    """Read a journal, and prove each row. Raises BadEvent, StoreBroken, StoreLost.

    Its link must fit (broker/store/records.py), it must be a message, and points must follow from their outcome.
    Signatures were verified when facts were taken, and links show that this is what was taken: to verify them all again
    takes long, and is done only where `is_signed` is given.
    """
    faults, reading = list[Fault](), JournalLoader(event, journal.judged_from(), is_signed)
    with closing(journal.columns(faults)) as read:
        content = reading.content(read)
    faults += reading.faults
    content = content._replace(judged_from=_judged_from(journal, faults))
    content = content._replace(set_aside=journal.set_aside(), elsewhere=_deals_elsewhere(journal, event))
    content = content._replace(faults=_open_faults(journal, faults, content))
    numbers = [one.message.number for one in content.decided if isinstance(one.message, Ruling)]
    return content if numbers == sorted(numbers) else content.in_order()


ELSEWHERE: Final = "elsewhere"
"""Under which key a hall's store keeps which deals all halls have played."""


def _deals_elsewhere(journal: Reader, event: Event) -> frozenset[int] | None:
    """Return the deals that all halls have played, as it was kept; None if there is one hall. Raises BadEvent."""
    kept = journal.remembered(ELSEWHERE).get("")
    if kept and not event.among_halls:  # its deals would be public before others have played them
        raise missing_file(HALL)
    return frozenset(json.loads(kept or "[]")) if event.among_halls else None


class JournalLoader:
    """Takes in a journal. `judged_from`: so many rows are from before plays were judged."""

    def __init__(self, event: Event, judged_from: int | None, is_signed: IsSigned | None = None) -> None:
        self._judged_from, self._is_signed = judged_from, is_signed
        self._points = PointsCheck(event)
        self._plays = WholePlayFinder(event, self._points.are_right)
        self._decided: list[Decided] = []
        self.faults: list[Fault] = []
        """What is not as it should be though its link fits."""

    def content(self, read: Iterable[Rows]) -> JournalContent:
        """Return all that counts in its order, with the hashes of the facts after which none has come."""
        rows, may = StoredRows(read), self._judged_from is not None and self._is_signed is None
        plays = [*self._plays.find(rows, self._judged_from or 0)] if may else []
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
        """Return what a row says; None if that does not count."""
        try:
            message = message_of(body)
        except StoreBroken:
            self.faults.append(Fault(UNREADABLE_ROW, height))
            return None
        if not isinstance(message, LogMessage):
            self._decided.append(Decided(message, at, body))
        elif isinstance(message.fact, Result) and not self._points.are_right(message.fact):
            self.faults.append(Fault(WRONG_POINTS, height))
            return None
        elif self._is_signed and not self._is_signed(message, body):
            self.faults.append(Fault(BAD_SIGNATURE, height))
            return None
        return message


def _last_facts(found: Iterable[tuple[int, Recorded | WholePlay]]) -> dict[tuple[int, int], int]:
    """Return the rows of facts after which none has come, by table and number."""
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
    """Return how many of the messages that count are from before plays were judged; None: all."""
    rows = journal.judged_from()
    if rows is None:
        return None
    return rows - len({fault.height for fault in faults if fault.height <= rows and fault.code != LINK_ALTERED})


def _open_faults(journal: Reader, found: Iterable[Fault], content: JournalContent) -> Sequence[Fault]:
    """Return what was found and what was lost before, by name, without what has come back."""
    lost = [fault for fault in content.set_aside if fault.code == LOST]
    there = content.ids() if lost else set()
    return (*journal.unrepaired(found), *(fault for fault in lost if fault.id not in there))


class Verified(NamedTuple):
    """What was found in a whole store."""

    event: str
    messages: int
    """That count."""
    has_links: bool
    faults: Sequence[Fault]


def verify_store(folder: Path) -> Verified:
    """Read the store of an event's folder, or of a copy, and prove every row, signatures too.

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
        gone = [
            fault for fault in journal.lost(Witness(witness_of(folder), read_only=True)) if fault not in content.faults
        ]
        return Verified(event.name, len(content.messages), journal.has_links, (*content.faults, *gone))


def _has_signature(keys: Mapping[tuple[int, str], str | None], fact: LogMessage, body: bytes) -> bool:
    """Return whether a fact has its device's signature; those of old programs have none."""
    if fact.signature is None:
        return True
    key = keys.get((fact.table, fact.device or ""))
    return key is not None and is_signed_by(key, body, fact.signature)


class PointsCheck:
    """Whether points of results follow from their outcomes. Most results have the outcome of one before."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._right: dict[tuple[object, ...], bool] = {}

    def are_right(self, result: Result) -> bool:
        """Return whether they do, as far as the event's plan knows the deal and its rules."""
        if result.profile != self._event.profile.id or result.deal not in self._event.expected:
            return True  # it is for the plan to say that this is no play of the event
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
    """Return table and number of facts that are not waited for, as they were refused."""
    for row in refused:
        if row.table is not None and row.seq is not None and row.code not in UNEXPLAINED:
            yield row.table, row.seq


ONE_BY_ONE: Final = 1_000
"""Of plays that cannot all be taken in together so many are looked at one by one, then twice as many, and so on."""


def _in_turn(
    content: JournalContent, state: EventState, may: Callable[[Sequence[WholePlay]], bool]
) -> Iterator[tuple[int, Recorded]]:
    """Return what a state is to load next, and when it was taken, but for the plays that it has taken in as a whole.

    `may`: whether it may some plays of a table.
    """
    messages = zip(map(type, content.messages), content.messages, content.received, strict=True)
    for kind, same in groupby(messages, itemgetter(0)):
        if kind is not WholePlay:
            yield from ((at, one) for _, one, at in same if not isinstance(one, WholePlay))
            continue
        left, some = cast("list[WholePlay]", [*map(itemgetter(1), same)]), ONE_BY_ONE
        while left and not state.take_all(left, may):
            plays, left, some = iter(left[:some]), left[some:], 2 * some
            while (judged := state.take_whole(plays, may)) is not None:
                yield from judged.facts()


def replay_journal(state: EventState, taken: JournalContent, refused: Iterable[RefusedRow]) -> list[PastConcern]:
    """Load a state from a journal; return the concerns of each fact when it counted, or was kept apart."""
    found: list[PastConcern] = []
    now = 0

    def one_by_one() -> Iterator[Recorded]:
        nonlocal now
        for now, one in _in_turn(taken, state, clock.are_right):
            yield clock.corrected(one, now) if isinstance(one, LogMessage) else one

    def judged(one: Judged) -> None:
        if isinstance(one, ApartFact):
            found.append((now, concern_of_apart(one)))
            return
        for concern in concerns_without_repeats(state, one, now):
            found.append((now, concern))  # noqa: PERF401 - nearly always there is none

    clock = state.tables.clock
    state.elsewhere = taken.elsewhere
    state.load(one_by_one(), passed_over(refused), judged, judged_from=taken.judged_from, lost=taken.lost())
    repeated = state.tables.seatings.repeated(state.planned)
    found.extend(_past_repeats(state.event, repeated, taken, state.quarantine.ids() if repeated else ()))
    return found


def _past_repeats(
    event: Event, deals: Container[int], taken: JournalContent, apart: Container[str]
) -> Iterable[PastConcern]:
    """Return who has sat down to a deal again, of the few deals with which that was so."""
    seatings = Seatings()
    for message, at in _facts_one_by_one(taken) if deals else ():
        if message.fact.deal in deals and isinstance(message.fact, Seated | Result) and message.id not in apart:
            seatings.apply(message)
            yield from ((at, concern) for concern in concerns_of_repeats(event, seatings, message, message.fact))


def _facts_one_by_one(taken: JournalContent) -> Iterator[tuple[LogMessage, int]]:
    """Return all facts of a journal, those of whole plays where their results are, and when each was taken."""
    for one, at in zip(taken.messages, taken.received, strict=True):
        if isinstance(one, LogMessage):
            yield one, at
        elif isinstance(one, WholePlay):
            yield from ((fact, then) for then, fact in one.facts())


def past_gaps(books: Mapping[int, TableBook], taken: JournalContent) -> Iterator[PastConcern]:
    """Return the concerns of gaps that are still open, by when the fact after each was taken."""
    after = {(table, seq + 1) for table, book in books.items() for seq in book.missing if seq + 1 in book.taken}
    if not after:
        return
    for message, at in _facts_one_by_one(taken):
        if (message.table, message.seq) in after:
            yield at, concern_of_gap(message.table, message.seq)


def past_refusals(refused: Iterable[RefusedRow]) -> Iterator[PastConcern]:
    """Return the concerns of what was refused. Its code is kept, the text of the alert is not."""
    for row in refused:
        text = f"fact {row.seq}" if row.seq else row.code
        about = row.seq if row.code == "conflict" else None
        yield row.received_at, Concern(row.code, row.table, about=about, topic=row.topic, found=text)
