"""Runs in MicroPython: boxes that do what the test says, with memory locked while an interrupt runs."""

# ruff: noqa: ANN001, ANN201 - MicroPython has no typing, and mypy does not read this file
import gc
import json
import sys

import micropython

from firmware.box import codec
from firmware.twins.pico import Pico

boxes = {}


class Clock:
    """The box's ticks, in the test's hand."""

    def __init__(self, now):
        self.now = now

    def ticks(self):
        """Give what `ticks_us` says."""
        return self.now


def start(box, ticks, boot, closed):
    """Give a box power."""
    clock = Clock(ticks)
    boxes[box] = clock, Pico(clock.ticks, boot, tuple(closed))


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


def memory():
    """Say how many bytes are in use. They are collected between two commands, never within one."""
    return gc.mem_alloc()


def encode(kind, numbers):
    """Write a frame."""
    return codec.encode(kind, *numbers).hex()


def split(chunks):
    """Read what comes in pieces."""
    splitter = codec.Splitter()
    frames = []
    for chunk in chunks:
        frames += splitter.feed(bytes.fromhex(chunk))
    return [frames, splitter.refused]


def version():
    """Say what this is."""
    return sys.implementation.name


COMMANDS = {
    "start": start,
    "turn": turn,
    "touch": touch,
    "lamps": lamps,
    "memory": memory,
    "encode": encode,
    "split": split,
    "version": version,
}


def answer(line):
    """Do one command: `[name, argument, ...]`; give `["ok", result]` or `["error", text]`."""
    name, *arguments = json.loads(line)
    try:
        return json.dumps(["ok", COMMANDS[name](*arguments)])
    except Exception as error:  # noqa: BLE001 - told to the test
        return json.dumps(["error", repr(error)])
