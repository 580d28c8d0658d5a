"""The demo from start to end: its processes, what they report, and whether all results are right.

A riichi evening has eight players at two tables, with one session each, under different rules. The ends of its hands
are drawn at random, not played. The demo shows how tables, scorer and desk handle them.
"""

import json
import random
import threading
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from broker.errors import CodedError
from broker.event import STANDINGS, Plan, RiichiBooking, open_event, save_event
from broker.files import write_private
from broker.mqtt import Certificates, Credentials
from broker.protocol import DESK_PORT, SEATS, Player, RiichiEvent, RiichiWin, Seat
from broker.protocol.tls import event_context
from broker.rules import DEFAULT_MCR
from broker.sim.demo_audit import (
    Fact,
    audit_event,
    count_endings,
    evening_problems,
    facts,
    imps_of,
    kept_problems,
    luck_lines,
)
from broker.sim.demo_event import KEEPING_TABLE, NAME, PLAYERS, list_devices, make_event, people_file, write_kiosk
from broker.sim.processes import DemoProcess
from broker.store import STORE

START_S: Final = 300.0
"""With thirty busy processes, a program that normally starts within two seconds has taken two minutes."""
LONGEST_S: Final = 900.0


class FolderTaken(CodedError, OSError, code="demo_folder_taken"):
    """The demo would overwrite an existing folder."""


class Demo:
    """One event from start to end."""

    what = "16 players, 4 tables, 4 deals"
    tables: Iterable[int] = range(1, 5)
    name = NAME
    longest_s = LONGEST_S

    def __init__(self, folder: Path, broker: str, seed: int, stop: threading.Event) -> None:
        self._folder, self._broker, self._seed, self._stop = folder, broker, seed, stop
        self._began = time.monotonic()
        self._children: list[DemoProcess] = []
        self._url = ""

    def report(self, source: str, text: str) -> None:
        """Print a line of progress."""
        click.echo(f"{time.monotonic() - self._began:6.1f} s  {source:<8}  {text}")

    def play(self, *, once: bool) -> int:
        """Run the event and return the exit code."""
        if self._folder.is_dir() and any(self._folder.iterdir()):
            raise FolderTaken(
                f"{self._folder} is not empty; the demo plays in a new folder, so that it spoils no event"
            )
        self.report("demo", f"event in {self._folder}, seed {self._seed}: {self.what}")
        plays = self._make()
        with ExitStack() as running:
            self._start(running)
            view = self._follow(plays)
            if view is None:
                return 130 if self._stop.is_set() else 1
            code = self._close(view, plays)
            if not once:
                self.report("demo", f"the page stays up: {self._url} (Ctrl-C ends)")
                self._stop.wait()
        return code

    def _make(self) -> int:
        """Write the event's folder and return the number of plays."""
        return len(make_event(self._folder, seed=self._seed, report=partial(self.report, "club")))

    def _start(self, running: ExitStack) -> None:
        port = self._start_scorer(running)
        for table in self.tables:
            config = write_kiosk(self._folder, table, port, name=self.name)
            picture = self._folder / f"table-{table}.png"
            self._child(running, f"table {table}", ["kiosk", str(config), "--picture", str(picture)])

    def _start_scorer(self, running: ExitStack) -> int:
        """Start the scorer, with its page on the usual port if that is free, and return the broker's port."""
        arguments = [
            "scorer",
            str(self._folder),
            "--broker",
            self._broker,
            "--public",
            "--mqtt-port",
            "0",
            "--desk-port",
        ]
        scorer = self._child(running, "scorer", [*arguments, str(DESK_PORT)])
        if "desk_port_taken" in scorer.wait_for(r"^Desk: |desk_port_taken", START_S):
            scorer.wait(START_S)  # wait until its broker has released the folder
            self._children.remove(scorer)
            self.report("demo", f"port {DESK_PORT} is taken, so the page gets another one")
            scorer = self._child(running, "scorer", [*arguments, "0"])
        self._url = scorer.wait_for(r"^Desk: (\S+)", START_S)
        return int(scorer.wait_for(r"^Broker: .* port (\d+)", START_S))

    def _child(self, running: ExitStack, name: str, arguments: list[str]) -> DemoProcess:
        child = DemoProcess(name, arguments, self.report)
        running.callback(child.stop)
        self._children.append(child)
        return child

    def _follow(self, plays: int) -> dict[str, Any] | None:
        """Show progress until every result is safe, and return the last view; None if it did not get that far."""
        shown, view = "", None
        while not self._stop.is_set():
            with suppress(OSError):  # a busy desk may answer late
                view = self.view()
            if view and (now := self._progress(view, plays)) != shown:
                shown = now
                self.report("scorer", shown)
            if view and view["plays_in"] == view["plays_expected"] and all(map(table_is_done, view["tables"])):
                return view
            if problem := self._failure():
                self.report("demo", problem)
                return None
            self._stop.wait(0.3)
        return None

    def _progress(self, view: dict[str, Any], plays: int) -> str:
        lead = view["standings"][0] if view["standings"] else None
        leader = f"; {lead['name']} leads with {lead['imp']:+d} IMP" if lead and lead["imp"] else ""
        return f"{view['plays_in']} of {plays} plays in{leader}"

    def _failure(self) -> str | None:
        for child in self._children:
            if child.exit_code is not None:
                return f"{child.name} has ended with {child.exit_code}"
        if time.monotonic() - self._began > self.longest_s:
            return f"not over after {self.longest_s:.0f} s"
        return None

    def view(self) -> dict[str, Any]:
        """Return the desk's view of the whole event."""
        trust = event_context(Certificates.of_event(self._folder).authority)
        with urllib.request.urlopen(f"{self._url}view.json", timeout=10, context=trust) as answer:  # noqa: S310 - our own desk
            view: dict[str, Any] = json.load(answer)
        return view

    def _close(self, view: dict[str, Any], plays: int) -> int:
        """Recompute everything, show the standings, and return 0 if all is right, otherwise 1."""
        store, table = self._folder / "scorer.sqlite", self._folder / STANDINGS
        journal = facts(store)
        problems = audit_event(store, table, view, plays)
        refused = sum(fact["refusals"] for fact in journal if fact["type"] == "restored")
        if not refused:
            problems.append("no tray was refused, though some were laid wrongly")
        first = json.loads((self._folder / people_file(KEEPING_TABLE)).read_bytes())["plays"][0]
        problems += kept_problems(journal, KEEPING_TABLE, first)
        print_standings(view)
        _print_plays([fact for fact in journal if fact["type"] == "result"])
        click.echo(f"Trays refused until they were right: {refused}.")
        click.echo(f"Standings: {table}")
        for problem in problems:
            click.echo(f"WRONG: {problem}")
        if not problems:
            click.echo(f"All points and IMPs of {plays} plays recomputed from the journal: they agree.")
        return 1 if problems else 0


