"""The structure of an event: the formats that suit the organiser's resources, and a movement for all stages of one.

A movement in stages has parallel sections that play the same deals, and a final seated by rank.

**Strength.** The share of a standing that is due to strength rather than chance follows from the Spearman-Brown
formula: after n plays it is n·r / (1 + (n - 1)·r), where r is the share in one play. If t tables are compared, r is
`ONE_PLAY` · (1 - 1/t), because the datum includes the player's own play and the luck of t - 1 others. `ONE_PLAY` was
measured with simulated players (docs/why-duplicate.md, `tests/benchmarks/duplicate.py`).
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

LETTERS: Final = "ABCDEFGHIJ"
LONGEST_HALL_NAME: Final = 24


def seeded(seed: int = 0) -> RandomSource:
    """Return a seeded random source, so that a movement can be reproduced."""
    return Random(seed)  # noqa: S311 - seating is no secret


MOST_WAITING: Final = 3
"""On a busy machine a search takes at most this many times its computing time."""


def for_seconds(seconds: float) -> KeepSearching:
    """Return a check that ends a search after so much CPU time: a busy machine makes it longer, but not worse."""
    began = time.thread_time()
    latest = time.monotonic() + MOST_WAITING * seconds
    return lambda: time.thread_time() - began < seconds and time.monotonic() < latest


class Structure(NamedTuple):
    """The structure an organiser requests. `final` is how many players, or teams, qualify; 0 means no final."""

    rounds: int
    sections: int = 1
    final: int = 0
    final_rounds: int = 0
    carry_over: str = ""
    """Share of the qualification that counts in the final, such as 2/3 or 50%; if empty, the rule profile's."""
    names: tuple[str, str] = ("Qualification", "Final")
    deals_per_round: int | None = None
    copies: int | None = None
    """Carriers of each deal in each section."""
    tables: int | None = None
    """Tables in each section. None, here and in the two fields above, means the usual number for so many players."""
    hall_of: Mapping[str, str] | None = None
    """Title of each player's hall, by player id; None if the event is played in one place."""

    @property
    def plain(self) -> bool:
        """Whether the event is one stage without sections."""
        return self.sections == 1 and not self.final


class HallOrder(NamedTuple):
    """The players of one hall and the size of its movement."""

    title: str
    players: tuple[str, ...]
    order: MovementOrder


def hall_orders(plan: Plan, request: Structure) -> list[HallOrder]:
    """Return the order for each hall's movement; empty if the event is played in one place.

    All halls play the same deals in the same rounds, each with its own carriers.
    Raises RuleError `halls_wrong`, `impossible_size`.
    """
    if request.hall_of is None:
        return []
    if plan.teams or not request.plain:
        raise RuleError("halls_wrong", N_("halls are for individual events of one stage, without sections"))
    halls = dict[str, list[str]]()
    for player in plan.players:
        if not (title := request.hall_of.get(player.id)):
            raise RuleError("halls_wrong", N_("the list does not say in which hall {player} plays", player=player.name))
        halls.setdefault(title, []).append(player.id)
    return [HallOrder(title, tuple(ids), _hall_order(title, len(ids), request)) for title, ids in halls.items()]


