"""Until the claim window closes nothing tells of a press: no pixel, no line in the log, no message, no refusal."""

import logging
import os
from collections.abc import Iterator
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import pytest

os.environ["SDL_VIDEODRIVER"] = "dummy"

import pygame

from broker.brokers import make_broker
from broker.contract import topics
from broker.contract.messages import LogMessage, Receipt, TableState
from broker.contract.wire import decode_at, encode
from broker.contract.words import SEATS, Seat
from broker.credentials import Credentials
from firmware.reports import Pressed, Released
from kiosk.config import Settings
from kiosk.journal import Journal
from kiosk.program import Program
from kiosk.screens.shown import Line, shown
from kiosk.screens.table import TableScreen
from kiosk.screens.words import Words
from kiosk.table.events import ButtonPressed, PlayEndedDrawn
from kiosk.table.state import Phase
from tests.broker.brokers.client import Client
from tests.kiosk.journals import OURS, receipt
from tests.kiosk.tables import EVENT, MS, TABLE, S, plan, play, right, sitting_in

PRESSING = [who for count in range(1, 5) for who in combinations(SEATS, count)]


@pytest.mark.parametrize("ended", ["not", "before", "after"])
@pytest.mark.parametrize("who", PRESSING, ids="-".join)
def test_not_a_pixel_changes(who: tuple[Seat, ...], ended: str) -> None:
    """Whether or not it was said, before the presses or after, that nobody won."""
    pygame.font.init()
    pictures = []
    for presses in ((), who):
        sitting = sitting_in(Phase.PLAYING)
        sitting.wait()
        if ended == "before":
            sitting.take(PlayEndedDrawn(at=sitting.wait(50 * MS)))
        for seat in presses:
            sitting.take(ButtonPressed(at=sitting.wait(50 * MS), seat=seat))
        if ended == "after":
            sitting.take(PlayEndedDrawn(at=sitting.wait(50 * MS)))
        surface = pygame.Surface((800, 480))
        TableScreen(Words("en"), surface.get_size()).draw(surface, shown(TABLE, sitting.table, None, Line(), None))
        pictures.append(pygame.image.tobytes(surface, "RGB"))
    assert pictures[0] == pictures[1]


class Time:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100 * S

    def __call__(self) -> int:
        return self.now


class Table:
    """A real program on a real broker, with an arbiter who hears all that it says."""

    def __init__(self, program: Program, time: Time, arbiter: Client, scorer: Client) -> None:
        self.program, self.time, self._arbiter, self._scorer = program, time, arbiter, scorer

    def until(self, phase: Phase) -> None:
        """Let the program work until the table has come to a phase."""
        for _ in range(2000):
            if self.program.state.phase is phase:
                return
            self.program.step(timeout=0.01)
        raise AssertionError(f"{self.program.state.phase}, not {phase}")

    def tell(self, message: Any) -> None:  # noqa: ANN401 - any of the scorer's messages
        topic = topics.RECEIPT if isinstance(message, Receipt) else topics.ASSIGNMENT
        self._scorer.say(topic.at(EVENT, table=TABLE), encode(message), retain=True)

    def hello(self) -> None:
        """Let the table connect; the scorer answers whoever has."""
        while self._arbiter.heard.empty():
            self.program.step(timeout=0.01)
        assert self.said("waiting") == ["waiting"]

    def press(self, *seats: Seat) -> None:
        self.time.now += 2 * S
        for seat in seats:
            self.time.now += 10 * MS
            self.program.tell(Pressed(seat, self.time.now))
            self.program.tell(Released(seat, self.time.now + 5 * MS))
        self.program.step(timeout=0)

    def said(self, *last: str) -> list[str]:
        """Wait until all of these were said, and give all that was said: kinds of facts, and states."""
        told: list[str] = []
        while not set(last) <= set(told):
            heard = self._arbiter.hear()
            _, message = decode_at(heard.topic, heard.payload)
            if isinstance(message, TableState):
                told.append(message.state)
            elif isinstance(message, LogMessage):
                told.append(type(message.fact).__name__)
        return told


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    credentials = Credentials.create(TABLE)
    password = tmp_path / "password"
    password.write_text(credentials.table(TABLE)[1], encoding="utf-8")
    password.chmod(0o600)
    with make_broker("embedded", tmp_path / "broker", EVENT, credentials, tables=TABLE) as broker:
        config = tmp_path / "table.toml"
        config.write_text(
            f'event = "{EVENT}"\ntable = {TABLE}\nfolder = "."\n'
            f'[broker]\nhost = "127.0.0.1"\nport = {broker.port}\npassword_file = "password"\n'
            '[devices]\nbuttons = "sim://buttons"\ncamera = "sim://tray"\n',
            encoding="utf-8",
        )
        arbiter = Client(broker, "arbiter", credentials.password("arbiter"))
        scorer = Client(broker, "scorer", credentials.password("scorer"))
        with arbiter, scorer, closing(Journal(tmp_path / "table.sqlite", OURS)) as journal:
            assert arbiter.connect()
            assert scorer.connect()
            arbiter.subscribe(topics.STATE.at(EVENT), topics.LOG.at(EVENT))
            time = Time()
            program = Program(Settings(config), journal, time)
            program.start()
            yield Table(program, time, arbiter, scorer)
            program.stop()


