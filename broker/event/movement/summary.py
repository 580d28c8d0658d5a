"""A movement for people to read: rounds as tables, a card for each player, measures in words, and a forecast.

The forecast has the number of plays for each player, at how many tables each deal is compared, and about how long it
takes. Pure.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import msgspec

from broker.event.movement.plays import SEATED, MovementOrder, MovementPlay, TableRound, table_rounds
from broker.event.movement.quality import Histogram, Pairs, Quality
from broker.event.plan import ASSUMED_MS, MINUTE_MS, Plan
from broker.protocol import SEATS, Seat

DEALS_WIDTH: Final = 14

Placed = tuple[TableRound, dict[Seat, int | str]]


def rounds_as_tables(plays: Sequence[MovementPlay], players: Iterable[str]) -> str:
    """Return a text table for each round: each table's deals and players, and who sits out."""
    seated = table_rounds(plays)
    everybody = sorted(players)
    width = max(len(name) for name in (*everybody, *SEATS))
    lines: list[str] = []
    for round_ in sorted({sitting.round for sitting in seated}):
        lines += [f"Round {round_}", "  table  deals".ljust(9 + DEALS_WIDTH) + "  ".join(s.ljust(width) for s in SEATS)]
        here = {sitting: four for sitting, four in seated.items() if sitting.round == round_}
        lines += [_line(sitting, four, width) for sitting, four in here.items()]
        out = sorted(set(everybody) - {str(player) for four in here.values() for player in four.values()})
        lines += [f"  sit out: {', '.join(out)}"] if out else []
        lines.append("")
    return "\n".join(line.rstrip() for line in lines)


def _line(sitting: TableRound, four: Mapping[Seat, int | str], width: int) -> str:
    deals = " ".join(map(str, sitting.deals)).ljust(DEALS_WIDTH)
    return f"  {sitting.table:5}  {deals}" + "  ".join(str(four[seat]).ljust(width) for seat in SEATS)


def player_cards(plays: Sequence[MovementPlay], players: Iterable[str]) -> str:
    """Return a text card for each player: where to go in each round, and whom they meet there."""
    seated = table_rounds(plays)
    rounds = sorted({sitting.round for sitting in seated})
    return "\n".join("\n".join(_card(player, rounds, seated)) for player in sorted(players))


def _card(player: str, rounds: Sequence[int], seated: Mapping[TableRound, Mapping[Seat, int | str]]) -> Iterator[str]:
    yield f"---- {player} ".ljust(60, "-")
    for round_ in rounds:
        found = [(s, four) for s, four in seated.items() if s.round == round_ and player in map(str, four.values())]
        if not found:
            yield f"round {round_:2}   sit out"
        for sitting, four in found:
            seat = next(seat for seat in SEATS if str(four[seat]) == player)
            others = ", ".join(str(four[other]) for other in SEATS if other != seat)
            deals = " ".join(map(str, sitting.deals))
            yield f"round {round_:2}   table {sitting.table:3}   {seat:5}   deals {deals}   with {others}"
    yield ""


def movement_changes(plan: Sequence[MovementPlay], new: Sequence[MovementPlay], after: int) -> list[str]:
    """Return one line for each table at which the new plan differs in rounds after `after`."""
    before, now = _placed(plan), _placed(new)
    lines: list[str] = []
    for at in sorted(place for place in before | now if place[0] > after and before.get(place) != now.get(place)):
        what = _differences(before.get(at), now[at]) if at in now else "closed"
        lines.append(f"round {at[0]} table {at[1]}: {what}")
    return lines


def _placed(plays: Sequence[MovementPlay]) -> dict[tuple[int, int], Placed]:
    return {(sitting.round, sitting.table): (sitting, dict(four)) for sitting, four in table_rounds(plays).items()}


def _differences(old: Placed | None, new: Placed) -> str:
    sitting, four = new
    parts = [] if old and old[0].deals == sitting.deals else [f"deals {' '.join(map(str, sitting.deals))}"]
    parts += [f"{seat} {four[seat]}" for seat in SEATS if old is None or old[1].get(seat) != four[seat]]
    return ", ".join(parts)


def measures_in_words(quality: Quality) -> str:
    """Return the measures as text, one line for each."""
    return "\n".join(
        (
            f"players: {quality.players}, tables: {quality.tables}, rounds: {quality.rounds}, deals: {quality.deals}",
            _pairs("meet at a table", quality.meetings),
            _pairs("are compared", quality.comparisons),
            f"a player's commonest seat less the rarest: {_counts(quality.seat_spread, 'players')}",
            f"tables to which a deal comes: {_counts(quality.tables_a_deal, 'deals')}",
            f"carriers of each deal: {quality.copies}; carriers beyond one a deal: {quality.extra_copies}",
            f"times that carriers are handed on without a pause: {quality.handovers}",
            f"rounds sat out: {_counts(quality.byes, 'players')}",
        )
    )


