"""Check records: the referee replays each play, its hands are counted again and its points recomputed."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, get_args

from msgspec import Struct, structs
from msgspec.structs import replace

from broker.export.pmn.notation import read_records
from broker.export.pmn.record import (
    ACTION_OF_LETTER,
    HU,
    NumberedAction,
    PmnFan,
    PmnRecord,
    RecordError,
    Step,
    actions_of,
    counted_fans,
    differs_from_count,
    within_tag,
    write_fans,
)
from broker.protocol import SEATS, Seat
from broker.rules import (
    COPIES,
    DEFAULT_MCR,
    FULL_SET,
    ROWS,
    TRAY,
    Deal,
    Outcome,
    Profile,
    RuleError,
    load_mcr,
    seat_points,
)
from broker.rules.mcr import Hu, Judge, PlayState, Ruleset, StepRefused, apply_action, count_hu, replay_actions


class RecordJudge(Struct, frozen=True):
    """How a record's hands are valued: the referee asks the judge `for_record(record)` for the value of a hu."""

    for_record: Callable[[PmnRecord], Judge]
    fans: Callable[[Hu], tuple[PmnFan, ...]] | None = None
    """Returns the fan of a winner's hand; None if hands are not counted."""


JudgeName = Literal["green-book", "1998", "declared"]

JUDGE_NAMES: Final[tuple[JudgeName, ...]] = get_args(JudgeName)


def judge_named(how: JudgeName) -> RecordJudge:
    """Return the judge with a name: a rule book by which hands are counted, or `declared`."""
    return declared_judge if how == "declared" else counting_judge(how)


def _declared(record: PmnRecord) -> Judge:
    def judge(hu: Hu) -> int:
        if hu.seat not in record.winners:
            raise RuleError("other_winners", f"{hu.seat} declares hu, and Fan has nothing of it")
        return record.winners[hu.seat]

    return judge


declared_judge: Final = RecordJudge(_declared)
"""Trusts the record: each winner's hand has the value given in Fan."""


def counting_judge(ruleset: Ruleset) -> RecordJudge:
    """Return a judge that counts each hand again."""

    def judge(hu: Hu) -> int:
        return count_hu(hu, ruleset).fan

    return RecordJudge(lambda _: judge, lambda hu: counted_fans(count_hu(hu, ruleset)))


WALL_TILES: Final = TRAY - ROWS[0]


def judge_record(record: PmnRecord, record_judge: RecordJudge, profile: Profile | None = None) -> PlayState | None:
    """Replay a record and return the final state of the play; None if the record does not contain the steps.

    `profile` replaces the record's own. Raises RecordError: the code of the rule that is broken, or `play_unfinished`,
    `other_winners`, `wrong_hand_value`, `other_fan`, `wrong_points`, `fine_not_in_profile`, `fifth_tile`.
    """
    with within_tag("Profile"):
        rules = profile or load_mcr(record.profile or DEFAULT_MCR)
    with within_tag("Penalty"):
        _refuse_other_fines(record, rules)
    if record.hands is None or record.steps is None:
        _check_without_play(record, rules)
        return None
    play = _replayed(record, record_judge, rules)
    with within_tag("Fan"):
        _refuse_other_winners(record, play)
        _refuse_other_fans(record, play, record_judge)
    with within_tag("Result"):
        _refuse_other_result(record, outcome_of(play), rules)
    return play


def deal_of_record(record: PmnRecord) -> Deal:
    """Return the deal of a record that contains the hands.

    If it does not contain the walls, they consist of the tiles that were drawn, followed by the remaining ones in any
    order, as nobody has seen them. Raises RecordError `fifth_tile`, RuleError `not_a_deal`.
    """
    hands, walls = record.hands or {}, record.walls
    if walls is None:
        walls = _walls_of_draws(record)
    faces = {seat: (*hands.get(seat, ()), *walls[seat]) for seat in SEATS}
    return Deal(record.board, record.prevalent_wind, SEATS[0], faces)


def _walls_of_draws(record: PmnRecord) -> Mapping[Seat, tuple[str, ...]]:
    used = Counter(tile for hand in (record.hands or {}).values() for tile in hand)
    for tile in used:
        _refuse_fifth_tile(tile, used, "Deal")
    walls: dict[Seat, list[str]] = {seat: [] for seat in SEATS}
    for number, step in enumerate(record.steps or (), 1):
        if step.letter == "T" and step.tile and len(walls[step.seat]) < WALL_TILES:
            used[step.tile] += 1
            _refuse_fifth_tile(step.tile, used, "Play", number)
            walls[step.seat].append(step.tile)
    remaining = (Counter(FULL_SET) - used).elements()
    return {seat: (*wall, *(next(remaining) for _ in range(WALL_TILES - len(wall)))) for seat, wall in walls.items()}


