"""A power cut at any instant: what is on the card then, whole or torn, gives the same table and the same screen.

`test_power_cut.py` kills a real process. Here a day is played once, and its journal is cut as the card would have it at
every instant of every write; each cut is opened again.
"""

import shutil
import sqlite3
import struct
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firmware.reports import Scanned
from kiosk import restoring
from kiosk.input import RiichiQuestion, WinForm, riichi
from kiosk.journal import JournaledTable, TableJournal
from kiosk.restoring import Restoring
from kiosk.screens import DeclaredView, RestoringView, ScreenView, StatusLine, screen_view
from kiosk.table import (
    Event,
    Phase,
    Table,
    handle,
)
from kiosk.table.events import ArbiterAdmitted, Restarted
from tests.examples import COSTLY
from tests.kiosk.journals import OURS, core
from tests.kiosk.judging import tell_pin
from tests.kiosk.standing import phase_view, standing
from tests.kiosk.table.days import Step, days
from tests.kiosk.tables import TABLE, S, plan, play, sitting_in

HEADER: Final = 32
"""Bytes before the first frame of a write-ahead log, and before the page in each (SQLite's file format)."""
FRAME_HEADER: Final = 24

EVENTS: Final = msgspec.json.Decoder(Event)


def seen(state: Table) -> ScreenView:
    return screen_view(TABLE, state, None, StatusLine(), None)


def accepted(steps: list[Step]) -> list[Event]:
    """Return the events of a day that a journal accepts."""
    return [one.event for one in steps if one.code is None and (one.after != one.before or one.facts)]


def lived(events: list[Event]) -> list[tuple[Table, int]]:
    """The uninterrupted twin: the table before the first event and after each, with its number of facts."""
    state, told = Table(), 0
    found = [(state, told)]
    for event in events:
        state, facts = handle(state, event)
        told += len(facts)
        found.append((state, told))
    return found


def write(path: Path, events: list[Event]) -> list[int]:
    """Play a day into a journal; return the length of its log before the first event and after each."""
    log = path.with_name(path.name + "-wal")
    with closing(TableJournal(path, OURS)) as journal:
        journal._store.execute("PRAGMA wal_autocheckpoint=0")
        table, lengths = core(journal), [log.stat().st_size]
        for event in events:
            table.apply(event)
            lengths.append(log.stat().st_size)
        for one in (path, log):
            shutil.copy(one, one.with_name(f"kept-{one.name}"))
    return lengths


def cuts(size: int, page: int, within: Iterable[float]) -> Iterator[int]:
    """Yield instants of every write of a log: several within each frame (0: before it), and its end."""
    frame = FRAME_HEADER + page
    for start in range(HEADER, size, frame):
        yield from (start + int(part * frame) for part in within)
    yield size


def on_the_card(path: Path) -> tuple[list[Event], int]:
    """Read the events on a card, and the number of its facts."""
    with closing(sqlite3.connect(path)) as store:
        events = [EVENTS.decode(one) for (one,) in store.execute("SELECT event FROM happened ORDER BY number")]
        (facts,) = store.execute("SELECT count(*) FROM outbox").fetchone()
    return events, facts


def cut_everywhere(folder: Path, events: list[Event], within: Iterable[float]) -> int:
    """Cut a day at every instant; return the number of cuts."""
    lengths, twin = write(folder / "table.sqlite", events), lived(events)
    kept, log = folder / "kept-table.sqlite", folder / "kept-table.sqlite-wal"
    (page,) = struct.unpack(">I", log.read_bytes()[8:12])
    whole, card, count = log.read_bytes(), folder / "card.sqlite", 0
    for at in cuts(len(whole), page, within):
        if at < lengths[0]:
            continue  # the journal is being created; nothing has happened yet
        shutil.copy(kept, card)
        card.with_name("card.sqlite-wal").write_bytes(whole[:at])
        had, facts = on_the_card(card)
        done = max(number for number, length in enumerate(lengths) if length <= at)
        assert had == events[:done]
        assert facts == twin[done][1]
        count += 1
    return count


@pytest.mark.slow
def test_at_every_cut_the_card_holds_each_event_with_its_facts_or_nothing_of_it(tmp_path: Path) -> None:
    """Before each frame of the log, within its header, and within its page."""
    assert cut_everywhere(tmp_path, sitting_in(Phase.FINISHED).events, (0, 0.003, 0.6)) > 150


