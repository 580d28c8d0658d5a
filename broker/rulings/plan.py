"""Rulings on the plan: withdrawals, substitutes, corrections of names, and changes of who plays.

Corrections of names, title and sessions never change who plays what. If a player comes late, leaves or does not come,
the plays not yet played are reseated: a change lists the plays that differ from then on. Each keeps its table, round
and deal, and none that a table has begun is changed. A table that did not receive a change in time plays by the earlier
plan, and what it has begun stays in the plan as it was begun. Pure.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple, TypeGuard

from msgspec.structs import replace

from broker.event import BookedPlay, Event, PlanVersion, session_problems
from broker.i18n import N_, duration, name_key
from broker.protocol import (
    PLAN_DECISIONS,
    AnyDecision,
    CheckedIn,
    PlanChanged,
    PlannedPlay,
    Player,
    PlayerCorrected,
    Refused,
    Seat,
    Session,
    SessionsCorrected,
    Substitute,
    TitleCorrected,
    Undo,
    Withdrawn,
)
from broker.rules import AwardRules
from broker.rulings.model import (
    WHO_PLAYS,
    CountedPlay,
    PlayKey,
    RulingBook,
    RulingEntry,
    event_subject,
    imp_of,
    player_subject,
)


def plays_of_ruling(event: Event, entry: RulingEntry) -> list[PlayKey]:
    """Return the plays that a ruling on who plays concerns; none for other rulings."""
    decision = entry.decision
    if not isinstance(decision, Substitute | Withdrawn):
        return []
    return plays_of_player(event, decision.player, decision.first_round)


def plays_of_player(event: Event, player: str, first_round: int) -> list[PlayKey]:
    """Return the plays that were planned for a player from a round on."""
    return [(one.table, one.round) for one in event.bookings_of.get(player, ()) if one.round >= first_round]


def sits_elsewhere(event: Event, entries: Iterable[RulingEntry], decision: Substitute) -> bool:
    """Return whether a person of the substitute's name sits in another seat in one of the rounds concerned."""
    listed, name = tuple(entries), name_key(decision.name)
    rounds = {round_ for _, round_ in plays_of_player(event, decision.player, decision.first_round)}
    plays = (play for play in event.plan.plays if play.round in rounds)
    others = ((one, play.round) for play in plays for one in play.players.values() if one != decision.player)
    return any(name_key(_name_in_round(event, listed, *other)) == name for other in others)


def _name_in_round(event: Event, entries: Iterable[RulingEntry], player: str, round_: int) -> str:
    """Return the name of the person in a player's seats in a round; empty if there is nobody."""
    return sitting_name(last_ruling_on(entries, player, round_), event.players[player].name)


def sitting_name(last: RulingEntry | None, own: str) -> str:
    """Return who sits there by the last ruling; empty if nobody does. `own`: the player's own name."""
    if last is None or last.back:
        return own
    return last.decision.name if isinstance(last.decision, Substitute) else ""


def restores_player(planned: Event, now: Event, decision: AnyDecision) -> bool:
    """Return whether a substitution names the player, by the planned or the corrected name: the player is back."""
    if not isinstance(decision, Substitute) or decision.player not in planned.players:
        return False
    return name_key(decision.name) in {name_key(one.name_of(decision.player)) for one in (planned, now)}


def plays_to_come(event: Event, played: Container[PlayKey], decision: AnyDecision) -> list[tuple[int, int, Seat, str]]:
    """Return the plays without a result that a ruling on who plays concerns: table, round, seat and person named."""
    if not isinstance(decision, Substitute | Withdrawn):
        return []
    keys = [key for key in plays_of_player(event, decision.player, decision.first_round) if key not in played]
    seats = {key: {one: seat for seat, one in event.bookings[key].players.items()} for key in keys}
    name = decision.name if isinstance(decision, Substitute) else event.players[decision.player].name
    return [(*key, seats[key][decision.player], name) for key in keys]


