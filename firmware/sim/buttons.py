"""Simulated fingers on gpiozero's mock pins, with the faults of real fingers, contacts and cables.

The pins behave as lgpio's: an edge carries the time at which it happened, but is delivered later, together with others,
while reading a pin gives its present level.
"""

import random
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from gpiozero.pins.mock import MockFactory, MockPin
from gpiozero.pins.pi import PiPin

from firmware.reports import SEATS, Seat
from firmware.wiring import FULL_WIRING, Wiring

BOUNCE_S: Final = 0.001
"""Longest time between two edges of a bouncing contact."""

SPARK_S: Final = 0.0004
"""How long a spark closes a contact."""

TAP_S: Final = 0.01
"""A press shorter than this is simulated as a spark."""

Edges = Sequence[tuple[float, bool]]
"""Times in seconds of the clock, and the level of the pin from then on: low is closed."""


class KernelPin(MockPin):  # type: ignore[misc] # gpiozero ships no types
    """A mock pin that delivers edges in a batch, after they have happened."""

    grounded = False

    def deliver(self, edges: Edges) -> None:
        """Deliver these edges. The pin already has the level of the last one."""
        self.grounded = not edges[-1][1]
        self._change_state(edges[-1][1])
        for ticks, level in edges:
            if self._when_changed is not None:
                PiPin._call_when_changed(self, ticks, level)  # noqa: SLF001 - called within a pin

    def _set_pull(self, value: str) -> None:
        """Set the pull resistor, which has no effect on a pin that a contact connects to ground."""
        super()._set_pull(value)
        if self.grounded:
            self._change_state(False)  # noqa: FBT003 - gpiozero's signature


class ButtonFingers:
    """The fingers of four players at four buttons, and the cables with their faults."""

    def __init__(  # noqa: PLR0913 - one parameter for each possible fault
        self,
        *,
        bounces: int = 2,
        hold_s: float = 0.12,
        late_s: float = 0.0,
        sparks: int = 0,
        stuck: Iterable[Seat] = (),
        cut: Iterable[Seat] = (),
        cut_s: float = 0.0,
        swap: Iterable[Seat] = (),
        seed: int = 0,
        wiring: Wiring = FULL_WIRING,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.factory = MockFactory(pin_class=KernelPin)
        self.wiring = wiring
        """The wiring in the configuration; `_plugged` is where each seat's button is really plugged in."""
        turned = [seat for seat in SEATS if seat in swap]
        self._plugged = {**wiring, **{seat: wiring[other] for seat, other in zip(turned, turned[::-1], strict=True)}}
        self.stuck, self._cut = set(stuck), set[Seat]()
        """Buttons that stay down once pressed, and those whose cable is unplugged."""
        self._bounces, self._hold_s, self._late_s, self._sparks = bounces, hold_s, late_s, sparks
        self._sleep, self._clock = sleep, clock
        self._down: set[Seat] = set()
        self._random = random.Random(seed)  # noqa: S311 - simulates a shaky hand, no secret
        for seat, pins in wiring.items():
            if pins.opens is not None:
                self._deliver(pins.opens, [(clock(), False)])
            if seat in cut:
                self.unplug(seat)
                if cut_s:
                    _start_timer(cut_s, partial(self.plug, seat))

    def press(self, seat: Seat, hold_s: float | None = None) -> None:
        """Press one button and release it."""
        for _ in range(self._random.randint(0, self._sparks)):
            self.spark(self._random.choice(SEATS))
        hold_s = self._hold_s if hold_s is None else hold_s
        if hold_s < TAP_S:
            self.spark(seat, hold_s)
            return
        pressed = self.push(seat)
        self._sleep(max(0.0, pressed + hold_s - self._clock()))
        if seat not in self.stuck:
            self.release(seat, pressed + hold_s)

    def push(self, seat: Seat) -> float:
        """Press one button and hold it; return the time of the press."""
        return self._move(seat, self._clock(), closed=True)

    def release(self, seat: Seat, at: float | None = None) -> None:
        """Release the button."""
        self._move(seat, self._clock() if at is None else at, closed=False)

    def spark(self, seat: Seat, lasts_s: float = SPARK_S) -> None:
        """Close a contact briefly. Both edges are delivered together, so that the pulse has exactly this length."""
        at = self._clock()
        self._sleep(lasts_s + self._late_s)
        if seat not in self._down:
            self._deliver_if_plugged(seat, self._plugged[seat].closes, [(at, False), (at + lasts_s, True)])

    def unplug(self, seat: Seat) -> None:
        """Unplug a button's cable: all its pins go high."""
        self._cut.add(seat)
        for pin in (self._plugged[seat].closes, self._plugged[seat].opens):
            if pin is not None and not self.factory.pin(pin).state:
                self._deliver(pin, [(self._clock(), True)])

    def plug(self, seat: Seat) -> None:
        """Plug a button's cable in again."""
        self._cut.discard(seat)
        opens = self._plugged[seat].opens
        pin = self._plugged[seat].closes if seat in self._down else opens
        if pin is not None:
            self._deliver(pin, [(self._clock(), False)])

    def _move(self, seat: Seat, at: float, *, closed: bool) -> float:
        """Move both contacts of a button, the opening one first."""
        pins = self._plugged[seat]
        (self._down.add if closed else self._down.discard)(seat)
        first, then = (pins.opens, pins.closes) if closed else (pins.closes, pins.opens)
        edges = self._bounce(at, level=not closed)
        self._sleep(max(0.0, edges[-1][0] - self._clock()) + self._late_s)
        if first is not None:
            self._deliver_if_plugged(seat, first, edges if first == pins.closes else [(at, closed)])
        if then is not None:
            self._deliver_if_plugged(seat, then, edges if then == pins.closes else [(at, closed)])
        return at

    def _bounce(self, at: float, *, level: bool) -> Edges:
        """Return the edges of a contact that changes with bounces."""
        edges = [(at, level)]
        for _ in range(self._random.randint(0, self._bounces)):
            for back in (not level, level):
                at += self._random.uniform(0.1, 1) * BOUNCE_S
                edges.append((at, back))
        return edges

    def _deliver_if_plugged(self, seat: Seat, pin: int, edges: Edges) -> None:
        if seat not in self._cut:
            self._deliver(pin, edges)

    def _deliver(self, pin: int, edges: Edges) -> None:
        self.factory.pin(pin).deliver(edges)


def _start_timer(seconds: float, do: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, do)
    timer.daemon = True  # do not keep the program alive for the cable
    timer.start()


def read_seats(text: str) -> frozenset[Seat]:
    """Parse seat names separated by commas. Raises ValueError."""
    named = [name for name in text.split(",") if name]
    if unknown := [name for name in named if name not in SEATS]:
        raise ValueError(f"{unknown[0]!r} is no seat")
    return frozenset(seat for seat in SEATS if seat in named)
