"""The lines that `homologue score` reads: a play each, with what the arbiter ruled."""

from collections.abc import Iterable
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct, field

from broker.calculators.stream import read_line
from broker.contract.words import SEATS, DealNo, Fault, Points, Seat, TableNo
from broker.rules.errors import RuleError
from broker.rules.profile import Comparison
from broker.scoring.awards import awards
from broker.scoring.plays import ScoredPlay

Entrant = Annotated[str, Meta(min_length=1, max_length=100, description="a player, by id or name")]
Fine = Annotated[int, Meta(ge=0, le=9999, description="IMP; a play may say that there was none")]
Award = Annotated[int, Meta(ge=-9999, le=9999)]
Label = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$(?!\n)", description="a hash, or the arbiter's word")]


class Question(Struct, forbid_unknown_fields=True):
    """One play. Without `points` and `unplayed` it is still to come."""

    deal: DealNo
    table: TableNo
    players: dict[Seat, Entrant]
    points: dict[Seat, Points] | None = None
    fines: dict[Seat, Fine] = field(default_factory=dict)
    form: Label | None = None
    section: Label | None = None
    awards: dict[Seat, Award] = field(default_factory=dict)
    unplayed: dict[Seat, Fault] | Fault | None = None
    stands_for: dict[Seat, Entrant] = field(default_factory=dict)


class Plays(NamedTuple):
    """All plays of an event: those with a result or a ruling, those that are still to come, and what was refused."""

    done: tuple[ScoredPlay, ...]
    to_come: tuple[ScoredPlay, ...]
    refusals: tuple[RuleError, ...]


def read_plays(questions: Iterable[tuple[int, str]], profile: Comparison) -> Plays:
    """Read all plays; a refusal has the number of its line in its text."""
    done: list[ScoredPlay] = []
    to_come: list[ScoredPlay] = []
    refusals: list[RuleError] = []
    seen: set[tuple[object, ...]] = set()
    for number, line in questions:
        try:
            question = read_line(line, Question)
            _check(question, seen)
            play = _play(question, profile)
        except RuleError as problem:
            refusals.append(RuleError(problem.code, f"line {number}: {problem.text}"))
        else:
            (to_come if question.points is None and question.unplayed is None else done).append(play)
    return Plays(tuple(done), tuple(to_come), tuple(refusals))


def _play(question: Question, profile: Comparison) -> ScoredPlay:
    """Give a play; what an arbiter awards to a seat takes the place of what the profile gives for the fault."""
    faults = dict.fromkeys(SEATS, question.unplayed) if isinstance(question.unplayed, str) else question.unplayed
    given = awards(faults, profile.awards) if faults is not None else {}
    return ScoredPlay(
        deal=question.deal,
        table=question.table,
        players=question.players,
        points=question.points,
        fines=question.fines,
        form=question.form,
        section=question.section,
        awards={**given, **question.awards},
        stands_for=question.stands_for,
    )


def _check(question: Question, seen: set[tuple[object, ...]]) -> None:
    if set(question.players) != set(SEATS) or set(question.points or SEATS) != set(SEATS):
        raise RuleError("malformed", "players and points are needed for all four seats")
    if question.points is not None and question.unplayed is not None:
        raise RuleError("played_and_unplayed", "a play has points or is unplayed, not both")
    play = question.deal, question.section, question.table
    if play in seen:
        raise RuleError("duplicate_play", f"table {question.table} has played deal {question.deal} before")
    seen.add(play)
    for player in (*question.players.values(), *question.stands_for.values()):
        if (question.deal, player) in seen:
            raise RuleError("player_twice", f"{player} has played deal {question.deal} before")
        seen.add((question.deal, player))
