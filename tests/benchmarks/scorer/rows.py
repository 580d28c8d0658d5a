"""Cost of a world event's result for the centre's scorer, with all halls and the scorer in one process, no brokers.

`... rows [TABLES HALLS]`: one round is played to its end. Printed is processor time, which other programs do not
affect.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from broker.event import CentreAddress, open_event, save_event, write_centre, write_halls
from broker.files import make_folder
from broker.halls.link import FromCentre
from broker.protocol import LAST_TABLE, topics
from broker.protocol.link import Incoming, LinkChanged
from broker.protocol.signing import open_event_key
from broker.scorer.service import Scorer
from broker.store import STORE, SqliteJournal
from tests.benchmarks.scorer.halls import Halls, SimulatedHall
from tests.benchmarks.scorer.large import NAME, large_folder, list_devices
from tests.benchmarks.scorer.playing import now_ms
from tests.benchmarks.scorer.world import World
from tests.broker.halls.places import Wire

AT_ONCE: Final = 200
"""Results from all halls together in one step."""

PARTS: Final = 5


class Together:
    """The halls and the centre, with messages passed between them."""

    def __init__(self, base: Path, world: World) -> None:
        folder = base / "centre"
        save_event(folder, *large_folder(world.tables, world.rounds, world.deals))
        write_halls(folder, world.of_hall())
        event, key = open_event(folder), open_event_key(folder).public
        list_devices(folder, event)
        for one in world.of_hall():
            make_folder(base / one.name)
            write_centre(base / one.name, CentreAddress(one.name, one.title, ("127.0.0.1:1",), key))
        self.halls = Halls(base, event, world.of_hall())
        self.wires: dict[SimulatedHall, Wire] = {}
        for hall in self.halls.all:
            hall.link._link = self.wires[hall] = Wire()
            hall.link.receive(FromCentre(LinkChanged(up=True)))
        self.spent = -time.process_time()
        self.journal = SqliteJournal(folder / STORE, NAME)
        self.scorer, self.ear = Scorer(event, self.journal, folder, now_ms), Wire()
        self.scorer.publisher.link = self.ear
        self.spent += time.process_time()
        self.carry([LinkChanged(up=True)])

    def said(self) -> Iterator[Incoming]:
        """Return the halls' pending messages."""
        for hall, wire in self.wires.items():
            hall.link.step()
            yield from (Incoming(topic, payload, lambda: None) for topic, payload, _ in wire.said)
            wire.forget()

    def carry(self, items: list[Incoming | LinkChanged]) -> None:
        """Pass messages to the centre, and its receipts to the halls."""
        self.spent -= time.process_time()
        for one in items:
            self.scorer._inbox.put(one)
        while self.scorer.waiting:
            self.scorer.step(timeout=0)
        self.spent += time.process_time()
        heard = {topic: payload for topic, payload, _ in self.ear.said}
        self.ear.forget()
        for hall in self.halls.all:
            if payload := heard.get(topic := topics.HALL_RECEIPT.at(NAME, hall=hall.link.centre.hall)):
                hall.link.receive(FromCentre(Incoming(topic, payload, lambda: None)))

    def play(self, upto: int) -> None:
        """Send a number of results, and pass them to the centre."""
        of = self.halls.all
        for at, hall in enumerate(of):
            hall.journal.write((upto - at + len(of) - 1) // len(of))
        while any(hall.journal.height != hall.link.view().upto for hall in of):
            self.carry([*self.said()])


def main(tables: int = LAST_TABLE, halls: int = 40) -> None:
    """Play, and print the cost of each part."""
    world = World(tables, halls, rounds=1, deals=16, seconds=0, minutes=12, times=1)
    with tempfile.TemporaryDirectory(prefix="homologue-rows-") as base:
        made = Together(Path(base), world)
        with closing(made.journal):
            print(f"| {tables} tables in {halls} halls | the centre begins in {made.spent:.1f} s |", flush=True)
            for part in range(PARTS):
                first, last, before = tables * part // PARTS, tables * (part + 1) // PARTS, made.spent
                for upto in (*range(first + AT_ONCE, last, AT_ONCE), last if last < tables else made.halls.results):
                    made.play(upto)
                print(f"| results {first + 1} to {last} | {1e3 * (made.spent - before) / (last - first):.2f} ms each |")
            assert made.scorer.state.plays_in == tables


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