def last_ruling_on(entries: Iterable[RulingEntry], player: str, round_: int) -> RulingEntry | None:
    """Return the last ruling on a player that covers a round. `entries`: those that count, oldest first."""
    found = None
    for entry in entries:
        decision = entry.decision
        if (
            isinstance(decision, Substitute | Withdrawn)
            and decision.player == player
            and decision.first_round <= round_
        ):
            found = entry
    return found


class StandIn(NamedTuple):
    """The person in a player's seats from a round on. An empty name: nobody, or the player again."""

    player: str
    first_round: int
    name: str


def stand_ins(book: RulingBook) -> tuple[StandIn, ...]:
    """Return the rulings on who plays that count, oldest first. The last one on a round applies."""
    ruled = ((entry, entry.decision) for entry in book.of(WHO_PLAYS))
    return tuple(
        StandIn(one.player, one.first_round, sitting_name(entry, own=""))
        for entry, one in ruled
        if isinstance(one, Substitute | Withdrawn)
    )


def substitute_of(known: Iterable[StandIn], player: str, round_: int) -> str | None:
    """Return the substitute who sat in a player's seat in a round; None if the player did."""
    found = [one.name for one in known if one.player == player and one.first_round <= round_]
    return (found[-1] or None) if found else None


def adjusted_for_absences(play: CountedPlay, entries: Iterable[RulingEntry], awards: AwardRules) -> CountedPlay:
    """Adjust a play without a result if a player has withdrawn. A result shows that the player was there after all."""
    last = {player: last_ruling_on(entries, player, play.round) for player in play.players.values()}
    gone = {player: entry for player, entry in last.items() if entry and isinstance(entry.decision, Withdrawn)}
    if not gone:
        return play
    faults = {one: entry.decision.fault for one, entry in gone.items() if isinstance(entry.decision, Withdrawn)}
    gives = {player: imp_of(faults.get(player, "others"), awards) for player in play.players.values()}
    rulings = tuple(sorted({entry.id for entry in gone.values()}))
    source = max(gone.values(), key=lambda entry: entry.number).id
    return replace(play, source=source, settled=True, replacement_imps=gives, rulings=rulings)


def sitting_players(event: Event, book: RulingBook, round_: int, players: Mapping[Seat, str]) -> dict[Seat, Player]:
    """Return who really sits in these players' seats in a round. A substitute appears by name."""
    entries = book.of(WHO_PLAYS)
    return {seat: _sitting_player(entries, event.players[player], round_) for seat, player in players.items()}


def with_substitutes(book: RulingBook, plays: tuple[PlannedPlay, ...]) -> tuple[PlannedPlay, ...]:
    """Return a table's plays with the people who really sit there."""
    if not (entries := book.of(WHO_PLAYS)):
        return plays
    return tuple(
        replace(
            one, players={seat: _sitting_player(entries, player, one.round) for seat, player in one.players.items()}
        )
        for one in plays
    )


def _sitting_player(entries: Iterable[RulingEntry], player: Player, round_: int) -> Player:
    last = last_ruling_on(entries, player.id, round_)
    return replace(player, name=sitting_name(last, player.name) or player.name)


def corrected_event(planned: Event, now: Event, book: RulingBook, entry: RulingEntry) -> Event:
    """Return the event after a ruling that is in the book. The last ruling on a subject that counts applies.

    `planned`: as the organiser settled it; `now`: as it counted before the ruling.
    """
    about = book.root(entry).decision
    if not isinstance(about, PLAN_DECISIONS):
        return now
    entries = book.of(book.subject(entry))
    last = entries[-1].decision if entries else None
    match about:
        case PlayerCorrected():
            return _with_player_corrected(
                planned, now, about.player, last if isinstance(last, PlayerCorrected) else None
            )
        case TitleCorrected():
            title = last.title if isinstance(last, TitleCorrected) else planned.plan.title
            return now.saying(replace(now.plan, title=title), now.corrections)
        case _:
            sessions = last.sessions if isinstance(last, SessionsCorrected) else planned.plan.sessions
            return now.saying(replace(now.plan, sessions=sessions), now.corrections)


