"""The structure of an event: consecutive stages, and the sections into which a stage divides its tables.

Each section is compared and ranked by itself. A stage with a `cut` is seated by rank: in place of players, its movement
names ranks in the previous stage, `1` to the number who qualify; in a team event `2-3` is the third player of the
second team. Ranks are assigned once the previous stage is over (`broker/rulings/final.py`). A deal belongs to exactly
one stage.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Annotated, Final, Protocol, TypeVar

from msgspec import Meta, Struct

from broker.event.movement import MovementPlay
from broker.i18n import N_
from broker.protocol import Name, RoundNo, TableNo
from broker.rules import RuleError

MOST_GOING_ON: Final = 1000
RANK: Final = re.compile(r"([1-9][0-9]{0,3})(?:-([1-9][0-9]?))?")
PART: Final = re.compile(r"(\d{1,4})/([1-9]\d{0,3})|(\d{1,3})\s?%")


class Section(Struct, frozen=True, forbid_unknown_fields=True):
    """A range of consecutive tables in a stage, both ends included."""

    name: Name
    first_table: TableNo
    last_table: TableNo


class Stage(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A range of consecutive rounds with standings of their own."""

    name: Name
    first_round: RoundNo
    last_round: RoundNo
    sections: tuple[Section, ...] = ()
    """Empty if all tables are compared with each other."""
    cut: Annotated[int, Meta(ge=0, le=MOST_GOING_ON, description="players, or teams, who go on to it; 0: all")] = 0
    carry_over: Annotated[str, Meta(max_length=12, description="of the stage before, such as 2/3 or 50%")] = ""
    """If empty, the rule profile's carry-over applies."""

    def section_of(self, table: int) -> str | None:
        """Return the name of a table's section; None if it is in none."""
        return next((one.name for one in self.sections if one.first_table <= table <= one.last_table), None)

    @property
    def rounds(self) -> range:
        """The stage's rounds."""
        return range(self.first_round, self.last_round + 1)


P = TypeVar("P", bound=MovementPlay)
P_co = TypeVar("P_co", bound=MovementPlay, covariant=True)


