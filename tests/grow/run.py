"""Plays an event in three halls while everything between them fails, and judges it."""

import json
import random
import shutil
import sqlite3
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from broker.cli.standby import reserve_port
from broker.event import STANDINGS
from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.protocol import parse_topic, topics
from broker.protocol.link import Address, Incoming, Link, LinkChanged, transient_session_id
from broker.sim.demo_event import NAME
from broker.sim.processes import DemoProcess
from broker.store import STORE
from broker.store.sqlite import renew_identity
from tests.chaos.arbiter import ChaosArbiter
from tests.chaos.event import expected
from tests.chaos.oracle import Recount, Verdict, judge_rulings, ranks_of_file, ranks_of_view, read_store
from tests.e2e.proxy import Proxy
from tests.grow.centre import MACHINES, OF_ITS_OWN, PATIENCE_S, CentreMachines, Said, answered
from tests.grow.database import Database
from tests.grow.event import HALLS, LATE, World, make_world, plays_of_deal
from tests.grow.tables import SimulatedTable
from tests.ports import reserve_two_ports

RULES_EVERY_S: Final = 2.0
LOOKS: Final = 4
"""Between two rulings of a hall's arbiter."""

CLOCKS_MS: Final = {"paris": 0, "osaka": 3 * 3_600_000, "lima": -26 * 3_600_000}
"""By how much the clocks of the halls' tables are wrong."""

Play = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Options:
    """What is run."""

    seed: int
    tables: int
    """In each hall."""
    rounds: int
    pace_s: float
    """Between two plays of a table."""
    pause_s: float
    """Between two faults."""
    postgresql: bool = False
    """Whether the centre's journal is in PostgreSQL."""


class Ledger:
    """Which plays were told by their tables, and what was public too early."""

    def __init__(self) -> None:
        self.told: set[Play] = set()
        self.early: list[str] = []
        self.seen = 0
        self.world: World | None = None

    def note(self, table: int, round_: int) -> None:
        """Take in that a table is about to send a result."""
        self.told.add((table, round_))

    def complete(self, deal: int) -> bool:
        """Return whether every table everywhere has sent its result of a deal."""
        return self.world is not None and self.told.issuperset(plays_of_deal(self.world, deal))

    def hear(self, where: str, heard: Incoming | LinkChanged) -> None:
        """Look at something that is public."""
        if isinstance(heard, LinkChanged):
            return
        place = parse_topic(heard.topic)
        if heard.payload and place is not None and self.world is not None:
            self.seen += 1
            said = json.loads(heard.payload)
            if place.topic is topics.PUBLIC_TRAVELLER:
                if said["plays"] and not self.complete(said["deal"]):
                    self.early.append(f"{where}: deal {said['deal']} was public before all halls had played it")
            else:
                over = sum(map(self.complete, set(self.world.chaos.deals.values())))
                if any(row["plays"] > over for row in said["rows"]):
                    self.early.append(f"{where}: standings with more than the {over} deals that were over")
        heard.acknowledge()


@dataclass(slots=True)
class HallPlace:
    """Where a hall runs: on its first machine, or on the one that has taken over."""

    folder: Path
    port: int
    desk: int

    def arguments(self) -> list[str]:
        """How its scorer is started, with a broker of its own."""
        where = ["--mqtt-port", str(self.port), "--desk-port", str(self.desk), "--broker", "embedded", "--plain"]
        return ["scorer", str(self.folder), *where]


