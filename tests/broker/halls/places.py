"""Two halls and a centre without a network: the test carries, loses, doubles or reorders their messages."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile
from sqlite3 import connect

from msgspec.structs import replace

from broker.event import (
    BookedPlay,
    CentreAddress,
    Hall,
    Plan,
    open_event,
    plan_of_hall,
    save_event,
    write_centre,
    write_halls,
)
from broker.halls.centre import Centre
from broker.halls.link import MAX_TIMEOUT_S, RECEIPT_TIMEOUT_S, FromCentre
from broker.protocol import SEATS, AtCentre, Beat, LetIn, LogMessage, Receipt, TableState, topics
from broker.protocol.link import Incoming, LinkChanged
from broker.protocol.signing import open_event_key
from broker.scorer.service import Scorer
from broker.store.sqlite import give_new_name
from tests.broker.scorer.hall import NOW, STORE, Clock, Ear, open_journal, put
from tests.broker.scorer.small import deals, list_devices, plan, registry

HALLS = (Hall("paris", "Paris", "1-2"), Hall("osaka", "Osaka", "3-4"))

CENTRE = "centre"


class Wire(Ear):
    """A connection that is up or down, and remembers the messages sent."""

    there = True

    @property
    def up(self) -> bool:
        return self.there


@dataclass
class Place:
    """A scorer, the messages to its tables, and its line to the centre."""

    scorer: Scorer
    ear: Wire
    line: Wire = field(default_factory=Wire)

    def step(self) -> None:
        """Let the scorer handle everything that is waiting."""
        while True:
            self.scorer.step(timeout=0)
            if not self.scorer.waiting:
                return

    def hear(self, *messages: LogMessage | TableState | Beat) -> None:
        put(self.scorer, *messages)
        self.step()

    def told(self, table: int) -> AtCentre | None:
        """Return what the last receipt of a table says about the centre."""
        heard = [one.centre for one in self.ear.heard(f"receipt/{table}") if isinstance(one, Receipt)]
        return heard[-1] if heard else None

    def cut(self) -> None:
        """Take the line to the centre down and lose the messages on it."""
        self.line.forget()
        self._change(up=False)

    def heal(self) -> None:
        self._change(up=True)

    def _change(self, *, up: bool) -> None:
        self.line.there = up
        self.scorer._inbox.put(FromCentre(LinkChanged(up=up)))
        self.step()


@dataclass
class Places:
    """The centre and its halls, with a common monotonic clock."""

    centre: Place
    halls: dict[str, Place]
    clock: list[float]
    folder: Path
    leaving: ExitStack

    @property
    def at_centre(self) -> Centre:
        """What the centre's scorer knows about its halls."""
        found = self.centre.scorer.live.centre
        assert found is not None
        return found

    def carry_up(self, hall: str, order: Sequence[int] | None = None) -> int:
        """Carry a hall's messages to the centre: all of them, or those with the indices in `order`, in that order.

        Return how many messages with rows the hall had sent.
        """
        said = [*self.halls[hall].line.said]
        self.halls[hall].line.forget()
        for at in range(len(said)) if order is None else order:
            if at < len(said):
                self.centre.scorer._inbox.put(Incoming(*said[at][:2], acknowledge=lambda: None))
        self.centre.step()
        return sum(topic.endswith("/row") for topic, *_ in said)

    def carry_down(self, hall: str, *, stale: bool = False) -> int:
        """Carry the centre's messages to a hall: the newest of each topic, or all of them if `stale`."""
        wanted = {topics.HALL_RECEIPT.at("cup", hall=hall), topics.CENTRE.at("cup")}
        said = [(topic, payload) for topic, payload, _ in self.centre.ear.said if topic in wanted]
        for topic, payload in said if stale else dict(said).items():
            self.halls[hall].scorer._inbox.put(FromCentre(Incoming(topic, payload, lambda: None)))
        self.halls[hall].step()
        return len(said)

    def carry(self, rounds: int = 40) -> None:
        """Carry everything both ways until no hall has a row to send, even after its timeout for receipts."""
        quiet = False
        for _ in range(rounds):
            rows = 0
            for name, hall in self.halls.items():
                if hall.line.there:
                    self.carry_down(name)
                    rows += self.carry_up(name)
            if quiet and not rows:
                return
            quiet = not rows
            if quiet:
                self.clock[0] += MAX_TIMEOUT_S + 1

    def wait(self, hall: str) -> None:
        """Let a hall's timeout for a receipt expire."""
        self.clock[0] += RECEIPT_TIMEOUT_S + 1
        self.halls[hall].step()

    def restart(self, name: str) -> None:
        """Restart a scorer on its store; the broker resends its retained messages."""
        self._at(name).scorer._journal.close()
        made = start(self.folder / name, self.clock, self.leaving)
        if name == CENTRE:
            self.centre = made
            self.centre.scorer._inbox.put(LinkChanged(up=True))
        else:
            self.halls[name] = made
            made.heal()
            self.at_centre.resend_all()
        self.centre.step()

    def copy(self, name: str) -> None:
        copy = self.folder / f"{name}.copy"
        copy.unlink(missing_ok=True)
        with closing(connect(self.folder / name / STORE)) as store, closing(connect(copy)) as target:
            store.backup(target)

    def restore(self, name: str) -> None:
        """Replace a store with its copy under a new store name, and restart the scorer.

        A standby that takes over has such a copy too.
        """
        self._at(name).scorer._journal.close()
        for one in (self.folder / name).glob(f"{STORE}*"):
            one.unlink()
        copyfile(self.folder / f"{name}.copy", self.folder / name / STORE)
        give_new_name(self.folder / name / STORE)
        self.restart(name)

    def _at(self, name: str) -> Place:
        return self.centre if name == CENTRE else self.halls[name]


