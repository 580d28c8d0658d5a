"""The options of `homologue scorer`.

The scorer itself (scorer_process.py) takes a second to import. A long journal is read meanwhile, and so that this can
begin early, little is imported here.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from broker.console import EXISTING_FILE, EXISTING_FOLDER, FILE, FOLDER
from broker.protocol import DESK_PORT, LAST_PORT
from broker.read_ahead import STORE, CheckedAhead, gc_paused

if TYPE_CHECKING:
    from broker.store import DatabaseAddress

CREDENTIALS = "credentials.json"
MQTT_PORT = 1883
CONNECTIONS, MOST_CONNECTIONS = 120, 10_000

PORTS = click.IntRange(0, LAST_PORT)

PLAIN: Final = click.option(
    "--plain", is_flag=True, help="Run without TLS: anybody on the network can read and change what is sent."
)

ADDRESS = click.option(
    "--store", "store_address", metavar="postgresql://USER@HOST/DATABASE", help="Keep the journal in PostgreSQL."
)
PASSWORD = click.option(
    "--store-password", type=EXISTING_FILE, help="File that contains only the password for --store."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerOptions:
    """The options given on the command line, one field each."""

    event: Path
    broker: str | None
    host: str
    mqtt_port: int
    desk_host: str
    desk_port: int
    desk_name: tuple[str, ...]
    plain: bool
    desk_certificate: Path | None
    desk_key: Path | None
    desk_connections: int
    public: bool
    broker_name: str | None
    ca: Path | None
    credentials: Path | None
    store_address: str | None
    store_password: Path | None
    second_home: Path | None
    standby: bool
    standby_of: str | None
    backup: Path | None
    backup_every: float
    backup_keep: int
    nodes: int = 1
    """Number of nodes of the broker, if all are on this machine."""
    node: int | None = None
    """Number of this machine's node, if the others are on other machines."""

    @property
    def passwords(self) -> Path:
        """The passwords of the broker's users."""
        return self.credentials or self.event / CREDENTIALS

    @property
    def database(self) -> "DatabaseAddress | None":
        """The address of the database that has the journal, or None."""
        return database_address(self.store_address, self.store_password)


def database_address(address: str | None, password: Path | None) -> "DatabaseAddress | None":
    """Return the database that --store and --store-password name, or None."""
    if address is None and password is not None:
        raise click.UsageError("--store-password needs --store")
    if address is None:
        return None
    from broker.store import DatabaseAddress  # noqa: PLC0415 - as below

    return DatabaseAddress(address, str(password.absolute()) if password else None)


@click.command(short_help="Run an event's scorer, with broker and desk.")
@click.argument("event", type=EXISTING_FOLDER)
@click.option(
    "--broker",
    help="mosquitto, embedded (nats-server), or HOST:PORT of a running broker [default: the one that the event used "
    "last, else mosquitto if it is installed as a system package, else embedded].",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address that the scorer's own broker listens on.")
@click.option("--mqtt-port", type=PORTS, default=MQTT_PORT, show_default=True, help="Port of the scorer's own broker.")
@click.option("--desk-host", default="127.0.0.1", show_default=True, help="Address that the desk listens on.")
@click.option("--desk-port", type=PORTS, default=DESK_PORT, show_default=True, help="Port of the desk.")
@click.option("--desk-name", multiple=True, help="Additional host name under which the desk may be opened.")
@PLAIN
@click.option(
    "--desk-certificate",
    type=EXISTING_FILE,
    help="TLS certificate of the desk [default: EVENT/desk.crt, if it exists, or the event's].",
)
@click.option("--desk-key", type=EXISTING_FILE, help="Key of the certificate [default: EVENT/desk.key].")
@click.option(
    "--desk-connections",
    type=click.IntRange(8, MOST_CONNECTIONS),
    default=CONNECTIONS,
    show_default=True,
    help="Connections to the desk that one address may have; behind a reverse proxy, as many as all readers need.",
)
@click.option("--public", is_flag=True, help="Show everybody who can reach the desk what players may know.")
@click.option(
    "--broker-name", help="Host name by which tables reach the broker [default: the one by which they reach the desk]."
)
@click.option("--ca", type=EXISTING_FILE, help="Certificate authority of HOST:PORT, if it is not the event's own.")
@click.option("--credentials", type=FILE, help="Passwords of the broker's users [default: EVENT/credentials.json].")
@ADDRESS
@PASSWORD
@click.option(
    "--second-home",
    type=FOLDER,
    help="Folder on another disk that also gets every ruling, before the desk confirms it.",
)
@click.option("--standby", is_flag=True, help="If another scorer is active on this event, wait until it ends.")
@click.option(
    "--standby-of",
    metavar="https://HOST:PORT",
    help="Follow the scorer with this desk, and take over if it fails.",
)
@click.option("--backup", type=FOLDER, help="Back up the event to this folder (a second disk, a stick) while it runs.")
@click.option(
    "--backup-every",
    type=click.FloatRange(min=0.01),
    default=5.0,
    show_default=True,
    metavar="MINUTES",
    help="Minutes between two copies.",
)
@click.option(
    "--backup-keep", type=click.IntRange(min=1), default=12, show_default=True, help="Number of copies to keep."
)
def scorer(**values: Any) -> None:  # noqa: ANN401 - the fields of `ScorerOptions`
    """Run the scorer and desk of an event. EVENT is the event's folder."""
    options = ScorerOptions(**values)
    with CheckedAhead(options.event / STORE) as ahead:
        with gc_paused():
            from broker.cli.scorer_process import run_scorer  # noqa: PLC0415 - slow to import; the journal is read meanwhile
        run_scorer(ahead, options)