def _refuse_fifth_tile(tile: str, used: Counter[str], tag: str, step: int | None = None) -> None:
    if used[tile] > COPIES:
        raise RecordError("fifth_tile", f"this is a fifth {tile}", tag=tag, step=step)


def _replayed(record: PmnRecord, record_judge: RecordJudge, rules: Profile) -> PlayState:
    with within_tag("Deal"):
        deal = deal_of_record(record)
    numbered, judge = list(actions_of(record.steps or ())), record_judge.for_record(record)
    with within_tag("Play"):
        try:
            play = replay_actions(deal, (one.action for one in numbered), rules.payments, judge)
        except StepRefused as problem:
            raise RecordError(problem.code, problem.reason, step=_failed_step(numbered, problem, judge)) from None
        if play.turns.over is None:
            last = numbered[-1].step if numbered else 1
            raise RecordError("play_unfinished", f"nobody has won, and {play.turns.turn} could continue", step=last)
    return play


def _failed_step(numbered: list[NumberedAction], problem: StepRefused, judge: Judge) -> int:
    """Return the step that is wrong. If several declare hu together, it is the first that could not join the others."""
    first, action = numbered[problem.step - 1]
    for joined in range(1, len(action.seats)):
        try:
            apply_action(problem.play, structs.replace(action, seats=action.seats[:joined]), judge)
        except RuleError:
            return first + joined - 1
    return first + max(len(action.seats) - 1, 0)


def _refuse_other_winners(record: PmnRecord, play: PlayState) -> None:
    won = {win.hu.seat: win.hand_value for win in play.wins}
    if set(won) != set(record.winners):
        raise RuleError("other_winners", f"{_names(won)} won in Play, {_names(record.winners)} in Fan")
    for seat, value in won.items():
        if value != record.winners[seat]:
            raise RuleError("wrong_hand_value", f"{seat}'s hand is worth {value}, not {record.winners[seat]}")


def _refuse_other_fans(record: PmnRecord, play: PlayState, record_judge: RecordJudge) -> None:
    """Compare the fan named in Fan with the counted ones. The totals are already known to agree."""
    if (fans_of := record_judge.fans) is None:
        return
    for hu in (win.hu for win in play.wins):
        expected = fans_of(hu)
        if differs_from_count(record.fans[hu.seat], expected):
            named = write_fans(record.fans[hu.seat])
            raise RuleError("other_fan", f"{hu.seat}'s hand is {write_fans(expected)}, not {named}")


def _names(seats: Mapping[Seat, int]) -> str:
    return " and ".join(seat for seat in SEATS if seat in seats) or "nobody"


def outcome_of_points(record: PmnRecord, rules: Profile) -> Outcome:
    """Return the one outcome with these hand values and points. Raises RuleError `wrong_points` if there is none."""
    winners = record.winners
    if not winners:
        possible = [Outcome("draw", {})]
    else:
        possible = [Outcome("discard", winners, seat) for seat in SEATS if seat not in winners]
        possible += [Outcome("self_drawn", winners)] if len(winners) == 1 else []
    for outcome in possible:
        if seat_points(outcome, rules.payments) == dict(record.points):
            return outcome
    raise RuleError("wrong_points", "no way of winning with these hand values gives the points of Result")


def _check_without_play(record: PmnRecord, rules: Profile) -> None:
    if record.hands is not None:
        with within_tag("Deal"):
            deal_of_record(record)
    elif record.walls is not None:
        used = Counter(tile for wall in record.walls.values() for tile in wall)
        for tile in used:
            _refuse_fifth_tile(tile, used, "Walls")
    with within_tag("Result"):
        outcome_of_points(record, rules)


def _refuse_other_result(record: PmnRecord, outcome: Outcome, rules: Profile) -> None:
    expected = seat_points(outcome, rules.payments)
    if expected != dict(record.points):
        points = " ".join(str(expected[seat]) for seat in SEATS)
        raise RuleError("wrong_points", f"under {rules.id} the points of this play are {points}")


def _refuse_other_fines(record: PmnRecord, rules: Profile) -> None:
    if other := sorted(set(record.fines.values()) - set(rules.false_hu.fines.value)):
        raise RuleError("fine_not_in_profile", f"{rules.id} has no fine of {other[0]} IMP")


STANDARD_INPUT: Final = Path("-")


