"""`homologue table hardware`: lists what is connected to this machine, and tests the buttons with the players."""

import json
import queue
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import click

from broker.console import EXISTING_FILE, json_option
from broker.errors import reason
from firmware.button_addresses import open_buttons
from firmware.buttons import NS
from firmware.errors import BadAddress, DeviceMissing, PinInUse
from firmware.hardware.inventory import (
    Device,
    HardwareTrouble,
    Machine,
    board_troubles,
    configured_troubles,
    find_devices,
    permission_troubles,
    this_machine,
)
from firmware.hardware.self_test import Remark, SelfTest
from firmware.reports import Report, Seat, TooShort
from firmware.wiring import BY_GPIO, Wiring, ground_beside, pins_in_use, read_wiring


@dataclass(frozen=True, slots=True)
class PinWire:
    """One wire from a seat's button, second contact or lamp to a pin, with the nearest ground and other functions."""

    seat: Seat
    what: str
    gpio: int
    position: int
    ground: int
    also: str


@dataclass(frozen=True, slots=True)
class HardwareReport:
    """The hardware of a machine, and what is wrong with it."""

    board: Machine
    devices: tuple[Device, ...]
    wires: tuple[PinWire, ...]
    troubles: tuple[HardwareTrouble, ...]


def inspect_hardware(
    wiring: Wiring | None, root: Path = Path("/"), addresses: Mapping[str, str] | None = None
) -> HardwareReport:
    """Inspect this machine, the wiring of its buttons, and the devices named in a table's configuration.

    `addresses` are a table's devices by the names of their settings; None: this machine is not a table's.
    """
    here, found = this_machine(root), find_devices(root)
    troubles = permission_troubles(found)
    if wiring is not None:
        troubles += _troubles(wiring, here, root)
    if addresses is not None:
        troubles += [*configured_troubles(addresses, found, root), *board_troubles(root)]
    return HardwareReport(here, tuple(found), tuple(_pin_wires(wiring or {})), tuple(troubles))


def _pin_wires(wiring: Wiring) -> Iterator[PinWire]:
    """Return all wires except the grounds, by seat."""
    for seat, pins in wiring.items():
        for what, gpio in pins.used().items():
            pin = BY_GPIO[gpio]
            yield PinWire(seat, what, gpio, pin.position, ground_beside(pin.position), pin.also)


def _troubles(wiring: Wiring, here: Machine, root: Path) -> Iterator[HardwareTrouble]:
    if here.model is None:
        yield HardwareTrouble(DeviceMissing.code, "the buttons are wired to pins, and this is no Raspberry Pi")
        return
    if find_spec("lgpio") is None:
        yield HardwareTrouble(
            DeviceMissing.code,
            "the Python module lgpio is missing: `make setup` on a Pi with Python 3.11 or 3.12 installs it",
        )
    used = [pin for pins in wiring.values() for pin in pins.used().values()]
    yield from (HardwareTrouble(PinInUse.code, text) for text in pins_in_use(used, here.model, root))


def hardware_text(hardware: HardwareReport) -> Iterator[str]:
    """Return the report as lines of text."""
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
        yield "no problems found"


def run_self_test(address: str, wait_s: float, say: Callable[[Remark], None]) -> SelfTest:
    """Open the buttons and test them. Raises BadAddress, PinInUse, PinReserved, DeviceMissing.

    Simulated fingers press the requested button by themselves.
    """
    reports: queue.Queue[Report | TooShort] = queue.Queue()
    test = SelfTest(round(wait_s * NS))
    opened = open_buttons(address, reports.put, reports.put)

    def show(remarks: list[Remark]) -> None:
        for remark in remarks:
            say(remark)
            if remark.said in ("right", "timed_out"):
                opened.buttons.show(remark.seat, "on" if remark.said == "right" else "off")
            elif remark.said == "asked":
                opened.buttons.show(remark.seat, "blink")
                if opened.fingers is not None:
                    press = partial(opened.fingers.press, remark.seat)
                    threading.Thread(target=press, name="a simulated player", daemon=True).start()

    with opened.buttons:
        show(test.begin(time.monotonic_ns()))
        while test.asked is not None:
            try:
                left = ((test.due or 0) - time.monotonic_ns()) / NS
                report = reports.get(timeout=max(0.0, left))
                show(test.take(report, time.monotonic_ns()))
            except queue.Empty:
                show(test.pass_time(time.monotonic_ns()))
    return test


