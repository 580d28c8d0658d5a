"""One event of the demo from start to end: its processes, what they say, and whether all of it is right."""

import json
import threading
import time
import urllib.request
from collections.abc import Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from broker.demo.audit import Fact, audit, facts, imps_of, kinds
from broker.demo.children import Child
from broker.demo.event import make_event, write_kiosk
from broker.demo.spread import told as luck_told
from broker.desk.server import PORT
from broker.scorer.service import STANDINGS

START_S: Final = 120.0
LONGEST_S: Final = 900.0


class FolderTaken(OSError):
    """The demo would write over something."""

    code = "demo_folder_taken"


class Demo:
    """One event from start to end."""

    what = "16 players, 4 tables, 4 deals"
    tables: Iterable[int] = range(1, 5)

    def __init__(self, folder: Path, broker: str, seed: int, stop: threading.Event) -> None:
        self._folder, self._broker, self._seed, self._stop = folder, broker, seed, stop
        self._began = time.monotonic()
        self._children: list[Child] = []
        self._url = ""

    def say(self, who: str, text: str) -> None:
        """Tell the terminal what goes on."""
        click.echo(f"{time.monotonic() - self._began:6.1f} s  {who:<8}  {text}")

    def play(self, *, once: bool) -> int:
        """Run the event; give the exit code."""
        if self._folder.is_dir() and any(self._folder.iterdir()):
            raise FolderTaken(
                f"{self._folder} is not empty; the demo plays in a new folder, so that it spoils no event"
            )
        self.say("demo", f"event in {self._folder}, seed {self._seed}: {self.what}")
        plays = self._make()
        with ExitStack() as running:
            self._start(running)
            view = self._follow(plays)
            if view is None:
                return 130 if self._stop.is_set() else 1
            code = self._close(view, plays)
            if not once:
                self.say("demo", f"the page stays up: {self._url} (Ctrl-C ends)")
                self._stop.wait()
        return code

    def _make(self) -> int:
        """Write the event's folder; give how many plays it has."""
        return len(make_event(self._folder, seed=self._seed, said=partial(self.say, "club")))

    def _start(self, running: ExitStack) -> None:
        port = self._start_scorer(running)
        for table in self.tables:
            config = write_kiosk(self._folder, table, port)
            picture = self._folder / f"table-{table}.png"
            self._child(running, f"table {table}", ["kiosk", str(config), "--picture", str(picture)])

    def _start_scorer(self, running: ExitStack) -> int:
        """Start the scorer, its page on the usual port if nobody has it; give the broker's port."""
        arguments = ["scorer", str(self._folder), "--broker", self._broker, "--mqtt-port", "0", "--desk-port"]
        scorer = self._child(running, "scorer", [*arguments, str(PORT)])
        if "desk_port_taken" in scorer.wait_for(r"^Desk: |desk_port_taken", START_S):
            self._children.remove(scorer)
            self.say("demo", f"port {PORT} is taken, so the page gets another one")
            scorer = self._child(running, "scorer", [*arguments, "0"])
        self._url = scorer.wait_for(r"^Desk: (\S+)", START_S)
        return int(scorer.wait_for(r"^Broker: .* port (\d+)", START_S))

    def _child(self, running: ExitStack, name: str, arguments: list[str]) -> Child:
        child = Child(name, arguments, self.say)
        running.callback(child.stop)
        self._children.append(child)
        return child

    def _follow(self, plays: int) -> dict[str, Any] | None:
        """Show progress until every result is safe; None if it did not come to that."""
        said = -1
        while not self._stop.is_set():
            view = self.view()
            if view["plays_in"] != said:
                said = view["plays_in"]
                lead = view["standings"][0] if view["standings"] else None
                leader = f"; {lead['name']} leads with {lead['imp']:+d} IMP" if lead and lead["imp"] else ""
                self.say("scorer", f"{said} of {plays} plays in{leader}")
            if view["final"] and all(over(table) for table in view["tables"]):
                return view
            if problem := self._trouble():
                self.say("demo", problem)
                return None
            self._stop.wait(0.3)
        return None

    def _trouble(self) -> str | None:
        for child in self._children:
            if child.exit_code is not None:
                return f"{child.name} has ended with {child.exit_code}"
        if time.monotonic() - self._began > LONGEST_S:
            return f"not over after {LONGEST_S:.0f} s"
        return None

    def view(self) -> dict[str, Any]:
        """Ask the desk for the whole room."""
        with urllib.request.urlopen(f"{self._url}view.json", timeout=10) as answer:  # noqa: S310 - our own desk
            view: dict[str, Any] = json.load(answer)
        return view

    def _close(self, view: dict[str, Any], plays: int) -> int:
        """Recompute everything, show the standings, and say whether all is right."""
        store, table = self._folder / "scorer.sqlite", self._folder / STANDINGS
        journal = facts(store)
        problems = audit(store, table, view, plays)
        refused = sum(fact["refusals"] for fact in journal if fact["type"] == "restored")
        if not refused:
            problems.append("no tray was refused, though some were laid wrongly")
        click.echo("\n  place  IMP  fines  player")
        for row in view["standings"]:
            click.echo(f"  {row['place']:5d} {row['imp']:+4d} {row['fines']:6d}  {row['name']}")
        _tell_plays([fact for fact in journal if fact["type"] == "result"])
        click.echo(f"Trays refused until they were right: {refused}.")
        click.echo(f"Standings: {table}")
        for problem in problems:
            click.echo(f"WRONG: {problem}")
        if not problems:
            click.echo(f"All points and IMPs of {plays} plays recomputed from the journal: they agree.")
        return 1 if problems else 0


def _tell_plays(results: list[Fact]) -> None:
    endings = kinds(results)
    click.echo(f"\nPlays: {', '.join(f'{count} {kind}' for kind, count in sorted(endings.items()))}.")
    for line in luck_told(results, imps_of(results)):
        click.echo(line)


def over(table: dict[str, Any]) -> bool:
    """Say whether a table has played its last deal and every fact of it is safe."""
    return bool(table["unsent"] == 0 and table["state"] == "finished")
