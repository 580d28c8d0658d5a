"""The plays of an event as PMN records, and notes on what counts there but fits no record.

Single steps are not sent to the scorer. They are known for simulated plays, and for plays reconstructed from the tiles
on the table at their end.
"""

from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime

from msgspec.structs import replace

from broker.export.pmn.check import outcome_of
from broker.export.pmn.record import PmnRecord, Step, by_wind, steps_of, total_only, tray_hands, tray_walls
from broker.protocol import SEATS, Seat
from broker.rules import Deal, Profile, RiichiProfile, RuleError, seat_points, seat_wind
from broker.rules.mcr import Action, Judge, PlayState, apply_action, open_play
from broker.rulings import CountedPlay
from broker.scorer import StoredEvent
from broker.scorer.play_finder import recorded_judge
from broker.scoring import ScoredPlay


def event_records(
    stored: StoredEvent, *, with_deals: bool = False, embargoed: bool = False, deal: int | None = None
) -> Iterator[PmnRecord]:
    """Yield a record for each play, by round and table, or only for those of one `deal`.

    Results of a deal are left out while a table has it still to play, unless `embargoed`. Faces are included once the
    event is over, or `with_deals`: until then a deal may be played again. For a fouled deal they are never included,
    because how the tiles lay is known by serial only. Raises RuleError `no_riichi_record`.
    """
    if isinstance(stored.event.profile, RiichiProfile):
        raise RuleError("no_riichi_record", "a record (PMN) has fan and a wall for each seat: it is none of riichi")
    told, fouled = with_deals or stored.state.over, _fouled(stored)
    for at, laid in stored.played():
        if deal in (None, laid.deal) and (embargoed or not stored.embargoed(laid.deal)):
            yield _record(stored, at, laid, faces=told and (laid.deal, laid.line) not in fouled)


def _fouled(stored: StoredEvent) -> set[tuple[int, int]]:
    """Return deal and table of plays whose form is not the deal's own."""
    plays = (play for group in stored.state.groups() for play in group.members)
    return {(play.deal, play.table) for play in plays if play.form != stored.event.form(play.deal)}


def _steps(stored: StoredEvent, laid: CountedPlay) -> tuple[Step, ...] | None:
    """Return the steps of a play if they are known and lead to the result that counts."""
    hand = stored.hands.get((laid.round, laid.table))
    if hand is None or hand.deal != laid.deal:
        return None
    try:
        deal, rules = stored.event.open_deal(hand.deal), stored.event.profile
        judge = recorded_judge(laid)
        seen = record_play(deal, hand.actions, rules, judge) if isinstance(rules, Profile) else None
    except RuleError:
        return None
    same = seen is not None and seen.points == by_wind(laid.points or {}, stored.deals[hand.deal].dealer)
    return seen.steps if seen and same else None


def false_hu_cost(stored: StoredEvent) -> Collection[int]:
    """Return the possible fines for a false hu, the only ones that Penalty can contain."""
    rules = stored.event.profile
    return rules.false_hu.fines.value if isinstance(rules, Profile) else ()


def player_label(stored: StoredEvent, player: str, round_: int) -> str:
    """Return the name of the person who sat there and, for a substitute, the player replaced."""
    name, sat = stored.event.players[player].name, stored.sat(player, round_)
    return f"{sat} (for {name})" if sat else name


def _record(stored: StoredEvent, at: int, laid: CountedPlay, *, faces: bool) -> PmnRecord:
    deal = stored.deals[laid.deal]
    shown = stored.event.open_deal(laid.deal).faces if faces else None
    names = {seat: player_label(stored, player, laid.round) for seat, player in laid.players.items()}
    fines = {seat: laid.fines[player] for seat, player in laid.players.items() if laid.fines.get(player)}
    known = false_hu_cost(stored)
    return PmnRecord(
        board=laid.deal,
        prevalent_wind=deal.prevalent_wind,
        points=by_wind(laid.points or {}, deal.dealer),
        hands=tray_hands(shown, deal.dealer) if shown else None,
        walls=tray_walls(shown, deal.dealer) if shown else None,
        steps=_steps(stored, laid) if faces else None,
        fans=by_wind({seat: total_only(value) for seat, value in laid.winners.items()}, deal.dealer),
        fines=by_wind({seat: imp for seat, imp in fines.items() if imp in known}, deal.dealer),
        event=stored.event.plan.title,
        date=datetime.fromtimestamp(at / 1000, UTC).strftime("%Y.%m.%d"),
        players=by_wind({seat: names[seat] for seat in SEATS}, deal.dealer),
        dealer=deal.dealer,
        table=laid.table,
        round=laid.round,
        profile=stored.event.profile.id,
    )


