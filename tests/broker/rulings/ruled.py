"""Short forms of rulings on the small event."""

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


def state_of(messages: list[LogMessage] | None = None) -> EventState:
    """Return the state after these messages, by default of the whole event."""
    room = EventState(event())
    room.load(whole_event() if messages is None else messages)
    return room


def correct(outcome: Outcome, replaces: str | None) -> Correct:
    """Return a correction with the points that the outcome pays."""
    paid = seat_points(outcome, load_mcr("oedmc-2020").payments)
    winners = dict(outcome.winners)
    return Correct(replaces=replaces, win=outcome.win, winners=winners, discarder=outcome.discarder, points=paid)


def draft(room: EventState, decision: AnyDecision, play: tuple[int, int] | None = None, **more: object) -> RulingDraft:
    """Return a ruling drafted on the current state."""
    where = dict(zip(("table", "round"), play, strict=True)) if play else {}
    fields: dict[str, object] = {
        "id": f"ruling-{len(room.book.entries):04}",
        "reason": "seen by the arbiter",
        **where,
        **more,
    }
    return RulingDraft(decision=decision, after=more.pop("after", _last_id(room, decision, play, fields)), **fields)  # type: ignore[arg-type]  # as callers name them


def _last_id(
    room: EventState, decision: AnyDecision, play: tuple[int, int] | None, fields: dict[str, object]
) -> str | None:
    fields.pop("after", None)
    if isinstance(decision, Undo):
        return room.last_message_id(room.book.subject(room.book.entries[decision.ruling]))
    if (about := event_subject(decision)) is not None:
        return room.last_message_id(about)
    if isinstance(decision, Fouled):
        return room.last_message_id(int(str(fields["deal"])))
    return room.last_message_id(play) if play else None


def ruling(
    room: EventState, decision: AnyDecision, play: tuple[int, int] | None = None, deal: int | None = None
) -> Ruling:
    """Return a stored ruling."""
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


def contents(room: EventState) -> object:
    """Return everything that a state counts and ranks."""
    counts = [(room.complete(deal), room.expected(deal), room.plays_of(deal)) for deal in event().expected]
    groups = [(group.members, group.points.tolist()) for group in room.groups()]
    return groups, list(room.snapshot().ranking), counts, [room.plays_at(table) for table in event().tables], room.over
