"""Until the claim window closes nothing reveals a press: its seconds look the same with one and without, to anybody.

docs/silence.md says what is guaranteed, and names the test that holds it.
"""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Final

import msgspec
import pytest

from broker.i18n import Translator

os.environ["SDL_VIDEODRIVER"] = "dummy"

import pygame

from broker.protocol import SEATS, TOPICS, LogMessage, Seat, TableState, decode_on_topic
from firmware.reports import Pressed
from kiosk.screens import PlayingView, StatusLine, TableScreen, screen_view
from kiosk.screens.drawing import Appearance
from kiosk.table import Phase
from kiosk.table.events import (
    ButtonHeld,
    ButtonPressed,
    ClaimWindowElapsed,
    NoHuMeant,
    PlayEndedDrawn,
)
from tests.kiosk.connected import Table, begin, connected
from tests.kiosk.refusing_card import refusing
from tests.kiosk.seconds import (
    FIRST,
    MINUTE,
    TICK,
    TICKS,
    Frame,
    Hands,
    chattering,
    hold,
    stuck,
    tap,
    together,
    watching,
)
from tests.kiosk.standing import standing
from tests.kiosk.tables import EVENT, MS, TABLE, S, Sitting, sitting_in

ROOT: Final = Path(__file__).parents[2]

PRESSING = [who for count in range(1, 5) for who in combinations(SEATS, count)]

HANDS: Final[Mapping[str, Hands]] = {
    "one": tap("west", FIRST),
    "all four": together(*(tap(seat, FIRST + 5 * at) for at, seat in enumerate(SEATS))),
    "twice": together(tap("north", FIRST), tap("north", FIRST + 4), tap("north", FIRST + 6)),
    "a call": hold("south", FIRST),
    "a call beside a hu": together(hold("south", FIRST), tap("east", FIRST + 3)),
    "four calls": together(*(hold(seat, FIRST + at) for at, seat in enumerate(SEATS))),
    "a finger that stays": stuck("east", FIRST),
    "a contact that chatters": chattering("east", FIRST),
}

KEYS: Final[Mapping[str, Mapping[int, str]]] = {
    "no key": {},
    "nobody won": {FIRST + 9: "d"},
    "digits": {FIRST + 3: "5"},
}


# ---- the screen and the lamps -------------------------------------------------------------------------


def test_the_view_of_a_play_has_no_field_that_a_press_could_change() -> None:
    assert [one.name for one in fields(PlayingView)] == [
        "ended",
        "doubt",
        "state",
    ]  # by the clock, or a touch that all see


LOOKS: Final = {"usual": Appearance(), "quiet light": Appearance(quiet=True), "flat": Appearance(turned=True)}


@cache
def screen_of(look: str) -> TableScreen:
    """Return what draws one table's screen; fonts are slow to open."""
    pygame.font.init()
    return TableScreen(Translator("en"), (800, 480), LOOKS[look])


def drawn(sitting: Sitting, look: str = "usual") -> bytes:
    """Return the picture of a table."""
    surface = pygame.Surface((800, 480))
    screen_of(look).draw(surface, screen_view(TABLE, sitting.table, None, StatusLine(), None))
    return pygame.image.tobytes(surface, "RGB")


def pressed(presses: tuple[Seat, ...], ended: str, *, held: bool) -> Sitting:
    """Return a table in play whose buttons were pressed; `ended`: when somebody reported that nobody won."""
    sitting = sitting_in(Phase.PLAYING)
    sitting.wait()
    if ended == "before":
        sitting.take(PlayEndedDrawn(at=sitting.wait(50 * MS)))
    for seat in presses:
        at = sitting.wait(50 * MS)
        sitting.take(ButtonPressed(at=at, seat=seat))
        if held:
            sitting.take(ButtonHeld(at=at, seat=seat))
    if ended == "after":
        sitting.take(PlayEndedDrawn(at=sitting.wait(50 * MS)))
    return sitting


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("ended", ["not", "before", "after"])
def test_not_a_pixel_changes(ended: str, look: str) -> None:
    """Whether nobody won was reported before the presses, after them or not at all, and whether they are held."""
    untouched = drawn(pressed((), ended, held=False), look)
    for who, held in product(PRESSING, (False, True)):
        assert drawn(pressed(who, ended, held=held), look) == untouched, (who, held)


