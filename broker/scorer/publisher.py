"""What the scorer publishes: receipts, plans, travellers, standings, alerts, public copies; and a log of the wire."""

import uuid
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final, Literal, NamedTuple

from broker.event import Event, RiichiBooking
from broker.protocol import (
    Alert,
    AnyCountAnswer,
    Assignment,
    ComparedPlay,
    ComparedSeat,
    Counted,
    CountRequest,
    Message,
    PlannedPlay,
    PlannedSession,
    PublicStandings,
    PublicTraveller,
    Receipt,
    Ruling,
    Served,
    Standings,
    Topic,
    Traveller,
    encode,
    topics,
)
from broker.rulings import plan
from broker.scorer.alerts import Concern
from broker.scorer.intake import TableBook
from broker.scorer.snapshot import Embargo, Snapshot
from broker.scorer.state import EventState
from broker.scoring import PlayWithImps, json_imp

ID_PREFIX: Final = uuid.uuid4().hex[:20]
"""Of the ids of this process: to ask the system for a random number for each lets other threads go first."""

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message, ready to be sent."""

    topic: str
    payload: bytes
    retain: bool


class MessageBuilder:
    """Writes the scorer's messages. `seq` is the height of the journal when it speaks, `store` whose height that is."""

    def __init__(self, event: Event, store: str) -> None:
        self._event, self._store = event, store

    def receipt(self, table: int, book: TableBook, seq: int, now: int | None = None) -> Outgoing:
        """Return what of a table's facts is safe.

        `now` in ms since 1970: by it a table's clock is found to be behind.
        """
        message = Receipt(
            id=_new_id(),
            event=self._event.name,
            seq=seq,
            table=table,
            at=now,
            store=self._store,
            upto=book.upto,
            gaps=book.gaps(),
            taken=book.latest(),
            refused=tuple(book.refused),
        )
        return self._at(topics.RECEIPT, message, table=table)

    def served(
        self, table: int, device: str | None, refused: str | None, before: int | None, seq: int, *, coming: bool = False
    ) -> Outgoing:
        """Tell a table which device serves it, how many calls are before its own, and whether an arbiter comes."""
        message = Served(
            id=_new_id(),
            event=self._event.name,
            seq=seq,
            table=table,
            device=device,
            refused=refused,
            calls_before=before,
            arbiter_coming=coming,
        )
        return self._at(topics.SERVED, message, table=table)

    def assignment(
        self,
        table: int,
        seq: int,
        *,
        plays: tuple[PlannedPlay, ...],
        minutes: dict[int, int],
        recorded: tuple[int, ...],
        settled: tuple[int, ...],
        repeats: dict[int, tuple[str, ...]],
    ) -> Outgoing:
        """Tell a table all its plays, which of its rounds are over, and who would play a deal again.

        `plays` as they are after what was ruled, and the `minutes` that they have.
        """
        message = Assignment(
            id=_new_id(),
            event=self._event.name,
            seq=seq,
            table=table,
            store=self._store,
            profile=self._event.profile.id,
            rules=self._event.own_rules.plays,
            plays=plays,
            recorded=recorded,
            repeats=repeats,
            settled=settled,
            minutes=minutes,
            public_address=self._event.plan.public_address,
        )
        return self._at(topics.ASSIGNMENT, message, table=table)

    def riichi(self, booking: RiichiBooking, session: PlannedSession, seq: int) -> Outgoing:
        """Tell a table its riichi session."""
        message = Assignment(
            id=_new_id(),
            event=self._event.name,
            seq=seq,
            table=booking.table,
            store=self._store,
            profile=booking.profile,
            rules=self._event.own_rules.text(booking.profile),
            plays=(),
            session=session,
            recorded=(),
        )
        return self._at(topics.ASSIGNMENT, message, table=booking.table)

    def counted(self, request: CountRequest, answer: AnyCountAnswer, seq: int) -> Outgoing:
        """Answer a table that has asked what a hand is worth."""
        message = Counted(
            id=_new_id(), event=self._event.name, seq=seq, table=request.table, asked=request.id, answer=answer
        )
        return self._at(topics.COUNTED, message, table=request.table)

    def traveller(self, room: EventState, deal: int, seq: int, kind: type[Traveller] = Traveller) -> Outgoing:
        """Put all plays of a deal side by side, for arbiters or as the public copy."""
        complete = room.complete(deal)
        told = complete or kind is not PublicTraveller  # nothing of a deal under embargo is in a public copy
        compared = [one for row in room.moment().by_deal.get(deal, ()) for one in row.group.plays] if told else []
        message = kind(
            id=_new_id(),
            event=self._event.name,
            seq=seq,
            deal=deal,
            complete=complete,
            expected=room.expected(deal),
            plays=tuple(_compared_play(one, room) for one in sorted(compared, key=lambda one: one.play.table)),
        )
        topic = topics.PUBLIC_TRAVELLER if kind is PublicTraveller else topics.TRAVELLER
        return self._at(topic, message, deal=deal)

    def standings(self, room: EventState, seq: int, now: int) -> Outgoing:
        """Return who leads. `now` (ms since 1970) tells whether it is final."""
        message = Standings(
            id=_new_id(),
            event=self._event.name,
            seq=seq,
            final=room.is_final(now),
            plays_in=room.plays_in,
            plays_expected=len(self._event.plan.plays),
            rows=tuple(room.moment().standings),
            teams=room.team_rows(),
        )
        return self._at(topics.STANDINGS, message)

    def ruling(self, ruling: Ruling) -> Outgoing:
        """Return what an arbiter has ruled at the desk."""
        return self._at(topics.RULING, ruling)

    def public_standings(self, open_part: Snapshot, seq: int, *, final: bool) -> Outgoing:
        """Return who leads by the deals that are under no embargo. `final`: as in the arbiters' standings."""
        message = PublicStandings(
            id=_new_id(),
            event=self._event.name,
            seq=seq,
            final=final,
            plays_in=sum(self._event.expected[deal] for deal in open_part.complete),
            plays_expected=len(self._event.plan.plays),
            rows=tuple(open_part.standings),
        )
        return self._at(topics.PUBLIC_STANDINGS, message)

    def alert(self, concern: Concern, now: int, seq: int) -> Outgoing:
        """Tell the arbiters."""
        message = Alert(
            id=_new_id(),
            event=self._event.name,
            seq=seq,
            code=concern.code,
            table=concern.table,
            topic=concern.topic,
            text=concern.text[:500],
            at=now,
        )
        return self._at(topics.ALERT, message)

    def _at(self, topic: Topic, message: Message, *, table: int | None = None, deal: int | None = None) -> Outgoing:
        return Outgoing(topic.at(self._event.name, table=table, deal=deal), encode(message), topic.retain)


