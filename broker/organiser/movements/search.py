"""What the commands that search for a movement share: their options, when they end, what they write."""

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeVar

import click
import msgspec

from broker.organiser.movements import file as files
from broker.organiser.movements import text
from broker.rules.errors import RuleError
from broker.rules.movement import ASKED, Fault, GoOn, Play, quality
from broker.scorer.output import deliver, may_write

F = TypeVar("F", bound=Callable[..., Any])

PROGRESS_S: Final = 2.0
"""Seconds between two lines of progress."""

OPTIONS: Final = (
    click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output."),
    click.option("--cards", is_flag=True, help="A card for each player on standard output."),
    click.option("--print", "tables_shown", is_flag=True, help="The rounds as tables on standard output."),
    click.option("--force", is_flag=True, help="Overwrite the file, or the movement, if it is there."),
    click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="CSV file to write."),
    click.option("--iterations", type=click.IntRange(min=0), help="Steps of the search, instead of a time."),
    click.option("--seconds", type=click.FloatRange(min=0), default=20.0, show_default=True, help="Time to search."),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="Same seed, same iterations: the same movement."
    ),
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What `OPTIONS` say."""

    seed: int
    seconds: float
    iterations: int | None
    output: Path | None
    force: bool
    tables_shown: bool
    cards: bool
    as_json: bool
    written: bool = False
    """The movement is in its event already, and not asked for on standard output."""


def searching(command: F) -> F:
    """Add `OPTIONS` to a command."""
    for option in OPTIONS:
        command = option(command)
    return command


@contextmanager
def refusals(*, as_json: bool) -> Iterator[None]:
    """End with a refusal's code and text: an answer like any other for programs, a failure for people."""
    try:
        yield
    except RuleError as problem:
        if not as_json:
            raise click.ClickException(f"{problem.code}: {problem.text}") from None
        click.echo(msgspec.json.encode({"error": {"code": problem.code, "message": problem.text}}).decode())


@contextmanager
def going_on(wanted: Wanted) -> Iterator[GoOn]:
    """Give what says whether to go on, by time or by steps, and until Ctrl-C. It tells how far the search is.

    A file that may not be written is refused before the search.
    """
    if wanted.output:
        may_write(wanted.output, source=None, force=wanted.force)
    stopped: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        stopped.append(number)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield _clock(wanted, stopped)
    finally:
        signal.signal(signal.SIGINT, before)


def _clock(wanted: Wanted, stopped: Sequence[int]) -> GoOn:
    start = told = time.monotonic()
    steps = 0

    def go_on() -> bool:
        nonlocal steps, told
        now = time.monotonic()
        if now - told >= PROGRESS_S:
            told = now
            click.echo(f"searching: {now - start:.0f} s, {steps} steps; Ctrl-C takes the best so far", err=True)
        steps += ASKED
        return not stopped and (
            now - start < wanted.seconds if wanted.iterations is None else steps <= wanted.iterations
        )

    return go_on


def write(
    plays: Sequence[Play], names: Sequence[str], faults: Sequence[Fault], wanted: Wanted, more: Mapping[str, object]
) -> None:
    """Write what was asked for; `more` is for the JSON object. The measures go to standard error."""
    measured = quality(plays, names)
    if wanted.output:
        deliver(files.as_csv(plays), wanted.output, source=None, force=wanted.force)
    if wanted.as_json:
        told = [{"code": fault.code, "message": fault.text} for fault in faults]
        listed = [{"round": p.round, "table": p.table, "deal": p.deal, "players": dict(p.players)} for p in plays]
        answer = {"plays": listed, "faults": told, "quality": text.as_json(measured), **more}
        click.echo(msgspec.json.encode(answer).decode())
        return
    if wanted.tables_shown:
        click.echo(text.as_tables(plays, names))
    if wanted.cards:
        click.echo(text.as_cards(plays, names))
    if not (wanted.output or wanted.tables_shown or wanted.cards or wanted.written):
        click.echo(files.as_csv(plays), nl=False)
    for fault in faults:
        click.echo(f"{fault.code}: {fault.text}", err=True)
    click.echo(text.as_measures(measured), err=True)
