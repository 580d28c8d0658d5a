"""Publishes receipts, plans, travellers, standings, alerts and public copies."""

import time
import uuid
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import count
from math import inf
from pathlib import Path
from typing import Final, Literal, TypedDict, TypeVar

from msgspec.structs import replace

from broker.errors import ScorerReplaced
from broker.event import STANDINGS, Event, RiichiBooking
from broker.files import write_file
from broker.logs import get_logger
from broker.protocol import (
    BEAT_S,
    Alert,
    AnyCountAnswer,
    ArbiterPin,
    Assignment,
    AtCentre,
    ComparedPlay,
    ComparedSeat,
    Counted,
    CountRequest,
    Kept,
    LogMessage,
    Message,
    PlayFound,
    PublicStandings,
    PublicTraveller,
    Receipt,
    Refused,
    Ruling,
    ScorerAsked,
    ScorerState,
    Served,
    SigningKey,
    Standings,
    Topic,
    Traveller,
    decode,
    encode,
    topics,
)
from broker.protocol.link import Address, Incoming, Link, LinkChanged, Will, session_id
from broker.rulings import plan
from broker.scorer.alerts import Concern
from broker.scorer.lease import new_lease
from broker.scorer.live_event import LiveEvent
from broker.scorer.snapshot import PublicMessage, PublicPart
from broker.scorer.standings import standings_csv_parts
from broker.scorer.state import EventState
from broker.scoring import PlayWithImps, json_imp
from broker.version import program_version

log = get_logger("homologue.scorer")

ID_PREFIX: Final = uuid.uuid4().hex[:20]
"""Prefix of the ids of this process. Drawing a random number for each id would let other threads run first."""

_numbers = count(1)

SLICE_S: Final = 0.02
"""How long messages about all players or all deals are prepared at a time, so that results are accepted in between."""

LARGE_EVENT: Final = 400
"""With more players, standings take half a megabyte, and are published at most once in PAUSE_S."""

PAUSE_S: Final = 1.0

REST: Final = 9
"""After work that grows with the event's size, the pause is this many times as long as the work took."""

LONGEST_REST_S: Final = 30.0

LONGEST_PLAY: Final = 640
"""Bytes of one play in a traveller."""

MOST_PLAYS: Final = topics.TRAVELLER.limit // LONGEST_PLAY
"""Most plays in a traveller. A larger one has no plays until its deal is over, as each result would repeat them all."""

LARGEST: Final = max(topic.limit for topic in topics.TOPICS)
"""Bytes of the largest message. A broker closes the connection of a client that sends more."""

SHORTEST_LINE: Final = 100

AnyStandings = TypeVar("AnyStandings", Standings, PublicStandings)


def is_large(event: Event) -> bool:
    """Return whether an event is large, so that messages about all its players are published less often."""
    return len(event.players) > LARGE_EVENT


class Throttle:
    """Limits repeated work to once in `pause_s`, and to a tenth of the time. With 0 there is no limit."""

    def __init__(self, pause_s: float, seconds: Callable[[], float], spent: Callable[[], float] | None = None) -> None:
        """`spent`: returns the processor time (s) of the thread that does the work; None: use `seconds`.

        For work that someone waits for, processor time is used: on a busy machine elapsed time would make the pauses
        longer.
        """
        self._pause_s, self._seconds, self._spent = pause_s, seconds, spent or seconds
        self._earliest = self._began = 0.0
        self.waiting = False

    def ask(self) -> None:
        """Request the work."""
        self.waiting = True

    def hurry(self) -> None:
        """Let the next request be due at once."""
        self._earliest = 0.0

    def due(self) -> bool:
        """Return whether the work is due. If so, the pause begins."""
        if not self.waiting or self._seconds() < self._earliest:
            return False
        self.waiting, self._began = False, self._spent()
        self._earliest = self._seconds() + self._pause_s if self._pause_s else 0.0
        return True

    def done(self) -> None:
        """Record that the work is done, and extend the pause by the time it took."""
        if self._pause_s:
            rest = min(REST * (self._spent() - self._began), LONGEST_REST_S)
            self._earliest = max(self._earliest, self._seconds() + rest)


