"""`homologue centre` and `homologue hall`: events in several halls, and the nodes of the centre's broker."""

import json
import os
import shutil
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import click
from msgspec.structs import replace

from broker.cli import options
from broker.cli.encryption import Logins
from broker.cli.scorer import CREDENTIALS, MQTT_PORT, scorer
from broker.cli.standby import SharedBroker
from broker.console import EXISTING_FOLDER, FOLDER, json_lines, json_option, say
from broker.daemon import stop_on_signals
from broker.event import (
    HALLS,
    NODES,
    PLAYERS,
    PROFILE,
    PROFILES,
    CentreAddress,
    Hall,
    HallsFile,
    Nodes,
    open_event,
    plan_of_hall,
    read_deals,
    read_halls,
    read_nodes,
    read_plan,
    read_registry,
    refuse_travellers,
    save_event,
    write_centre,
    write_halls,
    write_nodes,
)
from broker.event.deals import COMMITMENT
from broker.files import EVENT, locked, write_private
from broker.halls.link import AUTHORITY_FILE, IDENTITY_FILE, PASSWORD_FILE
from broker.i18n import N_
from broker.mqtt import NODE_FILE, Certificates, Cluster, Credentials, MqttBrokerSettings, NatsNode, hall_user
from broker.protocol import open_event_key
from broker.rules import RuleError
from broker.scorer.alerts import Concern

COUNTS: Final = (3, 5)
"""Possible numbers of nodes: more than half must be running, and the broker stores at most five copies."""

POLL_S: Final = 0.2

COPIED: Final = (PLAYERS, PROFILE, PROFILES, COMMITMENT)
"""Files and folders that are copied from the centre's folder to a hall's."""


def _centre(*, nodes: int, node: int | None, event: Path, **scorer_options: Any) -> None:  # noqa: ANN401 - the options of the scorer
    """Run the scorer of an event with halls or, in a folder without the event, only one node of its broker."""
    _halls_of(event)
    if node is None and (event / NODES).exists():
        raise click.UsageError(f"--node is missing: the number of the node in {NODES} that this machine runs")
    if node and not (event / EVENT).exists():
        run_node_alone(event, node, scorer_options["host"])
    elif scorer.callback is not None:
        scorer.callback(event=event, nodes=nodes, node=node, **scorer_options)


centre = click.Command(
    "centre",
    callback=_centre,
    params=[
        *scorer.params,
        click.Option(
            ["--nodes"],
            type=click.Choice(["1", "3"]),
            default="3",
            show_default=True,
            callback=lambda _ctx, _param, value: int(value),
            help="Number of nodes of the broker; of three, any one may fail. They use the ports from --mqtt-port on.",
        ),
        click.Option(
            ["--node"],
            type=click.IntRange(1, max(COUNTS)),
            help="Run the node with this number here; the others are on other machines (`homologue hall nodes`).",
        ),
    ],
    short_help="Run the centre of an event in many places.",
    help="""Run the centre of an event that is played in many places. EVENT is its folder, with the halls in
    `halls.toml` (`homologue hall split`).

    Each hall runs `homologue scorer` on its own folder, and sends the messages of its tables and desk. The desk of the
    centre shows all halls, the overall standings, and what each hall has yet to send. A deal becomes public, in every
    hall, when all halls have played it.

    With --node on each of three machines, any one of them may fail. Give the second --standby-of, or --standby and
    --store; the third runs only a node.

    \b
    homologue centre world-cup --host 0.0.0.0
    homologue centre world-cup --host 0.0.0.0 --desk-host 0.0.0.0 --node 2 --standby-of https://a.example.org:8136
    """,
)


@click.group(short_help="Split an event into halls, and manage them.")
def hall() -> None:
    """Split an event that is played in several places into halls, and manage them."""
    os.umask(0o077)