@click.command(short_help="List what is wired to this machine, and test the buttons.")
@click.argument("config", required=False, type=EXISTING_FILE)
@click.option("--buttons", "address", help="Address of the buttons, instead of the one in CONFIG.")
@click.option("--test", "testing", is_flag=True, help="Let each player press once, and report the result.")
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(0.1, 3600),
    default=30.0,
    show_default=True,
    help="With --test: seconds to wait for each player.",
)
@json_option("Print one JSON object; prompts of --test go to standard error.")
def hardware(config: Path | None, address: str | None, wait_s: float, *, testing: bool, as_json: bool) -> None:
    """List what is connected to this machine. CONFIG is a table's TOML file (see docs/installer.md).

    The exit code is 0 if nothing is wrong, otherwise 1.

    homologue table hardware /etc/homologue/table-3.toml --test

    homologue table hardware --buttons gpio:east=5/17,south=6/27,west=13/22,north=19/23

    homologue table hardware --buttons sim://buttons --test --json
    """
    addresses = _configured(config) if config else {}
    addresses |= {"buttons": address} if address else {}
    if testing and not addresses:
        raise click.UsageError("--test needs CONFIG or --buttons")
    report = partial(_test, addresses["buttons"], wait_s) if testing else partial(_print_report, addresses)
    sys.exit(0 if report(as_json=as_json) else 1)


def _print_report(addresses: dict[str, str], *, as_json: bool) -> bool:
    found = inspect_hardware(_wiring(addresses.get("buttons")), addresses=addresses or None)
    click.echo(json.dumps(asdict(found)) if as_json else "\n".join(hardware_text(found)))
    return not found.troubles


def _wiring(address: str | None) -> Wiring | None:
    """Parse the wiring in an address; None if the buttons are not on pins. Raises as `read_wiring` does."""
    if address is None:
        return None
    scheme, _, rest = address.partition(":")
    if scheme not in ("gpio", "box", "sim"):
        raise BadAddress(f"{address!r} is no address of buttons: gpio:east=5,... for instance")
    return read_wiring(rest) if scheme == "gpio" else None


def _test(address: str, wait_s: float, *, as_json: bool) -> bool:
    remarks: list[Remark] = []

    def say(remark: Remark) -> None:
        remarks.append(remark)
        click.echo(remark.text, err=as_json)

    test = run_self_test(address, wait_s, say)
    if as_json:
        result = {"passed": test.passed, "right": test.passed_seats, "remarks": [asdict(remark) for remark in remarks]}
        click.echo(json.dumps(result))
    else:
        passed = ", ".join(test.passed_seats) or "none"
        click.echo("all four buttons work" if test.passed else f"not all: {passed} passed")
    return test.passed


def _configured(path: Path) -> dict[str, str]:
    """Return the device addresses in a table's configuration. The kiosk checks the rest of it."""
    try:
        devices = tomllib.loads(path.read_text(encoding="utf-8"))["devices"]
        addresses = {name: devices[name] for name in ("buttons", "scanner", "camera") if name in devices}
        addresses |= {f"keyboards[{at}]": address for at, address in enumerate(devices.get("keyboards", ()))}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError, KeyError, TypeError) as error:
        raise BadAddress(f"{path}: no devices can be read from it: {reason(error)}") from None
    for name in ("buttons", *addresses):
        if not isinstance(addresses.get(name), str):
            raise BadAddress(f"{path}: devices.{name} is no text")
    return addresses