def restore(table: Table) -> None:
    """Come to where the four seats confirm their tiles."""
    table.hello()
    table.tell(receipt())
    table.tell(plan(play(1)))
    table.until(Phase.RESTORING)
    for seat in SEATS:
        table.program.seen(right(play(1), seat, table.time.now))
    table.until(Phase.CONFIRMING)


def begin(table: Table) -> None:
    """Come to a play in progress."""
    restore(table)
    table.press(*SEATS)
    assert table.program.state.phase is Phase.PLAYING


def test_nothing_is_said_on_the_wire_and_in_the_log_until_the_window_closes(
    table: Table, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    begin(table)
    before = len(caplog.records)
    table.press("west", "north")
    table.program.key("d")
    table.program.key("5")
    assert table.program.state.phase is Phase.CLAIMING
    seen = table.program.shown()
    assert (seen.state, seen.declared, seen.marked, seen.problem) == ("playing", (), frozenset(), None)
    assert len(caplog.records) == before
    table.time.now += 6 * S
    table.until(Phase.DECLARED)
    # One message a state, one a fact: the presses have none. (Waiting may be said twice: at the connection too.)
    said = [what for what in table.said("Declared", "declared") if what != "waiting"]
    assert sorted(said) == sorted(
        ["restoring", "Restored", "confirming", "Confirmed", "playing", "Declared", "declared"]
    )


def test_a_second_push_at_a_confirmation_is_no_hu_however_slow_the_device(table: Table) -> None:
    """The four presses lie in the queue while the device hangs; somebody pushes again, having seen nothing happen."""
    restore(table)
    table.time.now += 2 * S
    for seat in SEATS:
        table.program.tell(Pressed(seat, table.time.now))
        table.program.tell(Released(seat, table.time.now + MS))
    again = table.time.now + 3 * S
    table.time.now += 5 * S
    table.program.step(timeout=0)
    assert table.program.state.phase is Phase.PLAYING
    table.program.tell(Pressed("north", again))
    table.program.step(timeout=0)
    assert table.program.state.declarations == ()


def test_a_plan_waits_for_the_receipt_of_its_own_store(table: Table) -> None:
    """A broker may keep the plan of a store that is gone."""
    table.hello()
    table.tell(receipt(store="store-of-today"))
    table.tell(plan(play(1), store="store-of-yesterday"))
    table.tell(msgspec.structs.replace(plan(play(1, deal=7)), store="store-of-today"))
    table.until(Phase.RESTORING)
    assert table.program.state.play == play(1, deal=7)


def test_a_plan_of_another_store_is_played_though_its_rounds_were_played_here_in_a_rehearsal(table: Table) -> None:
    begin(table)
    table.time.now += 2 * S
    table.program.key("d")
    table.time.now += 6 * S
    table.until(Phase.ACCEPTING)
    table.press(*SEATS)
    table.until(Phase.RECORDED)
    table.tell(receipt(store="store-of-today"))
    table.tell(plan(play(1, deal=7), play(2, deal=8), store="store-of-today"))
    table.until(Phase.RESTORING)
    assert table.program.state.play == play(1, deal=7)


def test_what_was_refused_is_told_again_when_the_plan_has_been_put_right(table: Table) -> None:
    begin(table)
    table.said("Restored", "Confirmed")
    journal = table.program._journal
    table.tell(receipt(refused={one.seq: (one.id, "not_planned") for one in journal.unsent()}))
    while len(journal.refused()) < 2:
        table.program.step(timeout=0.01)
    table.tell(plan(play(1), play(2)))
    while journal.refused():
        table.program.step(timeout=0.01)
    assert set(table.said("Restored", "Confirmed")) >= {"Restored", "Confirmed"}