class _Header(TypedDict):
    id: str
    event: str
    seq: int


class _ToTable(_Header):
    table: int


class Publisher:
    """Publishes an event to the broker, and its standings to its folder, too. For the scorer's thread only.

    `clock` returns ms since 1970, `seconds` is a monotonic clock, and `anchor` returns the anchor of what is stored.
    """

    def __init__(
        self,
        live: LiveEvent,
        folder: Path,
        key: SigningKey,
        clock: Callable[[], int],
        seconds: Callable[[], float] = time.monotonic,
        anchor: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._anchor = anchor
        self.key = key
        """The event's key, which signs receipts."""
        self._live, self._state, self._clock, self._seconds = live, live.state, clock, seconds
        self._store = live.journal.store
        self.folder = folder
        """The event's folder."""
        self._name, self._version = live.state.planned.name, program_version()
        self.lease = new_lease()
        self._beat_at = inf
        """When the next beat is due; at once when a connection is made."""
        self._at_centre = live.centre is not None
        """Whether tables are in halls with desks of their own. Nothing is then published to tables from here."""
        self.centre_has: Callable[[int], AtCentre | None] = lambda _: None
        """In a hall: returns what the centre has of a table's facts."""
        self.standby = self.moved = ""
        """Broker address of the standby, and the one to which tables must now move, once the standby has taken over."""
        self.link: Link | None = None
        self._failure = ""
        """The last logged reason why there is no connection."""
        self._again = deque[int]()
        """Deals still to be published again after a connection was made."""
        self._calls: dict[int, tuple[int, bool]] = {}
        """By table, how many calls come before its own and whether an arbiter comes, as last published."""
        self._numbers: defaultdict[int, Iterator[int]] = defaultdict(partial(count, 1))
        """Message counters: for each table, and (0) for messages to all."""
        self._untold: set[int] = set()
        """Deals whose plays have changed since their travellers were published."""
        self._public = PublicPart()
        self.large = is_large(live.state.planned)
        self.standings_due = Throttle(PAUSE_S if self.large else 0.0, seconds)
        self._begun: Iterator[Concern | None] | None = None
        """The unfinished preparation of what shows all players."""

    # ---- the connection ---------------------------------------------------------------------

    def connect(self, address: Address, received: Callable[[Incoming | LinkChanged], None]) -> None:
        """Connect to the broker. `received` is called from the link's thread."""
        scorer_reads = (
            *(topics.LOG, topics.STATE, topics.COUNT, topics.KEPT_BACK, topics.PIN_GIVEN),
            *(topics.BEAT, topics.SCORER, topics.SCORER_ASKED),
        )
        of_halls = (topics.HALL_ROW, topics.HALL_STATE) if self._at_centre else ()
        self.link = Link(
            address,
            client_id=session_id(f"homologue-{self._name}-scorer", self.folder),
            topics=[topic.at(self._name) for topic in (*scorer_reads, *of_halls)],
            tell=partial(self._told, received),
            will=Will(topics.SCORER.at(self._name), encode(self._scorer_state("gone"))),
            kept=not self._at_centre,  # halls resend, so the broker need not queue messages for hours
        )
        self.link.start()

    def close(self) -> None:
        """Disconnect from the broker."""
        if self.link:
            if self._beat_at < inf:
                self._say_state("gone")
            self.link.stop()

    def _told(self, received: Callable[[Incoming | LinkChanged], None], item: Incoming | LinkChanged) -> None:
        """Answer another scorer's question at once, whatever else there is to do: else it would take us for dead."""
        if not isinstance(item, Incoming) or item.topic != topics.SCORER_ASKED.at(self._name):
            received(item)
            return
        item.acknowledge()
        with suppress(Refused):
            self._say_state("active", decode(ScorerAsked, item.payload).run)

    def beat(self, now: float) -> None:
        """Publish a beat, if one is due. `now` in s of a monotonic clock."""
        if now >= self._beat_at:
            self._beat_at = now + BEAT_S
            self._say_state("active")

    def is_of_a_scorer(self, one: Incoming) -> bool:
        """Return whether a message is the state of a scorer, such as our own coming back. Raises ScorerReplaced.

        If it says that its scorer is gone, publish our state again: otherwise the broker would retain it, and tables
        would leave.
        """
        if one.topic != topics.SCORER.at(self._name):
            return False
        one.acknowledge()
        with suppress(Refused):
            said = decode(ScorerState, one.payload)
            if self.lease.yields_to(said):
                self._beat_at = inf  # nor publish that we are gone: the other one is active
                raise ScorerReplaced(
                    "another scorer has become active while this one was away; this one writes no more"
                )
            if said.lifecycle == "gone":
                self._beat_at = 0.0
        return True

    def _say_state(self, lifecycle: Literal["active", "gone"], answers: str | None = None) -> None:
        if self.link:  # not logged: of no use there
            message, topic = self._scorer_state(lifecycle, answers), topics.SCORER
            self.link.publish(topic.at(self._name), encode(message), retain=topic.retain)

    def _header(self, seq: int) -> _Header:
        """Return the fields common to all messages."""
        return {"id": f"{ID_PREFIX}{next(_numbers):012x}", "event": self._name, "seq": seq}

    def _to(self, table: int) -> _ToTable:
        """Return the fields common to messages for a table, with its next number."""
        return {**self._header(next(self._numbers[table])), "table": table}

    def place_standby(self, broker: str) -> None:
        """Publish the address of the standby's broker to tables."""
        if broker != self.standby:
            self.standby = broker
            self._say_state("active")

    def state_elsewhere(self, broker: str) -> ScorerState:
        """Return the state to publish at another broker: that we are active, and where tables find us."""
        return replace(self._scorer_state("active"), standby="", moved=broker)

    def _scorer_state(self, lifecycle: Literal["active", "gone"], answers: str | None = None) -> ScorerState:
        return ScorerState(
            **self._header(next(self._numbers[0])),
            run=self.lease.run,
            term=self.lease.term,
            answers=answers,
            store=self._store,
            lifecycle=lifecycle,
            version=self._version,
            standby=self.standby,
            moved=self.moved,
        )

    def connection_changed(self, change: LinkChanged) -> None:
        """Log why there is no connection. On a new connection, all deals will be published again."""
        if change.why and str(change.why) != self._failure:
            log.warning(change.why.code, why=str(change.why))
        self._failure = str(change.why)
        self._again = deque(self._state.planned.expected if change.up else ())
        if change.up:
            self._beat_at = 0.0
            self._public.begin(self._again)

    def publish_again(self) -> None:
        """Publish a few of the deals due after a new connection, so that receipts need not wait for all of them."""
        deals, began = list[int](), self._seconds()
        while self._again and (not deals or self._seconds() - began < SLICE_S):
            deals.append(self._again.popleft())
            self._traveller(deals[-1])
        if deals:
            self._public_travellers(deals)
            self._public_standings()

    # ---- to tables --------------------------------------------------------------------------

    def receipt(self, table: int) -> None:
        """Publish a table's receipt. The table also checks its clock against the time in it."""
        if self._at_centre:
            return
        book = self._live.intake.books[table]
        message = Receipt(
            **self._to(table),
            at=self._clock(),
            store=self._store,
            upto=book.upto,
            gaps=book.gaps(),
            taken=book.latest(),
            refused=tuple(book.refused),
            head=book.head,
            wanted=book.asked_for(),
            anchor=self._anchor(),
            version=self._version,
            centre=self.centre_has(table),
        )
        self._publish(topics.RECEIPT, self.key.sign(message), table=table)

    def kept(self, table: int) -> None:
        """Publish the records that a table has to store for us. It returns any others it has."""
        if self._at_centre:
            return
        message = Kept(**self._to(table), records=self._live.homes.records(table))
        self._publish(topics.KEPT, message, table=table)

    def assignment(self, table: int) -> None:
        """Publish a table's plan, so that a device without a journal starts at the right play."""
        if self._at_centre:
            return
        state, event = self._state, self._state.event
        if session := state.tables.sessions.present(event.riichi, table):
            self._session_assignment(session)
            return
        replanned = state.replanned(table)
        message = Assignment(
            **self._to(table),
            store=self._store,
            profile=state.profile.id,
            rules=state.planned.own_rules.plays,
            plays=plan.with_substitutes(state.book, event.plays_of(table, replanned)),
            recorded=state.recorded(table),
            repeats=state.tables.seatings.to_come(event, table, replanned),
            settled=state.settled(table),
            minutes=event.minutes_of(table),
            onward=event.onward(table),
            public_address=state.planned.plan.public_address,
            keep_plays=state.planned.plan.keep_plays,
        )
        self._publish(topics.ASSIGNMENT, message, table=table)

    def _session_assignment(self, booking: RiichiBooking) -> None:
        message = Assignment(
            **self._to(booking.table),
            store=self._store,
            profile=booking.profile,
            rules=self._state.planned.own_rules.text(booking.profile),
            plays=(),
            session=self._state.tables.sessions.planned(booking, self._state.event.players),
            recorded=(),
        )
        self._publish(topics.ASSIGNMENT, message, table=booking.table)

    def served(self, tables: Iterable[int]) -> None:
        """Publish to these tables which device serves them, how many calls come before theirs, and if an arbiter comes.

        Tables whose place in the queue of calls has changed are included.
        """
        if self._at_centre:
            return
        times, devices, comes = self._state.tables.times, self._live.devices, self._live.attendance.comes
        calls = {table: (before, comes(table, times.calling[table])) for before, table in enumerate(times.queue())}
        moved = {table for table, _ in calls.items() ^ self._calls.items()}
        self._calls = calls
        for table in sorted(moved.union(tables).intersection(self._state.planned.tables)):
            device, refused = devices.serving.of(table)
            unknown = devices.unknown.get(table)
            before, coming = calls.get(table, (None, False))
            message = Served(
                **self._to(table),
                device=device,
                refused=refused,
                unknown=unknown.device if unknown else None,
                calls_before=before,
                arbiter_coming=coming,
                upgrade=devices.upgrades.for_table(table),
                unseen=table in devices.unseen,
                term=self.lease.term,
            )
            self._publish(topics.SERVED, message, table=table)

    def pin(self, table: int) -> None:
        """Publish how a table submits PINs, and the answer to its last one."""
        if self._at_centre:
            return
        access = self._live.access
        message = ArbiterPin(
            **self._to(table),
            key=access.pin_key.public,
            mark=access.mark,
            answer=access.answer(table),
            term=self.lease.term,
        )
        self._publish(topics.PIN, self.key.sign(message), table=table)

    def counted(self, asked: CountRequest | LogMessage, answer: AnyCountAnswer | PlayFound) -> None:
        """Send a table the value of a hand, or what was found of the play whose tiles it has read."""
        message = Counted(**self._to(asked.table), asked=asked.id, answer=answer)
        self._publish(topics.COUNTED, message, table=asked.table)

    # ---- to arbiters, and in public ---------------------------------------------------------

    def plays_changed(self, deals: Iterable[int]) -> None:
        """Publish the travellers of these deals. The standings follow with `standings_if_due`.

        In a large event, so do the travellers: otherwise each result would publish hundreds of plays again.
        """
        changed = sorted(deals)
        if self.large:
            self._untold.update(changed)
        else:
            for deal in changed:
                self._traveller(deal)
        self._public_travellers(changed)
        if changed:
            self.standings_due.ask()

    def players_renamed(self) -> None:
        """Publish the public standings again when they are due, although no IMPs have changed."""
        self._public.changed = True

    @property
    def busy(self) -> bool:
        """Whether there is unfinished work on messages about all players or all deals."""
        return self._begun is not None or bool(self._again)

    def standings_if_due(self, *, whole: bool = False) -> Iterable[Concern]:
        """Publish the standings if they are due, in a large event no more often than they are read. Return concerns.

        In a large event, do a slice of the work (the rest follows in later calls), or, with `whole`, all of it.
        """
        if self._begun is None and self.standings_due.due():
            self._begun = self._all_told()
        began, found = self._seconds(), list[Concern]()
        for concern in self._begun or ():
            found += [concern] if concern else []
            if self.large and not whole and self._seconds() - began >= SLICE_S:
                return found
        if self._begun is not None:
            self._begun = None
            self.standings_due.done()
        return found

    def hurry(self) -> None:
        """Let pending standings be published at once, starting again from the beginning."""
        self.standings_due.waiting |= self._begun is not None
        self._begun = None
        self.standings_due.hurry()

    def forget(self) -> None:
        """Cancel the publishing of standings."""
        self._begun, self.standings_due.waiting = None, False

    def _all_told(self) -> Iterator[Concern | None]:
        """Publish everything that shows all players, and write the file, step by step. Yield concerns."""
        for deal in sorted(self._untold):
            self._untold.discard(deal)
            self._traveller(deal)
            yield None
        self.standings()
        yield None
        self._public_standings()
        yield None
        yield from self.write_standings()

    def write_standings(self) -> Iterator[Concern | None]:
        """Write the standings file step by step. A failure is only reported: the file is derived from the store.

        It is not synced to the disk, which takes a second when the disk is busy: the file is made again at every start.
        """
        parts = list[str]()
        for part in standings_csv_parts(self._state.snapshot().standings, self._state.event.origin_of):
            parts.append(part)
            yield None
        try:
            write_file(self.folder / STANDINGS, "".join(parts).encode(), durable=False)
        except OSError as error:
            text = f"{STANDINGS}: {error.strerror}"
            yield Concern("standings_unwritten", values={"text": text})

    def standings(self) -> None:
        """Publish the standings."""
        state = self._state
        message = Standings(
            **self._header(self._live.journal.height),
            final=state.final,
            plays_in=state.plays_in,
            plays_expected=len(state.planned.plan.plays),
            rows=tuple(state.snapshot().standings[: LARGEST // SHORTEST_LINE]),
            teams=state.team_rows(),
        )
        self._publish(topics.STANDINGS, _as_fits(message))

    def ruling(self, ruling: Ruling) -> None:
        """Publish a ruling made at the desk."""
        self._publish(topics.RULING, ruling)

    def alert(self, concern: Concern, now: int) -> None:
        """Publish an alert to the arbiters."""
        message = Alert(
            **self._header(self._live.journal.height),
            code=concern.code,
            table=concern.table,
            topic=concern.topic,
            text=concern.text[:500],
            at=now,
        )
        self._publish(topics.ALERT, message)

    def _traveller(self, deal: int) -> None:
        """Publish all plays of a deal side by side, for arbiters."""
        complete, expected = self._state.complete(deal), self._state.expected(deal)
        message = Traveller(
            **self._header(self._live.journal.height),
            deal=deal,
            complete=complete,
            expected=expected,
            plays=self._compared_plays(deal) if complete or expected <= MOST_PLAYS else (),
        )
        self._publish(topics.TRAVELLER, message, deal=deal)

    def _compared_plays(self, deal: int) -> tuple[ComparedPlay, ...]:
        compared = [one for row in self._state.snapshot().by_deal.get(deal, ()) for one in row.group.plays]
        compared.sort(key=lambda one: one.play.table)
        return tuple(_compared_play(one, self._state) for one in compared[:MOST_PLAYS])

    def _public_travellers(self, deals: Iterable[int]) -> None:
        """Publish the public copies of those of these deals that are over.

        A deal that returns under embargo (a play was reopened, or was of another deal) is withdrawn, so that the broker
        retains nothing of it. Standings that include it are replaced at once; otherwise they wait until they are due,
        because in a great hall a deal ends many times a second.
        """
        withdrawn, shown = self._public.follow(deals, self._state.complete)
        for deal in sorted(shown | withdrawn):
            self._public_traveller(deal)
        if withdrawn:
            self._public_standings()

    def _public_traveller(self, deal: int) -> None:
        """Publish the public copy of a traveller, which is empty while the deal is under embargo."""
        complete = self._state.complete(deal)
        message = PublicTraveller(
            **self._header(0),
            deal=deal,
            complete=complete,
            expected=self._state.expected(deal),
            plays=self._compared_plays(deal) if complete else (),
        )
        self._publish_openly(topics.PUBLIC_TRAVELLER, message, deal=deal)

    def _public_standings(self) -> None:
        """Publish the standings of deals not under embargo, if they have changed, or become final or provisional."""
        final = self._state.final
        if not self._public.standings_changed(final=final):
            return
        open_part = self._public.embargo.open_part(self._state.snapshot())
        message = PublicStandings(
            **self._header(0),
            final=final,
            plays_in=sum(self._state.planned.expected[deal] for deal in open_part.complete),
            plays_expected=len(self._state.planned.plan.plays),
            rows=tuple(open_part.standings[: LARGEST // SHORTEST_LINE]),
        )
        self._publish_openly(topics.PUBLIC_STANDINGS, _as_fits(message))

    def _publish_openly(self, topic: Topic, message: PublicMessage, *, deal: int | None = None) -> None:
        """Publish a public message, if it says anything new, with a number and an id of its own sequence."""
        if numbered := self._public.numbered(topic.at(self._name, deal=deal), message):
            self._publish(topic, numbered, deal=deal)

    def halls(self) -> None:
        """Publish receipts to the halls, and which deals are over everywhere, if there is news."""
        centre = self._live.centre
        if centre is None or not (self.link and self.link.up):
            return
        for receipt in centre.receipts(self._live.journal.height, self.key):
            self._publish(topics.HALL_RECEIPT, receipt, hall=receipt.hall)
        if word := centre.state_if_due(self._state.snapshot().complete, self._live.journal.height, self.key):
            self._publish(topics.CENTRE, word)

    def _publish(
        self,
        topic: Topic,
        message: Message,
        *,
        table: int | None = None,
        deal: int | None = None,
        hall: str | None = None,
    ) -> None:
        address, payload = topic.at(self._name, table=table, deal=deal, hall=hall), encode(message)
        self._live.wire.note(self._clock(), "out", address, payload)
        if len(payload) > LARGEST:
            log.error("message_too_large", topic=address, bytes=len(payload))
        elif self.link:
            self.link.publish(address, payload, retain=topic.retain)


def _as_fits(message: AnyStandings) -> AnyStandings:
    """Return standings with as many lines, from the first place on, as fit into a message."""
    while message.rows and (size := len(encode(message))) > topics.STANDINGS.limit:
        message = replace(
            message, rows=message.rows[: len(message.rows) * topics.STANDINGS.limit // (size + size // 50)]
        )
    return message


def _compared_play(one: PlayWithImps, state: EventState) -> ComparedPlay:
    play, points = one.play, one.play.points or {}
    table, round_ = state.key_of(play)
    return ComparedPlay(
        table=table,
        round=round_,
        form=play.form,
        seats={
            seat: ComparedSeat(
                player=player, points=points[seat], imp=json_imp(one.imp[seat]), fine=play.fines.get(seat, 0)
            )
            for seat, player in play.players.items()
        },
    )
