"""Play an event in which everything fails: `make chaos` or `python -m tests.chaos [OPTIONS]`."""

import os
import secrets
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import click

from broker.mqtt.programs import Kind
from tests.chaos.disks import enter_namespace
from tests.chaos.run import Options, Outcome, run_event
from tests.memory import memory

MOST_NAMED: Final = 20


@click.command()
@click.option("--seed", type=int, help="Draws the event and the faults [default: another one each time].")
@click.option("--plays", default=1000, show_default=True)
@click.option("--tables", default=20, show_default=True, type=click.IntRange(6))
@click.option("--broker", "kind", default="embedded", show_default=True, type=click.Choice(["embedded", "mosquitto"]))
@click.option("--speed", default=10, show_default=True, help="How much faster than the clock the people are.")
@click.option("--pause", "pause_s", default=1.5, show_default=True, help="Seconds between two faults, on average.")
@click.option(
    "--keep", type=click.Path(path_type=Path), help="A new folder: the run's log, and the event if something is wrong."
)
@click.option("--plain", is_flag=True, help="Without TLS: then messages are repeated and reordered, too.")
def chaos(  # noqa: PLR0913 - one parameter per option
    *,
    seed: int | None,
    plays: int,
    tables: int,
    kind: Kind,
    speed: int,
    pause_s: float,
    keep: Path | None,
    plain: bool,
) -> None:
    """Play an event while everything fails, and judge it."""
    os.environ["PYTHONFAULTHANDLER"] = "1"  # print a traceback if the process crashes
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    enter_namespace([sys.executable, "-m", "tests.chaos", *sys.argv[1:]])
    options = Options(
        secrets.randbelow(10**6) if seed is None else seed, plays, tables, kind, speed, pause_s, plain, keep
    )
    again = f"make chaos SEED={options.seed} PLAYS={plays} TABLES={tables} BROKER={kind}{' PLAIN=yes' if plain else ''}"
    print(f"{again}", flush=True)
    began = time.monotonic()
    with ExitStack() as leaving:
        if keep:
            keep.mkdir(parents=True)
        log = leaving.enter_context(
            (keep / "log" if keep else Path(os.devnull)).open("w", encoding="utf-8", buffering=1)
        )
        base = leaving.enter_context(tempfile.TemporaryDirectory(dir=memory()))
        os.environ["PYTHONPYCACHEPREFIX"] = f"{base}/compiled"  # as in an installed package: processes start often
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        outcome = run_event(
            options,
            Path(base),
            lambda line: _say(time.monotonic() - began, line),
            lambda line: print(f"{time.monotonic() - began:.2f} {line}", file=log),
        )
    _report(outcome)
    if not outcome.verdict.whole:
        print(f"Repeat it: {again}")
    print(outcome.line, flush=True)
    sys.exit(0 if outcome.verdict.whole else 1)


def _say(at: float, line: str) -> None:
    print(f"{at:6.1f} s  {line}", flush=True)


def _report(outcome: Outcome) -> None:
    for kind, count in sorted(outcome.faults.items()):
        print(f"  {count:4d}  {kind}")
    print(f"{outcome.rulings} rulings called done, {outcome.shown} looks at what is public, {outcome.seconds:.0f} s")
    print(f"refused: {', '.join(f'{code} {count}' for code, count in sorted(outcome.refused.items()))}")
    print(f"ended by itself and started again: {', '.join(outcome.crashes) or 'nothing'}")
    for problem in outcome.verdict.problems[:MOST_NAMED]:
        print(f"WRONG: {problem}")


if __name__ == "__main__":
    chaos(standalone_mode=False)  # click exits silently if the pipe is closed
