"""`homologue demo`: a whole event on this machine, over real parts; only hands and eyes are simulated."""

import signal
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import click

from broker.console import CommandError
from broker.errors import BrokerError
from broker.sim.demo import Demo, FolderTaken, RiichiDemo


@click.command(short_help="Play a whole event on this machine.")
@click.option("--once", is_flag=True, help="Exit when the event is over, with an error if anything was wrong.")
@click.option("--folder", type=click.Path(path_type=Path), help="New folder for the event [default: var/demo-<time>].")
@click.option("--broker", type=click.Choice(["embedded", "mosquitto"]), default="embedded", show_default=True)
@click.option(
    "--seed",
    type=int,
    default=None,
    help="Seed for the players' choices; deals are new each time [default: random].",
)
@click.option("--riichi", is_flag=True, help="Play a riichi evening instead: 8 players, 2 tables, one session each.")
def demo(once: bool, folder: Path | None, broker: str, seed: int | None, riichi: bool) -> None:  # noqa: FBT001 - click's way
    """Play an individual event with 16 players, 4 tables and 4 deals on this machine.

    The desk stays available until Ctrl-C, unless --once is given.
    """
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    where = folder or Path("var") / f"demo-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    seed = int(time.time()) if seed is None else seed
    try:
        sys.exit((RiichiDemo if riichi else Demo)(where, broker, seed, stop).play(once=once))
    except BrokerError:
        raise
    except FolderTaken as error:
        raise CommandError(error.code, str(error)) from error
    except OSError as error:  # a TimeoutError too
        raise CommandError("demo_failed", str(error)) from error
