"""A record, judged: its play is played again by the referee, its points by the profile."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from msgspec import structs

from broker.contract.words import SEATS, Seat
from broker.records.errors import RecordError, in_tag
from broker.records.fans import names_other, write_fans
from broker.records.judges import JudgeOf
from broker.records.played import outcome_of
from broker.records.record import Record
from broker.records.steps import Moved, actions_of
from broker.rules.deal import ROWS, TRAY, Deal
from broker.rules.errors import RuleError
from broker.rules.points import Outcome
from broker.rules.points import points as points_of
from broker.rules.profile import Profile
from broker.rules.profile_files import DEFAULT, load
from broker.rules.referee.judge import Judge
from broker.rules.referee.moves import apply
from broker.rules.referee.play import Play
from broker.rules.referee.replay import StepRefused, replay
from broker.rules.tiles import COPIES, FULL_SET

WALL: Final = TRAY - ROWS[0]


def judge(record: Record, judge_of: JudgeOf, profile: Profile | None = None) -> Play | None:
    """Give how the play ended; None where the record does not tell how it went.

    `profile` stands in for the record's own. Raises RecordError: the code of the rule that is broken, or
    `play_unfinished`, `other_winners`, `wrong_hand_value`, `other_fan`, `wrong_points`, `fine_not_in_profile`,
    `fifth_tile`.
    """
    with in_tag("Profile"):
        rules = profile or load(record.profile or DEFAULT)
    with in_tag("Penalty"):
        _refuse_other_fines(record, rules)
    if record.hands is None or record.steps is None:
        _without_play(record, rules)
        return None
    play = _replayed(record, judge_of, rules)
    with in_tag("Fan"):
        _refuse_other_winners(record, play)
        _refuse_other_fans(record, play, judge_of)
    with in_tag("Result"):
        _refuse_other_result(record, outcome_of(play), rules)
    return play


def deal_of(record: Record) -> Deal:
    """Give the deal of a record that tells its hands.

    Where it does not tell the walls, they are what was drawn, and then the tiles that are left, in any order: nobody
    has seen them. Raises RecordError `fifth_tile`, RuleError `not_a_deal`.
    """
    hands, walls = record.hands or {}, record.walls
    if walls is None:
        walls = _walls_of_draws(record)
    faces = {seat: (*hands.get(seat, ()), *walls[seat]) for seat in SEATS}
    return Deal(record.board, record.prevalent_wind, SEATS[0], faces)


def _walls_of_draws(record: Record) -> Mapping[Seat, tuple[str, ...]]:
    used = Counter(tile for hand in (record.hands or {}).values() for tile in hand)
    for tile in used:
        _refuse_five(tile, used, "Deal")
    walls: dict[Seat, list[str]] = {seat: [] for seat in SEATS}
    for number, step in enumerate(record.steps or (), 1):
        if step.letter == "T" and step.tile and len(walls[step.seat]) < WALL:
            used[step.tile] += 1
            _refuse_five(step.tile, used, "Play", number)
            walls[step.seat].append(step.tile)
    left = (Counter(FULL_SET) - used).elements()
    return {seat: (*wall, *(next(left) for _ in range(WALL - len(wall)))) for seat, wall in walls.items()}


def _refuse_five(tile: str, used: Counter[str], tag: str, step: int | None = None) -> None:
    if used[tile] > COPIES:
        raise RecordError("fifth_tile", f"this is a fifth {tile}", tag=tag, step=step)


def _replayed(record: Record, judge_of: JudgeOf, rules: Profile) -> Play:
    with in_tag("Deal"):
        deal = deal_of(record)
    moved = list(actions_of(record.steps or ()))
    with in_tag("Play"):
        try:
            play = replay(deal, (one.action for one in moved), rules.payments, judge_of.of(record))
        except StepRefused as problem:
            raise RecordError(problem.code, _reason(problem), step=_step(moved, problem, judge_of.of(record))) from None
        if play.turns.over is None:
            last = moved[-1].step if moved else 1
            raise RecordError("play_unfinished", f"nobody has won, and {play.turns.turn} could go on", step=last)
    return play


def _step(moved: list[Moved], problem: StepRefused, judge: Judge) -> int:
    """Give the step that is wrong; of several who declare hu together, the first who could not join the others."""
    first, action = moved[problem.step - 1]
    for joined in range(1, len(action.seats)):
        try:
            apply(problem.play, structs.replace(action, seats=action.seats[:joined]), judge)
        except RuleError:
            return first + joined - 1
    return first + max(len(action.seats) - 1, 0)


def _reason(problem: StepRefused) -> str:
    """Leave out the number of the action: the record's steps are counted otherwise."""
    return problem.text.partition(": ")[2]


def _refuse_other_winners(record: Record, play: Play) -> None:
    won = {win.hu.seat: win.hand_value for win in play.wins}
    if set(won) != set(record.winners):
        raise RuleError("other_winners", f"{_names(won)} won in Play, {_names(record.winners)} in Fan")
    for seat, value in won.items():
        if value != record.winners[seat]:
            raise RuleError("wrong_hand_value", f"{seat}'s hand is worth {value}, not {record.winners[seat]}")


def _refuse_other_fans(record: Record, play: Play, judge_of: JudgeOf) -> None:
    """Hold the fan that Fan names against the counted ones; the sums are known to be the same."""
    if (fans_of := judge_of.fans) is None:
        return
    for hu in (win.hu for win in play.wins):
        right = fans_of(hu)
        if names_other(record.fans[hu.seat], right):
            told = write_fans(record.fans[hu.seat])
            raise RuleError("other_fan", f"{hu.seat}'s hand is {write_fans(right)}, not {told}")


def _names(seats: Mapping[Seat, int]) -> str:
    return " and ".join(seat for seat in SEATS if seat in seats) or "nobody"


def outcome_of_points(record: Record, rules: Profile) -> Outcome:
    """Give the one outcome with these hand values and points. Raises RuleError, `wrong_points` if there is none."""
    winners = record.winners
    if not winners:
        possible = [Outcome("draw", {})]
    else:
        possible = [Outcome("discard", winners, seat) for seat in SEATS if seat not in winners]
        possible += [Outcome("self_drawn", winners)] if len(winners) == 1 else []
    for outcome in possible:
        if points_of(outcome, rules.payments) == dict(record.points):
            return outcome
    raise RuleError("wrong_points", "no way of winning with these hand values gives the points of Result")


def _without_play(record: Record, rules: Profile) -> None:
    if record.hands is not None:
        with in_tag("Deal"):
            deal_of(record)
    elif record.walls is not None:
        used = Counter(tile for wall in record.walls.values() for tile in wall)
        for tile in used:
            _refuse_five(tile, used, "Walls")
    with in_tag("Result"):
        outcome_of_points(record, rules)


def _refuse_other_result(record: Record, outcome: Outcome, rules: Profile) -> None:
    right = points_of(outcome, rules.payments)
    if right != dict(record.points):
        told = " ".join(str(right[seat]) for seat in SEATS)
        raise RuleError("wrong_points", f"under {rules.id} the points of this play are {told}")


def _refuse_other_fines(record: Record, rules: Profile) -> None:
    if other := sorted(set(record.fines.values()) - set(rules.false_hu.fines.value)):
        raise RuleError("fine_not_in_profile", f"{rules.id} knows no fine of {other[0]} IMP")
