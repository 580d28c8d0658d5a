"""Corrections of the plan: who players are, what the event is called, its clocks. Never who plays what. Pure."""

from msgspec.structs import replace

from broker.contract.plans import Player
from broker.contract.rulings import OF_THE_PLAN, AnyDecision, PlayerCorrected, SessionsCorrected, TitleCorrected, Undo
from broker.contract.sessions import Session
from broker.contract.wire import Refused
from broker.scorer.event import Event, session_problems
from broker.scorer.rulings.book import Book, about_the_event
from broker.scorer.rulings.entry import Entry


def corrected(planned: Event, now: Event, book: Book, entry: Entry) -> Event:
    """Give the event as it counts once a ruling is in the book: of what it is about the last that counts holds.

    `planned`: as the organiser settled it; `now`: as it counted before the ruling.
    """
    about = book.root(entry).decision
    if not isinstance(about, OF_THE_PLAN):
        return now
    said = book.of(book.subject(entry))
    last = said[-1].decision if said else None
    match about:
        case PlayerCorrected():
            return _player(planned, now, about.player, last if isinstance(last, PlayerCorrected) else None)
        case TitleCorrected():
            title = last.title if isinstance(last, TitleCorrected) else planned.plan.title
            return now.saying(replace(now.plan, title=title), now.corrections)
        case _:
            sessions = last.sessions if isinstance(last, SessionsCorrected) else planned.plan.sessions
            return now.saying(replace(now.plan, sessions=sessions), now.corrections)


def _player(planned: Event, now: Event, id_: str, said: PlayerCorrected | None) -> Event:
    corrections = {player: one for player, one in now.corrections.items() if player != id_}
    if said is not None:
        corrections[id_] = said
    name = said.name if said else planned.name_of(id_)
    players = tuple(Player(id=id_, name=name) if one.id == id_ else one for one in now.plan.players)
    return now.saying(replace(now.plan, players=players), corrections)


def texts(planned: Event, book: Book, entry: Entry) -> tuple[str, ...]:
    """Give what the plan says, by the rulings of a book, of what one of them corrects: what everybody may know of it.

    Of a player that is name, country and club; numbers and parts of names are for federations.
    """
    about = book.root(entry).decision
    said = book.of(about_the_event(about) or "")
    match said[-1].decision if said else None:
        case PlayerCorrected() as one:
            return (one.name, one.country, one.club)
        case TitleCorrected() as one:
            return (one.title,)
        case SessionsCorrected() as one:
            return tuple(map(_session, one.sessions))
    match about:
        case PlayerCorrected():
            return (planned.name_of(about.player), *planned.origin_of(about.player))
        case TitleCorrected():
            return (planned.plan.title,)
    return tuple(map(_session, planned.plan.sessions))


def _session(one: Session) -> str:
    minutes = f"{one.play_minutes} min" if one.play_minutes else ""
    return " ".join(filter(None, (one.name, f"{one.first_round}-{one.last_round}", one.starts or "", minutes)))


def tables_told(event: Event, about: AnyDecision) -> set[int]:
    """Give the tables that are told anew after a correction: where a player is named, or a clock runs."""
    if isinstance(about, SessionsCorrected):
        return set(event.tables)
    if not isinstance(about, PlayerCorrected):
        return set()
    sessions = {one.table for one in event.riichi.values() if about.player in one.players.values()}
    return sessions | {play.table for play in event.bookings_of.get(about.player, ())}


def is_of_the_plan(book: Book, decision: AnyDecision) -> bool:
    """Say whether a decision corrects the plan, or takes a correction of it back."""
    if isinstance(decision, Undo):
        target = book.entries.get(decision.ruling)
        return target is not None and isinstance(book.root(target).decision, OF_THE_PLAN)
    return isinstance(decision, OF_THE_PLAN)


def check(event: Event, decision: AnyDecision) -> None:
    """Refuse what no screen shows, and sessions that do not fit the movement: `not_printable`, `sessions_wrong`."""
    texts: tuple[str, ...] = ()
    match decision:
        case PlayerCorrected():
            parts = decision.first_name, decision.last_name
            texts = (decision.name, decision.club, decision.national, decision.ema, *parts)
        case TitleCorrected():
            texts = (decision.title,)
        case SessionsCorrected():
            texts = tuple(session.name for session in decision.sessions)
            for problem in session_problems(replace(event.plan, sessions=decision.sessions)):
                raise Refused("sessions_wrong", problem.text)
    if not all(text.isprintable() and text == " ".join(text.split()) for text in texts):
        raise Refused("not_printable", "a name has characters that no screen shows, or blanks that nobody sees")
