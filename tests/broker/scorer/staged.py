"""A small event in stages: two sections of eight, four of each go on to a final; ⅔ of the IMPs is carried over."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from random import Random
from typing import Final

from broker.event import BookedPlay, DealRecord, Event, Plan, Stage
from broker.event.stages import Section
from broker.protocol import SEATS, Fact, LogMessage, Player, Restored, Result
from broker.rules import Outcome, load_mcr, new_deal, seat_points
from tests.broker.scorer.small import NAME, fact, registry, steps_to

PLAYERS: Final = tuple(Player(id=f"p{number:02}", name=f"Player {number}") for number in range(1, 17))

STAGES: Final = (
    Stage("Qualification", 1, 2, (Section("A", 1, 2), Section("B", 3, 4))),
    Stage("Final", 3, 4, cut=8, carry_over="2/3"),
)

LAYOUT: Final = {1: {1: 1, 2: 2, 3: 1, 4: 2}, 2: {1: 2, 2: 1, 3: 2, 4: 1}, 3: {1: 3, 2: 4}, 4: {1: 4, 2: 3}}
"""For each round the tables and their deals. Everybody stays at one table for a stage."""


def plays() -> tuple[BookedPlay, ...]:
    """Return the movement. In the final it names ranks."""
    return tuple(
        BookedPlay(
            round_,
            table,
            deal,
            {
                seat: f"p{4 * table - 3 + at:02}" if round_ <= 2 else str(4 * table - 3 + at)
                for at, seat in enumerate(SEATS)
            },
        )
        for round_, tables in LAYOUT.items()
        for table, deal in tables.items()
    )


@cache
def staged_plan() -> Plan:
    """Return the plan."""
    return Plan(
        name=NAME, title="Stages", profile="oedmc-2020", players=PLAYERS, plays=plays(), stages=STAGES, copies=2
    )


@cache
def staged_deals() -> tuple[DealRecord, ...]:
    """Return four deals."""
    made = [new_deal(number, SEATS[number - 1], SEATS[number - 1], Random(number)) for number in range(1, 5)]
    return tuple(DealRecord(d.number, d.number, d.prevalent_wind, d.dealer, dict(d.faces)) for d in made)


@cache
def staged_event() -> Event:
    """Return the checked event."""
    return Event(staged_plan(), staged_deals(), registry())


def outcome(chance: Random) -> Outcome:
    """Return a possible outcome of a play."""
    winner, other = chance.sample(SEATS, 2)
    value = chance.randint(8, 88)
    return chance.choice(
        [
            Outcome("draw", {}),
            Outcome("discard", {winner: value}, other),
            Outcome("self_drawn", {winner: value}),
        ]
    )


def played(of: Event, table: int, round_: int, ended: Outcome) -> list[Fact]:
    """Return all facts of a play that is planned now."""
    booking = of.bookings[table, round_]
    result = Result(
        round=round_,
        deal=booking.deal,
        profile="oedmc-2020",
        players=dict(booking.players),
        win=ended.win,
        winners=dict(ended.winners),
        discarder=ended.discarder,
        points=seat_points(ended, load_mcr("oedmc-2020").payments),
        fines={},
    )
    _, *rest = steps_to(result)
    walls = Restored(round=round_, deal=booking.deal, verified=True, form=of.form(booking.deal), refusals=0)
    return [walls, *rest]


def play_rounds(of: Event, rounds: Iterable[int], chance: Random, said: dict[int, int]) -> list[LogMessage]:
    """Return what all tables report in some rounds. `said`: how many facts each has reported so far; it is updated."""
    found = []
    for table, round_ in sorted(of.bookings, key=lambda key: key[::-1]):
        for one in played(of, table, round_, outcome(chance)) if round_ in rounds else ():
            said[table] = said.get(table, 0) + 1
            found.append(fact(table, said[table], one))
    return found


BOUNDS: Final = (2, 5, 9, 13, 17, 22, 27, 32, 37, 43, 50, 60, 75, 90, 110, 130, 150, 175, 200, 225, 250, 300, 350, 400)
"""The scale of the profile. Halfway between two whole numbers, the upper one counts."""


def recomputed(messages: Iterable[LogMessage]) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """Return everybody's IMPs in the qualification and in the final, without carry-over, computed independently."""
    groups: dict[tuple[int, str], list[Result]] = {}
    for message in messages:
        if isinstance(said := message.fact, Result):
            section = ("A" if message.table <= 2 else "B") if said.round <= 2 else ""
            groups.setdefault((said.deal, section), []).append(said)
    totals: tuple[dict[str, Fraction], dict[str, Fraction]] = ({}, {})
    for results in groups.values():
        for seat in SEATS:
            mean = Fraction(sum(one.points[seat] for one in results), len(results))
            for one in results:
                off = one.points[seat] - mean
                imp = sum(abs(off) >= Fraction(2 * bound - 1, 2) for bound in BOUNDS) * (1 if off > 0 else -1)
                of = totals[one.round > 2]
                of[one.players[seat]] = of.get(one.players[seat], Fraction(0)) + imp
    return totals


def whole(number: Fraction) -> int:
    """Round, halves away from zero."""
    size = (2 * abs(number) + 1) // 2
    return int(size) if number > 0 else -int(size)


def places(imps: Mapping[str, Fraction | int], of: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Return place and IMPs of some players, ranked among themselves."""
    here = {name: int(imps[name]) for name in of}
    return {name: (1 + sum(other > imp for other in here.values()), imp) for name, imp in here.items()}
