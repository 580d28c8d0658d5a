"""The venue: the command that serves set-up, the scorer with its broker and desk, and sixteen simulated tables.

The tables are those of `tests/chaos/tables.py`: real programs and connections, with people who act out a script much
faster than real ones. There are breaks: people play some rounds, and then wait.
"""

import random
import sys
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Final

import msgspec

from broker.event import BookedPlay, write_devices
from broker.files import write_private
from broker.mqtt.certificates import Certificates
from broker.mqtt.programs import Kind
from broker.protocol import SEATS, Script, ScriptedPlay
from broker.rules import load_mcr
from broker.sim.demo_event import listed_device, write_kiosk
from broker.sim.processes import DemoProcess
from broker.sim.rehearsal import draw_play
from tests.e2e.standstill import explained

EVENT: Final = "lille-2026"
PROFILE: Final = "oedmc-2020"
PIN: Final = "2468"
TABLES: Final = range(1, 17)
TABLES_EACH: Final = 8
"""Tables in one process."""
SPEED: Final = 12
"""How many times faster than real people the simulated ones are."""
LONGEST_S: Final = 300.0
STAGE_S: Final = 3 * LONGEST_S
"""Time limit for all plays of a stage, in seconds."""

Place = tuple[int, int]
"""Round and table."""


def drawn_plays(rounds: int, chance: random.Random) -> dict[Place, ScriptedPlay]:
    """Draw the course of each possible play, including wrongly laid trays and false hu."""
    rules = load_mcr(PROFILE)
    nobody = dict.fromkeys(SEATS, "")
    return {
        (round_, table): draw_play(BookedPlay(round_, table, 1, nobody), rules, chance, faults=True)
        for round_ in range(1, rounds + 1)
        for table in TABLES
    }


class Venue:
    """The processes of one event, in their own folders."""

    def __init__(self, base: Path, leaving: ExitStack) -> None:
        self.folder, self._devices, self._leaving = base / "event", base / "devices", leaving
        self.log: list[str] = []
        self.desk = ""
        """The desk's address."""
        self._port = 0
        self._served: DemoProcess | None = None
        self._tables: list[DemoProcess] = []

    def explained(self) -> AbstractContextManager[None]:
        """Wait within this context. If the wait fails, scorer and tables print what they wait for."""
        return explained(lambda: self.log, [self._served] if self._served else [], self._tables)

    def _said(self, who: str, line: str) -> None:
        self.log.append(f"{who}: {line}")

    def _serve(self, name: str, *arguments: str) -> DemoProcess:
        if self._served is not None:
            self._served.stop()
        self._served = DemoProcess(name, [*arguments], self._said)
        self._leaving.callback(self._served.stop)
        return self._served

    def open_set_up(self) -> str:
        """Serve the set-up of a new event; return the link for the first head arbiter."""
        served = self._serve("set-up", "event", "desk", str(self.folder), "--desk-port", "0")
        self.desk = served.wait_for(r"^Set-up: (\S+)setup", LONGEST_S)
        served.wait_for("^No accounts yet", LONGEST_S)
        return (self.folder / "first-link.txt").read_text(encoding="utf-8").strip()

    def start_scorer(self, kind: Kind) -> None:
        """Exchange keys between the tables' devices and the event, and start the scorer."""
        self._devices.mkdir()
        certificates = Certificates.ensure(self.folder)
        listed = [listed_device(self._devices, table) for table in TABLES]
        write_devices(self.folder, listed)
        for one in listed:
            certificates.issue(one.table, one.key)
        ports = ["--mqtt-port", "0", "--desk-port", "0"]
        scorer = self._serve("scorer", "scorer", str(self.folder), "--broker", kind, *ports, "--public")
        self.desk = scorer.wait_for(r"^Desk: (\S+)", LONGEST_S)
        self._port = int(scorer.wait_for(r"^Broker: .* port (\d+)", LONGEST_S))

    def switch_on(self) -> None:
        """Switch on all tables; nobody plays yet."""
        origin = time.monotonic_ns()
        for table in TABLES:
            write_kiosk(self._devices, table, self._port, self.folder, name=EVENT)
        self.let_play({}, ())
        for first in TABLES[::TABLES_EACH]:
            configs = [str(self._devices / f"table-{table}.toml") for table in range(first, first + TABLES_EACH)]
            program = [sys.executable, "-m", "tests.chaos.tables"]
            tables = DemoProcess(f"tables from {first}", [str(origin), str(SPEED), *configs], self._said, program)
            self._tables.append(tables)
            self._leaving.callback(tables.stop)

    def let_play(self, plays: dict[Place, ScriptedPlay], rounds: Iterable[int]) -> None:
        """Let people play these rounds, and then take a break."""
        here = set(rounds)
        for table in TABLES:
            course = tuple(one for (round_, at), one in plays.items() if at == table and round_ in here)
            script = msgspec.json.encode(Script(plays=course, reaction_ms=0, pin=PIN))
            write_private(self._devices / f"table-{table}.plays.json", script)