def _compared_play(one: PlayWithImps, room: EventState) -> ComparedPlay:
    play, points = one.play, one.play.points or {}
    table, round_ = room.key_of(play)
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


def _new_id() -> str:
    return f"{ID_PREFIX}{next(_numbers):012x}"


def table_plan(room: EventState, speaker: MessageBuilder, table: int, height: int) -> Outgoing:
    """Return a table's plan: its riichi session, or the rounds with who sits there and what is settled already."""
    event = room.event
    if session := room.riichi.present(event.riichi, table):
        return speaker.riichi(session, room.riichi.planned(session, event.players), height)
    replanned = room.replanned(table)
    return speaker.assignment(
        table,
        height,
        plays=plan.with_substitutes(room.book, event.plays_of(table, replanned)),
        minutes=event.minutes_of(table),
        recorded=room.recorded(table),
        settled=room.settled(table),
        repeats=room.seatings.to_come(event, table, replanned),
    )


class PublicCopies:
    """Says on the public topics what may be said there. Of a deal that a table has yet to play, nothing ever was."""

    def __init__(self, speaker: MessageBuilder) -> None:
        self._speaker, self._embargo = speaker, Embargo()
        self._told: set[int] = set()
        """Deals that are public now."""
        self._unsaid = self._final = False
        """Whether something is to be said of the standings, and whether they were said to be final."""

    def note(self, room: EventState, deals: Iterable[int]) -> None:
        """Take note that these deals, as far as they are over, are public already, or will be told at once."""
        self._told |= {deal for deal in deals if room.complete(deal)}

    def of(self, room: EventState, deals: Iterable[int], seq: int, now: int) -> Iterator[Outgoing]:
        """Return what is to be said after plays of these deals have changed. `now` in ms since 1970.

        A deal that goes back under the embargo (a play was reopened, or was of another deal) is taken back: the broker
        keeps what was said last, and shall keep nothing of it. Standings with it are taken back at once; others wait
        until `standings` is asked, for in a great hall a deal ends many times a second.
        """
        over = {deal for deal in deals if room.complete(deal)}
        back = {deal for deal in deals if deal in self._told and deal not in over}
        self._told = (self._told | over) - back
        for deal in sorted(over | back):
            yield self._speaker.traveller(room, deal, seq, PublicTraveller)
        self._unsaid |= bool(over or back)
        if back:
            yield from self.standings(room, seq, now)

    def renamed(self) -> None:
        """Have the standings said again, though nobody's IMPs have changed."""
        self._unsaid = True

    def standings(self, room: EventState, seq: int, now: int) -> Iterator[Outgoing]:
        """The public standings, if they have changed since they were given, or are final by now, or no longer."""
        final = room.is_final(now)
        if self._unsaid or final != self._final:
            self._unsaid, self._final = False, final
            yield self._speaker.public_standings(self._embargo.open_part(room.moment()), seq, final=final)


MESSAGES_KEPT: Final = 1_000
LONGEST_TEXT: Final = 2_000
"""Bytes of a message that are kept: a thousand of them are two megabytes at most."""

WITHHELD: Final = frozenset({topics.ASSIGNMENT.name})
"""Only the table itself reads what it is to restore: of such a message the arbiter is told that it was sent."""


class WireMessage(NamedTuple):
    """One message. `number` grows; `code` says why it was refused."""

    number: int
    at: int
    way: Literal["in", "out"]
    topic: str
    kind: str
    table: int | None
    size: int
    text: str | None
    """None where it is not for arbiters."""
    code: str | None


class WireLog:
    """Keeps the newest messages. The scorer's thread writes, any may read."""

    def __init__(self) -> None:
        self._kept: deque[WireMessage] = deque(maxlen=MESSAGES_KEPT)
        self._number = 0

    def note(self, at: int, way: Literal["in", "out"], topic: str, payload: bytes, code: str | None = None) -> None:
        """Keep one message."""
        self._number += 1
        place = topics.parse_topic(topic)
        kind = place.topic.name if place else ""
        text = None if kind in WITHHELD else payload[:LONGEST_TEXT].decode("utf-8", "replace")
        table = place.table if place else None
        self._kept.append(WireMessage(self._number, at, way, topic[:200], kind, table, len(payload), text, code))

    def newest(self, *, kind: str = "", table: int | None = None, text: str = "") -> Iterator[WireMessage]:
        """Return what is kept, newest first: of one kind of topic, one table, or with a text in topic or message."""
        wanted = text.casefold()
        for one in reversed(tuple(self._kept)):
            if kind and one.kind != kind:
                continue
            if table is not None and one.table != table:
                continue
            if wanted in one.topic.casefold() or wanted in (one.text or "").casefold() or wanted in (one.code or ""):
                yield one
