"""A world event: many halls and one centre, from the tables to the standings page, at its own rate and at multiples.

One hall is complete: real tables' sessions (`crowd.py`), broker and scorer. A process represents the others as their
scorers would (`halls.py`). The centre is the real `homologue centre` with its three nodes, all with TLS: `... world
[--tables N --halls N --rounds N --deals N --seconds N --minutes N --times N]`.
"""

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Final

import httpx

from broker.cli.halls import hall as hall_command
from broker.event import CentreAddress, Event, Hall, open_event, save_event, write_centre, write_halls
from broker.files import make_folder, write_private
from broker.halls.link import AUTHORITY_FILE, IDENTITY_FILE
from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.mqtt.process import Broker
from broker.protocol import LAST_TABLE
from broker.protocol.signing import open_event_key
from broker.sim.processes import DemoProcess
from broker.store import STORE
from tests.benchmarks.scorer import watching
from tests.benchmarks.scorer.hall import LONGEST_S, children, cpu_s, memory_mb, published, scorer, told
from tests.benchmarks.scorer.large import NAME, certify, large_folder, list_devices
from tests.broker.mqtt.brokers import make_broker
from tests.encryption import trusting

FIRST: Final = "hall-1"
"""The hall that is complete."""

HALL_RATE: Final = 5.0
"""Results a second of the complete hall: enough to measure their delays."""

LONGEST_PLAY_S: Final = 3.0
"""Seconds of a play: a table of a small hall plays no faster than that."""

OF_HALL: Final = ("hall", "its broker", "its tables")


