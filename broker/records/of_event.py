"""An event's plays as records. What was done step by step is on no wire; of simulated plays it is known."""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime

from broker.contract.words import SEATS
from broker.records.fans import told
from broker.records.played import recorded
from broker.records.record import Record
from broker.records.steps import Step
from broker.records.winds import by_wind, hands_of, walls_of
from broker.rules.errors import RuleError
from broker.rules.fan.declared import count_hu
from broker.rules.profile import Profile
from broker.rules.riichi.profile import RiichiProfile
from broker.scorer.rulings.laying import Laid
from broker.scorer.stored import Stored


def records(stored: Stored, *, with_deals: bool = False, embargoed: bool = False) -> Iterator[Record]:
    """Give a record for each play, by round and table.

    Results of a deal are left out while a table has it still to play, unless they are asked for. Faces are told once
    the event is over, or `with_deals`: until then a deal may be played again. Of a fouled deal they are never told: how
    the tiles lay is known by serials alone. Raises RuleError `no_riichi_record`.
    """
    if isinstance(stored.event.profile, RiichiProfile):
        raise RuleError("no_riichi_record", "a record (PMN) has fan and a wall for each seat: it is none of riichi")
    told, fouled = with_deals or stored.room.final, _fouled(stored)
    for at, laid in stored.played():
        if embargoed or not stored.embargoed(laid.deal):
            yield _record(stored, at, laid, faces=told and (laid.deal, laid.line) not in fouled)


def _fouled(stored: Stored) -> set[tuple[int, int]]:
    """Give deal and table of plays in another form than the deal's own."""
    plays = (play for group in stored.room.groups() for play in group.members)
    return {(play.deal, play.table) for play in plays if play.form != stored.event.form(play.deal)}


def _steps(stored: Stored, laid: Laid) -> tuple[Step, ...] | None:
    """Give what was done, where it is known and comes to the result that counts."""
    hand = stored.hands.get((laid.round, laid.table))
    if hand is None or hand.deal != laid.deal:
        return None
    try:
        deal, rules = stored.deals[hand.deal].deal(), stored.event.profile
        seen = recorded(deal, hand.actions, rules, lambda hu: count_hu(hu).fan) if isinstance(rules, Profile) else None
    except RuleError:
        return None
    same = seen is not None and seen.points == by_wind(laid.points or {}, stored.deals[hand.deal].dealer)
    return seen.steps if seen and same else None


def of_false_hu(stored: Stored) -> Collection[int]:
    """Give what a false hu may cost: Penalty is of nothing else."""
    rules = stored.event.profile
    return rules.false_hu.fines.value if isinstance(rules, Profile) else ()


def name_of(stored: Stored, player: str, round_: int) -> str:
    """Name who sat there, and for whom where it was a substitute."""
    name, sat = stored.event.players[player].name, stored.sat(player, round_)
    return f"{sat} (for {name})" if sat else name


def _record(stored: Stored, at: int, laid: Laid, *, faces: bool) -> Record:
    deal = stored.deals[laid.deal]
    names = {seat: name_of(stored, player, laid.round) for seat, player in laid.players.items()}
    fines = {seat: laid.fines[player] for seat, player in laid.players.items() if laid.fines.get(player)}
    known = of_false_hu(stored)
    return Record(
        board=laid.deal,
        prevalent_wind=deal.prevalent_wind,
        points=by_wind(laid.points or {}, deal.dealer),
        hands=hands_of(deal.faces, deal.dealer) if faces else None,
        walls=walls_of(deal.faces, deal.dealer) if faces else None,
        steps=_steps(stored, laid) if faces else None,
        fans=by_wind({seat: told(value) for seat, value in laid.winners.items()}, deal.dealer),
        fines=by_wind({seat: imp for seat, imp in fines.items() if imp in known}, deal.dealer),
        event=stored.event.plan.title,
        date=datetime.fromtimestamp(at / 1000, UTC).strftime("%Y.%m.%d"),
        players=by_wind({seat: names[seat] for seat in SEATS}, deal.dealer),
        dealer=deal.dealer,
        table=laid.table,
        round=laid.round,
        profile=stored.event.profile.id,
    )
