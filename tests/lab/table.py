"""A table in the laboratory: a machine with a table's package, and the people who play there."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from broker.protocol import SEATS, Seat
from tests.lab.machine import COMES_UP_S, Machine
from tests.lab.outside import SOON_S, TABLE, LabHall, Outside
from vision.marks.label_code import Payload, payload_text

UNIT: Final = "homologue-kiosk@table.service"
STATE: Final = "/var/lib/homologue-kiosk"
PINS: Final[dict[Seat, int]] = {"east": 5, "south": 6, "west": 13, "north": 19}
HERE: Final = ("ready", "alert")
"""Lifecycles of a connected table; `alert` if something is wrong with its devices."""

HELD_S: Final = 0.3
LOOKED_S: Final = 2
"""Seconds of the machine's time, as are all pauses in its commands."""

PLAYED_S: Final = 5
"""Seconds: the table asks for confirmation of a hu in the first four seconds of a play."""

READING_S: Final = 1800.0
"""Seconds to restore one tray, in an emulator."""


@dataclass(frozen=True, slots=True)
class TableRecord:
    """The content of a table's journal: events in order, and the state of each fact."""

    happened: list[dict[str, Any]]
    outbox: list[tuple[int, str, str]]

    @property
    def safe(self) -> set[str]:
        """Ids of the facts that the scorer has confirmed."""
        return {id_ for _, id_, state in self.outbox if state == "safe"}


