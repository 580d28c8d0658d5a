"""Rulings on the small event, as short as a test wants to write them."""

from typing import Final

from broker.protocol import AnyDecision, Correct, Fouled, LogMessage, Ruling, Undo
from broker.rules import Outcome, load_mcr, seat_points
from broker.rulings import RulingAuthor, RulingDraft, event_subject
from broker.scorer import EventState
from tests.broker.scorer.small import NAME, event, whole_event

HEAD: Final = RulingAuthor("Hélène Roy", "helene", "head_arbiter")
TABLE: Final = RulingAuthor("Tao Lin", "tao", "table_arbiter")
ORGANISER: Final = RulingAuthor("Ora Diaz", "ora", "organiser")

AT: Final = 1_800_000_000_000


def room_of(messages: list[LogMessage] | None = None) -> EventState:
    """Return a room in which the whole event was played, or only this."""
    room = EventState(event())
    room.load(whole_event() if messages is None else messages)
    return room


def correct(outcome: Outcome, replaces: str | None) -> Correct:
    """Return a correction with the right points."""
    paid = seat_points(outcome, load_mcr("oedmc-2020").payments)
    winners = dict(outcome.winners)
    return Correct(replaces=replaces, win=outcome.win, winners=winners, discarder=outcome.discarder, points=paid)


def draft(room: EventState, decision: AnyDecision, play: tuple[int, int] | None = None, **more: object) -> RulingDraft:
    """Return a ruling as an arbiter who has looked just now would give it."""
    where = dict(zip(("table", "round"), play, strict=True)) if play else {}
    said: dict[str, object] = {
        "id": f"ruling-{len(room.book.entries):04}",
        "reason": "seen by the arbiter",
        **where,
        **more,
    }
    return RulingDraft(decision=decision, after=more.pop("after", _last(room, decision, play, said)), **said)  # type: ignore[arg-type]  # as callers name them


def _last(room: EventState, decision: AnyDecision, play: tuple[int, int] | None, said: dict[str, object]) -> str | None:
    said.pop("after", None)
    if isinstance(decision, Undo):
        return room.last_message_id(room.book.subject(room.book.entries[decision.ruling]))
    if (about := event_subject(decision)) is not None:
        return room.last_message_id(about)
    if isinstance(decision, Fouled):
        return room.last_message_id(int(str(said["deal"])))
    return room.last_message_id(play) if play else None


def ruling(
    room: EventState, decision: AnyDecision, play: tuple[int, int] | None = None, deal: int | None = None
) -> Ruling:
    """Return a ruling as it is stored."""
    number = 1 + len(room.book.entries)
    return Ruling(
        id=f"ruling-{number:04}",
        event=NAME,
        number=number,
        after=None,
        table=play[0] if play else None,
        round=play[1] if play else None,
        deal=deal,
        decision=decision,
        author=HEAD.name,
        account=HEAD.account,
        role=HEAD.role,
        reason="seen by the arbiter",
        at=AT,
    )


def told(room: EventState) -> object:
    """Return everything that a room says."""
    counts = [(room.complete(deal), room.expected(deal), room.plays_of(deal)) for deal in event().expected]
    groups = [(group.members, group.points.tolist()) for group in room.groups()]
    return groups, list(room.snapshot().ranking), counts, [room.plays_at(table) for table in event().tables], room.over