@hall.command("split", short_help="Write a folder for each hall.")
@options.folder_argument
@click.option("--to", "target", type=FOLDER, required=True, help="Folder in which each hall gets a folder.")
@click.option(
    "--address",
    "addresses",
    multiple=True,
    help="HOST or HOST:PORT at which halls reach the centre's broker; once for each node [default: nodes.toml's].",
)
@click.option("--only", "names", multiple=True, help="Only this hall, such as one that joins late; may be repeated.")
@click.option("--plain", is_flag=True, help="For a centre that runs without TLS (--plain).")
@json_lines
def split(folder: Path, target: Path, addresses: tuple[str, ...], names: tuple[str, ...], *, plain: bool) -> None:
    """Write the folder of each hall in `halls.toml`: its plan, the deals, and its identity at the centre.

    A hall's folder is as secret as the event's: it has the deals. Give it only to the people of that hall, who run
    `homologue scorer` on it. Writing it again creates another certificate; the hall's key stays with the hall.

    \b
    [[halls]]
    name = "paris"
    title = "Paris"
    tables = "1-20"

    \b
    homologue hall split world-cup --to halls --address centre.example.org
    """
    everywhere = _halls_of(folder, *names)
    refuse_travellers(read_plan(folder), everywhere)
    halls = [one for one in everywhere if not names or one.name in names]
    brokers = _with_ports(addresses) or nodes_of(folder).nodes
    known = open_event(folder)
    certificates = None if plain else Certificates.ensure(folder, [one.rpartition(":")[0] for one in brokers])
    passwords = Credentials.ensure(folder / CREDENTIALS, max(known.tables), [one.name for one in halls])
    key = open_event_key(folder).public
    for one in halls:
        place = target / one.name
        save_event(place, plan_of_hall(read_plan(folder), one), read_deals(folder), read_registry(folder))
        _copy_shared(folder, place)
        write_centre(place, CentreAddress(one.name, one.title, brokers, key))
        if certificates:
            write_private(place / IDENTITY_FILE, certificates.issue_hall(one.name))
            write_private(place / AUTHORITY_FILE, certificates.authority.encode())
        else:
            write_private(place / PASSWORD_FILE, passwords.password(hall_user(one.name)).encode())
        open_event(place)
        say(f"{one.title}: {place}", hall=one.name, folder=place)


def _with_ports(addresses: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one if ":" in one else f"{one}:{MQTT_PORT}" for one in addresses)


@hall.command("nodes", short_help="Distribute the nodes of the centre's broker over several machines.")
@options.folder_argument
@click.option("--to", "target", type=FOLDER, required=True, help="Folder in which each machine gets a folder.")
@click.option("--address", "addresses", multiple=True, required=True, help="HOST or HOST:PORT of a node; give 3 or 5.")
@json_lines
def nodes(folder: Path, target: Path, addresses: tuple[str, ...]) -> None:
    """Set on which machines the nodes of the centre's broker run, in order of their numbers.

    FOLDER is the centre's. This writes `nodes.toml` into it, and for each other machine a folder with what a node needs
    and none of the deals. Halls connect to PORT; the nodes reach each other at the port after it.

    \b
    homologue hall nodes world-cup --to nodes --address a.example.org --address b.example.org --address c.example.org
    homologue centre world-cup --node 1 --host 0.0.0.0 --desk-host 0.0.0.0
    homologue centre nodes/c.example.org --node 3 --host 0.0.0.0
    """
    _halls_of(folder)
    for place in write_node_folders(folder, open_event(folder).name, _with_ports(addresses), target):
        say(f"for {place.name}: {place}", node=place.name, folder=place)


def _copy_shared(folder: Path, place: Path) -> None:
    for name in COPIED:
        if (folder / name).is_dir():
            shutil.copytree(folder / name, place / name, dirs_exist_ok=True)
        elif (folder / name).exists():
            shutil.copyfile(folder / name, place / name)


@hall.command("list", short_help="List the halls of an event.")
@options.folder_argument
@json_option()
def list_halls(folder: Path, *, as_json: bool) -> None:
    """List the halls, their tables, and which were revoked.

    \b
    homologue hall list world-cup
    """
    halls = _halls_of(folder)
    if as_json:
        click.echo(json.dumps([{"hall": one.name, "title": one.title, "revoked": one.revoked} for one in halls]))
        return
    for one in halls:
        click.echo(f"{one.name:24}  tables {one.tables:20}  {one.title}{'  REVOKED' if one.revoked else ''}")


@hall.command("revoke", short_help="Stop accepting messages from a hall.")
@click.argument("folder", type=EXISTING_FOLDER)
@click.argument("name")
@json_lines
def revoke(folder: Path, name: str) -> None:
    """Stop accepting messages from a hall, for instance because its machine was stolen. What it has sent stays.

    A running centre disconnects it at once. `homologue hall admit` readmits it. If the centre has several machines,
    run this on each of them.

    \b
    homologue hall revoke world-cup paris
    """
    _set_revoked(folder, name, revoked=True)
    say(f"{name}: the centre no longer accepts messages from it", hall=name)
    _name_other_machines(folder)


@hall.command("admit", short_help="Accept messages from a revoked hall again.")
@click.argument("folder", type=EXISTING_FOLDER)
@click.argument("name")
@json_lines
def admit(folder: Path, name: str) -> None:
    """Accept messages again from a hall that was revoked; it sends what it has stored since.

    If the centre has several machines, run this on each of them.

    \b
    homologue hall admit world-cup paris
    """
    _set_revoked(folder, name, revoked=False)
    say(f"{name}: the centre accepts messages from it again", hall=name)
    _name_other_machines(folder)


def _set_revoked(folder: Path, name: str, *, revoked: bool) -> None:
    with locked(folder):  # if two halls are revoked at the same time, both changes must persist
        halls = _halls_of(folder, name)
        write_halls(folder, [replace(one, revoked=revoked) if one.name == name else one for one in halls])


