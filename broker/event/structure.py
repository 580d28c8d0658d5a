"""What an event is made of: which formats fit what the organiser has, and a movement for all stages of one.

A movement in stages has sections side by side that play the same deals, and a final seated by rank.

**Strength.** How much of a standing is strength, and how much chance, is reckoned by the Spearman-Brown formula: of n
plays n·r / (1 + (n - 1)·r), where r is the share of one play. Against t tables r is `ONE_PLAY` · (1 - 1/t): the datum
includes the player's own play, and the luck of t - 1 others. `ONE_PLAY` was measured with simulated players
(docs/why-duplicate.md, `tests/benchmarks/duplicate.py`).
"""

import re
import time
import unicodedata
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import replace as replace_order
from itertools import chain, product
from math import ceil, inf
from operator import ge
from random import Random
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from broker.event.deals import LAST_SET, too_many_sets
from broker.event.halls import Hall
from broker.event.movement import (
    SEATED,
    KeepSearching,
    MovementOrder,
    RandomSource,
    make_movement,
    name_players,
    sets_of_pods,
    usual_order,
)
from broker.event.movement.files import check_teams_of_four, scheduled_plays
from broker.event.movement.summary import (
    USUAL_MINUTES,
    MovementForecast,
    forecast_order,
    forecast_together,
    hours_minutes,
)
from broker.event.plan import BookedPlay, Plan
from broker.event.stages import Section, Stage, read_part
from broker.i18n import N_
from broker.rules import RuleError
from broker.scoring import GOALS, length_factor

LETTERS = "ABCDEFGHIJ"

LONGEST_HALL_NAME: Final = 24


def seeded(seed: int = 0) -> RandomSource:
    """Return chance that repeats itself, for a movement that can be made again."""
    return Random(seed)  # noqa: S311 - who sits where is no secret


MOST_WAITING: Final = 3
"""How many times as long as on an idle machine somebody waits for a search."""


def for_seconds(seconds: float) -> KeepSearching:
    """Return what ends a search after so much computing: a busy machine does not make it worse, only longer."""
    began = time.thread_time()
    latest = time.monotonic() + MOST_WAITING * seconds
    return lambda: time.thread_time() - began < seconds and time.monotonic() < latest


class Structure(NamedTuple):
    """What an organiser wishes. `final`: how many players, or teams, qualify; 0: there is none."""

    rounds: int
    sections: int = 1
    final: int = 0
    final_rounds: int = 0
    carry_over: str = ""
    """Of the qualification, such as 2/3 or 50%; empty: what the rule profile says."""
    names: tuple[str, str] = ("Qualification", "Final")
    deals_per_round: int | None = None
    copies: int | None = None
    """Carriers of each deal, in each section."""
    tables: int | None = None
    """In each section; None here and above: what is usual for so many players."""
    hall_of: Mapping[str, str] | None = None
    """In which hall each player stays, as people call it; None: the event is played in one place."""

    @property
    def plain(self) -> bool:
        """Whether the event is one stage without sections."""
        return self.sections == 1 and not self.final


class HallOrder(NamedTuple):
    """What the movement of one hall is made for."""

    title: str
    players: tuple[str, ...]
    order: MovementOrder


def hall_orders(plan: Plan, wish: Structure) -> list[HallOrder]:
    """Return what is made for each hall: all play the same deals in the same rounds, each with carriers of its own.

    None where the event is played in one place. Raises RuleError `halls_wrong`, `impossible_size`.
    """
    if wish.hall_of is None:
        return []
    if plan.teams or not wish.plain:
        raise RuleError("halls_wrong", N_("halls are for individual events of one stage, without sections"))
    of = dict[str, list[str]]()
    for one in plan.players:
        if not (title := wish.hall_of.get(one.id)):
            raise RuleError("halls_wrong", N_("the list does not say in which hall {player} plays", player=one.name))
        of.setdefault(title, []).append(one.id)
    return [HallOrder(title, tuple(players), _hall_order(title, len(players), wish)) for title, players in of.items()]