def _pairs(what: str, pairs: Pairs) -> str:
    return f"pairs that {what}: {_counts(pairs.often, 'pairs')}; repetitions {pairs.excess}, at least {pairs.bound}"


def _counts(histogram: Histogram, unit: str) -> str:
    return ", ".join(f"{value}: {count} {unit}" for value, count in histogram.items())


def measures_as_json(quality: Quality) -> dict[str, Any]:
    """Return the measures as a JSON object. Histograms map each value (as a string) to its count."""
    plain: dict[str, Any] = msgspec.to_builtins(quality, str_keys=True)
    return plain


USUAL_MINUTES: Final = ASSUMED_MS // MINUTE_MS
HOUR: Final = 60


@dataclass(frozen=True, slots=True)
class MovementForecast:
    """What an organiser wants to know before accepting a movement. Pairs are least and most."""

    plays_each: tuple[int, int]
    deals: int
    tables: int
    """How many tables play at once."""
    compared: tuple[int, int]
    """At how many tables a deal is played."""
    turns: int
    """Successive plays at a table, which a plan and its sessions count as rounds."""
    minutes: int
    """About how many minutes it all takes, including restoring and carrying but not breaks."""

    @property
    def nobody_compared(self) -> bool:
        """Whether no deal is played at a second table."""
        return self.compared[1] <= 1

    @property
    def time(self) -> str:
        """The duration as hours and minutes, such as 8:20."""
        return hours_minutes(self.minutes)


def hours_minutes(minutes: int) -> str:
    """Return minutes as hours and minutes, such as 8:20."""
    return f"{minutes // HOUR}:{minutes % HOUR:02}"


def minutes_a_play(plan: Plan) -> int:
    """Return the minutes for a play: the longest limit of any session, or the usual length."""
    return max((session.play_minutes or 0 for session in plan.sessions), default=0) or USUAL_MINUTES


def forecast_order(order: MovementOrder, minutes: int = USUAL_MINUTES) -> MovementForecast:
    """Return the forecast for an order, without generating its movement. `minutes` is the length of a play."""
    seats, turns = order.tables * SEATED * order.rounds, order.rounds * order.deals_per_round
    fewest, left = divmod(seats, order.players)
    met = min(order.rounds, order.pods) * order.pod
    return MovementForecast(
        plays_each=(fewest * order.deals_per_round, (fewest + bool(left)) * order.deals_per_round),
        deals=max(order.rounds, order.pods) * order.deals_per_round,
        tables=order.tables,
        compared=(min(met, order.tables), min(met, order.tables)),
        turns=turns,
        minutes=turns * minutes,
    )


def forecast_together(parts: Sequence[MovementForecast]) -> MovementForecast:
    """Return the combined forecast of parallel movements with the same deals and different players."""
    return MovementForecast(
        plays_each=(min(part.plays_each[0] for part in parts), max(part.plays_each[1] for part in parts)),
        deals=max(part.deals for part in parts),
        tables=sum(part.tables for part in parts),
        compared=(sum(part.compared[0] for part in parts), sum(part.compared[1] for part in parts)),
        turns=max(part.turns for part in parts),
        minutes=max(part.minutes for part in parts),
    )


def forecast_plan(plan: Plan) -> MovementForecast | None:
    """Return the forecast for a plan's movement; None if it has none."""
    if not plan.plays:
        return None
    each = Counter(chain.from_iterable(play.players.values() for play in plan.plays))
    at = Counter(play.deal for play in plan.plays)
    turns = max(play.round for play in plan.plays)
    return MovementForecast(
        plays_each=(min(each[player.id] for player in plan.players), max(each.values())),
        deals=len(at),
        tables=max(Counter(play.round for play in plan.plays).values()),
        compared=(min(at.values()), max(at.values())),
        turns=turns,
        minutes=turns * minutes_a_play(plan),
    )


def forecast_sentence(coming: MovementForecast, minutes: int) -> str:
    """Return the forecast as one sentence."""
    return (
        f"plays for everybody: {few(coming.plays_each)}, deals: {coming.deals}, tables that play each: "
        f"{few(coming.compared)} of {coming.tables}, about {coming.time} h at {minutes} minutes a play"
    )


def few(pair: Sequence[int]) -> str:
    """Return a least and a most as text: one number if they are equal, else both."""
    least, most = pair
    return str(least) if least == most else f"{least} to {most}"