@pytest.mark.parametrize("left", [False, True], ids=["asked", "play on"])
def test_the_question_whether_hu_was_meant_names_nobody_and_shows_no_answer(*, left: bool) -> None:
    """Whoever has pressed just as the play began, and whoever presses again, the picture of the question is the same.

    So is that of its end, when somebody answers on the screen that the play is to go on.
    """
    pictures = set()
    for first, again in ((one, again) for who in PRESSING for one, again in ((who, ()), (who, who), (("east",), who))):
        sitting = sitting_in(Phase.PLAYING)
        for seat in first:
            sitting.take(ButtonPressed(at=sitting.wait(1_100 * MS if seat == first[0] else MS), seat=seat))
        assert sitting.table.closes_at is not None
        sitting.take(ClaimWindowElapsed(at=sitting.table.closes_at, asks=True))
        assert sitting.table.doubt == "asked"
        if again:
            sitting.press(*again)
        if left:
            sitting.take(NoHuMeant(at=sitting.wait()))
        pictures.add(drawn(sitting))
    assert len(pictures) == 1


Seconds = dict[tuple[str, str], list[Frame]]
"""What could be seen, by kind of presses and key."""


@pytest.fixture(scope="module")
def seconds(tmp_path_factory: pytest.TempPathFactory) -> Seconds:
    """Record the same seconds with each kind of presses and without, with each key that may be typed meanwhile."""
    seen = {}
    for keys in KEYS:
        for hands in ("none", *HANDS):
            with pytest.MonkeyPatch.context() as watched, watching(tmp_path_factory.mktemp("table"), watched) as made:
                seen[hands, keys] = made.watch(HANDS.get(hands, {}), KEYS[keys])
                phase = made.table.program.state.phase
                assert phase is (Phase.PLAYING if (hands, keys) in QUIET_PLAYS else Phase.CLAIMING)
    return seen


QUIET_PLAYS: Final = {("none", "no key"), ("none", "digits")}
"""Cases without an open window at the end; in all others, the presses arrived."""


def differing(seconds: Seconds, look: Callable[[Frame], object]) -> list[tuple[str, str]]:
    """Return the presses and keys with which a second shows something else than with the key alone."""
    seen = {which: [look(one) for one in frames] for which, frames in seconds.items()}
    return [(hands, keys) for hands, keys in seen if seen[hands, keys] != seen["none", keys]]


def test_every_frame_of_the_window_is_the_same(seconds: Seconds) -> None:
    assert differing(seconds, lambda one: one.pixels) == []


def test_frames_are_drawn_at_the_same_times_and_no_more_of_them(seconds: Seconds) -> None:
    assert differing(seconds, lambda one: one.drawn) == []
    # A minute passes, and the screen dims.
    assert [sum(one.drawn for one in seconds["none", keys]) for keys in KEYS] == [2, 3, 2]


def test_the_lamps_are_set_in_the_same_way_at_the_same_time(seconds: Seconds) -> None:
    assert differing(seconds, lambda one: one.lamps) == []
    assert {lamp for frames in seconds.values() for one in frames for _, lamp in one.lamps} <= {"off"}


def test_the_log_has_the_same_entries_at_the_same_time(seconds: Seconds) -> None:
    assert differing(seconds, lambda one: one.log) == []


def test_the_metrics_are_the_same_whether_or_not_somebody_has_pressed(seconds: Seconds) -> None:
    assert [which for which, frames in seconds.items() if len({one.metrics for one in frames}) != 1] == []


def test_the_comparison_notices_what_is_shown(seconds: Seconds) -> None:
    """Otherwise these tests could not fail: that nobody won shows, as do a passing minute and a dimmed screen."""
    pixels = [one.pixels for one in seconds["none", "nobody won"]]
    assert [at for at in range(1, TICKS) if pixels[at] != pixels[at - 1]] == [FIRST + 9, MINUTE, FIRST + 29]


@pytest.fixture(scope="module")
def refused_seconds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Frame]]:
    """Record the same seconds while the card takes no writes: the first press has to be stored elsewhere."""
    seen = {}
    for hands in ("none", "one", "twice", "a call"):
        folder = tmp_path_factory.mktemp("table")
        spares = [folder / "spare" / "event"]
        with pytest.MonkeyPatch.context() as watched, watching(folder, watched, spares) as made:
            made.table.program.step(timeout=0)  # checks the card, which still works
            with refusing(folder / "table.sqlite"):
                seen[hands] = made.watch(HANDS.get(hands, {}), {})
            assert made.table.journal.on_spare is (hands != "none")
    return seen


@pytest.mark.parametrize("hands", ["one", "twice", "a call"])
def test_a_press_that_the_card_does_not_take_shows_as_little(
    refused_seconds: dict[str, list[Frame]], hands: str
) -> None:
    assert refused_seconds[hands] == refused_seconds["none"]
    assert len({one.metrics for one in refused_seconds[hands]}) == 1