def _with_player_corrected(planned: Event, now: Event, id_: str, decision: PlayerCorrected | None) -> Event:
    corrections = {player: one for player, one in now.corrections.items() if player != id_}
    if decision is not None:
        corrections[id_] = decision
    players = tuple(
        _corrected_player(planned.known[id_], decision) if one.id == id_ else one for one in now.plan.players
    )
    return now.saying(replace(now.plan, players=players), corrections)


def _corrected_player(planned: Player, correction: PlayerCorrected | None) -> Player:
    if correction is None:
        return planned
    unranked = planned.without_standing if correction.without_standing is None else correction.without_standing
    return replace(planned, name=correction.name, without_standing=unranked)


def with_corrections(planned: Event, now: Event) -> Event:
    """Return a newly planned event with the corrections of the one before."""
    players = tuple(_corrected_player(one, now.corrections.get(one.id)) for one in planned.plan.players)
    corrected = replace(planned.plan, players=players, title=now.plan.title, sessions=now.plan.sessions)
    return planned.saying(corrected, now.corrections)


def plan_texts(planned: Event, book: RulingBook, entry: RulingEntry) -> tuple[str, ...]:
    """Return the public texts of the plan that a ruling corrects, as the rulings of a book have them.

    For a player these are name, country and club, and `yes` for one without standing. Numbers and parts of names are
    for federations only.
    """
    about = book.root(entry).decision
    entries = book.of(event_subject(about) or "")
    guest = isinstance(about, PlayerCorrected) and is_without_standing(planned, book, about.player)
    match entries[-1].decision if entries else None:
        case PlayerCorrected() as one:
            return (one.name, one.country, one.club, "yes" * guest)
        case TitleCorrected() as one:
            return (one.title,)
        case SessionsCorrected() as one:
            return tuple(map(_session_text, one.sessions))
    match about:
        case PlayerCorrected():
            return (planned.name_of(about.player), *planned.origin_of(about.player), "yes" * guest)
        case TitleCorrected():
            return (planned.plan.title,)
    return tuple(map(_session_text, planned.plan.sessions))


def is_without_standing(planned: Event, book: RulingBook, player: str) -> bool:
    """Return whether a player takes no place by the corrections in a book. `planned`: the event without them."""
    entries = book.of(player_subject(player))
    correction = entries[-1].decision if entries else None
    ruled = correction.without_standing if isinstance(correction, PlayerCorrected) else None
    return planned.is_guest(player) if ruled is None else ruled


def _session_text(one: Session) -> str:
    text = " ".join(filter(None, (one.name, f"{one.first_round}-{one.last_round}", one.starts)))
    return (
        N_("{session}, {span} per play", session=text, span=duration(60 * one.play_minutes))
        if one.play_minutes
        else text
    )


def tables_concerned(event: Event, about: AnyDecision) -> set[int]:
    """Return the tables that need a new plan, since a player's name, session times or players may have changed."""
    if isinstance(about, SessionsCorrected | PlanChanged):
        return set(event.tables)
    if not isinstance(about, PlayerCorrected):
        return set()
    sessions = {one.table for one in event.riichi.values() if about.player in one.players.values()}
    return sessions | {play.table for play in event.bookings_of.get(about.player, ())}


def corrects_plan(book: RulingBook, decision: AnyDecision) -> bool:
    """Return whether a decision corrects the plan, or undoes a correction of it."""
    return isinstance(book.root_decision(decision), PLAN_DECISIONS)


def check_correction(event: Event, decision: AnyDecision) -> None:
    """Refuse text that cannot be displayed, and sessions that do not fit: `not_printable`, `sessions_wrong`."""
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
        raise Refused("not_printable", N_("a name has characters that cannot be displayed, or invisible spaces"))


Plays = Mapping[PlayKey, BookedPlay]
Changes = Iterable[tuple[RulingEntry, PlanChanged]]

Begun = Mapping[PlayKey, Collection[str]]
"""The players who sat down, for the plays that tables have begun."""


def plan_changes(book: RulingBook) -> list[tuple[RulingEntry, PlanChanged]]:
    """Return the changes of who plays that count, oldest first."""
    return [(one, one.decision) for one in book.of(WHO_PLAYS) if isinstance(one.decision, PlanChanged)]


