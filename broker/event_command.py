"""`homologue event` as a whole: the organiser's commands, and those that need rooms above the organiser's."""

import os
import signal
import threading
from pathlib import Path

import click

from broker.desk.errors import DeskError
from broker.desk.server import PORT, DeskServer, is_loopback
from broker.organiser.deals import options
from broker.organiser.events import setup_page
from broker.organiser.events.command import event
from broker.people.door import Door
from broker.people.errors import PeopleError
from broker.process import DESK_CERTIFICATE, PORTS, desk_tls, tell_first
from broker.records.import_command import import_
from broker.scorer.view import View, ViewFeed

event.add_command(import_)


@event.command(name="desk", short_help="Set an event up in a browser.")
@options.folder
@click.option("--desk-host", default="127.0.0.1", show_default=True, help="Address that the page listens on.")
@click.option("--desk-port", type=PORTS, default=PORT, show_default=True, help="Port of the page.")
@click.option("--desk-name", multiple=True, help="Further host name under which the page may be opened.")
def desk(folder: Path, desk_host: str, desk_port: int, desk_name: tuple[str, ...]) -> None:
    """Open the pages on which an event is set up: name and rules, players, movement, deals, sessions, and the check.

    FOLDER may be new. Accounts that are made here are those of the event. When all is well, end this with Ctrl-C and
    start the scorer; its desk shows the same pages, and refuses what would break a started event.

    \b
    homologue event desk my-cup
    """  # noqa: D301 - click reads the \b
    os.umask(0o077)
    folder.mkdir(parents=True, exist_ok=True)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    door = Door(folder)
    try:
        tls = desk_tls(folder, None, None) if (folder / DESK_CERTIFICATE).exists() else None
        annexes = (setup_page.annex(folder, first=True),)
        server = DeskServer(no_room(), desk_host, desk_port, hosts=desk_name, door=door, tls=tls, annexes=annexes)
        with server:
            click.echo(f"Set-up: {server.url}setup")
            tell_first(door, server.url, folder, open_room=is_loopback(desk_host) and not desk_name)
            stop.wait()
    except (DeskError, PeopleError) as error:
        raise click.ClickException(f"{error.code}: {error}") from None
    finally:
        door.close()


def no_room() -> ViewFeed:
    """Give the picture of a room that there is not yet."""
    nothing = View(
        0,
        "",
        "",
        "",
        connected=True,
        final=False,
        plays_in=0,
        plays_expected=0,
        tables=(),
        plays=(),
        standings=(),
        alerts=(),
    )
    return ViewFeed(nothing)
