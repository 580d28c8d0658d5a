"""What there is to say of files of records, one verdict a record."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, Final

from msgspec import Struct
from msgspec.structs import replace

from broker.records.errors import RecordError
from broker.records.judges import JudgeOf
from broker.records.judging import judge
from broker.records.reading import read
from broker.records.record import Record
from broker.rules.profile import Profile

STANDARD_INPUT: Final = Path("-")


class Verdict(Struct, frozen=True):
    """One record of a file, counted from 1, and the line where it begins; or what is wrong with it."""

    file: str
    number: int
    line: int
    record: Record | None = None
    problem: RecordError | None = None
    lines: Mapping[str, int] = {}
    """Of each tag."""
    replayed: bool = False
    """Whether the record tells how it was played, and the referee has played it again."""

    def row(self) -> dict[str, Any]:
        """Give it as JSON."""
        told = {"file": self.file, "record": self.number, "line": self.line, "ok": self.problem is None}
        if self.problem is None:
            return {**told, "replayed": self.replayed}
        where = {"line": self.problem.line, "step": self.problem.step}
        return {**told, "error": {"code": self.problem.code, "message": self.problem.text, **where}}

    def sentence(self) -> str:
        """Give it in words."""
        if self.problem is None:
            return f"{self.file}:{self.line}: all right{'' if self.replayed else ', as far as it tells'}"
        step = f"step {self.problem.step}: " if self.problem.step else ""
        return f"{self.file}:{self.problem.line or self.line}: {step}{self.problem.code}: {self.problem.text}"


def read_verdicts(path: Path) -> Iterator[Verdict]:
    """Read a file's records, without judging them; a file that cannot be read has one verdict, too."""
    file, number = str(path), 0
    try:
        with _opened(path) as opened:
            for number, found in enumerate(read(opened), 1):
                if isinstance(found.record, Record):
                    yield Verdict(file, number, found.line, record=found.record, lines=found.lines)
                else:
                    yield Verdict(file, number, found.line, problem=found.record)
    except OSError as error:
        yield Verdict(file, number + 1, 1, problem=RecordError("unreadable", error.strerror or "cannot be read"))
        return
    if not number:
        yield Verdict(file, 1, 1, problem=RecordError("bad_notation", "there is no record in this file"))


def judged_verdicts(path: Path, judge_of: JudgeOf, rules: Profile | None) -> Iterator[Verdict]:
    """Read a file's records and play them again."""
    for verdict in read_verdicts(path):
        yield verdict if verdict.record is None else _judged(verdict, verdict.record, judge_of, rules)


def _judged(verdict: Verdict, record: Record, judge_of: JudgeOf, rules: Profile | None) -> Verdict:
    try:
        return replace(verdict, replayed=judge(record, judge_of, rules) is not None)
    except RecordError as problem:
        line = verdict.lines.get(problem.tag or "", verdict.line)
        return replace(verdict, problem=RecordError(problem.code, problem.text, line=line, step=problem.step))


def _opened(path: Path) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if path == STANDARD_INPUT else path.open("rb")
