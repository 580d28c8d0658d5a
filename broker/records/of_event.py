"""An event's plays as records. What was done step by step is on no wire; of simulated plays it is known."""

from collections.abc import Iterator
from datetime import UTC, datetime

from broker.contract.messages import LogMessage, Result
from broker.contract.words import SEATS
from broker.records.fans import told
from broker.records.played import recorded
from broker.records.record import Record
from broker.records.steps import Step
from broker.records.winds import by_wind, hands_of, walls_of
from broker.rules.errors import RuleError
from broker.rules.fan.declared import count_hu
from broker.scorer.stored import Stored


def records(stored: Stored, *, with_deals: bool = False, embargoed: bool = False) -> Iterator[Record]:
    """Give a record for each play, by round and table.

    Results of a deal are left out while a table has it still to play, unless they are asked for. Faces are told once
    the event is over, or `with_deals`: until then a deal may be played again. Of a fouled deal they are never told: how
    the tiles lay is known by serials alone.
    """
    told, fouled = with_deals or stored.room.final, _fouled(stored)
    for message, result in stored.results():
        if embargoed or not stored.embargoed(result.deal):
            yield _record(stored, message, result, faces=told and (result.deal, message.table) not in fouled)


def _fouled(stored: Stored) -> set[tuple[int, int]]:
    """Give deal and table of plays in another form than the deal's own."""
    plays = (play for group in stored.room.groups() for play in group.members)
    return {(play.deal, play.table) for play in plays if play.form != stored.event.form(play.deal)}


def _steps(stored: Stored, message: LogMessage, result: Result) -> tuple[Step, ...] | None:
    """Give what was done, where it is known and comes to the result that four seats have accepted."""
    hand = stored.hands.get((result.round, message.table))
    if hand is None or hand.deal != result.deal:
        return None
    try:
        seen = recorded(stored.deals[hand.deal].deal(), hand.actions, stored.event.profile, lambda hu: count_hu(hu).fan)
    except RuleError:
        return None
    return seen.steps if seen.points == by_wind(result.points, stored.deals[hand.deal].dealer) else None


def _record(stored: Stored, message: LogMessage, result: Result, *, faces: bool) -> Record:
    deal = stored.deals[result.deal]
    names = {seat: stored.event.players[player].name for seat, player in result.players.items()}
    return Record(
        board=result.deal,
        prevalent_wind=deal.prevalent_wind,
        points=by_wind(result.points, deal.dealer),
        hands=hands_of(deal.faces, deal.dealer) if faces else None,
        walls=walls_of(deal.faces, deal.dealer) if faces else None,
        steps=_steps(stored, message, result) if faces else None,
        fans=by_wind({seat: told(value) for seat, value in result.winners.items()}, deal.dealer),
        fines=by_wind({seat: fine.imp for seat, fine in result.fines.items()}, deal.dealer),
        event=stored.event.plan.title,
        date=datetime.fromtimestamp(message.at / 1000, UTC).strftime("%Y.%m.%d"),
        players=by_wind({seat: names[seat] for seat in SEATS}, deal.dealer),
        dealer=deal.dealer,
        table=message.table,
        round=result.round,
        profile=stored.event.profile.id,
    )
