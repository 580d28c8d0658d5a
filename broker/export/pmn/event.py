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
    with_faces, fouled = with_deals or stored.state.over, _fouled(stored)
    for at, counted in stored.played():
        if deal in (None, counted.deal) and (embargoed or not stored.embargoed(counted.deal)):
            yield _record(stored, at, counted, faces=with_faces and (counted.deal, counted.scoring_table) not in fouled)


def _fouled(stored: StoredEvent) -> set[tuple[int, int]]:
    """Return deal and table of plays whose form is not the deal's own."""
    plays = (play for group in stored.state.groups() for play in group.members)
    return {(play.deal, play.table) for play in plays if play.form != stored.event.form(play.deal)}


def _steps(stored: StoredEvent, counted: CountedPlay) -> tuple[Step, ...] | None:
    """Return the steps of a play if they are known and lead to the result that counts."""
    hand = stored.hands.get((counted.round, counted.table))
    if hand is None or hand.deal != counted.deal:
        return None
    try:
        deal, rules = stored.event.open_deal(hand.deal), stored.event.profile
        judge = recorded_judge(counted)
        replayed = record_play(deal, hand.actions, rules, judge) if isinstance(rules, Profile) else None
    except RuleError:
        return None
    same = replayed is not None and replayed.points == by_wind(counted.points or {}, stored.deals[hand.deal].dealer)
    return replayed.steps if replayed and same else None


def false_hu_cost(stored: StoredEvent) -> Collection[int]:
    """Return the possible fines for a false hu, the only ones that Penalty can contain."""
    rules = stored.event.profile
    return rules.false_hu.fines.value if isinstance(rules, Profile) else ()


def player_label(stored: StoredEvent, player: str, round_: int) -> str:
    """Return the name of the person who sat there and, for a substitute, the player replaced."""
    name, sat = stored.event.players[player].name, stored.sat(player, round_)
    return f"{sat} (for {name})" if sat else name


def _record(stored: StoredEvent, at: int, counted: CountedPlay, *, faces: bool) -> PmnRecord:
    deal = stored.deals[counted.deal]
    trays = stored.event.open_deal(counted.deal).faces if faces else None
    names = {seat: player_label(stored, player, counted.round) for seat, player in counted.players.items()}
    fines = {seat: counted.fines[player] for seat, player in counted.players.items() if counted.fines.get(player)}
    false_hu_fines = false_hu_cost(stored)
    return PmnRecord(
        board=counted.deal,
        prevalent_wind=deal.prevalent_wind,
        points=by_wind(counted.points or {}, deal.dealer),
        hands=tray_hands(trays, deal.dealer) if trays else None,
        walls=tray_walls(trays, deal.dealer) if trays else None,
        steps=_steps(stored, counted) if faces else None,
        fans=by_wind({seat: total_only(value) for seat, value in counted.winners.items()}, deal.dealer),
        fines=by_wind({seat: imp for seat, imp in fines.items() if imp in false_hu_fines}, deal.dealer),
        event=stored.event.plan.title,
        date=datetime.fromtimestamp(at / 1000, UTC).strftime("%Y.%m.%d"),
        players=by_wind({seat: names[seat] for seat in SEATS}, deal.dealer),
        dealer=deal.dealer,
        table=counted.table,
        round=counted.round,
        profile=stored.event.profile.id,
    )


def record_play(deal: Deal, actions: Iterable[Action], rules: Profile, judge: Judge) -> PmnRecord:
    """Return the record of a play. Raises RuleError if an action is illegal, or `play_unfinished`."""
    play, complete = open_play(deal, rules.payments), list[Action]()
    for action in actions:
        complete.append(_with_tile(play, action))
        play = apply_action(play, action, judge)
    if play.turns.over is None:
        raise RuleError("play_unfinished", "nobody has won, and there are still tiles to draw")
    fans = {win.hu.seat: total_only(win.hand_value) for win in play.wins}
    return PmnRecord(
        board=deal.number,
        prevalent_wind=deal.prevalent_wind,
        points=by_wind(seat_points(outcome_of(play), rules.payments), deal.dealer),
        hands=tray_hands(deal.faces, deal.dealer),
        walls=tray_walls(deal.faces, deal.dealer),
        steps=tuple(steps_of(_with_winds(action, deal.dealer) for action in complete)),
        fans=by_wind(fans, deal.dealer),
        dealer=deal.dealer,
        profile=rules.id,
    )


def _with_tile(play: PlayState, action: Action) -> Action:
    """Add the tile to an action that implies it without naming it."""
    if action.do == "draw":
        return replace(action, tile=next(iter(play.wall(play.turns.turn)), None))
    return replace(action, tile=play.offered) if action.do in ("pung", "melded_kong") else action


def _with_winds(action: Action, dealer: Seat) -> Action:
    """Replace an action's chairs by seat winds."""
    seat = seat_wind(action.seat, dealer) if action.seat else None
    return replace(action, seat=seat, seats=tuple(seat_wind(chair, dealer) for chair in action.seats))


UNPLAYED = {
    "void": "declared void: it counts for nobody, and is in no datum.",
    "adjusted": "adjusted by an arbiter: it has no points, and is in no datum.",
    "withdrawn": "adjusted, since a player has withdrawn: it has no points, and is in no datum.",
    "": "still to come.",
}


def pmn_notes(stored: StoredEvent, *, embargoed: bool = False) -> Iterator[str]:
    """Yield a note for each play without points, or with IMPs that fit no tag, then one for what belongs to no play."""
    for counted, play in stored.counted(embargoed=embargoed):
        lines = [line for seat in SEATS if (line := _seat_note(stored, counted, play, seat))]
        if lines or play.points is None:
            what = UNPLAYED[stored.instead(counted)] if play.points is None else "in addition to the points."
            yield "\n".join((f"Table {counted.table}, round {counted.round}, deal {counted.deal}: {what}", *lines))
    for hand in stored.hands.values():
        if hand.unproved and (embargoed or not stored.embargoed(hand.deal)):
            where = f"Table {hand.table}, round {hand.round}, deal {hand.deal}"
            yield f"{where}: reconstructed from the rivers; {len(hand.unproved)} steps are likely, but not proved."
    outside = [one for one in stored.adjustments() if one.imp or one.fine]
    if outside:
        lines = [_player_note(one.name, stored.event.players[one.name].name, int(one.imp), one.fine) for one in outside]
        yield "\n".join(("Outside all plays.", *lines))


def _seat_note(stored: StoredEvent, counted: CountedPlay, play: ScoredPlay, seat: Seat) -> str:
    """Return a seat's awards and fines that are in no record; empty if all are."""
    award, fine = play.awards.get(seat, 0), play.fines.get(seat, 0)
    if play.points is not None and fine in false_hu_cost(stored):
        fine = 0
    return (
        _player_note(play.players[seat], player_label(stored, play.players[seat], counted.round), award, fine)
        if award or fine
        else ""
    )


def _player_note(player: str, name: str, award: int, fine: int) -> str:
    parts = [f"{award:+} IMP"] * bool(award) + [f"fined {fine} IMP"] * bool(fine)
    return f"{player} {name}: {', '.join(parts)}"
