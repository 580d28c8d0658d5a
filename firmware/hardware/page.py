"""What `homologue hardware` says, as an object for scripts and as text for people."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from firmware.errors import DeviceMissing, PinInUse
from firmware.hardware.board_state import board_troubles
from firmware.hardware.inventory import Board, Found, Trouble, board, denied, devices
from firmware.hardware.named import missing
from firmware.pinout import BY_GPIO, ground_beside, taken
from firmware.reports import Seat
from firmware.wiring import Wiring


@dataclass(frozen=True, slots=True)
class Wire:
    """One wire: from a seat's button, second contact or lamp to a pin; the ground pin beside; what else it is for."""

    seat: Seat
    what: str
    gpio: int
    position: int
    ground: int
    also: str


@dataclass(frozen=True, slots=True)
class Hardware:
    """What is there and what is wrong with it."""

    board: Board
    devices: tuple[Found, ...]
    wires: tuple[Wire, ...]
    troubles: tuple[Trouble, ...]

    def as_object(self) -> dict[str, object]:
        """Give it for JSON."""
        return asdict(self)


def look(wiring: Wiring | None, root: Path = Path("/"), addresses: Mapping[str, str] | None = None) -> Hardware:
    """Look at this machine, at how the buttons are wired to it, and at what a table's configuration names.

    `addresses` are a table's devices by the names of their settings; None: this is no table's machine.
    """
    here, found = board(root), devices(root)
    troubles = denied(found)
    if wiring is not None:
        troubles += _troubles(wiring, here, root)
    if addresses is not None:
        troubles += [*missing(addresses, found, root), *board_troubles(root)]
    return Hardware(here, tuple(found), tuple(wires(wiring or {})), tuple(troubles))


def wires(wiring: Wiring) -> Iterator[Wire]:
    """Give all wires but the grounds, by seat."""
    for seat, pins in wiring.items():
        for what, gpio in pins.used().items():
            pin = BY_GPIO[gpio]
            yield Wire(seat, what, gpio, pin.position, ground_beside(pin.position), pin.also)


def _troubles(wiring: Wiring, here: Board, root: Path) -> Iterator[Trouble]:
    if here.model is None:
        yield Trouble(DeviceMissing.code, "the buttons are wired to pins, and this is no Raspberry Pi")
        return
    if find_spec("lgpio") is None:
        yield Trouble(
            DeviceMissing.code,
            "the Python module lgpio is missing: `make setup` on a Pi with Python 3.11 or 3.12 installs it",
        )
    used = [pin for pins in wiring.values() for pin in pins.used().values()]
    yield from (Trouble(PinInUse.code, text) for text in taken(used, here.model, root))


def lines(hardware: Hardware) -> Iterator[str]:
    """Give it as lines of text."""
    yield hardware.board.name
    for one in hardware.devices:
        mark = "" if one.usable else "   (not allowed)"
        yield f"{one.kind:9} {one.path}   {one.name}{mark}"
    for wire in hardware.wires:
        also = f"   also: {wire.also}" if wire.also else ""
        yield (
            f"{wire.seat:6} {wire.what:15} GPIO{wire.gpio:<3} pin {wire.position:<3} ground: pin {wire.ground}{also}"
        )
    for trouble in hardware.troubles:
        yield f"! {trouble.code}: {trouble.text}"
    if not hardware.troubles:
        yield "nothing is wrong that can be seen from here"
