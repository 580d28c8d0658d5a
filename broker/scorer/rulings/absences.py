"""Players who are gone: who sits there instead from a round on, and what becomes of plays for which nobody does."""

from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from broker.contract.plans import PlannedPlay, Player
from broker.contract.rulings import AnyDecision, Substitute, Withdrawn
from broker.contract.words import Seat
from broker.rules.profile import Awards
from broker.scorer.event import Event
from broker.scorer.rulings.book import Book
from broker.scorer.rulings.entry import WHO_PLAYS, Entry, PlayKey
from broker.scorer.rulings.laying import Laid, imp_of


def plays_of(event: Event, entry: Entry) -> list[PlayKey]:
    """Give the plays that a ruling on who plays is about; none where it is another ruling."""
    said = entry.decision
    if not isinstance(said, Substitute | Withdrawn):
        return []
    return plays_from(event, said.player, said.first_round)


def plays_from(event: Event, player: str, first_round: int) -> list[PlayKey]:
    """Give the plays that were planned for somebody from a round on."""
    return [(one.table, one.round) for one in event.bookings_of.get(player, ()) if one.round >= first_round]


def sits_elsewhere(event: Event, entries: Iterable[Entry], said: Substitute) -> bool:
    """Say whether somebody of the substitute's name sits in another seat while this one is taken over."""
    known, asked = tuple(entries), said.name.casefold()
    rounds = {round_ for _, round_ in plays_from(event, said.player, said.first_round)}
    plays = (play for play in event.plan.plays if play.round in rounds)
    others = ((one, play.round) for play in plays for one in play.players.values() if one != said.player)
    return any(_name(event, known, *other).casefold() == asked for other in others)


def _name(event: Event, entries: Iterable[Entry], player: str, round_: int) -> str:
    """Give who sits in a player's seats in a round; an empty name where nobody does."""
    return sits(last_word(entries, player, round_), event.players[player].name)


def sits(last: Entry | None, own: str) -> str:
    """Give the name of who sits there by what was ruled last; `own`: the player's. An empty one: nobody does."""
    if last is None or last.back:
        return own
    return last.decision.name if isinstance(last.decision, Substitute) else ""


def is_back(planned: Event, now: Event, decision: AnyDecision) -> bool:
    """Say whether somebody is named by the own name, as it was planned or is corrected now: the player is back."""
    if not isinstance(decision, Substitute) or decision.player not in planned.players:
        return False
    return decision.name.casefold() in {one.name_of(decision.player).casefold() for one in (planned, now)}


def to_come(event: Event, played: Container[PlayKey], decision: AnyDecision) -> list[tuple[int, int, Seat, str]]:
    """Give the plays without a result that a ruling on who plays is about: table, round, seat and who is named."""
    if not isinstance(decision, Substitute | Withdrawn):
        return []
    keys = [key for key in plays_from(event, decision.player, decision.first_round) if key not in played]
    seats = {key: {one: seat for seat, one in event.bookings[key].players.items()} for key in keys}
    name = decision.name if isinstance(decision, Substitute) else event.players[decision.player].name
    return [(*key, seats[key][decision.player], name) for key in keys]


def last_word(entries: Iterable[Entry], player: str, round_: int) -> Entry | None:
    """Give what was ruled last of a player in a round. `entries`: those that count, oldest first."""
    found = None
    for entry in entries:
        said = entry.decision
        if isinstance(said, Substitute | Withdrawn) and said.player == player and said.first_round <= round_:
            found = entry
    return found


class StandIn(NamedTuple):
    """Who sits in somebody's seats from a round on; an empty name: nobody does, or the player again."""

    player: str
    first_round: int
    name: str


def stand_ins(book: Book) -> tuple[StandIn, ...]:
    """Give the rulings on who plays that count, oldest first: what was ruled last of a round holds."""
    said = ((entry, entry.decision) for entry in book.of(WHO_PLAYS))
    return tuple(
        StandIn(one.player, one.first_round, sits(entry, own=""))
        for entry, one in said
        if isinstance(one, Substitute | Withdrawn)
    )


def sat(known: Iterable[StandIn], player: str, round_: int) -> str | None:
    """Give the substitute who sat in a player's seat in a round; None where the player did."""
    found = [one.name for one in known if one.player == player and one.first_round <= round_]
    return (found[-1] or None) if found else None


def without_gone(laid: Laid, entries: Iterable[Entry], awards: Awards) -> Laid:
    """Adjust a play that has no result, where somebody is gone. Who has a result was there, whatever is ruled."""
    said = {player: last_word(entries, player, laid.round) for player in laid.players.values()}
    gone = {player: entry for player, entry in said.items() if entry and isinstance(entry.decision, Withdrawn)}
    if not gone:
        return laid
    faults = {one: entry.decision.fault for one, entry in gone.items() if isinstance(entry.decision, Withdrawn)}
    gives = {player: imp_of(faults.get(player, "others"), awards) for player in laid.players.values()}
    rulings = tuple(sorted({entry.id for entry in gone.values()}))
    source = max(gone.values(), key=lambda entry: entry.number).id
    return replace(laid, source=source, settled=True, instead=gives, rulings=rulings)


def sitting(event: Event, book: Book, round_: int, players: Mapping[Seat, str]) -> dict[Seat, Player]:
    """Give who really sits in these players' seats in a round: a substitute under the own name."""
    said = book.of(WHO_PLAYS)
    return {seat: _really(said, event.players[player], round_) for seat, player in players.items()}


def with_substitutes(book: Book, plays: tuple[PlannedPlay, ...]) -> tuple[PlannedPlay, ...]:
    """Give what a table is to do, with those who really sit there."""
    if not (said := book.of(WHO_PLAYS)):
        return plays
    return tuple(
        replace(one, players={seat: _really(said, player, one.round) for seat, player in one.players.items()})
        for one in plays
    )


def _really(entries: Iterable[Entry], player: Player, round_: int) -> Player:
    last = last_word(entries, player.id, round_)
    return replace(player, name=sits(last, player.name) or player.name)
