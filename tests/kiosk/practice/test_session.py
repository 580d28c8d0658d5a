"""The practice table: a whole play with mouse and keys, no broker, no hardware, and the screen of a real table."""

import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from broker.cli.main import homologue
from broker.i18n import SEAT_NAMES, Translator

os.environ["SDL_VIDEODRIVER"] = "dummy"

from pathlib import Path

import pygame
import pytest
from click.testing import CliRunner

from broker.protocol import SEATS, McrValue, RiichiValue
from kiosk.config import ScreenSettings
from kiosk.practice import session
from kiosk.practice.deals import Practised, practice_plan
from kiosk.practice.hands import KEYS, LAY, LAY_WRONG, SCAN_NEXT, TIP_OUT, strip
from kiosk.practice.session import PracticeTable, PracticeWindow
from kiosk.program import TableProgram
from kiosk.screens import DeclaredView, TableScreen, type_key
from kiosk.screens.drawing import SMALLEST
from kiosk.screens.table import current_screen
from kiosk.table import Phase
from tests.kiosk.screens.scenes import SCENES

PATIENCE_S = 600


class Trainer:
    """Somebody at the practice table, on a thread of their own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stop, self.there = threading.Event(), threading.Event()
        self.windows, self.programs = list[PracticeWindow](), list[TableProgram]()
        trainer = self

        class Seen(PracticeWindow):
            def show(self, shown: object) -> bool:
                new = super().show(shown)  # type: ignore[arg-type]  # passed on as it is
                trainer.windows[:] = [self]
                trainer.there.set()
                return new

        class Known(TableProgram):
            def start(self) -> None:
                trainer.programs[:] = [self]
                super().start()

        monkeypatch.setattr(session, "PracticeWindow", Seen)
        monkeypatch.setattr(session, "TableProgram", Known)

    @property
    def phase(self) -> Phase:
        return self.programs[0].state.phase

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until a condition holds."""
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, self.phase
            self.stop.wait(0.01)

    def strip(self, key: str) -> None:
        """Click a button on the strip."""
        (box,) = [one.box for one in self.windows[0]._strip if one.key == key]
        self._click(box.center)

    def touch(self, name: str) -> None:
        """Click a button on the table's screen, again if it had just appeared."""
        self.until(lambda: name in self._offered())
        before = self.programs[0].view().phase
        while self.programs[0].view().phase == before:
            self.stop.wait(0.45)
            if name in (offered := self._offered()):
                self._click(offered[name])
            self.stop.wait(1)

    def _offered(self) -> dict[str, tuple[int, int]]:
        targets = self.windows[0]._screen.targets(self.programs[0].view())
        return {one.label.partition("\n")[0]: one.box.center for one in targets}

    def said(self) -> list[str]:
        """Return the lines in the middle of the table's screen."""
        return [line.text for line in current_screen(self.windows[0]._, self.programs[0].view()).lines]

    def _click(self, at: tuple[int, int]) -> None:
        """Click as a person does: a button released at once was not pressed."""
        for kind in (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP):
            pygame.event.post(pygame.event.Event(kind, pos=at, button=pygame.BUTTON_LEFT, touch=False))
            self.stop.wait(0.08)

    def press_until(self, holds: Callable[[], bool], keys: Iterable[str] = KEYS) -> None:
        """Press buttons again and again, as people do, until a condition holds."""
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, self.phase
            for key in keys:
                self.strip(key)
            self.stop.wait(0.3)


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["mcr", "riichi"])
def test_a_whole_play_needs_only_a_mouse(rules: Practised, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer, _, failed = Trainer(monkeypatch), Translator("fr"), list[BaseException]()

    def play() -> None:
        try:
            {"mcr": _play, "riichi": _win_at_riichi}[rules](trainer, _)
            trainer.until(lambda: trainer.programs[0]._server.facts.unsent == 0)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test must fail with it
            failed.append(error)
        finally:
            trainer.stop.set()

    hands = threading.Thread(target=play)
    hands.start()
    session.practise(trainer.stop, PracticeTable(language="fr", rules=rules))
    hands.join()
    assert failed == []


def _play(trainer: Trainer, _: Translator) -> None:
    trainer.there.wait(PATIENCE_S)
    trainer.until(lambda: trainer.phase is Phase.RESTORING)
    trainer.strip(TIP_OUT)
    trainer.until(lambda: _("Sort the tiles by seat: colour and letter") in trainer.said())
    trainer.strip(SCAN_NEXT)
    trainer.until(lambda: _.ngettext("{count} tile scanned", "{count} tiles scanned", count=1) in trainer.said())
    trainer.strip(LAY_WRONG)
    trainer.until(lambda: trainer.programs[0].state.check is not None)
    for left in (3, 2, 1, 0):
        trainer.strip(LAY)
        trainer.until(lambda left=left: len(trainer.programs[0].state.unverified) <= left)  # type: ignore[misc]  # a loop's own
    trainer.press_until(lambda: trainer.phase is Phase.PLAYING)
    trainer.press_until(lambda: trainer.phase is Phase.DECLARED, ["f3"])  # so early, it is asked whether hu was meant
    _count(trainer, _)
    phase = trainer.programs[0].view().phase
    assert isinstance(phase, DeclaredView)
    told = phase.discarder_key
    assert told is not None  # the walls were read, so the owner of the last tile is known
    trainer.touch(_("Self-drawn") if told == "d" else _(SEAT_NAMES[{seat[0]: seat for seat in SEATS}[told]]))
    trainer.until(lambda: trainer.phase is Phase.ACCEPTING)
    trainer.press_until(lambda: trainer.phase is Phase.RECORDED)


def _win_at_riichi(trainer: Trainer, _: Translator) -> None:
    trainer.there.wait(PATIENCE_S)
    trainer.until(lambda: trainer.phase is Phase.CONFIRMING)
    trainer.press_until(lambda: trainer.phase is Phase.PLAYING)
    trainer.press_until(lambda: trainer.phase is Phase.DECLARED, ["f1"])
    counting = trainer.programs[0]._tasks.counting
    trainer.touch(_("From the backs"))
    trainer.strip(LAY)
    trainer.until(lambda: counting._counting is not None and not isinstance(counting._counting.hand, str))
    type_key("t")  # self-drawn
    trainer.until(lambda: counting._counting is not None and counting._counting.may_ask)
    type_key("enter")
    trainer.until(lambda: counting._counting is not None and counting._counting.accepted is not None)
    assert counting._counting is not None
    assert isinstance(counting._counting.accepted, RiichiValue)
    type_key("enter")
    trainer.touch(_("Self-drawn"))
    trainer.until(lambda: trainer.phase is Phase.ACCEPTING)
    trainer.press_until(lambda: trainer.phase is Phase.RECORDED)


def _count(trainer: Trainer, _: Translator) -> None:
    """Have the declared hand laid, read, counted and accepted."""
    counting = trainer.programs[0]._tasks.counting
    trainer.touch(_("Count from the backs"))
    trainer.strip(LAY)
    trainer.touch(_.pgettext("button", "Count"))
    trainer.until(lambda: counting._counting is not None and counting._counting.accepted is not None)
    assert counting._counting is not None
    assert isinstance(counting._counting.accepted, McrValue)
    trainer.touch(_("Accept {fan}", fan=counting._counting.accepted.fan))


def test_the_first_deal_is_in_numerical_order_and_every_play_has_the_whole_set() -> None:
    first, *others = practice_plan().plays
    assert [serial for seat in SEATS for row in first.order[seat] for serial in row] == list(range(1, 137))
    for play in others:
        assert sorted(serial for seat in SEATS for row in play.order[seat] for serial in row) == list(range(1, 137))


def test_above_the_strip_the_screen_is_that_of_a_real_table() -> None:
    shown = replace(SCENES["declared, value"](), problem=None)
    with PracticeWindow(ScreenSettings(driver="dummy"), Translator(), lambda: 0) as window:
        window.show(shown)
        real = pygame.Surface((800, 480), depth=32)
        TableScreen(Translator(), (800, 480)).draw(real, shown)
        above = pygame.image.tobytes(window._whole.subsurface((0, 0), (800, 480)), "RGB")
        assert above == pygame.image.tobytes(real, "RGB")


@pytest.mark.parametrize("language", ["en", "fr", "zh"])
def test_no_label_on_the_strip_is_cut(language: str) -> None:
    rows = strip(camera=True, scanner=True)
    window = PracticeWindow(ScreenSettings(driver="dummy"), Translator(language), lambda: 0, rows)
    with window:
        pen, targets = window._buttons._pen, [*window._targets()]
        written = [pen._fitting(one.label, SMALLEST, one.box.width - one.box.height // 4)[0] for one in targets]
        assert written == [one.label for one in targets]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give either CONFIG or --practice"),
        (["--practice", "table.toml"], "give either CONFIG or --practice"),
        (["table.toml", "--language", "fr"], "--language needs --practice"),
        (["--practice", "--pair"], "--pair needs CONFIG"),
    ],
)
def test_options_for_a_real_table_and_a_practice_table_cannot_be_mixed(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.toml").touch()
    result = CliRunner().invoke(homologue, ["kiosk", *arguments])
    assert (result.exit_code, said in result.output) == (2, True)