class HasStages(Protocol[P_co]):
    """The parts of a plan that this module needs."""

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages, in order."""

    @property
    def plays(self) -> Sequence[P_co]:
        """All plays, including those of stages seated by rank."""


def read_part(text: str) -> Fraction:
    """Parse a fraction from 0 to 1, such as 2/3 or 50%. Raises RuleError `part_wrong`."""
    found = PART.fullmatch(text.strip())
    part = (
        Fraction(int(found[1]), int(found[2])) if found and found[1] else Fraction(int(found[3]), 100) if found else -1
    )
    if not 0 <= part <= 1:
        raise RuleError("part_wrong", N_("{text} is not a fraction: write 2/3 or 50%", text=repr(text[:20])))
    return Fraction(part)


def stage_at(stages: Iterable[Stage], round_: int) -> int | None:
    """Return the number, from 0, of the stage that contains a round; None if there is none."""
    return next((at for at, stage in enumerate(stages) if round_ in stage.rounds), None)


def parted_plays(plan: HasStages[P]) -> tuple[list[P], list[P]]:
    """Return the plays that name players, and the plays of stages seated by rank."""
    by_rank = {round_ for stage in plan.stages if stage.cut for round_ in stage.rounds}
    plays = [play for play in plan.plays if play.round not in by_rank]
    return plays, [play for play in plan.plays if play.round in by_rank]


def ranks_of(stage: Stage, plays: Iterable[MovementPlay]) -> dict[str | int, tuple[int, int]]:
    """Parse what a stage's movement has in place of players into rank and team member, both from 1.

    Raises RuleError `rank_wrong`.
    """
    found: dict[str | int, tuple[int, int]] = {}
    for play in plays:
        for player in play.players.values() if play.round in stage.rounds else ():
            read = RANK.fullmatch(str(player))
            if read is None or int(read[1]) > stage.cut:
                text = N_(
                    "stage {stage}, round {round}: {who} is not a rank from 1 to {most}",
                    stage=stage.name,
                    round=play.round,
                    who=str(player),
                    most=stage.cut,
                )
                raise RuleError("rank_wrong", text)
            found[player] = int(read[1]), int(read[2] or 1)
    return found


def section_plays(plan: HasStages[P]) -> Iterator[tuple[Stage, str, list[P]]]:
    """Yield each section of each stage: the stage, the section's name and its plays.

    A stage without sections is one section with an empty name. Plays at a table outside all sections also come under
    the empty name.
    """
    for stage in plan.stages:
        sections: dict[str, list[P]] = {section.name: [] for section in stage.sections} or {"": []}
        for play in plan.plays:
            if play.round in stage.rounds:
                sections.setdefault(stage.section_of(play.table) or "", []).append(play)
        yield from ((stage, name, plays) for name, plays in sections.items())


def stage_problems(plan: HasStages[P]) -> Iterator[RuleError]:
    """Yield every problem with the stages of a plan."""
    if not plan.stages:
        return
    last = max((play.round for play in plan.plays), default=0)
    rounds = [round_ for stage in plan.stages for round_ in stage.rounds]
    if rounds != [*range(1, last + 1)]:
        yield RuleError("stages_wrong", N_("stages must cover rounds 1 to {last} in order, without gaps", last=last))
    if len({stage.name for stage in plan.stages}) < len(plan.stages):
        yield RuleError("stages_wrong", N_("two stages have the same name"))
    for at, stage in enumerate(plan.stages):
        try:
            if stage.carry_over:
                read_part(stage.carry_over)
            if stage.cut:
                yield from _cut_problems(plan, at)
        except RuleError as problem:
            yield problem
        yield from _section_problems(stage)
    yield from _overlaps(plan)


def _cut_problems(plan: HasStages[P], at: int) -> Iterator[RuleError]:
    stage = plan.stages[at]
    if at == 0:
        yield RuleError("stages_wrong", N_("stage {stage} is the first: nobody has a rank yet", stage=stage.name))
        return
    before = len(plan.stages[at - 1].sections) or 1
    if stage.cut % before:
        text = N_(
            "stage {stage}: {count} cannot qualify in equal numbers from {sections} sections",
            stage=stage.name,
            count=stage.cut,
            sections=before,
        )
        yield RuleError("stages_wrong", text)
    seated = {rank for rank, _ in ranks_of(stage, plan.plays).values()}
    if idle := sorted({*range(1, stage.cut + 1)} - seated):
        yield RuleError("rank_wrong", N_("stage {stage}: rank {rank} has no seat", stage=stage.name, rank=idle[0]))


def _section_problems(stage: Stage) -> Iterator[RuleError]:
    tables = [table for section in stage.sections for table in range(section.first_table, section.last_table + 1)]
    names = [section.name for section in stage.sections]
    if len(set(tables)) < len(tables) or len(set(names)) < len(names):
        yield RuleError("stages_wrong", N_("stage {stage}: two sections share a name or a table", stage=stage.name))


def _overlaps(plan: HasStages[P]) -> Iterator[RuleError]:
    """Yield the first deal in two stages, table in no section, or player in two sections of a stage."""
    deals: dict[int, Stage] = {}
    inside: dict[tuple[str, object], str] = {}
    for stage, section, plays in section_plays(plan):
        for play in plays:
            if deals.setdefault(play.deal, stage) is not stage:
                yield RuleError("stages_wrong", N_("deal {deal} is in two stages", deal=play.deal))
                return
            if stage.sections and not section:
                yield RuleError(
                    "stages_wrong",
                    N_("stage {stage}: table {table} is in no section", stage=stage.name, table=play.table),
                )
                return
            for player in play.players.values():
                if inside.setdefault((stage.name, player), section) != section:
                    yield RuleError(
                        "stages_wrong", N_("stage {stage}: {who} sits in two sections", stage=stage.name, who=player)
                    )
                    return
