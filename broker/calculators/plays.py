"""The lines that `homologue score` reads: a play each, with what the arbiter ruled; and IMPs that belong to no play."""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, NamedTuple

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from broker.calculators.stream import read_line
from broker.contract.words import SEATS, DealNo, Fault, Points, Seat, TableNo
from broker.rules.errors import RuleError
from broker.rules.profile import Comparison
from broker.scoring.awards import awards
from broker.scoring.plays import APART, Adjustment, ScoredPlay

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
    out_of_place: bool = False
    """Another deal was played than planned, or by others, or in other seats: they may have played it before."""


class Beside(Struct, forbid_unknown_fields=True):
    """What a player was given and fined of no play. With neither: somebody who is ranked, with a play or without."""

    player: Entrant
    award: Award = 0
    fine: Fine = 0


class _Kind(Struct):
    """Whose line it is: a player's, or else a play's."""

    player: msgspec.Raw | UnsetType = UNSET


class Plays(NamedTuple):
    """All plays of an event: those with a result or a ruling, those that are still to come, and what was refused."""

    done: tuple[ScoredPlay, ...]
    to_come: tuple[ScoredPlay, ...]
    """Their points are not looked at; fines and awards may be there already."""
    refusals: tuple[RuleError, ...]
    beside: tuple[Adjustment, ...] = ()
    """One a line of a player, of nothing where there was nothing given and no fine."""

    @property
    def counted(self) -> tuple[ScoredPlay, ...]:
        """Those of which something counts by now."""
        return (*self.done, *(play for play in self.to_come if play.fines or play.awards))

    @property
    def waiting(self) -> tuple[str, ...]:
        """Everybody who has a play to come, as often as there is one: they are ranked before their first play."""
        return tuple(name for play in self.to_come for name in play.entries)


def read_plays(questions: Iterable[tuple[int, str]], profile: Comparison) -> Plays:
    """Read all plays; a refusal has the number of its line in its text."""
    done: list[ScoredPlay] = []
    to_come: list[ScoredPlay] = []
    refusals: list[RuleError] = []
    beside: list[Adjustment] = []
    seen: set[tuple[object, ...]] = set()
    apart: Counter[tuple[object, ...]] = Counter()
    for number, line in questions:
        try:
            if _of_a_player(line):
                beside.append(_adjustment(read_line(line, Beside)))
                continue
            question = read_line(line, Question)
            _check(question, set() if question.out_of_place else seen)
            play = _play(_numbered(question, apart), profile)
        except RuleError as problem:
            refusals.append(RuleError(problem.code, f"line {number}: {problem.text}"))
        else:
            (to_come if question.points is None and question.unplayed is None else done).append(play)
    return Plays(tuple(done), tuple(to_come), tuple(refusals), tuple(beside))


def _of_a_player(line: str) -> bool:
    """Say whether a line is a player's. One that cannot be read is refused as a play."""
    try:
        return msgspec.json.decode(line, type=_Kind).player is not UNSET
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False


def _adjustment(line: Beside) -> Adjustment:
    return Adjustment(line.player, line.award, line.fine)


def _numbered(question: Question, apart: Counter[tuple[object, ...]]) -> Question:
    """Give each play out of place a number apart: its table may have played the deal where it was planned too."""
    if not question.out_of_place:
        return question
    key = question.deal, question.section, question.table
    apart[key] += 1
    return msgspec.structs.replace(question, table=question.table + APART * apart[key])


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
