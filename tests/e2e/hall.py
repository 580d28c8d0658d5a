"""A whole hall on this machine, with each part in its own process, which may be killed."""

import json
import random
import re
import threading
import time
import urllib.request
from functools import partial
from pathlib import Path
from typing import Any

from broker.event.movement import NumberedPlay
from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.mqtt.programs import Kind
from broker.sim.demo_audit import Fact, audit_event, facts
from broker.sim.demo_event import NAME, write_kiosk
from broker.sim.processes import DemoProcess
from kiosk.sim import read_script
from tests.broker.mqtt.brokers import make_broker
from tests.e2e.proxy import Proxy
from tests.e2e.standstill import missing_from
from tests.encryption import trusting
from tests.patience import PATIENCE_S

LONGEST_S = 900.0
DEALT = re.compile(r"\bdeal=\d")
"""Part of a table's log lines once it has an assignment."""

TABLES = (1, 2, 3, 4)
CAMERA = "sim://tray?width=1024&height=576&noise=0&blur=0&tilt=0"
"""A camera without noise, since these tests are not about reading (the demo's test uses the demo's camera)."""


def write_config(folder: Path, table: int, port: int, event: Path | None = None, *, plain: bool = False) -> Path:
    """Write a table's configuration, with the easy camera and a short keepalive."""
    config = write_kiosk(folder, table, port, event, plain=plain)
    text = config.read_text(encoding="utf-8").replace("[devices]", "keepalive_s = 2\n\n[devices]")
    config.write_text(re.sub(r'(?<=camera = )".*"', f'"{CAMERA}"', text), encoding="utf-8")
    return config