def print_standings(view: dict[str, Any]) -> None:
    """Print the standings."""
    click.echo("\n  place  IMP  fines  player")
    for row in view["standings"]:
        click.echo(f"  {row['place']:5d} {row['imp']:+4d} {row['fines']:6d}  {row['name']}")


def _print_plays(results: list[Fact]) -> None:
    endings = count_endings(results)
    click.echo(f"\nPlays: {', '.join(f'{count} {kind}' for kind, count in sorted(endings.items()))}.")
    for line in luck_lines(results, imps_of(results)):
        click.echo(line)


def table_is_done(table: dict[str, Any]) -> bool:
    """Return whether a table has played its last deal and all its facts are stored at the scorer."""
    return bool(table["unsent"] == 0 and table["state"] == "finished")


TABLES: Final = {1: "riichi-montreal", 2: "riichi-basic"}
"""The rules of each table."""

HANDS: Final = 6

VALUES: Final = (
    *[RiichiWin(han=1, fu=fu) for fu in (30, 40)],
    *[RiichiWin(han=2, fu=fu) for fu in (25, 30, 40)],
    *[RiichiWin(han=3, fu=fu) for fu in (30, 40)],
    RiichiWin(han=4, fu=30),
    *[RiichiWin(han=han) for han in (5, 6, 8)],
)
"""Values of the evening's winning hands. Seven pairs are only won on a discard here."""