def ever_entered(book: RulingBook) -> dict[str, str]:
    """Return the names by id of all players ever entered by changes, including those that were undone."""
    all_changes = (one.decision for one in book.all_of(WHO_PLAYS) if isinstance(one.decision, PlanChanged))
    return {player.id: player.name for change in all_changes for player in change.entered}


def changes_plan(decision: AnyDecision, book: RulingBook) -> TypeGuard[PlanChanged | Undo]:
    """Return whether a decision changes who plays, or undoes such a change."""
    return isinstance(book.root_decision(decision), PlanChanged)


def seats_stage(decision: AnyDecision, book: RulingBook) -> bool:
    """Return whether a decision seats a stage, or undoes that."""
    root = book.root_decision(decision)
    return isinstance(root, PlanChanged) and root.stage is not None


def planned_event(settled: Event, book: RulingBook, begun: Begun) -> Event:
    """Return an event as it is planned now. `settled`: as its organiser settled it."""
    about = [one for one in book.all_of(WHO_PLAYS) if isinstance(book.root(one).decision, PlanChanged)]
    if not about:
        return settled
    changes = plan_changes(book)
    all_changes = [(one, one.decision) for one in about if isinstance(one.decision, PlanChanged)]
    plans = list(_plans(settled, changes))
    plays = dict(plans[-1])
    for plan in chain(_plans(settled, all_changes), plans):  # what was begun by any of the plans stays as it was begun
        plays |= {key: plan[key] for key in begun if key in plan and _same_players(plan[key], begun[key])}
    order = {key: at for at, key in enumerate(settled.places)}
    listed = tuple(plays[key] for key in sorted(plays, key=order.__getitem__))
    version = PlanVersion(1 + len(about), max(one.at for one in about))
    seated = frozenset(change.stage for _, change in changes if change.stage)
    entered = [player for _, change in all_changes for player in change.entered]
    return settled.replanned(_listed(settled, changes, all_changes, listed), listed, version, seated, entered)


def follows_plan(event: Event, key: PlayKey, seated: Collection[str]) -> bool:
    """Return whether the players who sat down at a table are those of the plan."""
    return key in event.bookings and _same_players(event.bookings[key], seated)


def _same_players(play: BookedPlay, seated: Collection[str]) -> bool:
    return set(play.players.values()) == set(seated)


def _plans(
    settled: Event, changes: Iterable[tuple[RulingEntry, PlanChanged]]
) -> Iterator[Mapping[PlayKey, BookedPlay]]:
    """Yield the plays of each plan, the settled one first."""
    plays = dict(settled.bookings)
    yield plays
    for _, change in changes:
        plays = dict(plays)
        for round_, table in change.dropped:
            plays.pop((table, round_), None)
        for one in change.plays:
            if (booking := settled.places.get((one.table, one.round))) is not None:
                plays[one.table, one.round] = BookedPlay(one.round, one.table, booking.deal, one.players)
        yield plays


def _listed(settled: Event, changes: Changes, all_changes: Changes, plays: Iterable[BookedPlay]) -> tuple[Player, ...]:
    """Return the list of players, without those who left and have no play.

    A player entered by a change that was undone, but who has begun a play, is included.
    """
    playing = {player for play in plays for player in play.players.values()}
    listed, left = {player.id: player for player in settled.plan.players}, set[str]()
    for _, change in changes:
        listed |= {player.id: player for player in change.entered if player.id not in listed}
        left = (left | {*change.left}) - {player.id for player in change.entered}
    for player in (one for _, change in all_changes for one in change.entered if one.id in playing):
        listed.setdefault(player.id, player)
    return tuple(one for one in listed.values() if one.id in playing or one.id not in left)


def checked_in(before: Mapping[str, bool], book: RulingBook, player: str) -> Mapping[str, bool]:
    """Return who has checked in, after a change in what was recorded of one player."""
    decisions = [one.decision for one in book.of(event_subject(CheckedIn(player=player, present=None)) or "")]
    last = decisions[-1].present if decisions and isinstance(decisions[-1], CheckedIn) else None
    others = {one: present for one, present in before.items() if one != player}
    return others if last is None else {**others, player: last}
