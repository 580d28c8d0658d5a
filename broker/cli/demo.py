"""`homologue demo` and `rehearse`: a whole event on this machine with the real programs and simulated people."""

import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import click

from broker.cli import options
from broker.console import ANY, CommandError
from broker.daemon import stop_on_signals
from broker.errors import BrokerError
from broker.sim.demo import Demo, RiichiDemo
from broker.sim.rehearsal import Rehearsal, refuse_started


@click.command(short_help="Play a whole event on this machine.")
@click.option("--once", is_flag=True, help="Exit when the event is over, with an error if anything was wrong.")
@click.option("--folder", type=ANY, help="New folder for the event [default: var/demo-<time>].")
@options.broker_option("Broker to run: embedded is nats-server.")
@click.option(
    "--seed",
    type=int,
    default=None,
    help="Seed for the players' choices; deals are new each time [default: random].",
)
@click.option("--riichi", is_flag=True, help="Play a riichi evening instead: 8 players, 2 tables, one session each.")
def demo(*, once: bool, folder: Path | None, broker: str, seed: int | None, riichi: bool) -> None:
    """Play an individual event with 16 players, 4 tables and 4 deals on this machine.

    The desk stays available until Ctrl-C, unless --once is given.
    """
    where = folder or Path("var") / f"demo-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    kind = RiichiDemo if riichi else Demo
    _play(lambda seed, stop: kind(where, broker, seed, stop), seed, once=once)


@click.command(short_help="Rehearse your own event on this machine, in a copy.")
@options.folder_argument
@click.option("--once", is_flag=True, help="Exit when the last play is in.")
@click.option("--copy", type=ANY, help="New folder for the copy [default: var/rehearsal-<time>].")
@options.broker_option("Broker to run: embedded is nats-server.")
@click.option("--seed", type=int, default=None, help="Seed for how plays end and what goes wrong [default: random].")
@click.option("--speed", type=click.FloatRange(0.1, 50), default=1.0, show_default=True, help="How fast people are.")
@click.option("--faults/--no-faults", default=True, show_default=True, help="Whether anything goes wrong.")
def rehearse(
    folder: Path, *, once: bool, copy: Path | None, broker: str, seed: int | None, speed: float, faults: bool
) -> None:
    """Rehearse an event in a copy, with simulated tables and people. FOLDER is only read.

    The copy has other deals, so yours stay secret; desk and display say REHEARSAL. Some trays are laid wrongly, some hu
    are false, and a table loses power. A final seated by rank is played once you seat it at the desk. The desk stays
    available until Ctrl-C, unless --once is given. For an event that has started, name the copy with --copy.

    \b
    homologue rehearse my-cup --speed 5
    """
    if copy is None:
        refuse_started(folder)
    where = copy or Path("var") / f"rehearsal-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    _play(lambda seed, stop: Rehearsal(folder, where, broker, seed, stop, speed=speed, faults=faults), seed, once=once)


def _play(event: Callable[[int, threading.Event], Demo], seed: int | None, *, once: bool) -> None:
    """Play until the event is over or somebody stops it, and exit."""
    stop = stop_on_signals()
    try:
        sys.exit(event(int(time.time()) if seed is None else seed, stop).play(once=once))
    except BrokerError:
        raise
    except TimeoutError as error:
        raise CommandError("demo_failed", str(error)) from error