RIICHI: Final = 0.3
"""The probability that riichi is declared."""


def make_evening(folder: Path, *, seed: int = 0) -> int:
    """Write the evening's folder, with a script for the people at each table, and return the number of hands."""
    people = [Player(id=f"p{number:02d}", name=name) for number, name in enumerate(PLAYERS[: 4 * len(TABLES)], 1)]
    booked = tuple(
        RiichiBooking(1, table, profile, {seat: people[4 * at + place].id for place, seat in enumerate(SEATS)})
        for at, (table, profile) in enumerate(TABLES.items())
    )
    plan = Plan(NAME, "Homologue demo: a riichi evening", DEFAULT_MCR, tuple(people), riichi=booked)
    save_event(folder, plan, (), {})
    rng = random.Random(seed)  # noqa: S311 - a demonstration, no secret
    Credentials.ensure(folder / "credentials.json", max(TABLES))
    list_devices(folder, TABLES)
    for table in TABLES:
        script = {"hands": msgspec.to_builtins(draw_hands(HANDS, rng)), "reaction_ms": 700}
        write_private(folder / people_file(table), json.dumps(script, indent=1).encode())
    return HANDS * len(TABLES)


def draw_hands(count: int, rng: random.Random) -> tuple[RiichiEvent, ...]:
    """Draw at random how a number of hands end."""
    return tuple(_hand(rng) for _ in range(count))


def _hand(rng: random.Random) -> RiichiEvent:
    kind = rng.choices(["ron", "two ron", "tsumo", "draw", "abort"], [10, 2, 7, 3, 1])[0]
    riichi = tuple(_riichi(rng))
    if kind == "abort":
        return RiichiEvent(kind="abort", reason="four_winds")
    if kind == "draw":
        tenpai = tuple(seat for seat in SEATS if seat in riichi or rng.random() < RIICHI)
        return RiichiEvent(kind="draw", tenpai=tenpai, riichi=riichi)
    if kind == "tsumo":
        drawn = [win for win in VALUES if win.fu != 25]  # noqa: PLR2004 - seven pairs
        return RiichiEvent(kind="tsumo", wins={rng.choice(SEATS): rng.choice(drawn)}, riichi=riichi)
    loser, *winners = rng.sample(SEATS, 3 if kind == "two ron" else 2)
    wins = {seat: rng.choice(VALUES) for seat in SEATS if seat in winners}
    return RiichiEvent(kind="ron", wins=wins, loser=loser, riichi=riichi)


def _riichi(rng: random.Random) -> Iterator[Seat]:
    yield from (seat for seat in SEATS if rng.random() < RIICHI / 2)


class RiichiDemo(Demo):
    """A riichi session at each of two tables."""

    what = "8 players, 2 tables, a riichi session each"
    tables = TABLES

    def _make(self) -> int:
        return make_evening(self._folder, seed=self._seed)

    def _progress(self, _view: dict[str, Any], plays: int) -> str:
        return f"{len(self._hands())} entries of at most {plays} hands and {len(TABLES)} ends"

    def _hands(self) -> list[Fact]:
        return [fact for fact in facts(self._folder / STORE) if fact["type"] == "riichi_hand"]

    def _close(self, view: dict[str, Any], plays: int) -> int:
        """Recompute everything, show the scores, and return 0 if all is right, otherwise 1."""
        hands, event = self._hands(), open_event(self._folder)
        problems = [*evening_problems(hands, TABLES), *(f"alert: {one['code']}" for one in view["alerts"])]
        for booking in event.plan.riichi:
            last = max((fact for fact in hands if fact["table"] == booking.table), key=lambda fact: fact["entry"])
            click.echo(f"\nTable {booking.table}, {booking.profile}, {last['entry'] - 1} of {plays // 2} hands:")
            for seat, points in sorted(last["standing"]["scores"].items(), key=lambda row: -row[1]):
                click.echo(f"  {points:6d}  {event.name_of(booking.players[seat])}")
        for problem in problems:
            click.echo(f"WRONG: {problem}")
        if not problems:
            click.echo(f"All payments of {len(hands)} entries recomputed from the journal: they agree.")
        return 1 if problems else 0
