"""Attack a running scorer, its broker and its desk: `make attack` or `python -m tests.attack [OPTIONS]`."""

import os
import secrets
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import click

from broker.mqtt.programs import Kind
from tests.attack.ledger import Ledger
from tests.attack.run import attacks, run
from tests.attack.target import Target
from tests.demo_event import maker

KINDS: tuple[Kind, ...] = ("embedded", "mosquitto")


@click.command()
@click.option("--seed", type=int, help="Draws what is drawn [default: another one each time].")
@click.option("--broker", "kind", type=click.Choice(KINDS), help="[default: one after the other]")
@click.option("--plain/--tls", "plain", default=None, help="Without TLS, or with it [default: one after the other]")
@click.option("--only", multiple=True, type=click.Choice([*attacks(0)]), help="These attacks alone.")
def attack(seed: int | None, kind: Kind | None, only: tuple[str, ...], *, plain: bool | None) -> None:
    """Attack what runs, print what was tried and what was held, and fail where something fell."""
    os.environ["PYTHONFAULTHANDLER"] = "1"  # print a traceback if the process crashes
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    seed = secrets.randbelow(10**6) if seed is None else seed
    lines = (False, True) if plain is None else (plain,)
    fell = sum(_attack(one, seed, only, plain=each) for one in ([kind] if kind else KINDS) for each in lines)
    sys.exit(1 if fell else 0)


def _attack(kind: Kind, seed: int, only: tuple[str, ...], *, plain: bool) -> int:
    """Attack the event with one kind of broker; return how many attacks succeeded."""
    begun = time.monotonic()
    again = f"make attack SEED={seed} BROKER={kind} TLS={'no' if plain else 'yes'}"
    print(again, flush=True)

    def said(line: str) -> None:
        print(f"{time.monotonic() - begun:6.1f} s  {line}", flush=True)

    ledger = Ledger(said)
    with ExitStack() as running:
        base = Path(running.enter_context(tempfile.TemporaryDirectory()))
        run(
            running.enter_context(Target(base / "event", maker(base / "made"), kind, plain=plain)),
            ledger,
            seed,
            only,
            said,
        )
    print("\n".join(ledger.matrix()))
    if ledger.fell:
        print(f"Repeat it: {again}" + "".join(f" ONLY={name}" for name in only[:1]))
    held = sum(count for (_, held), count in ledger.counts.items() if held)
    line = "plain" if plain else "TLS"
    print(f"attack: {kind}, {line}, {ledger.counts.total()} tried, {held} held, {len(ledger.fell)} fell", flush=True)
    return len(ledger.fell)


if __name__ == "__main__":
    attack(standalone_mode=False)  # click exits silently if the pipe is closed
