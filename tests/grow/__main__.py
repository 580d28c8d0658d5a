"""Plays an event in three halls while everything fails: `make grow` or `python -m tests.grow [OPTIONS]`."""

import os
import secrets
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import click

from tests.chaos.__main__ import MOST_NAMED
from tests.grow.run import Options, run_event
from tests.memory import memory


@click.command()
@click.option("--seed", type=int, help="Draws the event and the faults [default: another one each time].")
@click.option("--tables", default=4, show_default=True, help="In each hall.")
@click.option("--rounds", default=24, show_default=True)
@click.option("--pace", "pace_s", default=6.0, show_default=True, help="Seconds between two plays of a table.")
@click.option("--pause", "pause_s", default=4.0, show_default=True, help="Seconds between two faults.")
@click.option("--store", type=click.Choice(["sqlite", "postgresql"]), default="sqlite", show_default=True)
@click.option("--keep", type=click.Path(path_type=Path), help="A new file: all that the processes say.")
def grow(
    *, seed: int | None, tables: int, rounds: int, pace_s: float, pause_s: float, store: str, keep: Path | None
) -> None:
    """Play an event in three halls while everything between them fails, and judge it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.umask(0o077)
    drawn = secrets.randbelow(10**6) if seed is None else seed
    options = Options(drawn, tables, rounds, pace_s, pause_s, store == "postgresql")
    again = f"make grow SEED={drawn} TABLES={tables} ROUNDS={rounds} STORE={store}"
    print(again, flush=True)
    began = time.monotonic()
    with ExitStack() as leaving:
        log = leaving.enter_context((keep or Path(os.devnull)).open("w", encoding="utf-8", buffering=1))
        base = leaving.enter_context(tempfile.TemporaryDirectory(dir=memory()))

        def said(line: str) -> None:
            print(f"{time.monotonic() - began:6.1f} s  {line}", flush=True)
            print(line, file=log)

        outcome = run_event(options, Path(base), said, lambda line: print(line, file=log))
    for kind, count in sorted(outcome.faults.items()):
        print(f"  {count:4d}  {kind}")
    print(f"{outcome.rulings} rulings called done, {outcome.rows} rows, {outcome.shown} looks at what is public")
    for problem in outcome.verdict.problems[:MOST_NAMED]:
        print(f"WRONG: {problem}")
    if outcome.verdict.problems:
        print(f"Repeat it: {again}")
    print(outcome.line, flush=True)
    sys.exit(1 if outcome.verdict.problems else 0)


if __name__ == "__main__":
    grow(standalone_mode=False)  # click ends silently where a pipe is broken