@pytest.mark.slow
@settings(COSTLY, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(days)
def test_the_same_holds_on_any_day(tmp_path_factory: pytest.TempPathFactory, steps: list[Step]) -> None:
    cut_everywhere(tmp_path_factory.mktemp("day"), accepted(steps), (0.999,))


class Memory:
    """A journal's events in memory, with a power cut before an event is written or just after."""

    def __init__(self, events: list[Event], *, same_boot: bool) -> None:
        self.kept, self.same_boot = events, same_boot

    @property
    def empty(self) -> bool:
        return not self.kept

    def events(self) -> list[Event]:
        return [*self.kept]

    def record(self, event: Event, _: object, *, wall: int) -> tuple[()]:
        assert wall
        self.kept.append(event)
        return ()


@pytest.mark.slow
@COSTLY
@given(days, st.sampled_from(["same", "another"]))
def test_after_a_cut_at_any_event_the_table_and_screen_equal_the_uninterrupted_twins(
    steps: list[Step], boot: str
) -> None:
    """A day of some sixty events is cut after each; a second cut at the same place changes nothing."""
    events, same_boot = accepted(steps), boot == "same"
    for done, (stood, _) in enumerate(lived(events)):
        memory = Memory(events[:done], same_boot=same_boot)
        for now in (900 * S, 900 * S):
            back = JournaledTable(memory, wall=lambda: 1)  # type: ignore[arg-type] # what a core asks of a journal
            back.restarted(now)
            expected = handle(stood, Restarted(at=now, same_clock=same_boot, doubts=True))[0] if done else stood
            assert back.state == expected
            assert seen(back.state) == seen(stood)


@pytest.mark.parametrize("phase", Phase)
def test_a_restart_in_any_state_shows_the_same_screen(phase: Phase, tmp_path: Path) -> None:
    with closing(TableJournal(tmp_path / "table.sqlite", OURS)) as journal:
        table = core(journal)
        for event in sitting_in(phase).events:
            table.apply(event)
    with standing(tmp_path) as back:
        back.program.step(timeout=0)
        assert (back.phase, seen(back.program.state)) == (phase, seen(sitting_in(phase).table))


def test_no_key_of_a_form_is_pressed_twice(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.DECLARED)
        table.type("1", "9", "back", "8", "enter")
        form = phase_view(table.program.view(), DeclaredView).form
    with standing(tmp_path) as back:
        back.program.step(timeout=0)
        assert phase_view(back.program.view(), DeclaredView).form == form
        back.time.wait()
        back.type("n")
        assert back.phase is Phase.ACCEPTING
        assert back.program.view().result is not None


def test_a_refused_result_is_entered_from_the_beginning_even_after_a_cut(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.ACCEPTING)
        table.type("r")
        form = phase_view(table.program.view(), DeclaredView).form
        assert form is not None
        assert (form.values, form.digits) == ((), "")
    with standing(tmp_path) as back:
        back.program.step(timeout=0)
        assert phase_view(back.program.view(), DeclaredView).form == form


def test_input_for_one_declaration_is_not_used_for_another(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.DECLARED)
        table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
        table.type("1", "9", "x", "8", "1")
        assert table.phase is Phase.PLAYING
        table.press("east")
        table.pass_time(9 * S)
        form = phase_view(table.program.view(), DeclaredView).form
        assert form is not None
        assert (form.declared, form.digits) == (("east",), "")


def test_the_input_for_a_hand_of_riichi_survives_a_cut(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.PLAYING, plan(play(1), profile="riichi-montreal"))
        table.press("west")
        table.pass_time(9 * S)
        table.type("3", "enter", "4")
        planned = table.program.view().riichi
        assert planned is not None
        assert isinstance(planned.prompt.form, WinForm)
        assert (planned.prompt.form.han, planned.prompt.form.digits) == (3, "4")
    with standing(tmp_path) as back:
        assert back.program.view().riichi == planned
        back.time.wait()
        back.type("0", "enter", "n")
        assert back.phase is Phase.ACCEPTING


def test_an_open_question_is_restored_only_if_the_table_may_still_ask_it(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.PLAYING, plan(play(1), profile="riichi-montreal"))
        table.type("b")
        kept = table.journal.draft
        assert riichi.riichi_form_from_draft(kept, None, Phase.PLAYING) == RiichiQuestion("abort")
        assert riichi.riichi_form_from_draft(kept, None, Phase.ACCEPTING) is None


@COSTLY
@given(st.text(max_size=60))
def test_an_invalid_draft_opens_nothing(text: str) -> None:
    assert riichi.riichi_form_from_draft(text, None, Phase.PLAYING) is None
    assert restoring.restoring_from_draft(text, play(1)) == Restoring()


def test_no_tile_is_scanned_twice_and_ticking_continues_where_it_was(tmp_path: Path) -> None:
    tray = [serial for row in play(1).order["east"] for serial in row]
    with standing(tmp_path) as table:
        table.come_to(Phase.RESTORING)
        for serial in tray[:-1]:
            table.program.report(Scanned(serial, None, table.time.wait()))
        table.program.step(timeout=0)
        before = phase_view(table.program.view(), RestoringView).restoring
    with standing(tmp_path) as back:
        assert phase_view(back.program.view(), RestoringView).restoring == before
        back.program.report(Scanned(tray[-1], None, back.time.wait()))
        back.program.step(timeout=0)
        assert back.program.state.verified == {"east"}


def test_an_admitted_arbiter_finds_the_panel_and_a_ruling_closes_it_in_the_same_write(
    tmp_path: Path,
) -> None:
    """The journal is cut after each of its commits: an event and the panel that follows from it are one."""
    tell_pin(tmp_path)
    with standing(tmp_path) as table:
        table.come_to(Phase.PLAYING)
        for key in ("a", *"4812", "enter", "5", "5", "enter", "6"):
            before = table.journal.panel, table.program.state
            table.type(key)
            after = table.journal.panel, table.program.state
            assert (before[1] == after[1]) or (before[0] != after[0])
        assert (table.program.state.extra_min, table.journal.panel) == (5, "")
