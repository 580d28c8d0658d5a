"""Many halls of an event in one process, each with the product's own link to the centre, on a journal in memory.

Tables' messages are signed as usual. `... halls FOLDER RATE SECONDS TIMES` reads what `world.py` has written, and
prints `connected`. After a line on standard input, all halls together send RATE results a second for SECONDS, and then
the rest of the event at TIMES that rate.
"""

import itertools
import json
import queue
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import replace

from broker.event import CentreAddress, Event, Hall, open_event, read_centre, read_halls
from broker.halls.link import FromCentre, HallLink, addresses_of
from broker.protocol import Result, encode
from broker.read_ahead import FIRST_LINK, StoredRow
from broker.store import Journal, link_after
from tests.benchmarks.scorer.crowd import wire_bytes
from tests.benchmarks.scorer.large import Chains, plays
from tests.benchmarks.scorer.playing import now_ms

PAUSE_S: Final = 0.02
LONGEST_S: Final = 900.0
"""Seconds without any progress at the centre."""


class MemoryJournal:
    """The part of a journal that a hall's link reads: its rows, of which the first `height` are written."""

    def __init__(self) -> None:
        self.store, self.height = uuid.uuid4().hex, 0
        self._rows: list[StoredRow] = []
        self.results: list[int] = []
        """Heights of the rows with results."""

    def add(self, body: bytes, *, is_result: bool) -> None:
        """Prepare the next row."""
        before, height, at = self._rows[-1][3] if self._rows else FIRST_LINK, len(self._rows) + 1, now_ms()
        self._rows.append((height, at, body, link_after(before, height, at, body)))
        if is_result:
            self.results.append(height)

    def write(self, results: int) -> None:
        """Write all rows up to this result."""
        self.height = self.results[min(results, len(self.results)) - 1] if results else 0

    def link_at(self, height: int) -> bytes | None:
        """Return the link of a row."""
        return self._rows[height - 1][3] if 0 < height <= self.height else None

    def linked_rows(self, after: int = 0, _at_once: int = 0) -> Iterator[StoredRow]:
        """Yield the rows after a height, with their links."""
        yield from itertools.islice(self._rows, after, self.height)

    def stored_structs(self, _prefix: str, _kind: type[Struct]) -> dict[str, Struct]:
        """Return the stored settings: none."""
        return {}

    def set_struct(self, key: str, value: Struct | None) -> None:
        """Discard a setting: such a hall is never restarted."""

    commit = nullcontext


class SimulatedHall:
    """One hall: its tables' facts, and its link."""

    def __init__(self, hall: Hall, centre: CentreAddress, event: str) -> None:
        self.tables, self.journal = hall.numbers, MemoryJournal()
        of = cast("Journal", self.journal)
        self.link = HallLink(centre, event, of, lambda: iter(()), now_ms, time.monotonic)

    @property
    def bytes(self) -> tuple[int, int]:
        """Bytes to and from the centre."""
        link = self.link._link
        return wire_bytes(link._client.socket()) if link and link.up else (0, 0)


class Halls:
    """All halls of this process."""

    def __init__(self, folder: Path, event: Event, halls: list[Hall]) -> None:
        self._news: queue.SimpleQueue[tuple[SimulatedHall, FromCentre]] = queue.SimpleQueue()
        self._folder, self.all = folder, list[SimulatedHall]()
        self.most_behind = 0
        """Most rows that waited in all halls during the last stage."""
        of: dict[int, SimulatedHall] = {}
        for hall in halls:
            centre = read_centre(folder / hall.name)
            assert centre is not None
            self.all.append(made := SimulatedHall(hall, centre, event.name))
            of.update(dict.fromkeys(made.tables, made))
        chains = Chains()
        for message in plays(event):
            if one := of.get(message.table):
                body = encode(chains.signed(replace(message, at=now_ms())))
                one.journal.add(body, is_result=isinstance(message.fact, Result))

    def connect(self) -> None:
        """Connect all halls with the centre, and wait until it has told each how far it has got."""
        for one in self.all:
            place = self._folder / one.link.centre.hall
            one.link.connect(addresses_of(place, one.link.centre), place, partial(self._heard, one))
        self.go_on(lambda: all(one.link.view().heard_at for one in self.all))

    def go_on(self, over: Callable[[], bool]) -> None:
        """Serve all links until a condition holds. Raises TimeoutError."""
        deadline = time.monotonic() + LONGEST_S
        while not over():
            if self._take():
                deadline = time.monotonic() + LONGEST_S
            for one in self.all:
                one.link.step()
            if time.monotonic() > deadline:
                raise TimeoutError("the centre does not answer")

    def _heard(self, one: SimulatedHall, item: FromCentre) -> None:
        self._news.put((one, item))

    def _take(self) -> bool:
        wait = PAUSE_S
        while True:
            try:
                one, item = self._news.get(timeout=wait)
            except queue.Empty:
                return not wait
            one.link.receive(item)
            wait = 0.0

    def play(self, rate: float, first: int, last: int) -> float:
        """Send a number of results a second, from all halls in turn; return the time until the centre has them."""
        begun, self.most_behind = time.monotonic(), 0

        def over() -> bool:
            due = min(last, first + int((time.monotonic() - begun) * rate))
            for at, one in enumerate(self.all):
                one.journal.write((due - at + len(self.all) - 1) // len(self.all))
            behind = sum(one.journal.height - one.link.view().upto for one in self.all)
            self.most_behind = max(self.most_behind, behind)
            return due == last and all(one.journal.height == one.link.view().upto for one in self.all)

        self.go_on(over)
        return time.monotonic() - begun

    @property
    def results(self) -> int:
        """The number of results if all halls send equally many."""
        return len(self.all) * max(len(one.journal.results) for one in self.all)

    @property
    def bytes(self) -> tuple[int, int]:
        """Bytes that all halls have sent and received."""
        each = [one.bytes for one in self.all]
        return sum(sent for sent, _ in each), sum(received for _, received in each)

    @property
    def rows(self) -> int:
        """Rows that the centre has stored."""
        return sum(one.link.view().upto for one in self.all)


def main(folder: str, rate: str, seconds: str, times: str) -> None:
    """Connect, and play: at the rate of a world event, and at a multiple of it."""
    centre = Path(folder) / "centre"
    halls = Halls(Path(folder), open_event(centre), list(read_halls(centre)[1:]))  # the first hall is a real one
    halls.connect()
    print("connected", flush=True)
    sys.stdin.readline()
    first, last = int(float(rate) * float(seconds)), halls.results
    for faster, before, upto in ((1.0, 0, first), (float(times), first, last)):
        rows, (sent, received) = halls.rows, halls.bytes
        took = halls.play(faster * float(rate), before, upto)
        now = halls.bytes
        told = {
            "asked": faster * float(rate),
            "results": upto - before,
            "rows": halls.rows - rows,
            "seconds": took,
            "sent": now[0] - sent,
            "received": now[1] - received,
            "behind": halls.most_behind,
        }
        print(json.dumps(told), flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main(*sys.argv[1:])