class Grown:
    """The centre and its halls, each a process of its own, with everything between them."""

    def __init__(self, options: Options, base: Path, log: Callable[[str], None]) -> None:
        chance = random.Random(options.seed)
        self.options, self.base = options, base
        self._said: Said = lambda who, line: log(f"{who}: {line}")
        port = reserve_two_ports()
        self.proxies = {name: [Proxy((host, port)) for host in MACHINES] for name in HALLS}
        ports = {name: [proxy.port for proxy in self.proxies[name]] for name in HALLS}
        self.world = make_world(base, options.tables, options.rounds, ports, chance)
        self.ledger = Ledger()
        self.ledger.world = self.world
        self.database = Database(base) if options.postgresql else None
        self.centre = CentreMachines(self.world.centre, port, self._said, self.database)
        self.running: dict[str, DemoProcess] = {}
        self.places: dict[str, HallPlace] = {}
        self._second: dict[str, HallPlace] = {}
        for name, folder in self.world.halls.items():
            self.places[name] = HallPlace(folder, reserve_port(), reserve_port())
            self._second[name] = HallPlace(folder.with_name(f"{name}-2"), reserve_port(), reserve_port())
        self.tables: dict[str, list[SimulatedTable]] = {}
        self.displays: dict[str, Link] = {}
        self.arbiters: dict[str, ChaosArbiter] = {}
        self.copies: dict[str, Path] = {}

    # ---- processes --------------------------------------------------------------------------

    def start_centre(self) -> None:
        """Start the machines of the centre."""
        self.centre.prepare()
        self.centre.start_all()
        certificates = Certificates.of_event(self.world.centre)
        identity, places = certificates.office("display"), [(host, self.centre.port) for host in MACHINES]
        self._watch("centre", Address(*places[0], "display", "", certificates.ca, identity=identity), *places[1:])

    def start_hall(self, name: str) -> None:
        """Start a hall's scorer, with a broker of its own."""
        made = self.running[name] = DemoProcess(name, self.places[name].arguments(), self._said)
        made.wait_for(r"^Desk: ", PATIENCE_S)

    def kill(self, name: str) -> None:
        """End a hall's scorer, with its broker, as a power cut would."""
        self.running[name].kill()
        self.running[name].stop()

    def replace_hall(self, name: str) -> bool:
        """Let a second machine follow a hall's, and kill the first one; return whether that was not done before."""
        second = self._second.pop(name, None)
        if second is None:
            return False
        first, self.places[name] = self.places[name], second
        shutil.copytree(first.folder, second.folder, ignore=OF_ITS_OWN)
        follow = [*second.arguments(), "--standby-of", f"http://127.0.0.1:{first.desk}"]
        standby = DemoProcess(f"{name} 2", follow, self._said)
        standby.wait_for(r"^Standby: up to date", PATIENCE_S)
        self.kill(name)
        self.running[name] = standby
        self.displays[name].set_other_brokers(("127.0.0.1", second.port))
        standby.wait_for(r"^Desk: ", PATIENCE_S)
        return True

    def seat(self, name: str) -> None:
        """Let the tables of a hall play."""
        event, place = self.world.open(), self.places[name]
        script, keys = self.world.chaos.scripts, self.world.keys
        for table in self.world.tables[name]:
            one = SimulatedTable(
                event, table, keys[table], script[table], self.ledger.note, self.options.pace_s, CLOCKS_MS[name]
            )
            one.connect(place.folder, place.port)
            self.tables.setdefault(name, []).append(one)
            one.start()
            one.go.set()
        if name != self.world.restored:
            self._let_rule(name)
        known = Credentials.load(place.folder / "credentials.json")
        self._watch(name, Address("127.0.0.1", place.port, "display", known.password("display")))

    def _let_rule(self, name: str) -> None:
        """Let an arbiter rule at the desk of a hall, whichever machine that is on."""
        tables, keys = self.world.tables[name], self.world.keys
        arbiter = self.arbiters[name] = ChaosArbiter(
            self.world.chaos,
            lambda: f"http://127.0.0.1:{self.places[name].desk}/",
            lambda: [play for play in self.ledger.told.copy() if play[0] in tables],
            random.Random(f"{self.options.seed} {name}"),
            {table: keys[table].device for table in tables},
            RULES_EVERY_S,
            None,
        )
        arbiter.start()

    def _watch(self, where: str, address: Address, *others: tuple[str, int]) -> None:
        """Look at what is public somewhere."""
        public = (topics.PUBLIC_TRAVELLER.at(NAME), topics.PUBLIC_STANDINGS.at(NAME))
        link = Link(
            address,
            transient_session_id("grow-display"),
            public,
            lambda heard: self.ledger.hear(where, heard),
            persistent=False,
        )
        link.set_other_brokers(*others)
        link.start()
        self.displays[where] = link

    def view(self, name: str) -> dict[str, Any]:
        """Return what the desk of a hall shows to those who run it."""
        if arbiter := self.arbiters.get(name):
            return answered(arbiter.view)
        url = f"http://127.0.0.1:{self.places[name].desk}/view.json"
        return answered(lambda: httpx.get(url, timeout=30).json())

    def shows_all(self, view: dict[str, Any]) -> bool:
        """Return whether in the view of a hall all deals are public."""
        return {one["deal"] for one in view["plays"] if not one["provisional"]} == {*self.world.chaos.deals.values()}

    def copy_store(self, name: str) -> None:
        """Copy the store of a hall as it is now."""
        self.copies[name] = copy = self.base / f"{name}.copy"
        copy.unlink(missing_ok=True)
        with (
            closing(sqlite3.connect(self.places[name].folder / STORE)) as store,
            closing(sqlite3.connect(copy)) as target,
        ):
            store.backup(target)

    def restore_store(self, name: str) -> None:
        """Put the older copy in the place of a stopped hall's store, as `homologue store restore` does."""
        folder = self.places[name].folder
        for one in folder.glob("scorer.*"):
            one.unlink()
        shutil.copyfile(self.copies[name], folder / STORE)
        renew_identity(folder / STORE)

    def stop(self) -> None:
        """End everything."""
        for arbiter in self.arbiters.values():
            arbiter.stop()
        tables = [one for of_hall in self.tables.values() for one in of_hall]
        for one in tables:
            one.ended.set()
        for one in tables:
            one.join(5)
        for link in self.displays.values():
            link.stop()
        for process in self.running.values():
            process.stop()
        self.centre.stop()
        if self.database:
            self.database.close()
        for proxy in (proxy for proxies in self.proxies.values() for proxy in proxies):
            proxy.close()


