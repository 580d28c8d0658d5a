"""Runs in MicroPython: boxes controlled by the tests, with the heap locked while an interrupt runs."""

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
    """The box's ticks, set by the test."""

    def __init__(self, now):
        self.now = now

    def ticks(self):
        """Return the value of `ticks_us`."""
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
    """Return which lamps are lit."""
    return boxes[box][1].lamps()


def repeat(box, steps):
    """Repeat steps that were done in CPython; return the result of each."""
    return [COMMANDS[name](box, *arguments) for name, *arguments in steps]


def memory():
    """Return the bytes in use. Garbage is collected between commands, never within one."""
    return gc.mem_alloc()


def encode(kind, numbers):
    """Encode a frame."""
    return codec.encode_frame(kind, *numbers).hex()


def split(chunks):
    """Decode frames from chunks."""
    splitter = codec.FrameSplitter()
    frames = []
    for chunk in chunks:
        frames += splitter.feed(bytes.fromhex(chunk))
    return [frames, splitter.refused]


class Stop(Exception):
    """Ends the main program."""


class Machine(MockMachine):
    """A Pico's `machine`, whose watchdog ends the program after some turns."""

    def __init__(self, turns, cause, held):
        super().__init__()
        self._turns, self._cause, self.timeout = turns, cause, None
        for number in held:
            self.Pin(number, self.Pin.IN).level = 0

    def reset_cause(self):
        """Return the reason for the start."""
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
    """The parts of `sys` and `select` that the box uses: bytes in and out, or a full output."""

    POLLIN, POLLOUT = 1, 4

    def __init__(self, incoming, full):
        self._incoming, self._full, self.written = incoming, full, b""
        self.stdin = self.stdout = self.buffer = self

    def poll(self, timeout=None):
        """Return a poll object."""
        return Poll(self)

    def read(self, size):
        """Return bytes. The real one would block forever if there are too few."""
        assert len(self._incoming) >= size, "blocked"
        chunk, self._incoming = self._incoming[:size], self._incoming[size:]
        return chunk

    def write(self, frame):
        """Accept bytes."""
        assert not self._full, "blocked"
        self.written += frame

    def ready(self, flag):
        """Return whether bytes can be read, or written."""
        return not self._full if flag == self.POLLOUT else len(self._incoming) > 0


class Poll:
    """`select.poll()` for one stream."""

    def __init__(self, cable):
        self._cable = cable

    def register(self, stream, flag):
        """Register a stream."""
        self._stream, self._flag = stream, flag

    def poll(self, timeout):
        """Return what is ready."""
        return [(self._stream, self._flag)] if self._cable.ready(self._flag) else []


class Ticker:
    """`time`, which advances half a millisecond at each reading."""

    now = 0

    def ticks_us(self):
        """Return the time."""
        self.now = (self.now + 500) & 0x3FFFFFFF
        return self.now


class Interpreter:
    """`micropython`, which records the setting for Ctrl-C."""

    interrupt = 3

    def kbd_intr(self, char):
        """Set the character that interrupts the program; -1: none."""
        self.interrupt = char


class System:
    """`os`."""

    def urandom(self, size):
        """Return bytes that are not random."""
        return bytes(range(1, size + 1))


def run_main(incoming, turns, cause, held, full):
    """Run the real `main.py` with substitutes for its imports; return the observed results."""
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
    """Return the name of the implementation."""
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
    """Run one command, `[name, argument, ...]`; return `["ok", result]` or `["error", text]`."""
    name, *arguments = json.loads(line)
    try:
        return json.dumps(["ok", COMMANDS[name](*arguments)])
    except Exception as error:  # noqa: BLE001 - told to the test
        return json.dumps(["error", repr(error)])