def record_play(deal: Deal, actions: Iterable[Action], rules: Profile, judge: Judge) -> PmnRecord:
    """Return the record of a play. Raises RuleError if an action is illegal, or `play_unfinished`."""
    play, named = open_play(deal, rules.payments), list[Action]()
    for action in actions:
        named.append(_named(play, action))
        play = apply_action(play, action, judge)
    if play.turns.over is None:
        raise RuleError("play_unfinished", "nobody has won, and there are tiles to draw")
    fans = {win.hu.seat: total_only(win.hand_value) for win in play.wins}
    return PmnRecord(
        board=deal.number,
        prevalent_wind=deal.prevalent_wind,
        points=by_wind(seat_points(outcome_of(play), rules.payments), deal.dealer),
        hands=tray_hands(deal.faces, deal.dealer),
        walls=tray_walls(deal.faces, deal.dealer),
        steps=tuple(steps_of(_seated(action, deal.dealer) for action in named)),
        fans=by_wind(fans, deal.dealer),
        dealer=deal.dealer,
        profile=rules.id,
    )


def _named(play: PlayState, action: Action) -> Action:
    """Add the tile to an action that implies it without naming it."""
    if action.do == "draw":
        return replace(action, tile=next(iter(play.wall(play.turns.turn)), None))
    return replace(action, tile=play.offered) if action.do in ("pung", "melded_kong") else action


def _seated(action: Action, dealer: Seat) -> Action:
    """Replace an action's chairs by seat winds."""
    seat = seat_wind(action.seat, dealer) if action.seat else None
    return replace(action, seat=seat, seats=tuple(seat_wind(chair, dealer) for chair in action.seats))


RULED = {
    "void": "declared void: it counts for nobody, and is in no datum.",
    "adjusted": "adjusted by an arbiter: it has no points, and is in no datum.",
    "withdrawn": "adjusted, since a player has withdrawn: it has no points, and is in no datum.",
    "": "still to come.",
}


def pmn_notes(stored: StoredEvent, *, embargoed: bool = False) -> Iterator[str]:
    """Yield a note for each play without points, or with IMPs that fit no tag, then one for what belongs to no play."""
    for laid, play in stored.counted(embargoed=embargoed):
        lines = [line for seat in SEATS if (line := _of_seat(stored, laid, play, seat))]
        if lines or play.points is None:
            what = RULED[stored.instead(laid)] if play.points is None else "beside the points."
            yield "\n".join((f"Table {laid.table}, round {laid.round}, deal {laid.deal}: {what}", *lines))
    for hand in stored.hands.values():
        if hand.unproved and (embargoed or not stored.embargoed(hand.deal)):
            where = f"Table {hand.table}, round {hand.round}, deal {hand.deal}"
            yield f"{where}: found from the rivers; {len(hand.unproved)} steps are the likeliest, not proved."
    beside = [one for one in stored.adjustments() if one.imp or one.fine]
    if beside:
        lines = [_line(one.name, stored.event.players[one.name].name, int(one.imp), one.fine) for one in beside]
        yield "\n".join(("Of no play.", *lines))


def _of_seat(stored: StoredEvent, laid: CountedPlay, play: ScoredPlay, seat: Seat) -> str:
    """Return a seat's awards and fines that are in no record; empty if all are."""
    award, fine = play.awards.get(seat, 0), play.fines.get(seat, 0)
    if play.points is not None and fine in false_hu_cost(stored):
        fine = 0
    return (
        _line(play.players[seat], player_label(stored, play.players[seat], laid.round), award, fine)
        if award or fine
        else ""
    )


def _line(player: str, name: str, award: int, fine: int) -> str:
    said = [f"{award:+} IMP"] * bool(award) + [f"fined {fine} IMP"] * bool(fine)
    return f"{player} {name}: {', '.join(said)}"