def start(folder: Path, clock: list[float], leaving: ExitStack, wall: int = NOW) -> Place:
    journal = leaving.enter_context(open_journal(folder))
    event, now = open_event(folder), Clock()
    now.read = lambda: wall
    scorer = Scorer(event, journal, folder, now, lambda: clock[0])
    for table in event.tables:
        scorer.live.access._of(table).visits[0] = LetIn(round=1, deal=1, author="Ada", by="desk")
    place = Place(scorer, Wire())
    scorer.publisher.link = place.ear
    if scorer.live.hall:
        scorer.live.hall._link = place.line
    return place


def plan_apart() -> Plan:
    """Return a plan of two rounds in which nobody plays in two halls: each table's players stay together."""
    fours = {table: [f"p{number:02}" for number in range(4 * table - 3, 4 * table + 1)] for table in range(1, 5)}
    plays = tuple(
        BookedPlay(round_, table, (table + round_) % 4 + 1, dict(zip(SEATS, four, strict=True)))
        for table, four in fours.items()
        for round_ in (1, 2)
    )
    return replace(plan(), plays=plays)


@contextmanager
def places(folder: Path, planned: Plan | None = None) -> Iterator[Places]:
    """Start two halls and their centre, all connected."""
    planned = planned or plan()
    with ExitStack() as leaving:
        clock = [1000.0]
        root = folder / CENTRE
        save_event(root, planned, deals(), registry())
        write_halls(root, HALLS)
        key = open_event_key(root).public
        for hall in HALLS:
            place = folder / hall.name
            save_event(place, plan_of_hall(planned, hall), deals(), registry())
            list_devices(place, hall.numbers)
            write_centre(place, CentreAddress(hall.name, hall.title, ("127.0.0.1:1",), key))
        made = Places(
            start(root, clock, leaving),
            {hall.name: start(folder / hall.name, clock, leaving) for hall in HALLS},
            clock,
            folder,
            leaving,
        )
        for one in made.halls.values():
            one.heal()
        made.centre.scorer._inbox.put(LinkChanged(up=True))
        made.centre.step()
        yield made
