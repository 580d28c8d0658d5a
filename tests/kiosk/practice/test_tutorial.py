"""The tutorial: three minutes for each role, in every language, at the practice table."""

import os
import threading
from typing import Final

os.environ["SDL_VIDEODRIVER"] = "dummy"

import msgspec
import pygame
import pytest

from broker.i18n import SEAT_NAMES, Translator, languages
from broker.protocol import SEATS, CountRequest, HandLayout, PlannedPlay, RiichiValue, RiichiWinDetails, Seat
from broker.rules.hand_value import KnownTiles, answer_count
from kiosk.config import ScreenSettings
from kiosk.practice import session
from kiosk.practice.deals import FACES, practice_plan, riichi_hand
from kiosk.practice.hands import TIP_OUT, PracticeHands, strip
from kiosk.practice.session import LABELS, PracticeTable, PracticeWindow
from kiosk.practice.tutorial import BACK_KEY, KEY_EVERY_NS, ON_KEY, REPEAT_NS, STEPS, Lesson, Role
from kiosk.screens import QUIT, ScreenView
from kiosk.screens.drawing import BODY, SMALL, SMALLEST, TEXT, TextLine
from kiosk.table import profile_of
from tests.kiosk.screens.scenes import SCENES
from tests.kiosk.screens.test_window import Time

MOST_S: Final = 180

WORDS_A_S: Final = 238 / 60
"""Silent reading of English (Brysbaert, "How many words do we read per minute?", 2019)."""

DECIDE_S, POINT_S = 1.35, 1.1
"""Time to decide, and to point at something (Card, Moran and Newell, the keystroke-level model, 1980)."""

TABLE_S: Final = {"f5": 2, "f6": 2, "f7": 2, "f8": 0, "f1": 12, "f3": 12}
"""Time that the table itself takes: to check a tray, or for a claim window and the question whether hu was meant."""

NAMED: Final = (*LABELS.values(), *SEAT_NAMES.values(), "False hu", "Call the arbiter", "Leave", "Enter")
"""Buttons that a step may name."""


class Hurried(PracticeWindow):
    """Somebody at the practice table who skips every step."""

    stopping: threading.Event

    def show(self, view: ScreenView) -> bool:
        new = super().show(view)
        assert self._lesson is not None
        if self._lesson.over:
            self.stopping.set()
        elif self._lesson._hand is None:
            self._lesson.press(ON_KEY)
        return new


@pytest.mark.slow
@pytest.mark.parametrize(("role", "language"), [("staff", "fr"), ("players", "zh"), ("arbiters", "en")])
def test_skipping_every_step_leads_to_the_end(role: Role, language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Hurried, "stopping", threading.Event(), raising=False)
    monkeypatch.setattr(session, "PracticeWindow", Hurried)
    session.practise(Hurried.stopping, PracticeTable(language=language, tutorial=role))


@pytest.mark.parametrize("role", STEPS)
def test_each_tutorial_takes_three_minutes_at_most(role: Role) -> None:
    seconds = 0.0
    for step in STEPS[role]:
        seconds += len(step.text.split()) / WORDS_A_S + DECIDE_S + POINT_S * max(1, len(step.keys))
        seconds += TABLE_S.get(step.keys[0], 0) if len(step.keys) == 1 else 0
    assert seconds <= MOST_S


@pytest.mark.parametrize("language", languages())
def test_a_step_names_buttons_by_their_labels(language: str) -> None:
    _ = Translator(language)
    steps = [step.text for role in STEPS.values() for step in role]
    named = [(one, step) for step in steps for one in NAMED if one in step]
    assert len(named) > 10
    assert [
        (one, step) for one, step in named if not {_(one), _.pgettext("button", one)} & {*_found(_(step), _, one)}
    ] == []


def _found(text: str, _: Translator, one: str) -> list[str]:
    return [label for label in (_(one), _.pgettext("button", one)) if label in text]


