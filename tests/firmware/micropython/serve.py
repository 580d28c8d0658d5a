"""Runs in MicroPython: boxes that do what the test says, with memory locked while an interrupt runs."""

# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201, ANN204, ARG002 - MicroPython has no typing, and its modules' functions these arguments
import gc
import json
import sys

import micropython

from firmware.box import codec
from firmware.sim.pico import MockMachine, SimulatedPico

boxes = {}


class Clock:
    """The box's ticks, in the test's hand."""

    def __init__(self, now):
        self.now = now

    def ticks(self):
        """Return what `ticks_us` says."""
        return self.now


def start(box, ticks, boot, closed):
    """Turn a box on."""
    clock = Clock(ticks)
    boxes[box] = clock, SimulatedPico(clock.ticks, boot, tuple(closed))


def turn(box, ticks, incoming):
    """Run the main loop once."""
    clock, pico = boxes[box]
    clock.now = ticks
    return pico.turn(bytes.fromhex(incoming)).hex()


def touch(box, ticks, seat, closed):
    """Move a contact. An interrupt that allocates fails here, as it would on the Pico."""
    clock, pico = boxes[box]
    clock.now = ticks
    micropython.heap_lock()
    try:
        pico.touch(seat, closed)
    finally:
        micropython.heap_unlock()


def lamps(box):
    """Say which lamps are lit."""
    return boxes[box][1].lamps()


def repeat(box, steps):
    """Do what was done to a box in CPython; give what came of each step."""
    return [COMMANDS[name](box, *arguments) for name, *arguments in steps]


def memory():
    """Say how many bytes are in use. They are collected between two commands, never within one."""
    return gc.mem_alloc()


def encode(kind, numbers):
    """Write a frame."""
    return codec.encode_frame(kind, *numbers).hex()


def split(chunks):
    """Read what comes in pieces."""
    splitter = codec.FrameSplitter()
    frames = []
    for chunk in chunks:
        frames += splitter.feed(bytes.fromhex(chunk))
    return [frames, splitter.refused]


class Stop(Exception):
    """The test has seen enough."""


class Machine(MockMachine):
    """A Pico's `machine`, whose watchdog ends the program after so many turns."""

    def __init__(self, turns, cause, held):
        super().__init__()
        self._turns, self._cause, self.timeout = turns, cause, None
        for number in held:
            self.Pin(number, self.Pin.IN).level = 0

    def reset_cause(self):
        """Say why it has started."""
        return self._cause

    def WDT(self, timeout):  # noqa: N802 - MicroPython's name
        """Start the watchdog."""
        self.timeout = timeout
        return self

    def feed(self):
        """Feed the watchdog."""
        self._turns -= 1
        if self._turns == 0:
            raise Stop


class Cable:
    """`sys` and `select`, as far as the box uses them: bytes come, bytes go, or there is no room for them."""

    POLLIN, POLLOUT = 1, 4

    def __init__(self, incoming, full):
        self._incoming, self._full, self.written = incoming, full, b""
        self.stdin = self.stdout = self.buffer = self

    def poll(self, timeout=None):
        """Make a poll object, or ask it."""
        return Poll(self)

    def read(self, size):
        """Return bytes; it would block for ever where there are none."""
        assert len(self._incoming) >= size, "blocked"
        chunk, self._incoming = self._incoming[:size], self._incoming[size:]
        return chunk

    def write(self, frame):
        """Take bytes."""
        assert not self._full, "blocked"
        self.written += frame

    def ready(self, flag):
        """Say whether bytes can be read, or written."""
        return not self._full if flag == self.POLLOUT else len(self._incoming) > 0


class Poll:
    """`select.poll()` for one stream."""

    def __init__(self, cable):
        self._cable = cable

    def register(self, stream, flag):
        """Take in what to wait for."""
        self._stream, self._flag = stream, flag

    def poll(self, timeout):
        """Return what is ready."""
        return [(self._stream, self._flag)] if self._cable.ready(self._flag) else []


class Ticker:
    """`time`: half a millisecond later whenever somebody looks."""

    now = 0

    def ticks_us(self):
        """Return the time."""
        self.now = (self.now + 500) & 0x3FFFFFFF
        return self.now


class Interpreter:
    """`micropython`: what it was told of Ctrl-C."""

    interrupt = 3

    def kbd_intr(self, char):
        """Choose what interrupts the program; -1 is nothing."""
        self.interrupt = char


class System:
    """`os`."""

    def urandom(self, size):
        """Return chance that is none."""
        return bytes(range(1, size + 1))


def run_main(incoming, turns, cause, held, full):
    """Run `main.py` itself, with everything around it in our hands. Give what came of it."""
    machine, cable, interpreter = Machine(turns, cause, held), Cable(bytes.fromhex(incoming), full), Interpreter()
    outside = {
        "machine": machine,
        "micropython": interpreter,
        "select": cable,
        "sys": cable,
        "time": Ticker(),
        "os": System(),
    }
    before = {name: sys.modules.get(name) for name in outside}
    sys.modules.update(outside)
    stopped = False
    try:
        __import__("main")
    except Stop:
        stopped = True
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
        sys.modules.pop("main", None)
    hard = [number for number, pin in machine.Pin.made.items() if pin.hard]
    return {
        "stopped": stopped,
        "written": cable.written.hex(),
        "timeout": machine.timeout,
        "hard": sorted(hard),
        "interrupt": interpreter.interrupt,
    }


def version():
    """Say what this is."""
    return sys.implementation.name


COMMANDS = {
    "start": start,
    "turn": turn,
    "touch": touch,
    "lamps": lamps,
    "repeat": repeat,
    "memory": memory,
    "encode": encode,
    "split": split,
    "version": version,
    "run_main": run_main,
}


def answer(line):
    """Do one command: `[name, argument, ...]`; give `["ok", result]` or `["error", text]`."""
    name, *arguments = json.loads(line)
    try:
        return json.dumps(["ok", COMMANDS[name](*arguments)])
    except Exception as error:  # noqa: BLE001 - told to the test
        return json.dumps(["error", repr(error)])
