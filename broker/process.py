"""`homologue scorer`: the scorer's process, put together from broker, store, scorer and desk."""

import re
import signal
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import cast, get_args

import click

from broker.brokers import Kind, make_broker
from broker.contract.link import Address
from broker.credentials import Credentials
from broker.desk.errors import DeskError
from broker.desk.server import PORT, DeskServer
from broker.errors import BrokerError
from broker.scorer.errors import ScorerError
from broker.scorer.event import Event, open_event
from broker.scorer.journal import Journal
from broker.scorer.service import Scorer

CREDENTIALS = "credentials.json"
STORE = "scorer.sqlite"
MQTT_PORT = 1883

ELSEWHERE = re.compile(r"(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]):(?P<port>[0-9]{1,5})")


@click.command(short_help="Run an event's scorer, broker and desk.")
@click.argument("event", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--broker",
    default="embedded",
    show_default=True,
    help="embedded (nats-server), mosquitto (if installed), or HOST:PORT of a broker that runs already.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address that broker and desk listen on.")
@click.option("--mqtt-port", default=MQTT_PORT, show_default=True, help="Port of the broker that is started here.")
@click.option("--desk-port", default=PORT, show_default=True, help="Port of the arbiter's page.")
@click.option("--desk-name", multiple=True, help="Further host name under which the page may be opened.")
@click.option("--ca", type=click.Path(path_type=Path), help="Certificate authority of a broker with TLS.")
def scorer(
    event: Path, broker: str, host: str, mqtt_port: int, desk_port: int, desk_name: tuple[str, ...], ca: Path | None
) -> None:
    """Take results in, keep them, and show the arbiter: EVENT is the event's folder."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        with ExitStack() as running:
            checked = open_event(event)
            journal = Journal(event / STORE, checked.name)
            running.callback(journal.close)
            work = Scorer(checked, journal, event, lambda: time.time_ns() // 1_000_000)
            address = _address(running, checked, event, broker, (host, mqtt_port), ca)
            desk = running.enter_context(DeskServer(work.feed, host, desk_port, hosts=desk_name))
            click.echo(f"Desk: {desk.url}")
            work.connect(address)
            work.run(stop)
    except (ScorerError, BrokerError, DeskError) as error:
        click.echo(f"homologue scorer: {error.code}: {error}", err=True)
        sys.exit(1)


def _address(
    running: ExitStack, event: Event, folder: Path, broker: str, listen: tuple[str, int], ca: Path | None
) -> Address:
    """Give the broker's address, having started it if it is ours to start."""
    tables = max(event.tables)
    credentials = Credentials.ensure(folder / CREDENTIALS, tables)
    password = credentials.password("scorer")
    if broker in get_args(Kind):
        kind = cast("Kind", broker)
        child = make_broker(
            kind, folder / "broker", event.name, credentials, tables=tables, host=listen[0], port=listen[1]
        )
        running.enter_context(child)
        click.echo(f"Broker: {broker}, port {child.port}")
        return Address(child.host, child.port, "scorer", password)
    found = ELSEWHERE.fullmatch(broker)
    if not found:
        raise click.UsageError("--broker is embedded, mosquitto, or HOST:PORT")
    return Address(found["host"].strip("[]"), int(found["port"]), "scorer", password, ca)