class Faults:
    """What fails, one after the other, and is made well again."""

    def __init__(self, grown: Grown, chance: random.Random, said: Callable[[str], None]) -> None:
        self._grown, self._chance, self._said = grown, chance, said
        self.counts: Counter[str] = Counter()
        self._problems: list[str] = []

    def script(self) -> Iterator[Callable[[], None]]:
        """Return all kinds of faults once, in an order drawn by chance; the late hall joins among the first."""
        kinds = [
            self._node_dies,
            self._link_cut,
            self._link_dead,
            self._hall_restored,
            self._hall_dies,
            self._hall_replaced,
            self._centre_dies,
            self._scorer_dies,
            self._scorer_dies,
            self._hall_revoked,
            self._node_dies,
            self._node_dies,
            self._slow_link,
        ]
        if database := self._grown.database:
            kinds.append(lambda: self._database_dies(database))
        self._chance.shuffle(kinds)
        kinds.insert(2, self._late_hall)
        return iter(kinds)

    def _note(self, kind: str) -> None:
        self.counts[kind] += 1
        self._said(kind)

    def _any_hall(self) -> str:
        return self._chance.choice([name for name in HALLS if name in self._grown.tables])

    def _late_hall(self) -> None:
        self._note(f"{LATE} joins late")
        self._grown.start_hall(LATE)
        self._grown.seat(LATE)

    def _node_dies(self) -> None:
        number = self._chance.randrange(len(MACHINES))
        self._note("a node of the centre is killed")
        self._grown.centre.kill_node(number)

    def _scorer_dies(self) -> None:
        self._note("the machine with the active scorer of the centre is killed")
        self._grown.centre.replace_active()

    def _link_cut(self) -> None:
        self._with_link("the link of a hall is cut", lambda proxy: proxy.cut())

    def _link_dead(self) -> None:
        self._with_link("the link of a hall swallows everything", lambda proxy: proxy.swallow())

    def _slow_link(self) -> None:
        self._with_link("the link of a hall takes a second", lambda proxy: proxy.delay(1.0))

    def _with_link(self, kind: str, fail: Callable[[Proxy], None]) -> None:
        name = self._any_hall()
        self._note(kind)
        for proxy in self._grown.proxies[name]:
            fail(proxy)
        self._pause(3 * self._grown.options.pause_s)
        for proxy in self._grown.proxies[name]:
            proxy.heal()

    def _hall_dies(self) -> None:
        name = self._any_hall()
        self._note("the scorer and broker of a hall are killed")
        self._grown.kill(name)
        self._grown.start_hall(name)

    def _hall_replaced(self) -> None:
        name = self._any_hall()
        self._note("the machine of a hall is killed, and its standby takes over")
        self._grown.replace_hall(name)

    def _hall_restored(self) -> None:
        name = self._grown.world.restored
        self._note("a hall is restored from an older copy")
        self._grown.copy_store(name)
        self._pause(2 * self._grown.options.pause_s)
        self._grown.kill(name)
        self._grown.restore_store(name)
        self._grown.start_hall(name)

    def _centre_dies(self) -> None:
        self._note("all machines of the centre are killed")
        self._grown.centre.lose_all()

    def _database_dies(self, database: Database) -> None:
        self._note("the primary of the database is killed, and its replica promoted")
        self._grown.centre.lose_database(database)

    def _hall_revoked(self) -> None:
        name = self._any_hall()
        self._note("a hall is revoked, and admitted again")
        self._grown.centre.set_revoked(name, revoked=True)
        deadline = time.monotonic() + PATIENCE_S
        while not any(one["revoked"] for one in self._grown.centre.view()["halls"]):
            assert time.monotonic() < deadline, f"the centre does not learn that {name} was revoked"
            self._pause(0.5)
        while self._grown.view(name)["centre"]["connected"]:
            assert time.monotonic() < deadline, f"{name} was revoked, and is not cut off"
            self._pause(0.5)
        came = list[int]()
        while not came or (came[-1] and len(came) < LOOKS):  # what a busy centre shows may be behind what it has
            before = _plays_of(self._grown, name)
            self._pause(3 * self._grown.options.pause_s)
            came.append(_plays_of(self._grown, name) - before)
        if came[-1]:
            self._problems.append(f"{name} was revoked, and the centre took {came} plays of it")
        self._grown.centre.set_revoked(name, revoked=False)

    @property
    def problems(self) -> list[str]:
        """What was not as it should be while something failed."""
        return self._problems

    def _pause(self, seconds: float) -> None:
        threading.Event().wait(seconds)


