"""A player leaves: over a real broker, a table receives the substitute and skips dropped plays."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

import pytest

from broker.event import ListedDevice, write_devices
from broker.mqtt.access import Credentials
from broker.protocol import SEATS, AnyDecision, PlanChanged, Player, SeatedAnew, Substitute, Undo, Withdrawn
from broker.protocol.link import Address
from broker.protocol.signing import open_key
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
from tests.broker.scorer.small import NAME, event
from tests.kiosk.standing import Standing, Time
from tests.kiosk.tables import S
from tests.patience import PATIENCE_S

TABLE: Final = 1
FIRST, SECOND = (event().bookings[TABLE, round_] for round_ in (1, 2))
REPLACED: Final = FIRST.players["north"]
GONE: Final = SECOND.players["east"]


class Room:
    """A scorer and one table, each with its own connection to the broker."""

    def __init__(self, folder: Path, leaving: ExitStack) -> None:
        known = Credentials.create(4)
        broker = leaving.enter_context(make_broker("embedded", folder / "broker", NAME, known, tables=4))
        kept = leaving.enter_context(closing(SqliteJournal(folder / STORE, NAME)))
        write_devices(folder, [ListedDevice(TABLE, open_key(folder / "device.key").public)])
        self.scorer, stop = Scorer(event(), kept, folder, lambda: NOW), threading.Event()
        self.scorer.connect(Address(broker.host, broker.port, "scorer", known.password("scorer")))
        thread = threading.Thread(target=self.scorer.run, args=(stop,))
        thread.start()
        leaving.callback(thread.join)
        leaving.callback(stop.set)
        password = folder / "password"
        password.touch(mode=0o600)
        password.write_text(known.table(TABLE)[1], encoding="utf-8")
        (folder / "table.toml").write_text(
            f'event = "{NAME}"\ntable = {TABLE}\nfolder = "."\n'
            f'[broker]\nhost = "127.0.0.1"\nport = {broker.port}\npassword_file = "password"\nplain = true\n'
            '[devices]\nbuttons = "sim://buttons"\ncamera = "sim://tray"\n',
            encoding="utf-8",
        )
        journal, time = (
            leaving.enter_context(closing(TableJournal(folder / "table.sqlite", JournalOwner(NAME, TABLE)))),
            Time(),
        )
        self.program = TableProgram(KioskSettings(folder / "table.toml"), journal, time, time.of_day, board=tuple)
        self.table = Standing(self.program, journal, time)
        self.program.start()
        leaving.callback(self.program.stop)

    def rule(self, decision: AnyDecision) -> None:
        """Make a ruling as the head arbiter at the desk."""
        room = self.scorer.rulings.room
        self.scorer.ask(lambda: self.scorer.rulings.give(draft(room, decision), HEAD))

    def until(self, holds: Callable[[], bool]) -> None:
        """Run the table until a condition holds."""
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, self.program.view()
            self.program.step(timeout=0.01)

    def play(self) -> None:
        """Play the current deal to a draw."""
        self.until(lambda: self.table.phase is Phase.RESTORING)
        self.table._restore()
        self.table.press(*SEATS)
        self.table.press(*SEATS)
        self.table.time.wait()
        self.table.type("d")
        self.table.pass_time(9 * S)
        self.table.press(*SEATS)
        assert self.table.phase is Phase.RECORDED


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with ExitStack() as leaving:
        yield Room(tmp_path, leaving)


def test_a_table_seats_a_substitute_and_skips_a_play_of_a_withdrawn_player(
    room: Room,
) -> None:
    room.rule(Substitute(player=REPLACED, name="Ada Reserve", first_round=1))
    room.until(lambda: "Ada Reserve" in room.program.view().players.values())
    assert room.program.view().players["north"] == "Ada Reserve"
    room.play()
    room.until(lambda: not room.program.view().line.unsent)
    told = room.scorer.ask(lambda: room.scorer.rulings.room.results[TABLE, 1].fact.players)  # type: ignore[union-attr] # a result
    counted = room.scorer.ask(lambda: {row.player: row.plays for row in room.scorer.rulings.room.snapshot().standings})
    assert told == dict(FIRST.players)
    assert (counted[REPLACED], GONE in FIRST.players.values()) == (1, False)
    room.rule(Withdrawn(player=GONE, first_round=2))
    room.until(lambda: bool(room.program.state.assignment and 2 in room.program.state.assignment.settled))
    room.table.type("enter")
    play = room.program.state.play
    assert play is not None
    assert (play.round, play.players["east"].name) == (
        3,
        event().players[event().bookings[TABLE, 3].players["east"]].name,
    )
    instead = room.scorer.ask(lambda: room.scorer.rulings.room.play((TABLE, 2)).replacement_imps)
    assert instead == {player: -3 if player == GONE else 3 for player in SECOND.players.values()}


def test_a_table_keeps_its_restored_trays_when_its_players_change_and_change_back(
    room: Room,
) -> None:
    room.until(lambda: room.table.phase is Phase.RESTORING)
    room.table._restore()
    assert room.table.phase is Phase.SEATING
    seats = [FIRST.players[seat] if FIRST.players[seat] != REPLACED else "p17" for seat in SEATS]
    room.rule(
        PlanChanged(entered=(Player(id="p17", name="Ada Lovelace"),), plays=(SeatedAnew(FIRST.round, TABLE, *seats),))
    )
    room.until(lambda: room.program.view().players["north"] == "Ada Lovelace")
    assert (room.table.phase, room.program.state.play and room.program.state.play.deal) == (Phase.SEATING, FIRST.deal)
    room.rule(PlanChanged(dropped=((FIRST.round, TABLE),)))
    room.until(lambda: room.table.phase is Phase.RESTORING)
    assert room.program.state.play is not None
    assert room.program.state.play.round == SECOND.round
    room.rule(Undo(ruling="ruling-0001"))
    room.until(lambda: bool(room.program.state.assignment and room.program.state.assignment.plays[0].round == 1))
    room.play()
    room.table.type("enter")
    room.play()
    room.until(lambda: not room.program.view().line.unsent)
    assert room.scorer.ask(lambda: sorted(room.scorer.rulings.room.results)) == [(TABLE, 1), (TABLE, 2)]