def _hall_order(title: str, players: int, request: Structure) -> MovementOrder:
    try:
        order = usual_order(players, None, request.rounds, request.deals_per_round, 1)
    except RuleError as error:
        raise RuleError(error.code, N_("{where}: {problem}", where=title, problem=error.text)) from None
    return replace_order(order, copies=-(-order.tables // order.deals_per_round))


def forecast(plan: Plan, request: Structure, minutes: int) -> MovementForecast:
    """Return the forecast for each section, or for all halls together; `minutes` is the length of a play.

    Raises as `section_order`, `hall_orders`.
    """
    orders = [hall.order for hall in hall_orders(plan, request)] or [section_order(plan, request)]
    return forecast_together([forecast_order(order, minutes) for order in orders])


def section_order(plan: Plan, request: Structure) -> MovementOrder:
    """Return the order for the movement of each section.

    Raises RuleError `sections_uneven`, `impossible_size`, `teams_do_not_fit`, `too_many_sets`.
    """
    teams = check_teams_of_four(plan.teams)
    count = len(teams) or len(plan.players)
    if not 1 <= request.sections <= len(LETTERS) or count % request.sections:
        raise RuleError(
            "sections_uneven",
            N_("{count} cannot be divided into {sections} equal sections", count=count, sections=request.sections),
        )
    players = count // request.sections * (SEATED if teams else 1)
    return _check_sets(usual_order(players, request.tables, request.rounds, request.deals_per_round, request.copies))


def _check_sets(order: MovementOrder) -> MovementOrder:
    """Return the order if there are enough set numbers for it. Raises RuleError `too_many_sets`."""
    if (at_once := min(order.tables, order.pods * order.deals_per_round)) > LAST_SET:
        raise too_many_sets(at_once)
    return order


def structured_plan(plan: Plan, request: Structure, chance: RandomSource, go_on: Callable[[], KeepSearching]) -> Plan:
    """Return the plan with a movement for all stages. `go_on` starts the time of each search.

    Players are assigned to sections in the order listed: the first to A, the second to B, and so on.
    Raises RuleError as `section_order`, `stages_wrong`, `part_wrong`.
    """
    order, teams = section_order(plan, request), plan.teams
    final = _final_order(plan, request, order.copies * request.sections)
    made = make_movement(order, chance, go_on(), in_teams=bool(teams))
    plays, sections = list[BookedPlay](), list[Section]()
    entries = list(teams.values()) or [(player.id,) for player in plan.players]
    for at in range(request.sections):
        names = list(chain.from_iterable(entries[at :: request.sections]))
        first = at * order.tables
        plays += (replace(play, table=play.table + first) for play in scheduled_plays(name_players(made, names)))
        sections.append(Section(LETTERS[at], first + 1, first + order.tables))
    last = max(play.round for play in plays)
    stages = [Stage(request.names[0], 1, last, tuple(sections) if request.sections > 1 else ())]
    if final is not None:
        ranks = [str(rank) for rank in range(1, request.final + 1)]
        if teams:
            ranks = [f"{rank}-{member}" for rank in ranks for member in range(1, SEATED + 1)]
        by_rank = make_movement(final, chance, go_on(), in_teams=bool(teams))
        deals = max(play.deal for play in plays)
        plays += (
            replace(play, round=play.round + last, deal=play.deal + deals)
            for play in scheduled_plays(name_players(by_rank, ranks))
        )
        end = max(play.round for play in plays)
        stages.append(Stage(request.names[1], last + 1, end, cut=request.final, carry_over=request.carry_over.strip()))
    return replace(
        plan,
        plays=tuple(sorted(plays, key=lambda play: (play.round, play.table))),
        stages=() if request.plain else tuple(stages),
        copies=max(order.copies * request.sections, final.copies if final else 1),
    )


def plan_in_halls(
    plan: Plan, request: Structure, chance: RandomSource, go_on: Callable[[], KeepSearching]
) -> tuple[Plan, tuple[Hall, ...]]:
    """Return the plan with a movement that keeps players in their hall, and the halls. Raises as `hall_orders`."""
    plays, halls, copies, first = list[BookedPlay](), list[Hall](), 0, 0
    for at, (title, players, order) in enumerate(hall_orders(plan, request), 1):
        made = scheduled_plays(name_players(make_movement(order, chance, go_on()), players))
        plays += (replace(play, table=play.table + first) for play in made)
        name = _hall_name(title, at, {hall.name for hall in halls})
        halls.append(Hall(name, title, f"{first + 1}-{first + order.tables}"))
        first, copies = first + order.tables, copies + order.copies
    in_order = tuple(sorted(plays, key=lambda play: (play.round, play.table)))
    return replace(plan, plays=in_order, stages=(), copies=copies), tuple(halls)


def _hall_name(title: str, at: int, taken: Container[str]) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    name = re.sub("[^a-z0-9]+", "-", plain)[:LONGEST_HALL_NAME].strip("-")
    return f"hall-{at}" if not name or name in taken else name


def _final_order(plan: Plan, request: Structure, carriers: int) -> MovementOrder | None:
    """Return the order for the final's movement; None without a final.

    If the qualification has several `carriers` of a deal, the final uses them too, so that its deals end early.
    """
    if not request.final:
        return None
    if request.carry_over.strip():
        read_part(request.carry_over)
    count = len(plan.teams) or len(plan.players)
    if request.final > count or request.final % request.sections or not request.final_rounds:
        text = N_(
            "this final is not possible: qualifying {final} of {count}, rounds: {rounds}, sections: {sections}",
            final=request.final,
            rounds=request.final_rounds,
            count=count,
            sections=request.sections,
        )
        raise RuleError("stages_wrong", text)
    players = request.final * (SEATED if plan.teams else 1)
    copies = min(carriers, players // SEATED) if carriers > 1 else None
    return usual_order(players, None, request.final_rounds, None, copies)


ONE_PLAY: Final = 0.0245
"""The share of strength in one play compared with very many others, as measured in docs/why-duplicate.md."""

RESTORING_MINUTES: Final = 9
"""Minutes that one person needs to restore a carrier; a model gives 7 with a camera, 10 by hand (docs/restoring.md)."""

MOST_TURNS: Final = 200
"""Most plays in succession at a table; no event has more."""

MOST_DEALS_A_ROUND: Final = 8
MOST_OFFERED: Final = 8


class Resources(NamedTuple):
    """What an organiser has available. None means as many as are needed."""

    players: int
    tables: int | None
    minutes: int
    """Playing time in minutes, including restoring but not breaks."""
    carriers: int | None = None
    sets: int | None = None
    minutes_a_play: int = USUAL_MINUTES


@dataclass(frozen=True, slots=True)
class Format:
    """A way to play the event, with its properties."""

    order: MovementOrder
    forecast: MovementForecast
    carriers: int
    """How many carriers are in use at once. Each holds a whole set of tiles."""
    staff: int
    others_met: int
    """At most how many other players a player meets."""
    first_minutes: int
    """Minutes until the first deals have been played at all their tables. Until then nothing is published."""
    at_half: int
    """Per cent of the deals that are over at half time."""
    strength: int
    """Per cent of the differences in the final standings that are due to strength; the rest is chance."""
    plays_for: tuple[int, ...]
    """Plays each player would need to reach each of the `GOALS`; 0 if nobody is compared."""

    @property
    def early(self) -> bool:
        """Whether the first standings come in the first half of the playing time."""
        return 2 * self.first_minutes <= self.forecast.minutes

    @property
    def late(self) -> bool:
        """Whether the first standings come only at the very end."""
        return self.first_minutes >= self.forecast.minutes

    @property
    def first_time(self) -> str:
        """Hours and minutes until the first standings, such as 1:40."""
        return hours_minutes(self.first_minutes)

    @property
    def merits(self) -> tuple[int, ...]:
        """Properties by which formats are compared; larger is better. Fewer rounds mean fewer changes of table."""
        return self.strength, self.others_met, self.at_half, -self.first_minutes, -self.carriers, -self.order.rounds

    def row(self) -> dict[str, Any]:
        """Return the format as a JSON object."""
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
    """Return the share of a standing that is due to strength after so many plays, each compared at `tables` tables."""
    one_play = ONE_PLAY * (1 - 1 / tables)
    return plays * one_play / (1 + (plays - 1) * one_play)


def formats(resources: Resources) -> list[Format]:
    """Return the suitable formats, at most `MOST_OFFERED`: those with early standings first, then by strength.

    A format is left out if another is at least as good in everything and better in something.
    Raises RuleError `impossible_size`, `no_format`.
    """
    filled = resources.players // SEATED
    tables = filled if resources.tables is None else min(resources.tables, filled)
    usual_order(resources.players, tables, 1, 1, 1)  # raises if no movement can have this size
    made = (_format(order, resources.minutes_a_play) for order in _orders(resources, tables))
    most = min((count for count in (resources.carriers, resources.sets) if count is not None), default=inf)
    possible = [one for one in made if one.carriers <= most and not one.forecast.nobody_compared]
    best = [one for one in possible if not any(_beats(other, one) for other in possible)]
    if not best:
        text = N_(
            "there is no suitable format in which results are compared: "
            "allow more time, carriers or sets, or shorter plays"
        )
        raise RuleError("no_format", text)
    return sorted(best, key=lambda one: (not one.early, -one.strength, -one.others_met, one.carriers))[:MOST_OFFERED]


def _orders(resources: Resources, tables: int) -> Iterator[MovementOrder]:
    """Yield candidate orders: all numbers of deals a round and groups of tables, with rounds a multiple of groups."""
    longest = min(resources.minutes // resources.minutes_a_play, MOST_TURNS)
    for deals, pods in product(range(1, MOST_DEALS_A_ROUND + 1), range(1, tables + 1)):
        copies, most = -(-tables // (deals * pods)), longest // deals
        if pods > 1 and copies == -(-tables // (deals * (pods - 1))):
            continue  # as many carriers as with one group fewer, so the same order
        met_all = (resources.players - 1) // (SEATED - 1)
        for rounds in {most // pods * pods or most, min(most, met_all) // pods * pods}:
            with suppress(RuleError):
                yield _check_sets(MovementOrder(resources.players, tables, rounds, deals, copies))


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
    """Return whether a format is nowhere worse than another, and better somewhere."""
    return one.merits != other.merits and all(map(ge, one.merits, other.merits))
