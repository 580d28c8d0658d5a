"""The box turn by turn, in CPython: its heartbeats have the present time."""

from firmware.box.codec import FrameSplitter
from firmware.pico.assembly import assemble
from firmware.sim.pico import MockMachine

WAIT_US = 1000
"""Time that reading waits if nothing arrives."""


class Waiting:
    """A cable on which nothing arrives, and the time that passes while reading."""

    def __init__(self) -> None:
        self.us = 0
        self._said = FrameSplitter()
        self.beats: list[tuple[int, int]] = []
        """The time in each heartbeat, and the time of sending."""

    def read(self) -> bytes:
        self.us += WAIT_US
        return b""

    def write(self, frame: bytes) -> bool:
        self.beats += [(numbers[-1], self.us) for kind, numbers in self._said.feed(frame) if kind == "H"]
        return True


def test_a_heartbeat_has_the_time_at_which_it_is_sent() -> None:
    line = Waiting()
    program = assemble(MockMachine(), lambda: line.us, line, 1)
    for _ in range(300):
        program.turn()
    assert [told for told, _ in line.beats] == [sent for _, sent in line.beats]
    assert len(line.beats) > 1
