"""A movement for people: the rounds as tables, a card for each player, the measures in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from broker.contract.words import SEATS, Seat
from broker.rules.movement import Play, Quality
from broker.rules.movement.booking import Sitting, sittings
from broker.rules.movement.quality import Histogram, Pairs

DEALS_WIDTH: Final = 14

Placed = tuple[Sitting, dict[Seat, int | str]]


def as_tables(plays: Sequence[Play], players: Iterable[str]) -> str:
    """Give a table a round: which table has which deals, who sits where, who sits out."""
    seated = sittings(plays)
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


def _line(sitting: Sitting, four: Mapping[Seat, int | str], width: int) -> str:
    deals = " ".join(map(str, sitting.deals)).ljust(DEALS_WIDTH)
    return f"  {sitting.table:5}  {deals}" + "  ".join(str(four[seat]).ljust(width) for seat in SEATS)


def as_cards(plays: Sequence[Play], players: Iterable[str]) -> str:
    """Give a card a player: where to go in each round, and whom they meet there."""
    seated = sittings(plays)
    rounds = sorted({sitting.round for sitting in seated})
    return "\n".join("\n".join(_card(player, rounds, seated)) for player in sorted(players))


def _card(player: str, rounds: Sequence[int], seated: Mapping[Sitting, Mapping[Seat, int | str]]) -> Iterator[str]:
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


def changes(plan: Sequence[Play], new: Sequence[Play], after: int) -> list[str]:
    """Say where the new plan differs in the rounds after `after`: a line a table."""
    before, now = _placed(plan), _placed(new)
    said: list[str] = []
    for at in sorted(place for place in before | now if place[0] > after and before.get(place) != now.get(place)):
        what = _differences(before.get(at), now[at]) if at in now else "closed"
        said.append(f"round {at[0]} table {at[1]}: {what}")
    return said


def _placed(plays: Sequence[Play]) -> dict[tuple[int, int], Placed]:
    return {(sitting.round, sitting.table): (sitting, dict(four)) for sitting, four in sittings(plays).items()}


def _differences(old: Placed | None, new: Placed) -> str:
    sitting, four = new
    told = [] if old and old[0].deals == sitting.deals else [f"deals {' '.join(map(str, sitting.deals))}"]
    told += [f"{seat} {four[seat]}" for seat in SEATS if old is None or old[1].get(seat) != four[seat]]
    return ", ".join(told)


def as_measures(quality: Quality) -> str:
    """Give the measures in words, each with what it means."""
    return "\n".join(
        (
            f"{quality.players} players, {quality.tables} tables, {quality.rounds} rounds, {quality.deals} deals",
            _pairs("meet at a table", quality.meetings),
            _pairs("are compared", quality.comparisons),
            f"a player's commonest seat less the rarest: {_often(quality.seat_spread, 'players')}",
            f"tables to which a deal comes: {_often(quality.tables_a_deal, 'deals')}",
            f"carriers of each deal: {quality.copies}; carriers beyond one a deal: {quality.extra_copies}",
            f"carriers handed on without a pause: {quality.handovers} times",
            f"rounds sat out: {_often(quality.byes, 'players')}",
        )
    )


def _pairs(what: str, pairs: Pairs) -> str:
    return f"pairs that {what}: {_often(pairs.often, 'pairs')}; repetitions {pairs.excess}, at least {pairs.bound}"


def _often(histogram: Histogram, who: str) -> str:
    return ", ".join(f"{value}: {count} {who}" for value, count in histogram.items())


def as_json(quality: Quality) -> dict[str, Any]:
    """Give the measures for programs; histograms are objects from value (a text, as JSON has it) to count."""
    plain: dict[str, Any] = msgspec.to_builtins(quality, str_keys=True)
    return plain
