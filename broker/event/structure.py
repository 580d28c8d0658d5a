"""A movement for an event in stages: sections side by side that play the same deals, and a final seated by rank."""

import time
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from broker.event.deals import LAST_SET
from broker.event.deals.make import too_many_sets
from broker.event.movement import KeepSearching, MovementOrder, make_movement, name_players
from broker.event.movement.files import check_teams_of_four, scheduled_plays, team_by_team
from broker.event.movement.make import usual_order
from broker.event.movement.plays import SEATED, RandomSource
from broker.event.plan import BookedPlay, Plan
from broker.event.stages import Section, Stage, read_part
from broker.i18n import N_
from broker.rules import RuleError

LETTERS = "ABCDEFGHIJ"


def seeded(seed: int = 0) -> RandomSource:
    """Return chance that repeats itself, for a movement that can be made again."""
    return Random(seed)  # noqa: S311 - who sits where is no secret


def for_seconds(seconds: float) -> KeepSearching:
    """Return what ends a search after so long, from now on."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end


class Structure(NamedTuple):
    """What an organiser wishes. `final`: how many players, or teams, go on; 0: there is none."""

    rounds: int
    sections: int = 1
    final: int = 0
    final_rounds: int = 0
    carry_over: str = ""
    """Of the qualification, such as 2/3 or 50%; empty: what the rule profile says."""
    names: tuple[str, str] = ("Qualification", "Final")

    @property
    def plain(self) -> bool:
        """Whether the event is one stage without sections."""
        return self.sections == 1 and not self.final


def section_order(plan: Plan, wish: Structure, copies: int | None = None) -> MovementOrder:
    """Return what a movement of each section is made for; `copies`: carriers of each deal in it.

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
    order = usual_order(players, None, wish.rounds, None, copies)
    if (at_once := min(order.tables, order.pods * order.deals_per_round)) > LAST_SET:
        raise too_many_sets(at_once)
    return order


def structured_plan(
    plan: Plan,
    wish: Structure,
    chance: RandomSource,
    go_on: Callable[[], KeepSearching],
    copies: int | None = None,
) -> Plan:
    """Return a plan with the movement of all stages. `go_on` begins the time of a search; `copies`: in each section.

    Players go into sections as they are listed: the first into A, the second into B, and so on.
    Raises RuleError as `section_order`, `stages_wrong`, `part_wrong`.
    """
    order, teams = section_order(plan, wish, copies), check_teams_of_four(plan.teams)
    final = _final_order(plan, wish, teams=bool(teams))
    made = make_movement(order, chance, go_on(), in_teams=bool(teams))
    plays, sections = list[BookedPlay](), list[Section]()
    listed = list(teams) or [player.id for player in plan.players]
    for at in range(wish.sections):
        here = listed[at :: wish.sections]
        names = team_by_team({team: teams[team] for team in here}) if teams else here
        first = at * order.tables
        plays += (replace(play, table=play.table + first) for play in scheduled_plays(name_players(made, names)))
        sections.append(Section(LETTERS[at], first + 1, first + order.tables))
    last = max(play.round for play in plays)
    stages = [Stage(wish.names[0], 1, last, tuple(sections) if wish.sections > 1 else ())]
    if final is not None:
        ranks = [
            f"{rank}-{member}" if teams else str(rank)
            for rank in range(1, wish.final + 1)
            for member in range(1, (SEATED if teams else 1) + 1)
        ]
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


def _final_order(plan: Plan, wish: Structure, *, teams: bool) -> MovementOrder | None:
    if not wish.final:
        return None
    if wish.carry_over.strip():
        read_part(wish.carry_over)
    count = len(plan.teams) or len(plan.players)
    if wish.final > count or wish.final % wish.sections or not wish.final_rounds:
        raise RuleError(
            "stages_wrong",
            N_(
                "a final of {final} in {rounds} rounds cannot be made of {count} in {sections} sections",
                final=wish.final,
                rounds=wish.final_rounds,
                count=count,
                sections=wish.sections,
            ),
        )
    return usual_order(wish.final * (SEATED if teams else 1), None, wish.final_rounds, None, None)
