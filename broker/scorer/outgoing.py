"""What the scorer says, made from the room: receipts, assignments, travellers, standings, alerts."""

import uuid
from dataclasses import dataclass
from itertools import count
from typing import Final

from broker.contract import topics
from broker.contract.counting import AnyAnswer, Counted, CountRequest
from broker.contract.messages import (
    Alert,
    Assignment,
    ComparedPlay,
    ComparedSeat,
    Message,
    PublicStandings,
    PublicTraveller,
    Receipt,
    Ruling,
    Served,
    Standings,
    Traveller,
)
from broker.contract.plans import PlannedPlay, PlannedSession
from broker.contract.topics import Topic
from broker.contract.wire import encode
from broker.scorer.alerts import Concern
from broker.scorer.event import Event
from broker.scorer.intake import TableBook
from broker.scorer.moment import Moment
from broker.scorer.riichi import RiichiBooking
from broker.scorer.room import Room
from broker.scoring.compare import Compared
from broker.scoring.written import written

BEGINNING: Final = uuid.uuid4().hex[:20]
"""Of the ids of this process: to ask the system for a random number for each lets other threads go first."""

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message, ready to be sent."""

    topic: str
    payload: bytes
    retain: bool


class Speaker:
    """Writes the scorer's messages. `seq` is the height of the journal when it speaks, `store` whose height that is."""

    def __init__(self, event: Event, store: str) -> None:
        self._event, self._store = event, store

    def receipt(self, table: int, book: TableBook, seq: int, now: int | None = None) -> Outgoing:
        """Say what of a table's facts is safe. `now` in ms since 1970: by it a table's clock is found to be behind."""
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

    def counted(self, request: CountRequest, answer: AnyAnswer, seq: int) -> Outgoing:
        """Answer a table that has asked what a hand is worth."""
        message = Counted(
            id=_new_id(), event=self._event.name, seq=seq, table=request.table, asked=request.id, answer=answer
        )
        return self._at(topics.COUNTED, message, table=request.table)

    def traveller(self, room: Room, deal: int, seq: int, kind: type[Traveller] = Traveller) -> Outgoing:
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
            plays=tuple(_compared(one, room) for one in sorted(compared, key=lambda one: one.play.table)),
        )
        topic = topics.PUBLIC_TRAVELLER if kind is PublicTraveller else topics.TRAVELLER
        return self._at(topic, message, deal=deal)

    def standings(self, room: Room, seq: int, now: int) -> Outgoing:
        """Say who leads. `now` (ms since 1970) tells whether it is final."""
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
        """Tell what an arbiter has ruled at the desk."""
        return self._at(topics.RULING, ruling)

    def public_standings(self, open_part: Moment, seq: int, *, final: bool) -> Outgoing:
        """Say who leads by the deals that are under no embargo. `final`: as in the arbiters' standings."""
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


def _compared(one: Compared, room: Room) -> ComparedPlay:
    play, points = one.play, one.play.points or {}
    table, round_ = room.key_of(play)
    return ComparedPlay(
        table=table,
        round=round_,
        form=play.form,
        seats={
            seat: ComparedSeat(
                player=player, points=points[seat], imp=written(one.imp[seat]), fine=play.fines.get(seat, 0)
            )
            for seat, player in play.players.items()
        },
    )


def _new_id() -> str:
    return f"{BEGINNING}{next(_numbers):012x}"