def test_a_card_that_takes_no_writes_is_reported_by_the_clock_whether_or_not_somebody_has_pressed(
    tmp_path: Path,
) -> None:
    told = []
    for hands in ("none", "one"):
        folder = tmp_path / hands
        folder.mkdir()
        with standing(folder, spares=[folder / "spare" / "event"]) as table:
            table.come_to(Phase.PLAYING)
            table.pass_time(31 * S)
            with refusing(folder / "table.sqlite"):
                for second in range(31):
                    table.pass_time(1 * S)
                    if (hands, second) == ("one", 28):
                        table.program.report(Pressed("west", table.time.now))
                        table.program.step(timeout=0)
                        assert table.journal.on_spare
                    told.append(table.program.view().line.health)
    assert told[:31] == told[31:]
    assert (told[28], told[30]) == ((), ("disk: card_refuses",))


# ---- messages -----------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with connected(tmp_path) as made:
        yield made


READ_BY_OTHERS: Final = [topic for topic in TOPICS if set(topic.readers) - {"scorer"}]


def heard_in(folder: Path, hands: Hands) -> list[list[object]]:
    """Return what an arbiter receives on every topic that anyone but the scorer may read, tick by tick."""
    folder.mkdir()
    with connected(folder) as table:
        begin(table)
        table.time.now += 2 * S
        assert all(table.listen(topic.at(EVENT)) for topic in READ_BY_OTHERS if "arbiter" in topic.readers)
        table.program.step(timeout=0)
        table.hear_until_marked()
        began, heard = table.time.now, []
        for tick in range(TICKS):
            table.time.now = began + (tick + 1) * TICK - 1
            table.tell_reports(began, hands.get(tick, ()))
            heard.append([_content(one.topic, one.payload) for one in table.hear_until_marked()])
        assert table.program.state.phase is (Phase.CLAIMING if hands else Phase.PLAYING)
        return heard


def _content(topic: str, payload: bytes) -> object:
    """Return the contents of a message, without its own id and the device's."""
    _, message = decode_on_topic(topic, payload)
    if isinstance(message, TableState):
        message = msgspec.structs.replace(message, id="an-id-of-its", device="a-device", count=0)
    elif isinstance(message, LogMessage):
        of_device = {"device": None, "before": None, "signature": None, "sender": "a-device"}
        message = msgspec.structs.replace(message, id="an-id-of-its", at=0, **of_device)
    return topic, message


def test_the_same_messages_come_at_the_same_time_on_every_topic_that_others_may_read(tmp_path: Path) -> None:
    silent = heard_in(tmp_path / "none", {})
    for number, (name, hands) in enumerate(HANDS.items()):
        if name != "a finger that stays":  # the arbiter learns of a stuck button, the table does not
            assert heard_in(tmp_path / str(number), hands) == silent, name


def test_an_arbiter_may_read_whatever_anyone_but_the_scorer_may_read() -> None:
    """So whoever listens with an arbiter's rights receives everything that a table sends."""
    assert [one.name for one in READ_BY_OTHERS if "arbiter" not in one.readers and one.writer == "table"] == []


def test_nothing_is_sent_or_logged_until_the_window_closes(table: Table, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    begin(table)
    before = len(caplog.records)
    table.press("west", "north")
    table.program.key("d")
    table.program.key("5")
    assert table.program.state.phase is Phase.CLAIMING
    seen = table.program.view()
    assert (seen.state, seen.declared, seen.marked, seen.problem) == ("playing", (), frozenset(), None)
    assert len(caplog.records) == before
    table.time.now += 6 * S
    table.until(Phase.DECLARED)
    # One message for each state and fact; the presses have none. (Waiting may be sent twice: at the connection too.)
    said = [what for what in table.said("Declared", "declared") if what != "waiting"]
    assert sorted(said) == sorted(
        ["restoring", "Restored", "seating", "Seated", "confirming", "Confirmed", "playing", "Declared", "declared"]
    )


# ---- sound ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """Run a whole kiosk in a separate process, press, and inspect it while the window is open."""
    command = [sys.executable, "-m", "tests.kiosk.listening", str(tmp_path_factory.mktemp("kiosk"))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_no_sound_device_is_open(process: dict[str, object]) -> None:
    assert process["phase"] == "claiming"
    assert process["sound_devices"] == []


def test_the_audio_of_sdl_was_never_started(process: dict[str, object]) -> None:
    assert (process["sdl_video"], process["sdl_audio"]) == (True, False)


def test_no_module_that_can_make_a_sound_is_loaded(process: dict[str, object]) -> None:
    assert (process["sound_modules"], process["sound_libraries"]) == ([], [])