@pytest.mark.parametrize("size", [(800, 480), (1280, 720), (1920, 1080), (720, 1280)], ids=str)
@pytest.mark.parametrize("language", languages())
def test_every_step_fits_beside_its_buttons(language: str, size: tuple[int, int]) -> None:
    settings = ScreenSettings(*size, driver="dummy")
    rows = strip(camera=True, scanner=True)
    with PracticeWindow(settings, Translator(language), lambda: 0, rows, Lesson("staff")) as window:
        room, pen, _ = window.lesson_room, window._pen, Translator(language)
        width = min(target.box.left for target in window._lesson_targets()) - room.left - window._gap
        for step in (one for steps in STEPS.values() for one in steps):
            parts = [*pen.wrapped(TextLine(_(step.text), BODY, TEXT), width)]
            lines = pen.fit([TextLine("1", SMALL, TEXT), *parts], width, room.height)
            assert pen.lines_height(lines, width) <= room.height
            assert not [one for one in lines if "…" in pen._fitting(one.text, one.share, width)[0]]
            assert min(line.share for line in lines[1:]) > SMALLEST


def press(window: PracticeWindow, key: str) -> None:
    """Touch a button of the tutorial."""
    (box,) = [target.box for target in window._lesson_targets() if target.key == key]
    for kind in (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP):
        pygame.event.post(pygame.event.Event(kind, pos=box.center, button=pygame.BUTTON_LEFT, touch=False))
    assert [one for one in window.pressed() if one != QUIT] == [], "the table knows nothing of it"


class Watching(PracticeHands):
    """Hands that only record what they were asked to do."""

    def __init__(self) -> None:
        self.did = list[str]()

    def down(self, key: str) -> None:
        self.did.append(key)

    def up(self, key: str) -> None:
        self.did.append(f"{key} up")


def test_a_step_ends_when_the_table_is_ready_and_back_shows_it_again() -> None:
    lesson, hands, now = Lesson("staff"), Watching(), Time()
    with PracticeWindow(
        ScreenSettings(driver="dummy"), Translator(), now, strip(camera=True, scanner=True), lesson
    ) as window:
        window.attach(hands)
        window.show(SCENES["restoring"]())
        assert (lesson.text(Translator())[0], lesson.buttons(Translator())) == ("Step 1 of 8", ("", "Skip"))
        window.show(SCENES["restoring, heap"]())
        assert (lesson.text(Translator())[0], lesson.buttons(Translator())) == ("Step 2 of 8", ("Back", "Next"))
        press(window, BACK_KEY)
        assert (lesson.text(Translator())[0], lesson.buttons(Translator())) == ("Step 1 of 8", ("", "Next"))
        press(window, ON_KEY)
        press(window, ON_KEY)
        assert lesson.text(Translator())[0] == "Step 3 of 8"
        assert hands.did == []


def test_a_skipped_step_is_done_by_the_hands_until_it_is_over() -> None:
    lesson, hands = Lesson("staff"), Watching()
    lesson.press(ON_KEY)
    for now in (0, KEY_EVERY_NS, KEY_EVERY_NS + REPEAT_NS - 1, KEY_EVERY_NS + REPEAT_NS):
        lesson.follow(SCENES["restoring"](), hands, now)
    assert hands.did == [TIP_OUT, TIP_OUT]
    lesson.follow(SCENES["restoring, heap"](), hands, KEY_EVERY_NS + 2 * REPEAT_NS)
    assert hands.did == [TIP_OUT, TIP_OUT]


@pytest.mark.parametrize("winner", SEATS)
def test_every_riichi_winner_has_a_yaku(winner: Seat) -> None:
    without_deal = msgspec.structs.replace(practice_plan().plays[0], order={})
    for planned in (*practice_plan("riichi-deals").plays, without_deal):
        assert han_of(planned, winner) >= 2, planned.round


def han_of(planned: PlannedPlay, winner: Seat) -> int:
    """Return the han that the scorer counts in the laid hand."""
    groups, under = riichi_hand(planned, winner)
    said = RiichiWinDetails(laid=HandLayout(self_drawn=True), dora=(under,), round_wind="east", dealer=winner)
    request = CountRequest(
        id="0" * 8, event="practice", table=1, round=1, deal=1, seat=winner, groups=groups, said=said
    )
    answer = answer_count(request, KnownTiles(FACES), profile_of(practice_plan("riichi")))
    assert isinstance(answer, RiichiValue)
    return answer.han or 0
