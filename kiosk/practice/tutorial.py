"""Three-minute tutorials for staff, players and arbiters: each step says what to do, and the table shows the effect.

A step is over when the table's state is as the step asks. *Skip* does it for the learner; *Back* shows the previous
step again, while the table stays where it is.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from broker.i18n import N_, Message, Translator
from kiosk.practice.hands import KEYS, LAY, LAY_WRONG, SCAN, TIP_OUT, PracticeHands
from kiosk.screens import AcceptingView, RestoringView, ScreenView, type_key

Role = Literal["staff", "players", "arbiters"]

View = ScreenView


class TutorialStep(NamedTuple):
    """A text; for a step with an action also the test whether it is done, and the keys that do it."""

    text: Message
    done: Callable[[View], bool] | None = None
    keys: tuple[str, ...] = ()


def _restored(view: View) -> bool:
    return not isinstance(view.phase, RestoringView)


def _heap(view: View) -> bool:
    return isinstance(view.phase, RestoringView) and bool(view.phase.restoring.heap.in_view)


def _scanned(view: View) -> bool:
    return isinstance(view.phase, RestoringView) and view.phase.restoring.scans.answer is not None


def _wrong(view: View) -> bool:
    return isinstance(view.phase, RestoringView) and view.phase.check is not None


def _valued(view: View) -> bool:
    return isinstance(view.phase, AcceptingView) or (view.form is not None and view.form.seat is None)


def _panel_asks(what: str) -> Callable[[View], bool]:
    return lambda view: view.panel is not None and view.panel.ask == what


def _is(*states: str) -> Callable[[View], bool]:
    return lambda view: view.state in states


SEATED: Final = (*KEYS,)
TRAYS: Final = TutorialStep(N_("Staff lay the four trays under the camera: Lay tray or hand."), _restored, (LAY,))
THANKS: Final = TutorialStep(N_("That was all. Keep practising, or close the window."))

STEPS: Final[dict[Role, tuple[TutorialStep, ...]]] = {
    "staff": (
        TutorialStep(N_("After a play the tiles lie in a heap, face down. Touch Tip out tiles."), _heap, (TIP_OUT,)),
        TutorialStep(N_("Colour and letter say to whose tray each tile goes. Sort them by seat first.")),
        TutorialStep(N_("With a scanner: touch Scan any tile. Its seat, row and place appear."), _scanned, (SCAN,)),
        TutorialStep(N_("A full tray goes under the camera. Touch Add a mistake."), _wrong, (LAY_WRONG,)),
        TutorialStep(
            N_("The screen says what to swap. Touch Lay tray or hand: it is right now."),
            lambda view: bool(view.marked) and not _wrong(view),
            (LAY,),
        ),
        TutorialStep(N_("Lay the other three trays the same way."), _restored, (LAY,)),
        TutorialStep(N_("All are right: players sit down now. Never play a deal that the table has not verified.")),
        THANKS,
    ),
    "players": (
        TRAYS,
        TutorialStep(
            N_("Find your name at your seat, and press your button. Here, press all four below."),
            _is("confirming", "playing"),
            SEATED,
        ),
        TutorialStep(N_("Are your 34 tiles in order? Then press again, all four."), _is("playing"), SEATED),
        TutorialStep(
            N_("You win? Press East: nothing shows. If you are asked whether you meant hu, press once more."),
            _is("declared"),
            ("f1",),
        ),
        TutorialStep(
            N_("The window has closed; now all see who declared. Type a value, say 24, and Enter."),
            _valued,
            ("2", "4", "enter"),
        ),
        TutorialStep(N_("Say who discarded the tile: touch South."), _is("accepting"), ("s",)),
        TutorialStep(N_("Check the points. All four accept with their own buttons."), _is("recorded"), SEATED),
        TutorialStep(N_("To call the arbiter unseen, hold your button for two seconds. Or touch Call the arbiter.")),
        THANKS,
    ),
    "arbiters": (
        TRAYS,
        TutorialStep(
            N_("Players sit down, check their tiles and play. Press all four, twice."), _is("playing"), SEATED
        ),
        TutorialStep(N_("West declares: press West; press once more if the screen asks."), _is("declared"), ("f3",)),
        TutorialStep(N_("The hand is not valid. Touch False hu."), lambda view: view.panel is not None, ("x",)),
        TutorialStep(
            N_("Your PIN lets you in. Here it is 0000; then Enter."), _panel_asks("fine"), ("0", "0", "0", "0", "enter")
        ),
        TutorialStep(N_("Choose the fine."), _panel_asks("reason"), ("8",)),
        TutorialStep(N_("Choose the reason. The play continues without that hand."), _is("playing"), ("1",)),
        TutorialStep(
            N_("Whatever else you rule: Call the arbiter, then Arbiter."),
            lambda view: view.panel is not None,
            ("c", "a"),
        ),
        TutorialStep(
            N_("Pause, time, void, points: each asks for a reason. Touch Leave."),
            lambda view: view.panel is None,
            ("back",),
        ),
        TutorialStep(N_("What you rule here and at the desk is the same, and the desk can take all of it back.")),
        THANKS,
    ),
}

BACK_KEY, ON_KEY = "f10", "f11"
LESSON_KEYS: Final = (BACK_KEY, ON_KEY)

KEY_EVERY_NS: Final = 300_000_000
REPEAT_NS: Final = 3_000_000_000
"""Pause between two keys of a skipped step, as fast as a hand; and before all of them are repeated."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """The step on the screen, and whether it is over."""

    at: int
    over: bool


class Lesson:
    """One person's progress through the steps of a role."""

    def __init__(self, role: Role) -> None:
        self.steps = STEPS[role]
        self._at = self._reached = 0
        """The step that is shown, and the first that is not over."""
        self._hand: Iterator[str] | None = None
        """The remaining keys of a skipped step."""
        self._down: str | None = None
        self._next_at = 0

    @property
    def shown(self) -> _Shown:
        """What is shown of it; equal if the picture is equal."""
        return _Shown(self._at, self._at < self._reached)

    @property
    def over(self) -> bool:
        """Whether the last step is reached."""
        return self._reached == len(self.steps) - 1

    def text(self, _: Translator) -> tuple[str, str]:
        """Return the step's number, and its text."""
        head = _("Step {step} of {steps}", step=self._at + 1, steps=len(self.steps))
        return head, _(self.steps[self._at].text)

    def buttons(self, _: Translator) -> tuple[str, str]:
        """Return the labels of the buttons; "" for one without effect."""
        back = _("Back") if self._at else ""
        if self._at == len(self.steps) - 1:
            return back, ""
        waits = self._at == self._reached and self.steps[self._at].done is not None
        return back, _.pgettext("tutorial", "Skip") if waits else _.pgettext("tutorial", "Next")

    def press(self, key: str) -> None:
        """Go back or on; if the step asks for an action, do it for the learner."""
        step = self.steps[self._at]
        if key == BACK_KEY:
            self._at = max(0, self._at - 1)
        elif self._at < self._reached:
            self._at += 1
        elif step.done is not None:
            self._hand = iter(step.keys)
        elif not self.over:
            self._advance()

    def follow(self, view: View, hands: PracticeHands, now: int) -> None:
        """Advance if the step is done; press the next key of a skipped one."""
        done = self.steps[self._reached].done
        if done is not None and done(view):
            self._advance()
        if now < self._next_at:
            return
        self._next_at = now + KEY_EVERY_NS
        if self._down is not None:
            hands.up(self._down)
            self._down = None
        elif self._hand is not None:
            key = next(self._hand, None)
            if key is None:  # the camera may still be looking, or a press came too soon
                self._hand, self._next_at = iter(self.steps[self._reached].keys), now + REPEAT_NS
            else:
                self._do(key, hands)

    def _do(self, key: str, hands: PracticeHands) -> None:
        if key in KEYS:
            self._down = key
            hands.down(key)
        elif key.startswith("f") and len(key) > 1:
            hands.down(key)
        else:
            type_key(key)

    def _advance(self) -> None:
        """Go on to the next step, and show it unless the learner has gone back."""
        self._at += self._at == self._reached
        self._reached += 1
        self._hand = None