class Hall:
    """Broker, scorer and four kiosks behind proxies, for an event of a few rounds."""

    def __init__(self, folder: Path, kind: Kind, bookings: tuple[NumberedPlay, ...]) -> None:
        """Use the demo's event in `folder`, with these plays."""
        self.folder, self.bookings = folder, bookings
        credentials = Credentials.load(folder / "credentials.json")
        certificates = Certificates.of_event(folder)
        self.broker = make_broker(kind, folder / "broker", NAME, credentials, tables=4, certificates=certificates)
        self.lines = 0
        self.log: list[str] = []
        self._news = threading.Condition()
        self.proxies: dict[int, Proxy] = {}
        self.children: dict[str, DemoProcess] = {}
        self._url = ""

    def start(self) -> None:
        self.broker.start()
        self.start_scorer()
        for table in TABLES:
            self.proxies[table] = Proxy(self.broker.port)
            self.start_kiosk(table)

    def start_scorer(self) -> None:
        where = f"127.0.0.1:{self.broker.port}"
        scorer = DemoProcess("scorer", ["scorer", str(self.folder), "--broker", where, "--desk-port", "0"], self._said)
        self.children["scorer"] = scorer
        self._url = scorer.wait_for(r"^Desk: (\S+)", LONGEST_S)

    def start_kiosk(self, table: int) -> None:
        config = write_config(self.folder, table, self.proxies[table].port)
        name = f"table {table}"
        self.children[name] = DemoProcess(name, ["kiosk", str(config)], self._said)

    def _said(self, who: str, line: str) -> None:
        with self._news:
            self.lines += 1
            self.log.append(f"{who}: {line}")
            self._news.notify_all()

    def wait_for_news(self, count: int) -> None:
        """Wait until the tables have logged so many more lines."""
        with self._news:
            goal = self.lines + count
            assert self._news.wait_for(lambda: self.lines >= goal, LONGEST_S), self.log[-20:]

    def wait_for_plans(self) -> None:
        """Wait until every table has its assignment, without which it cannot continue offline."""
        with self._news:
            assert self._news.wait_for(self._all_planned, LONGEST_S), self.log[-20:]

    def _all_planned(self) -> bool:
        return {f"table {table}" for table in TABLES} <= {line.split(":")[0] for line in self.log if DEALT.search(line)}

    def kill_one(self, chance: random.Random) -> str:
        """Kill (SIGKILL) the broker, the scorer or a kiosk, and restart it as systemd would."""
        name = chance.choice(["broker", "scorer", *(f"table {table}" for table in TABLES)])
        if name == "broker":
            self.broker.kill()
            self.broker.start()
            return name
        self._kill(name)
        self._start(name)
        return name

    def _kill(self, name: str) -> None:
        self.children[name].kill()
        self.children[name].stop()

    def _start(self, name: str) -> None:
        if name == "scorer":
            self.start_scorer()
        else:
            self.start_kiosk(int(name.split()[1]))

    def wait_for(self, table: str, state: str) -> None:
        """Wait until a table has logged a state."""
        with self._news:
            assert self._news.wait_for(partial(self._has_said, table, state), LONGEST_S), self.log[-20:]

    def _has_said(self, table: str, state: str) -> bool:
        return any(line.startswith(f"{table}: ") and f"state={state} " in line for line in self.log)

    def wait_until_safe(self, table: int) -> None:
        """Wait until the scorer has all facts of a table."""
        pause = threading.Event()
        deadline = time.monotonic() + LONGEST_S
        while not any(one["table"] == table for one in self.view()["plays"]):
            assert time.monotonic() < deadline, self.log[-20:]
            pause.wait(0.1)

    def lose_journal(self, name: str) -> None:
        """Kill a table or the scorer, and restart it with an empty disk."""
        self._kill(name)
        stem = "scorer" if name == "scorer" else f"{name.replace(' ', '-')}/table"
        lost = [*self.folder.glob(f"{stem}.sqlite*")]
        assert lost, stem
        for file in lost:
            file.unlink()
        self._start(name)

    def view(self) -> dict[str, Any]:
        address, trust = f"{self._url}view.json", trusting(self.folder)
        with urllib.request.urlopen(address, timeout=LONGEST_S, context=trust) as answer:
            view: dict[str, Any] = json.load(answer)
        return view

    def play_to_the_end(self) -> dict[str, Any]:
        """Wait until every result has arrived and every table has its receipts."""
        deadline = time.monotonic() + LONGEST_S
        pause = threading.Event()
        while time.monotonic() < deadline:
            view = self.view()
            if view["plays_in"] == view["plays_expected"] and all(
                table["unsent"] == 0 and table["lifecycle"] for table in view["tables"]
            ):
                return view
            for name, child in self.children.items():
                assert child.exit_code is None, f"{name} ended by itself: {self.log[-20:]}"
            pause.wait(0.3)
        missing, said = "\n".join(missing_from(self.view())), "\n".join(self.log[-40:])
        raise AssertionError(f"not over: {self.view()['plays_in']} plays in\n{missing}\n{said}")

    def results(self) -> list[Fact]:
        return [fact for fact in facts(self.folder / "scorer.sqlite") if fact["type"] == "result"]

    def problems(self, view: dict[str, Any]) -> list[str]:
        """Return the differences from the script. The standings file is written after the desk shows the standings."""
        ends, pause = time.monotonic() + PATIENCE_S, threading.Event()
        store, standings = self.folder / "scorer.sqlite", self.folder / "standings.csv"
        while found := audit_event(store, standings, view, len(self.bookings)):
            if time.monotonic() > ends:
                return found
            pause.wait(0.3)
        return []

    def scripted(self) -> dict[tuple[int, int], tuple[Any, ...]]:
        """The scripted course of each play, by table and round."""
        return {
            (table, course.round): (course.win, course.winners, course.discarder, course.false_hu)
            for table in TABLES
            for course in read_script(self.folder / f"table-{table}.plays.json").plays
        }

    def played(self) -> dict[tuple[int, int], tuple[Any, ...]]:
        return {
            (result["table"], result["round"]): (
                result["win"],
                result["winners"],
                result["discarder"],
                {seat: fine["imp"] for seat, fine in result["fines"].items()},
            )
            for result in self.results()
        }

    def stop(self) -> None:
        for child in self.children.values():
            child.stop()
        for proxy in self.proxies.values():
            proxy.close()
        self.broker.stop()
