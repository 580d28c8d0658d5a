"""`homologue hardware`."""

import json
import sys
import tomllib
from dataclasses import asdict
from pathlib import Path

import click

from firmware.errors import BadAddress, FirmwareError
from firmware.hardware.page import lines, look
from firmware.hardware.self_test import Remark
from firmware.hardware.walk import walk
from firmware.wiring import Wiring, read_wiring


@click.command(short_help="What is wired to this machine, and do the buttons work?")
@click.argument("config", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--buttons", "address", help="Address of the buttons, instead of a configuration's.")
@click.option("--test", "testing", is_flag=True, help="Let each player press once, and say what came of it.")
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(0.1, 3600),
    default=30.0,
    show_default=True,
    help="With --test: seconds for each player.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object; what --test asks goes to standard error.")
def hardware(config: Path | None, address: str | None, wait_s: float, *, testing: bool, as_json: bool) -> None:
    """List what is wired to this machine; CONFIG is a table's TOML file (see docs/installer.md).

    Ends with 0 when nothing is wrong, else with 1.

    homologue hardware /etc/homologue/table-3.toml --test

    homologue hardware --buttons gpio:east=5/17,south=6/27,west=13/22,north=19/23

    homologue hardware --buttons sim://buttons --test --json
    """
    try:
        addresses = _configured(config) if config else {}
        addresses |= {"buttons": address} if address else {}
        if testing and not addresses:
            raise click.UsageError("--test needs CONFIG or --buttons")
        found = _test(addresses["buttons"], wait_s, as_json=as_json) if testing else _list(addresses, as_json=as_json)
    except FirmwareError as error:
        _fail(error, as_json=as_json)
    else:
        sys.exit(0 if found else 1)


def _list(addresses: dict[str, str], *, as_json: bool) -> bool:
    found = look(_wiring(addresses.get("buttons")), addresses=addresses or None)
    click.echo(json.dumps(found.as_object()) if as_json else "\n".join(lines(found)))
    return not found.troubles


def _wiring(address: str | None) -> Wiring | None:
    """Read the wiring that an address has; buttons elsewhere have none here. Raises as `read_wiring` does."""
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

    test = walk(address, wait_s, say)
    if as_json:
        told = {"passed": test.passed, "right": test.right, "remarks": [asdict(remark) for remark in remarks]}
        click.echo(json.dumps(told))
    else:
        click.echo("all four buttons work" if test.passed else f"not all: {', '.join(test.right) or 'none'} passed")
    return test.passed


def _configured(path: Path) -> dict[str, str]:
    """Give the devices' addresses of a table's configuration; the kiosk looks at all the rest of it."""
    try:
        devices = tomllib.loads(path.read_text(encoding="utf-8"))["devices"]
        told = {name: devices[name] for name in ("buttons", "scanner", "camera") if name in devices}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise BadAddress(f"{path}: no devices can be read from it: {error}") from None
    for name in ("buttons", *told):
        if not isinstance(told.get(name), str):
            raise BadAddress(f"{path}: devices.{name} is no text")
    return told


def _fail(error: FirmwareError, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"error": {"code": error.code, "message": str(error)}}))
    else:
        click.echo(f"homologue hardware: {error.code}: {error}", err=True)
    sys.exit(1)
