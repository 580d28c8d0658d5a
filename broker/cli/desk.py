"""`homologue event desk`: set up an event in a browser before it has a scorer."""

import os
from pathlib import Path

import click

from broker.cli import options
from broker.cli.encryption import certificates_of, desk_certificate
from broker.cli.people import show_first_link
from broker.cli.scorer import PLAIN, PORTS
from broker.daemon import stop_on_signals
from broker.errors import StoreInUse
from broker.files import make_folder
from broker.people import Authentication, is_loopback
from broker.protocol import DESK_PORT
from broker.scorer import DashboardView, ViewFeed
from broker.store import STORE, database_of, has_started, lock_store
from broker.web.server import DeskServer
from broker.web.services import Services


@click.command("desk", short_help="Set up an event in a browser.")
@options.new_folder_argument
@click.option("--desk-host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--desk-port", type=PORTS, default=DESK_PORT, show_default=True, help="Port to listen on.")
@click.option("--desk-name", multiple=True, help="Additional host name under which the desk may be opened.")
@PLAIN
def event_desk(folder: Path, desk_host: str, desk_port: int, desk_name: tuple[str, ...], *, plain: bool) -> None:
    """Serve the pages for setting up an event: name and rules, players, movement, deals, sessions, and the final check.

    FOLDER may be new. Accounts created here are the event's accounts. When the event is ready, stop this with Ctrl-C
    and start the scorer: its desk has the same pages, and refuses changes that would break a started event.

    It does not start while a scorer is running.

    \b
    homologue event desk my-cup
    """
    os.umask(0o077)
    make_folder(folder)
    _look_for_scorer(folder)
    stop = stop_on_signals()
    auth = Authentication(folder)
    try:
        certificates = certificates_of(folder, (desk_host, *desk_name), plain=plain)
        server = DeskServer(
            empty_view_feed(),
            desk_host,
            desk_port,
            hosts=desk_name,
            auth=auth,
            tls=desk_certificate(folder, None, None, certificates),
            services=Services(folder=folder, plain=certificates is None),
        )
        with server:
            click.echo(f"Set-up: {server.url}setup")
            show_first_link(auth, server.url, folder, open_room=is_loopback(desk_host) and not desk_name)
            stop.wait()
    finally:
        auth.close()


def _look_for_scorer(folder: Path) -> None:
    """Refuse to start beside a running scorer, and say where to correct an event that has started.

    Two desks would both write the event's certificates and first link, and only the scorer's desk can correct a started
    event. Raises StoreInUse, StoreBroken.
    """
    if not has_started(folder):
        return
    if not database_of(folder):
        try:
            lock_store(folder / STORE).close()
        except StoreInUse:
            raise StoreInUse(f"a scorer runs on {folder}: open its desk, which has these pages") from None
    click.echo("event_started: a scorer has been started here: correct the event on the scorer's desk, not on this one")


def empty_view_feed() -> ViewFeed:
    """Return an empty view, for use before an event exists."""
    nothing = DashboardView(
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