@dataclass(frozen=True, slots=True)
class World:
    """The options."""

    tables: int
    halls: int
    rounds: int
    deals: int
    seconds: float
    minutes: float
    """Minutes that a play takes."""
    times: float

    @property
    def rate(self) -> float:
        """Results a second of all tables during play."""
        return self.tables / (60 * self.minutes)

    def of_hall(self) -> list[Hall]:
        """Return the halls, each with its share of the tables."""
        ends = [self.tables * at // self.halls for at in range(self.halls + 1)]
        return [Hall(f"hall-{at}", f"Hall {at}", f"{ends[at - 1] + 1}-{ends[at]}") for at in range(1, self.halls + 1)]


@contextmanager
def centre(world: World, folder: Path) -> Iterator[tuple[DemoProcess, str, int]]:
    """Create the event, and run its centre; yield that with the desk's address and the broker's port."""
    made = large_folder(world.tables, world.rounds, world.deals)
    save_event(folder, *made)
    write_halls(folder, world.of_hall())
    list_devices(folder, open_event(folder))
    words = ["centre", str(folder), "--mqtt-port", "0", "--desk-port", "0"]
    child = DemoProcess("centre", words, lambda *_: None)
    try:
        port = int(child.wait_for(r"^Broker: \S+, port (\d+)", LONGEST_S))
        yield child, child.wait_for(r"^Desk: (\S+)", LONGEST_S), port
    finally:
        child.stop()


def hand_over(world: World, base: Path, port: int) -> Path:
    """Write what each hall needs for its link, and the complete folder of the first one; return that."""
    first, *others = world.of_hall()
    address = f"127.0.0.1:{port}"
    split = ["split", str(base / "centre"), "--to", str(base), "--only", first.name, "--address", address]
    hall_command.main(split, standalone_mode=False)
    known, key = Certificates.of_event(base / "centre"), open_event_key(base / "centre").public
    for one in others:
        make_folder(base / one.name)
        write_centre(base / one.name, CentreAddress(one.name, one.title, (address,), key))
        write_private(base / one.name / IDENTITY_FILE, known.issue_hall(one.name))
        write_private(base / one.name / AUTHORITY_FILE, known.authority.encode())
    return base / first.name


@contextmanager
def whole_hall(folder: Path, event: Event) -> Iterator[tuple[Broker, DemoProcess]]:
    """Run the broker and the scorer of the complete hall."""
    list_devices(folder, event)
    certificates, tables = certify(folder, event.tables), max(event.tables)
    known = Credentials.ensure(folder / "credentials.json", tables)
    with (
        make_broker("embedded", folder / "broker", NAME, known, tables=tables, certificates=certificates) as broker,
        scorer(folder, broker, plain=False) as (child, _),
    ):
        yield broker, child


@dataclass(slots=True)
class Stage:
    """A period in which halls sent results at one rate."""

    name: str
    begins: float = field(default_factory=lambda: time.time() * 1e3)
    ends: float = 0.0
    spent: dict[str, float] = field(default_factory=dict)
    """Processor time (s)."""

    def during(self, seen: watching.Seen) -> watching.Seen:
        """Return the measurements of the period."""
        return {key: at for key, at in seen.items() if self.begins <= at < self.ends}


Processes = dict[str, list[int]]


def spent(processes: Processes) -> dict[str, float]:
    """Return the processor time of each so far."""
    return {name: sum(map(cpu_s, pids)) for name, pids in processes.items()}


def measure(world: World, base: Path) -> None:
    """Play it, and print the measurements."""
    print(f"| {world.tables} tables in {world.halls} halls, {world.rounds} rounds of {world.minutes:g} minutes, TLS |")
    began = time.monotonic()
    with ExitStack() as running:
        main, url, port = running.enter_context(centre(world, base / "centre"))
        print(
            f"| the centre is ready after {time.monotonic() - began:.1f} s, {memory_mb(main.pid):.0f} MB |", flush=True
        )
        own = open_event(hand_over(world, base, port))
        broker, child = running.enter_context(whole_hall(base / FIRST, own))
        rate = min(HALL_RATE, len(own.tables) / LONGEST_PLAY_S)
        first = min(len(own.plan.plays) // 2, int(rate * world.seconds))
        halls = running.enter_context(_process("halls", base, world.rate, world.seconds, world.times))
        crowd = running.enter_context(_process("crowd", base / FIRST, broker.port, rate, world.seconds, first))
        lines = iter(crowd.stdout or ())
        print(f"| other halls {next(iter(halls.stdout or ())).strip()}, tables of one {next(lines).strip()} s |")
        processes: Processes = {
            "centre": [main.pid],
            "its nodes": children(main.pid),
            "hall": [child.pid],
            "its broker": [broker.pid or 0],
        }
        processes |= {"the others' load": [halls.pid], "its tables": [crowd.pid]}
        with watching.Reader(url, trusting(base / "centre")) as reader:
            next(lines)
            stages = list(play(halls, crowd, ("world", f"{world.times:g} times"), processes))
            sent, received = map(int, next(lines).split()[1:])
        plays = len(own.plan.plays)
        print(f"| a hall's tables | {sent / plays:.0f} bytes a result to its broker, {received / plays:.0f} back |")
        page(world, url, base)
        for name, pids in processes.items():
            if name == "its tables":
                continue  # the processes have exited
            print(f"| memory | {name} | {sum(map(memory_mb, pids)):.0f} MB |")
        conclude(base, stages, reader.seen)


def play(halls: "Popen[str]", crowd: "Popen[str]", names: Iterable[str], processes: Processes) -> Iterator[Stage]:
    """Let all halls play; yield each stage when the other halls have finished it."""
    print(file=halls.stdin, flush=True)
    for name in names:
        print(file=crowd.stdin, flush=True)
        stage, before = Stage(name), spent(processes)
        one = json.loads(next(iter(halls.stdout or ())))
        stage.ends = time.time() * 1e3
        stage.spent = {name: at - before[name] for name, at in spent(processes).items()}
        results, took = one["results"], one["seconds"]
        print(
            f"| {name} | {results} results ({one['rows']} rows) in {took:.1f} s: {results / took:.1f} results/s of "
            f"{one['asked']:.1f} asked | {one['sent'] / results:.0f} bytes a result to the centre, "
            f"{one['received'] / results:.0f} back | at most {one['behind']} rows waited in their halls |",
            flush=True,
        )
        yield stage


def page(world: World, url: str, base: Path) -> None:
    """Wait until the standings contain every play; print the size of their page, and the time."""
    trust, pause, began = trusting(base / "centre"), threading.Event(), time.monotonic()
    plays = 4 * world.tables * world.rounds
    while plays > sum(
        rung["plays"] for rung in httpx.get(f"{url}standings.json", verify=trust, timeout=LONGEST_S).json()["rungs"]
    ):
        if time.monotonic() - began > LONGEST_S:
            raise TimeoutError("the standings have not every play")
        pause.wait(1.0)
    began = time.monotonic()
    content = httpx.get(f"{url}standings", verify=trust, timeout=LONGEST_S).raise_for_status().content
    print(f"| the page of all standings | {len(content) / 1e3:.0f} kB | {time.monotonic() - began:.2f} s |")


def conclude(base: Path, stages: Iterable[Stage], seen: watching.Seen) -> None:
    """Print the figures in the stores: the size of a result, and the delay of each."""
    said, at_hall = published(base / FIRST / STORE)
    at_centre = published(base / "centre" / STORE)[1]
    size = sum(file.stat().st_size for file in (base / "centre").glob(f"{STORE}*"))
    results = len(at_centre)
    print(f"| the centre's store | {results} results, {size / 1e6:.0f} MB, {size / results:.0f} bytes a result |")
    for stage in stages:
        of, seconds = stage.during(said), (stage.ends - stage.begins) / 1e3
        for name, took in stage.spent.items():
            count = len(of if name in OF_HALL else stage.during(at_centre))
            share = f"{100 * took / seconds:.0f} % of a core"
            print(f"| {stage.name} | {name} | {share} | {1e3 * took / max(1, count):.2f} ms a result |")
        told(f"{stage.name}: the hall's scorer", of, at_hall)
        told(f"{stage.name}: the centre's scorer", of, at_centre)
        told(f"{stage.name}: a reader of the centre's page", of, seen)


def _process(name: str, *words: object) -> "Popen[str]":
    command = [sys.executable, "-m", f"tests.benchmarks.scorer.{name}", *map(str, words)]
    return Popen(command, stdin=PIPE, stdout=PIPE, text=True)


def main() -> None:
    """Measure as the options say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=LAST_TABLE)
    parser.add_argument("--halls", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--deals", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long at a world event's own rate")
    parser.add_argument("--minutes", type=float, default=12.0, help="that a play takes")
    parser.add_argument("--times", type=float, default=100.0, help="how much faster it is then")
    world = World(**vars(parser.parse_args()))
    with tempfile.TemporaryDirectory(prefix="homologue-world-") as base:
        measure(world, Path(base))


if __name__ == "__main__":
    main()