class RecordVerdict(Struct, frozen=True):
    """The verdict on one record of a file. Records count from 1; `line` is where the record begins."""

    file: str
    number: int
    line: int
    record: PmnRecord | None = None
    problem: RecordError | None = None
    lines: Mapping[str, int] = {}
    """The line of each tag."""
    replayed: bool = False
    """Whether the record contains the steps and the referee has replayed them."""

    def row(self) -> dict[str, Any]:
        """Return the verdict as a JSON object."""
        row = {"file": self.file, "record": self.number, "line": self.line, "ok": self.problem is None}
        if self.problem is None:
            return {**row, "replayed": self.replayed}
        where = {"line": self.problem.line, "step": self.problem.step}
        return {**row, "error": {"code": self.problem.code, "message": str(self.problem.text), **where}}

    def sentence(self) -> str:
        """Return the verdict as a sentence."""
        if self.problem is None:
            return f"{self.file}:{self.line}: all right{'' if self.replayed else ', as far as it is known'}"
        step = f"step {self.problem.step}: " if self.problem.step else ""
        return f"{self.file}:{self.problem.line or self.line}: {step}{self.problem.code}: {self.problem.text}"


def read_verdicts(path: Path) -> Iterator[RecordVerdict]:
    """Read a file's records without checking them. An unreadable file yields one verdict, too."""
    file, number = str(path), 0
    try:
        with _opened(path) as opened:
            for number, found in enumerate(read_records(opened), 1):
                if isinstance(found.record, PmnRecord):
                    yield RecordVerdict(file, number, found.line, record=found.record, lines=found.lines)
                else:
                    yield RecordVerdict(file, number, found.line, problem=found.record)
    except OSError as error:
        yield RecordVerdict(file, number + 1, 1, problem=RecordError("unreadable", error.strerror or "cannot be read"))
        return
    if not number:
        yield RecordVerdict(file, 1, 1, problem=RecordError("bad_notation", "there is no record in this file"))


def judged_verdicts(path: Path, record_judge: RecordJudge, rules: Profile | None) -> Iterator[RecordVerdict]:
    """Read a file's records and replay them."""
    for verdict in read_verdicts(path):
        yield verdict if verdict.record is None else _judged(verdict, verdict.record, record_judge, rules)


def _judged(
    verdict: RecordVerdict, record: PmnRecord, record_judge: RecordJudge, rules: Profile | None
) -> RecordVerdict:
    try:
        return replace(verdict, replayed=judge_record(record, record_judge, rules) is not None)
    except RecordError as problem:
        line = verdict.lines.get(problem.tag or "", verdict.line)
        return replace(verdict, problem=RecordError(problem.code, problem.text, line=line, step=problem.step))


def _opened(path: Path) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if path == STANDARD_INPUT else path.open("rb")


VERBS = {
    "draw": "takes",
    "discard": "discards",
    "chow": "chow around",
    "pung": "pung of",
    "melded_kong": "kong of",
    "concealed_kong": "concealed kong of",
    "added_kong": "adds to a kong",
}


def describe_record(record: PmnRecord) -> str:
    """Return a description of a play, one line for each step."""
    return "\n".join(_lines(record)) + "\n"


def _lines(record: PmnRecord) -> Iterator[str]:
    yield f"{record.event}, {record.date}: deal {record.board}, prevalent wind {record.prevalent_wind}"
    for seat in SEATS:
        hand = " ".join(record.hands[seat]) if record.hands else "hand unknown"
        yield f"  {seat:5} {record.players[seat]}: {hand}"
    if record.steps is None:
        yield "  its steps are unknown"
    for number, step in enumerate(record.steps or (), 1):
        yield f"  {number:3}. {_step_text(step)}"
    for seat, value in record.winners.items():
        yield f"  {seat} wins with {value}"
    yield "  points: " + ", ".join(f"{seat} {record.points[seat]:+}" for seat in SEATS)
    for seat, imp in record.fines.items():
        yield f"  {seat} is fined {imp} IMP"


def _step_text(step: Step) -> str:
    if step.letter in ACTION_OF_LETTER:
        return f"{step.seat} {VERBS[ACTION_OF_LETTER[step.letter]]} {step.tile}"
    return f"{step.seat} declares hu" if step.letter == HU else "nobody wins"


def outcome_of(play: PlayState) -> Outcome:
    """Return the outcome of a play that is over."""
    won = {win.hu.seat: win.hand_value for win in play.wins}
    if not won:
        return Outcome("draw", {})
    self_drawn = play.wins[0].hu.self_drawn
    return Outcome("self_drawn" if self_drawn else "discard", won, None if self_drawn else play.turns.turn)