def _hall_order(title: str, players: int, wish: Structure) -> MovementOrder:
    try:
        order = usual_order(players, None, wish.rounds, wish.deals_per_round, 1)
    except RuleError as error:
        raise RuleError(error.code, N_("{where}: {problem}", where=title, problem=error.text)) from None
    return replace_order(order, copies=-(-order.tables // order.deals_per_round))


def forecast(plan: Plan, wish: Structure, minutes: int) -> MovementForecast:
    """Return what would result, in each section or in all halls together, without making it. `minutes` of a play.

    Raises as `section_order`, `hall_orders`.
    """
    orders = [hall.order for hall in hall_orders(plan, wish)] or [section_order(plan, wish)]
    return forecast_together([forecast_order(order, minutes) for order in orders])


def section_order(plan: Plan, wish: Structure) -> MovementOrder:
    """Return what a movement of each section is made for.

    Raises RuleError `sections_uneven`, `impossible_size`, `teams_do_not_fit`, `too_many_sets`.
    """
    teams = check_teams_of_four(plan.teams)
    count = len(teams) or len(plan.players)
    if not 1 <= wish.sections <= len(LETTERS) or count % wish.sections:
        raise RuleError(
            "sections_uneven",
            N_("{count} do not make {sections} sections of the same size", count=count, sections=wish.sections),
        )
    players = count // wish.sections * (SEATED if teams else 1)
    return _numbered(usual_order(players, wish.tables, wish.rounds, wish.deals_per_round, wish.copies))


def _numbered(order: MovementOrder) -> MovementOrder:
    """Return an order that sets have enough numbers for. Raises RuleError `too_many_sets`."""
    if (at_once := min(order.tables, order.pods * order.deals_per_round)) > LAST_SET:
        raise too_many_sets(at_once)
    return order


def structured_plan(plan: Plan, wish: Structure, chance: RandomSource, go_on: Callable[[], KeepSearching]) -> Plan:
    """Return a plan with the movement of all stages. `go_on` begins the time of a search.

    Players go into sections as they are listed: the first into A, the second into B, and so on.
    Raises RuleError as `section_order`, `stages_wrong`, `part_wrong`.
    """
    order, teams = section_order(plan, wish), plan.teams
    final = _final_order(plan, wish, order.copies * wish.sections)
    made = make_movement(order, chance, go_on(), in_teams=bool(teams))
    plays, sections = list[BookedPlay](), list[Section]()
    entries = list(teams.values()) or [(player.id,) for player in plan.players]
    for at in range(wish.sections):
        names = list(chain.from_iterable(entries[at :: wish.sections]))
        first = at * order.tables
        plays += (replace(play, table=play.table + first) for play in scheduled_plays(name_players(made, names)))
        sections.append(Section(LETTERS[at], first + 1, first + order.tables))
    last = max(play.round for play in plays)
    stages = [Stage(wish.names[0], 1, last, tuple(sections) if wish.sections > 1 else ())]
    if final is not None:
        ranks = [str(rank) for rank in range(1, wish.final + 1)]
        if teams:
            ranks = [f"{rank}-{member}" for rank in ranks for member in range(1, SEATED + 1)]
        by_rank = make_movement(final, chance, go_on(), in_teams=bool(teams))
        deals = max(play.deal for play in plays)
        plays += (
            replace(play, round=play.round + last, deal=play.deal + deals)
            for play in scheduled_plays(name_players(by_rank, ranks))
        )
        end = max(play.round for play in plays)
        stages.append(Stage(wish.names[1], last + 1, end, cut=wish.final, carry_over=wish.carry_over.strip()))
    return replace(
        plan,
        plays=tuple(sorted(plays, key=lambda play: (play.round, play.table))),
        stages=() if wish.plain else tuple(stages),
        copies=max(order.copies * wish.sections, final.copies if final else 1),
    )


def plan_in_halls(
    plan: Plan, wish: Structure, chance: RandomSource, go_on: Callable[[], KeepSearching]
) -> tuple[Plan, tuple[Hall, ...]]:
    """Return a plan in which everybody stays in their hall, and the halls. Raises as `hall_orders`."""
    plays, halls, copies, first = list[BookedPlay](), list[Hall](), 0, 0
    for at, (title, players, order) in enumerate(hall_orders(plan, wish), 1):
        made = scheduled_plays(name_players(make_movement(order, chance, go_on()), players))
        plays += (replace(play, table=play.table + first) for play in made)
        name = _hall_name(title, at, {one.name for one in halls})
        halls.append(Hall(name, title, f"{first + 1}-{first + order.tables}"))
        first, copies = first + order.tables, copies + order.copies
    in_order = tuple(sorted(plays, key=lambda play: (play.round, play.table)))
    return replace(plan, plays=in_order, stages=(), copies=copies), tuple(halls)


def _hall_name(title: str, at: int, taken: Container[str]) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    name = re.sub("[^a-z0-9]+", "-", plain)[:LONGEST_HALL_NAME].strip("-")
    return f"hall-{at}" if not name or name in taken else name


def _final_order(plan: Plan, wish: Structure, carriers: int) -> MovementOrder | None:
    """Return what the final's movement is made for. `carriers` of a deal are there: with them its deals end early."""
    if not wish.final:
        return None
    if wish.carry_over.strip():
        read_part(wish.carry_over)
    count = len(plan.teams) or len(plan.players)
    if wish.final > count or wish.final % wish.sections or not wish.final_rounds:
        text = N_(
            "no such final can be made: {final} of {count}, rounds: {rounds}, sections: {sections}",
            final=wish.final,
            rounds=wish.final_rounds,
            count=count,
            sections=wish.sections,
        )
        raise RuleError("stages_wrong", text)
    players = wish.final * (SEATED if plan.teams else 1)
    copies = min(carriers, players // SEATED) if carriers > 1 else None
    return usual_order(players, None, wish.final_rounds, None, copies)


ONE_PLAY: Final = 0.0245
"""The share of strength in one play that is compared with very many: what docs/why-duplicate.md measured."""

RESTORING_MINUTES: Final = 9
"""So long one person takes for a carrier: 7 with a camera, 10 by hand, by a model (docs/restoring.md)."""

MOST_TURNS: Final = 200
"""Plays one after the other; more no event has."""

MOST_DEALS_A_ROUND: Final = 8
MOST_OFFERED: Final = 8


class Resources(NamedTuple):
    """What an organiser knows. None: as many as are needed."""

    players: int
    tables: int | None
    minutes: int
    """Of play, restoring included and pauses not."""
    carriers: int | None = None
    sets: int | None = None
    minutes_a_play: int = USUAL_MINUTES


@dataclass(frozen=True, slots=True)
class Format:
    """A way to play the event, with its properties."""

    order: MovementOrder
    forecast: MovementForecast
    carriers: int
    """In use at once; each holds a whole set of tiles."""
    staff: int
    others_met: int
    """At most, of all others."""
    first_minutes: int
    """When the first deals have been played by all who are compared in them: until then nothing is published."""
    at_half: int
    """Per cent of all plays whose deals are done with at half time."""
    strength: int
    """Per cent of the differences in the final standing that are strength; the rest is chance."""
    plays_for: tuple[int, ...]
    """Plays that everybody would need for so much strength as `GOALS` say; 0: nobody is compared."""

    @property
    def early(self) -> bool:
        """Whether standings begin in the first half."""
        return 2 * self.first_minutes <= self.forecast.minutes

    @property
    def late(self) -> bool:
        """Whether standings begin only when everything is over."""
        return self.first_minutes >= self.forecast.minutes

    @property
    def first_time(self) -> str:
        """Hours and minutes until the first standings, as 1:40."""
        return hours_minutes(self.first_minutes)

    @property
    def merits(self) -> tuple[int, ...]:
        """What is better the more there is of it; the fewer rounds, the less often everybody changes tables."""
        return self.strength, self.others_met, self.at_half, -self.first_minutes, -self.carriers, -self.order.rounds

    def row(self) -> dict[str, Any]:
        """Return it as programs read it."""
        order, coming = self.order, self.forecast
        return {
            "rounds": order.rounds,
            "deals_per_round": order.deals_per_round,
            "copies": order.copies,
            "tables": order.tables,
            "deals": coming.deals,
            "tables_a_deal": coming.compared[0],
            "plays_each": list(coming.plays_each),
            "minutes": coming.minutes,
            "staff": self.staff,
            "carriers": self.carriers,
            "sets": self.carriers,
            "others_met": self.others_met,
            "first_minutes": self.first_minutes,
            "at_half": self.at_half,
            "strength": self.strength,
            "plays_for": {str(round(100 * goal)): plays for goal, plays in zip(GOALS, self.plays_for, strict=True)},
            "early": self.early,
        }


def strength_share(plays: int, tables: int) -> float:
    """Return how much of a standing after this many plays, each compared at so many tables, is strength."""
    one = ONE_PLAY * (1 - 1 / tables)
    return plays * one / (1 + (plays - 1) * one)


def formats(have: Resources) -> list[Format]:
    """Return the formats that fit, at most `MOST_OFFERED`: those with early standings first, then the strongest.

    What another format beats or equals in everything is left out. Raises RuleError `impossible_size`, `no_format`.
    """
    tables = have.players // SEATED if have.tables is None else min(have.tables, have.players // SEATED)
    usual_order(have.players, tables, 1, 1, 1)  # refuses what no movement can be made for
    made = (_format(order, have.minutes_a_play) for order in _orders(have, tables))
    most = min((count for count in (have.carriers, have.sets) if count is not None), default=inf)
    found = [one for one in made if one.carriers <= most and not one.forecast.nobody_compared]
    kept = [one for one in found if not any(_beats(other, one) for other in found)]
    if not kept:
        text = N_(
            "there is no suitable format in which results are compared: "
            "allow more time, carriers or sets, or shorter plays"
        )
        raise RuleError("no_format", text)
    return sorted(kept, key=lambda one: (not one.early, -one.strength, -one.others_met, one.carriers))[:MOST_OFFERED]


def _orders(have: Resources, tables: int) -> Iterator[MovementOrder]:
    """Return what is looked at: so many deals a round, at so many groups of tables, in whole turns of the groups."""
    longest = min(have.minutes // have.minutes_a_play, MOST_TURNS)
    for deals, pods in product(range(1, MOST_DEALS_A_ROUND + 1), range(1, tables + 1)):
        copies, most = -(-tables // (deals * pods)), longest // deals
        if pods > 1 and copies == -(-tables // (deals * (pods - 1))):
            continue  # the same tables share a deal with fewer groups
        met_all = (have.players - 1) // (SEATED - 1)
        for rounds in {most // pods * pods or most, min(most, met_all) // pods * pods}:
            with suppress(RuleError):
                yield _numbered(MovementOrder(have.players, tables, rounds, deals, copies))


def _format(order: MovementOrder, minutes: int) -> Format:
    coming, turns = forecast_order(order, minutes), order.deals_per_round
    rounds = dict[int, list[int]]()
    for round_, _, number in sets_of_pods(order):
        rounds.setdefault(number, []).append(round_)
    open_at_once = max(sum(of_set[0] <= now <= of_set[-1] for of_set in rounds.values()) for now in range(order.rounds))
    within = [at + 1 if order.pods == 1 and at + 1 >= order.pod else turns for at in range(turns)]
    over = [of_set[-1] * turns + at for of_set in rounds.values() for at in within]
    plays, compared = coming.plays_each[0], coming.compared[0]
    one_play = strength_share(1, compared)
    return Format(
        order,
        coming,
        carriers=open_at_once * turns * -(-order.pod // turns),
        staff=-(-order.tables * RESTORING_MINUTES // minutes),
        others_met=min(order.players - 1, (SEATED - 1) * plays // turns),
        first_minutes=min(over) * minutes,
        at_half=100 * sum(2 * end <= coming.turns for end in over) // len(over),
        strength=round(100 * strength_share(plays, compared)),
        plays_for=tuple(ceil(length_factor(one_play, goal)) if one_play else 0 for goal in GOALS),
    )


def _beats(one: Format, other: Format) -> bool:
    """Return whether a format is nowhere worse than another, and somewhere better."""
    return one.merits != other.merits and all(map(ge, one.merits, other.merits))