def _name_other_machines(folder: Path) -> None:
    """Say on which machines to repeat the change: each node admits halls according to its own file."""
    if nodes := read_nodes(folder):
        machines = ", ".join(nodes.hosts)
        say(f"do the same on each machine of the centre: {machines}", machines=list(nodes.hosts))


def _halls_of(folder: Path, *named: str) -> tuple[Hall, ...]:
    """Return the halls of an event. Raises BadEvent, and RuleError if it has none, or none with a given name."""
    halls = read_halls(folder)
    if not halls:
        raise RuleError("no_halls", N_("{folder} has no halls: list them in {file}", folder=folder, file=HALLS))
    for name in sorted({*named} - {one.name for one in halls}):
        raise RuleError("unknown_hall", N_("{file} has no hall {hall}", file=HALLS, hall=name))
    return halls


def make_node(folder: Path, number: int, host: str, certificates: Certificates | None) -> NatsNode:
    """Return a node, not yet started. `folder`: the event's, or one made for a node. Raises BrokerError, RuleError."""
    nodes = nodes_of(folder)
    if not 1 <= number <= len(nodes.nodes):
        text = N_("{file} has no node {number}: it lists {count}", file=NODES, number=number, count=len(nodes.nodes))
        raise RuleError("nodes_wrong", text)
    if certificates is None:
        raise RuleError("nodes_wrong", N_("nodes on several machines need certificates: start without --plain"))
    settings = MqttBrokerSettings(
        folder=folder / "broker",
        event=nodes.event,
        credentials=Credentials({}),
        tables=1,
        host=host,
        port=int(nodes.nodes[number - 1].rpartition(":")[2]),
        certificates=certificates,
        halls=HallsFile(folder).connecting,
        cluster=Cluster(number, nodes.routes, certificate=certificates.folder / NODE_FILE),
    )
    return NatsNode(settings)


def nodes_of(folder: Path) -> Nodes:
    """Return the nodes' addresses. Raises BadEvent, and RuleError if none are listed."""
    nodes = read_nodes(folder)
    if nodes is None:
        raise RuleError("nodes_wrong", N_("{folder} lists no nodes: run homologue hall nodes", folder=folder))
    return nodes


class OneNode:
    """The node on this machine, and news of the other nodes."""

    def __init__(self, folder: Path, number: int, host: str, logins: Logins, running: ExitStack) -> None:
        """Start the node, which runs until `running` is closed. Raises BrokerError, RuleError."""
        nodes = nodes_of(folder)
        self._names = nodes.nodes
        self._node = running.enter_context(make_node(folder, number, host, logins.certificates))
        self.host, self.port = nodes.hosts[number - 1], self._node.port
        text = N_("Halls are connected through {count} nodes on as many machines.", count=len(self._names))
        started = logins.scorer(self._node.host, self.port), lambda: None, text
        self.broker = SharedBroker(started, self._node.lets_in)
        click.echo(f"Broker: node {number} of {len(self._names)}, port {self.port}")

    def wait(self, stop: threading.Event) -> bool:
        """Wait until the node accepts clients or `stop` is set. Return whether it accepts them."""
        while not stop.is_set():
            if self._node.lets_in():
                return True
            self.report_news(lambda news: click.echo(news.text))
            stop.wait(POLL_S)
        return False

    def report_news(self, report: Callable[[Concern], None]) -> None:
        """Report nodes that were lost or have come back."""
        while not self._node.news.empty():
            number, there = self._node.news.get()
            report(node_concern(number, self._names[number - 1], there=there))


def node_concern(number: int, node: str, *, there: bool) -> Concern:
    """Return the alert for arbiters about another node."""
    return Concern("node_back" if there else "node_lost", values={"number": number, "node": node})


def run_node_alone(folder: Path, number: int, host: str) -> None:
    """Run a node on a machine that has nothing else of the event, until a signal stops it."""
    stop = stop_on_signals()
    with ExitStack() as running:
        node = running.enter_context(make_node(folder, number, host, Certificates.of_event(folder)))
        click.echo(f"Broker: node {number}, port {node.port}, alone: this folder has no event")
        stop.wait()


def write_node_folders(folder: Path, event: str, places: tuple[str, ...], target: Path) -> list[Path]:
    """Write `nodes.toml`, and for each machine except the first a folder with all that a node alone needs.

    Raises RuleError, BrokerError.
    """
    if len(set(places)) not in COUNTS or len(set(places)) != len(places):
        raise RuleError("nodes_wrong", N_("different addresses: {count}; give 3 or 5", count=len(set(places))))
    try:
        nodes = Nodes(event, places)
    except ValueError as error:
        raise RuleError("nodes_wrong", str(error)) from None
    certificates = Certificates.ensure(folder, nodes.hosts)
    written = []
    for host in nodes.hosts[1:]:
        certificates.hand_to_node(target / host, nodes.hosts)
        written.append(target / host)
    for place in (folder, *written):
        write_halls(place, read_halls(folder))
        write_nodes(place, nodes)
    return written