def _plays_of(grown: Grown, name: str) -> int:
    tables = grown.world.tables[name]
    return sum(one["plays_in"] for one in grown.centre.view()["tables"] if one["table"] in tables)


@dataclass(slots=True)
class Outcome:
    """What came of it."""

    verdict: Verdict
    plays: int
    faults: dict[str, int]
    shown: int
    rows: int
    rulings: int

    @property
    def line(self) -> str:
        """The last line."""
        found = self.verdict
        counts = [f"{len(getattr(found, kind))} {kind}" for kind in ("lost", "doubled", "early")]
        return f"grow: {len(HALLS)} halls, {self.plays} plays, {', '.join(counts)}, {sum(self.faults.values())} faults"


def run_event(options: Options, base: Path, said: Callable[[str], None], log: Callable[[str], None]) -> Outcome:
    """Play an event in an empty folder, and judge it."""
    grown = Grown(options, base, log)
    try:
        said("the centre starts")
        grown.start_centre()
        for name in HALLS:
            if name != LATE:
                grown.start_hall(name)
                grown.seat(name)
        faults = Faults(grown, random.Random(options.seed + 1), said)
        for fail in faults.script():
            threading.Event().wait(options.pause_s)
            fail()
        said("all is well from now on")
        for arbiter in grown.arbiters.values():
            arbiter.finish()
        view = _settle(grown)
        verdict = Verdict(early=list(grown.ledger.early), others=[*faults.problems])
        _judge(grown, view, verdict)
        rows = sum(one["upto"] for one in view["halls"])
        rulings = sum(len(one.done) for one in grown.arbiters.values())
        plays = len(grown.world.chaos.deals)
        return Outcome(verdict, plays, dict(faults.counts), grown.ledger.seen, rows, rulings)
    finally:
        grown.stop()


def _settle(grown: Grown) -> dict[str, Any]:
    """Wait until the centre shows all that the halls have, which tables know, and they what is public.

    Or until nothing comes any more.
    """
    came, deadline, pause = 0, 0.0, threading.Event()
    while True:
        halls = {name: grown.view(name) for name in HALLS}
        view = grown.centre.view()
        there = {one["name"]: one["upto"] for one in view["halls"]}
        over = view["plays_in"] == view["plays_expected"] and all(map(grown.shows_all, halls.values()))
        known = not any(one.not_at_centre for of_hall in grown.tables.values() for one in of_hall)
        if over and known and there == {name: one["centre"]["rows"] for name, one in halls.items()}:
            return view
        if (rows := sum(there.values())) > came or not deadline:
            came, deadline = rows, time.monotonic() + PATIENCE_S
        if time.monotonic() > deadline:
            return view
        pause.wait(0.5)


def _judge(grown: Grown, view: dict[str, Any], verdict: Verdict) -> None:
    grown.centre.stop()
    stored = read_store(grown.centre.store())
    _judge_plays(grown.world, stored.results, verdict)
    judge_rulings((one for arbiter in grown.arbiters.values() for one in arbiter.done), stored, verdict)
    if verdict.problems:
        return
    right = Recount(grown.world.chaos, stored).ranks()
    said = {"the desk": ranks_of_view(view), STANDINGS: ranks_of_file(grown.centre.folder / STANDINGS)}
    verdict.others += [f"{at}: the standings are not those recomputed" for at, ranks in said.items() if ranks != right]
    for one in (one for of_hall in grown.tables.values() for one in of_hall):
        if one.not_at_centre:
            verdict.others.append(f"table {one.table} does not know that the centre has {one.not_at_centre} facts")
    hidden = [name for name in HALLS if not grown.shows_all(grown.view(name))]
    verdict.others += [f"{name}: not all deals are public at the end" for name in hidden]


def _judge_plays(world: World, stored: list[dict[str, Any]], verdict: Verdict) -> None:
    found: dict[Play, list[dict[str, Any]]] = defaultdict(list)
    for result in stored:
        found[result["table"], result["round"]].append(result)
    for play in world.chaos.deals:
        results, where = found.pop(play, []), f"table {play[0]}, round {play[1]}"
        if not results:
            verdict.lost.append(f"{where}: no result at the centre")
        elif len(results) > 1:
            verdict.doubled.append(f"{where}: {len(results)} results at the centre")
        else:
            meant = {name: value for name, value in expected(world.chaos, play).items() if name != "fines"}
            verdict.others.extend(
                f"{where}: {name} is {results[0][name]}, and was {value}"
                for name, value in meant.items()
                if results[0][name] != value
            )
    verdict.doubled.extend(f"table {table}, round {round_} was never planned" for table, round_ in found)