class LabTable:
    """One table: the people's actions, and what can be observed inside and outside."""

    def __init__(self, machine: Machine, outside: Outside) -> None:
        self.machine, self.outside = machine, outside
        self._boxed = False
        """Whether the buttons are those of a box, rather than on pins."""

    def wait_for_kiosk(self) -> None:
        """Wait until the table's program runs and shows a picture."""
        self.machine.wait_for("the kiosk to run", lambda: self.main_pid() > 0, COMES_UP_S)

    def main_pid(self) -> int:
        """Return the process id of the table's supervisor; 0 if it does not run."""
        shown = self.machine.must(f"systemctl show {UNIT} -p MainPID -p ActiveState --value")
        return int(shown.split()[0]) if "\nactive" in f"\n{shown}" else 0

    def commands(self) -> str:
        """Return the command lines of the unit's processes: the supervisor, the program, its helpers."""
        processes = f"/sys/fs/cgroup$(systemctl show {UNIT} -p ControlGroup --value)/cgroup.procs"
        return self.machine.must(f"for pid in $(cat {processes}); do tr '\\0' ' ' </proc/$pid/cmdline; echo; done")

    def starts(self) -> int:
        """Return how often systemd has restarted the program since the boot."""
        return int(self.machine.must(f"systemctl show {UNIT} -p NRestarts --value"))

    def log(self) -> str:
        """Return the program's log since the boot."""
        return self.machine.must(f"journalctl -b -o cat --no-pager -u {UNIT}")

    def record(self) -> TableRecord:
        """Return the table's journal on the disk."""
        told = self.machine.journal(STATE)
        return TableRecord(told["happened"], [(seq, id_, state) for seq, id_, state in told["outbox"]])

    def set_clock(self) -> None:
        """Set the machine's clock from this one's, as it has no time server."""
        self.machine.must(f"date -s @{time.time():.0f}")

    def pair(self) -> None:
        """Pair the device at its screen, by typing the desk's address and code."""
        self.machine.type([*self.outside.hall.desk_address, "enter"])
        self.machine.type([*self.outside.hall.pairing_code(self.outside.number), "enter"])
        self.outside.wait_for("the table has come", lambda shown: shown["lifecycle"] in HERE)

    def press(self, *seats: Seat) -> None:
        """Press buttons in order, after the screen has been unchanged for long enough; earlier presses do not count."""
        self.machine.must(f"sleep {LOOKED_S}")
        for seat in seats:
            pin = f"/sys/devices/platform/gpio-sim.0/gpiochip*/sim_gpio{PINS[seat]}/pull"
            down, up = (f"echo pull-{way} | tee {pin}" for way in ("down", "up"))
            if self._boxed:
                down, up = (f"echo {SEATS.index(seat)} {closed} >/run/lab-box" for closed in (1, 0))
            self.machine.must(f"{down}; sleep {HELD_S}; {up}; sleep 0.2")

    def declare(self, seat: Seat) -> None:
        """Declare hu in a play that has lasted long enough."""
        self.machine.must(f"sleep {PLAYED_S}")
        self.press(seat)

    def use_box(self) -> None:
        """Plug in a button box, and let the table use it instead of the pins."""
        self.machine.must("systemctl start lab-box")
        self.machine.wait_for("the box", lambda: self.machine.run("test -p /run/lab-box").status == 0)
        self._take_buttons("box:/dev/ttyACM0")
        self._boxed = True

    def use_pins(self) -> None:
        """Use the buttons on pins again."""
        self._take_buttons("gpio:" + ",".join(f"{seat}={pin}" for seat, pin in PINS.items()))
        self._boxed = False

    def _take_buttons(self, address: str) -> None:
        self.machine.must(f"sed -i 's#^buttons = .*#buttons = \"{address}\"#' /etc/homologue/table.toml")
        self.restart_program()

    def restart_program(self) -> None:
        """Restart the table's program."""
        pid = self.main_pid()
        self.machine.must(f"systemctl restart {UNIT}", limit_s=COMES_UP_S)
        self.machine.wait_for("the kiosk to run", lambda: self.main_pid() not in (0, pid), COMES_UP_S)

    def read_tray(self, number: int, seat: Seat) -> None:
        """Lay a tray under the camera as planned, and wait until it is marked as right."""
        self.machine.put("/var/lib/lab/tray.jpg", self.outside.tray(number, seat))
        self.machine.wait_for(f"the tray of {seat} to be read", lambda: self._restored(seat), READING_S)

    def scan_tray(self, number: int, seat: Seat) -> None:
        """Scan the tiles of a tray in order, by their labels."""
        play = self.outside.play(number)
        codes = "".join(f"{payload_text(Payload(play.set, one))}\r\n" for row in play.order[seat] for one in row)
        self.machine.must("stty -F /dev/ttyGS1 raw -echo; cat >/dev/ttyGS1", codes.encode())

    def restore(self, number: int) -> None:
        """Scan all unfinished trays of a round's play; each begins when the one before is marked as right."""
        for seat in SEATS:
            if not self._restored(seat):
                self.scan_tray(number, seat)
                self.machine.wait_for(f"the tray of {seat}", lambda seat=seat: self._restored(seat))

    def act(self) -> None:
        """Do what the table asks players to do next, without waiting for the result."""
        match self.outside.table()["state"]:
            case "restoring":
                for seat in SEATS:
                    self.scan_tray(len(self.outside.results()) + 1, seat)
            case "seating" | "confirming" | "accepting":
                self.press(*SEATS)
            case "playing":
                self.declare("south")
            case "declared":
                self.machine.type([*"12", "enter", "e"])
            case "recorded":
                self.machine.type(["enter"])

    def _restored(self, seat: Seat) -> bool:
        happened = self.record().happened
        begun = max((at for at, one in enumerate(happened) if one["type"] == "next_deal_called"), default=0)
        return any(
            one["type"] == "tray_checked" and one["seat"] == seat and not one.get("wrong") for one in happened[begun:]
        )

    def answer(self, asked: str, then: str) -> None:
        """Press all four buttons as requested, until the table proceeds."""
        self.in_state(asked)
        self.press(*SEATS)
        self.outside.wait_for(then, lambda shown: shown["state"] == then)

    def in_state(self, state: str, limit_s: float = SOON_S) -> None:
        """Wait until the desk shows the table connected, in a given state, with nothing unsent."""

        def is_so(shown: dict[str, Any]) -> bool:
            return shown["lifecycle"] in HERE and shown["state"] == state and not shown["unsent"]

        self.outside.wait_for(state, is_so, limit_s)

    def begin(self, number: int) -> None:
        """Restore a round's deal, sit down and confirm, so that the play is on."""
        self.set_up(number)
        self.answer("confirming", "playing")

    def set_up(self, number: int) -> None:
        """Restore a round's deal and sit down."""
        self.in_state("restoring")
        self.restore(number)
        shown = self.outside.wait_for("people are asked", lambda shown: shown["state"] in ("seating", "confirming"))
        if shown["state"] == "seating":
            self.answer("seating", "confirming")

    def win(self, winner: Seat, discarder: Seat, hand_value: int) -> dict[str, Any]:
        """Declare a win, enter its value and accept; return the result as the desk has it."""
        before = len(self.outside.results())
        self.declare(winner)
        self.in_state("declared")
        self.machine.type([*str(hand_value), "enter", discarder[0]])
        self.answer("accepting", "recorded")
        self.machine.wait_for("the result at the scorer", lambda: len(self.outside.results()) > before, SOON_S)
        return self.outside.results()[-1]

    def go_on(self) -> None:
        """Leave the result for the next play."""
        self.in_state("recorded")
        self.machine.type(["enter"])
        self.in_state("restoring")

    def close(self) -> None:
        """Switch its machine off; may be called twice."""
        self.machine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def new_table(folder: Path, image: Path, debian: Path, hall: LabHall, number: int = TABLE) -> LabTable:
    """Return a table of a hall, whose machine was just switched on for the first time."""
    machine = Machine(folder / f"machine-{number}", image / "disk.img", debian / "vmlinuz", debian / "initrd.img")
    machine.start()
    return LabTable(machine, Outside(hall, number))
