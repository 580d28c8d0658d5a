"""A small event over a real broker: two sections, a cut, and a final with two thirds carried over."""

import csv
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Final

import pytest

from broker.event import ListedDevice, write_devices
from broker.files import STANDINGS
from broker.mqtt.access import Credentials
from broker.mqtt.programs import Kind
from broker.protocol import SEATS, AnyDecision, FinalDeclared, LogMessage
from broker.protocol.link import Address
from broker.protocol.signing import open_key
from broker.rulings.final import draft_stage, next_stage
from broker.scorer import EventState
from broker.scorer.service import Scorer
from broker.store import STORE, SqliteJournal
from kiosk.config import KioskSettings
from kiosk.journal import TableJournal
from kiosk.journal_file import JournalOwner
from kiosk.program import TableProgram
from kiosk.table import Phase
from tests.broker.mqtt.brokers import make_broker
from tests.broker.rulings.ruled import HEAD, draft
from tests.broker.scorer.hall import NOW
from tests.broker.scorer.small import NAME
from tests.broker.scorer.staged import places, recomputed, staged_event, whole
from tests.kiosk.standing import Standing, Time
from tests.kiosk.tables import S
from tests.patience import PATIENCE_S

TABLES: Final = (1, 2, 3, 4)
KEY: Final = {"east": "e", "south": "s", "west": "w", "north": "n"}

pytestmark = pytest.mark.slow


class Club:
    """A scorer and four tables, each with its own connection to the broker."""

    def __init__(self, folder: Path, leaving: ExitStack, broker_kind: Kind) -> None:
        known = Credentials.create(len(TABLES))
        broker = leaving.enter_context(make_broker(broker_kind, folder / "broker", NAME, known, tables=len(TABLES)))
        self.folder = folder
        self.journal = leaving.enter_context(closing(SqliteJournal(folder / STORE, NAME)))
        keys = {table: folder / f"table-{table}" / "device.key" for table in TABLES}
        for path in keys.values():
            path.parent.mkdir()
        write_devices(folder, [ListedDevice(table, open_key(path).public) for table, path in keys.items()])
        self.scorer, stop = Scorer(staged_event(), self.journal, folder, lambda: NOW), threading.Event()
        self.scorer.connect(Address(broker.host, broker.port, "scorer", known.password("scorer")))
        thread = threading.Thread(target=self.scorer.run, args=(stop,))
        thread.start()
        leaving.callback(thread.join)
        leaving.callback(stop.set)
        self.tables = {table: self._table(table, broker.port, known, leaving) for table in TABLES}

    def _table(self, table: int, port: int, known: Credentials, leaving: ExitStack) -> Standing:
        folder = self.folder / f"table-{table}"
        password = folder / "password"
        password.touch(mode=0o600)
        password.write_text(known.table(table)[1], encoding="utf-8")
        (folder / "table.toml").write_text(
            f'event = "{NAME}"\ntable = {table}\nfolder = "."\n'
            f'[broker]\nhost = "127.0.0.1"\nport = {port}\npassword_file = "password"\nplain = true\n'
            '[devices]\nbuttons = "sim://buttons"\ncamera = "sim://tray"\n',
            encoding="utf-8",
        )
        journal = leaving.enter_context(closing(TableJournal(folder / "table.sqlite", JournalOwner(NAME, table))))
        time = Time()
        program = TableProgram(KioskSettings(folder / "table.toml"), journal, time, time.of_day, board=tuple)
        program.start()
        leaving.callback(program.stop)
        return Standing(program, journal, time)

    def until(self, holds: Callable[[], bool]) -> None:
        """Run the tables until a condition holds."""
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, [one.program.view() for one in self.tables.values()]
            for one in self.tables.values():
                one.program.step(timeout=0.005)

    def play(self, table: int, chance: Random) -> None:
        """Play the current deal of a table."""
        one = self.tables[table]
        if one.phase is Phase.RECORDED:
            one.type("enter")
        self.until(lambda: one.phase is Phase.RESTORING)
        one._restore()
        while one.phase in {Phase.SEATING, Phase.CONFIRMING}:  # players who stay at a table are not checked in again
            one.press(*SEATS)
        winner, other = chance.sample(SEATS, 2)
        if chance.random() < 0.2:
            one.time.wait()
            one.type("d")
            one.pass_time(9 * S)
        else:
            one.press(winner)
            one.pass_time(9 * S)
            one.type(*str(chance.randint(8, 60)), "enter", KEY[other])
        one.press(*SEATS)
        assert one.phase is Phase.RECORDED, one.phase

    def rule(self, make: Callable[[EventState], AnyDecision]) -> None:
        """Make a ruling as the head arbiter at the desk."""
        room = self.scorer.rulings.room
        self.scorer.ask(lambda: self.scorer.rulings.give(draft(room, make(room)), HEAD))

    def settled(self, plays: int) -> bool:
        """Return whether so many plays have reached the scorer."""
        return self.scorer.ask(lambda: self.scorer.state.plays_in) == plays


@pytest.fixture(params=["embedded", "mosquitto"])
def club(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Club]:
    with ExitStack() as leaving:
        yield Club(tmp_path, leaving, request.param)


def seat_final(room: EventState) -> AnyDecision:
    """Return the ruling that seats the final."""
    stage = next_stage(room)
    assert stage is not None
    return draft_stage(room, stage)


def test_an_event_with_two_sections_and_a_final_has_the_recomputed_results(
    club: Club,
) -> None:
    chance = Random(3)
    for _ in (1, 2):
        for table in TABLES:
            club.play(table, chance)
    club.until(lambda: club.settled(8))
    for one in club.tables.values():
        one.type("enter")
    club.until(lambda: all(one.phase is Phase.FINISHED for one in club.tables.values()))
    club.rule(seat_final)
    for round_ in (3, 4):
        for table in (1, 2):
            club.play(table, chance)
            play = club.tables[table].program.state.play
            assert play is not None
            assert play.round == round_
    club.until(lambda: club.settled(12))
    assert [club.tables[table].phase for table in (3, 4)] == [Phase.FINISHED] * 2
    assert not club.scorer.ask(lambda: club.scorer.state.final)
    club.rule(lambda _room: FinalDeclared())
    assert club.scorer.ask(lambda: club.scorer.state.final)
    first, final = recomputed(one for one in club.journal.messages() if isinstance(one, LogMessage))
    expected: dict[str, tuple[str, str, int, int]] = {}
    for section, names in (("A", range(1, 9)), ("B", range(9, 17))):
        ranked = places(first, (f"p{number:02}" for number in names))
        expected |= {name: ("Qualification", section, *of) for name, of in ranked.items()}
    total = {name: imp + whole(first[name] * Fraction(2, 3)) for name, imp in final.items()}
    expected |= {name: ("Final", "", *of) for name, of in places(total, total).items()}
    assert sorted(final) == sorted(name for name, of in expected.items() if of[0] == "Final")
    ends, found = time.monotonic() + PATIENCE_S, dict[str, tuple[str, str, int, int]]()
    while found != expected and time.monotonic() < ends:  # the file is written after the desk shows it
        with (club.folder / STANDINGS).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        found = {row["player"]: (row["stage"], row["section"], int(row["place"]), int(row["imp"])) for row in rows}
    assert found == expected
