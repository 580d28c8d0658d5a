"""`homologue doctor table`: finds what is wrong with a table's machine, and says what to do.

A kiosk may be running: its devices are inspected without opening them, and its journal is read alongside it.
"""

import shutil
import socket
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click
from cryptography import x509

from broker.checkup import BUNDLE_OPTION, JSON_OPTION, Examined, Finding, print_result, write_bundle
from broker.console import EXISTING_FILE
from firmware.errors import FirmwareError
from firmware.hardware import command, inventory
from firmware.wiring import Wiring, read_wiring
from kiosk.config import KioskSettings
from kiosk.errors import KioskError, NotPaired
from kiosk.screens.fonts import CHINESE_FONT_HINT, HAN_LANGUAGES, chinese_font

REQUIRED_PACKAGES: Final = ("cv2", "onnxruntime", "pygame", "serial", "gpiozero", "paho", "zxingcpp")
EXPIRES_SOON: Final = timedelta(days=7)
LOW_SPACE: Final = 512 * 1024 * 1024
TIMEOUT_S: Final = 5.0


@click.command(short_help="Examine a table's machine.")
@click.argument("config", type=EXISTING_FILE)
@JSON_OPTION
@BUNDLE_OPTION
def table_doctor(config: Path, bundle: Path | None, *, as_json: bool) -> None:
    """Examine a table's machine. CONFIG is the table's TOML file; its kiosk may be running.

    homologue doctor table /etc/homologue/table-3.toml
    """
    examined, folders = examine_table(config)
    code = print_result(examined, as_json=as_json)
    if bundle is not None:
        write_bundle(bundle, examined, {"table.toml": config.read_text(encoding="utf-8", errors="replace")}, folders)
    sys.exit(code)


def examine_table(config: Path, root: Path = Path("/")) -> tuple[Examined, list[Path]]:
    """Run all checks; return findings, and folders that may hold secrets. Devices are looked for below `root`."""
    found = [*_programs()]
    try:
        settings = KioskSettings(config)
    except NotPaired as error:
        do = "choose the table at the desk (Pair tables), and type its code at the screen"
        found.append(
            Finding(error.code, what="the device is not paired yet", why="it has no table and no broker", do=do)
        )
        return Examined(("programs", "configuration"), tuple(found)), [config.parent]
    except KioskError as error:
        why, do = "the kiosk does not start with it", "correct the setting that the message names"
        found.append(Finding(error.code, str(error), why, do))
        return Examined(("programs", "configuration"), tuple(found)), [config.parent]
    checks: dict[str, Callable[[], Iterator[Finding]]] = {
        "devices": lambda: _devices(settings, root),
        "clock": _clock,
        "screen": lambda: _screen(settings),
        "journal": lambda: _journal(settings),
        "certificate": lambda: _certificate(settings),
        "broker": lambda: _broker(settings),
    }
    for check in checks.values():
        found += check()
    folders = {config.parent.resolve(), settings.folder, settings.key_path.parent}
    return Examined(("programs", "configuration", *checks), tuple(found)), sorted(folders)


def _programs() -> Iterator[Finding]:
    if missing := [name for name in REQUIRED_PACKAGES if find_spec(name) is None]:
        yield Finding(
            "program_incomplete",
            f"these parts of the program are not installed: {', '.join(missing)}",
            "the kiosk does not start, or lacks a device",
            "install the package for tables again",
        )


def _devices(settings: KioskSettings, root: Path) -> Iterator[Finding]:
    devices = settings.config.devices
    addresses = {"buttons": devices.buttons, "camera": devices.camera}
    addresses |= {"scanner": devices.scanner} if devices.scanner else {}
    addresses |= {f"keyboards[{at}]": address for at, address in enumerate(devices.keyboards)}
    try:
        wiring: Wiring | None = None
        if devices.buttons.startswith("gpio:"):
            wiring = read_wiring(devices.buttons.removeprefix("gpio:"))
    except FirmwareError as error:
        yield Finding(error.code, what=str(error), why="the buttons cannot be opened", do="correct devices.buttons")
        return
    for trouble in command.inspect_hardware(wiring, root, addresses).troubles:
        what, _, do = trouble.text.partition(": ")
        why = "a part of the table does not work, or works less well"
        yield Finding(trouble.code, what=what, why=why, do=do or "homologue table hardware CONFIG says more")


def _clock() -> Iterator[Finding]:
    for trouble in inventory.clock_troubles():
        why = "times that people read are wrong, and certificates may seem to have ended"
        yield Finding(trouble.code, what=trouble.text, why=why, do="connect it to a time server", must=False)


def _screen(settings: KioskSettings) -> Iterator[Finding]:
    config = settings.config
    if config.language in HAN_LANGUAGES and chinese_font() is None:
        why = "the screen would be without letters"
        yield Finding("font_missing", CHINESE_FONT_HINT.format(language=config.language), why, "install that package")
    if (config.screen.driver or "").lower() == "kmsdrm" and not list(Path("/dev/dri").glob("card*")):
        yield Finding(
            "screen_missing",
            "there is no graphics device (/dev/dri/card*)",
            "the screen stays black",
            "is the screen's cable in, and dtoverlay=vc4-kms-v3d in /boot/firmware/config.txt?",
        )


def _journal(settings: KioskSettings) -> Iterator[Finding]:
    path = settings.journal
    if not path.exists():
        return  # the kiosk creates it at its first start
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=TIMEOUT_S)) as journal:
            (verdict,) = journal.execute("PRAGMA quick_check(1)").fetchone()
            unsent, refused = journal.execute(
                "SELECT count(*) FILTER (WHERE state <> 'safe'), count(*) FILTER (WHERE state = 'refused') FROM outbox"
            ).fetchone()
    except sqlite3.OperationalError as error:
        yield Finding("journal_unread", f"{path}: {error}", "its condition is unknown", "run this as the kiosk's user")
        return
    except sqlite3.Error as error:
        verdict, unsent, refused = str(error), 0, 0
    if verdict != "ok":
        yield Finding(
            "journal_damaged",
            f"{path}: {verdict}",
            "facts without a receipt from the scorer may be lost",
            "do not switch it off; docs/installer.md says how a device is replaced",
        )
    if unsent:
        yield Finding(
            "facts_unsent",
            f"{unsent} facts have no receipt from the scorer; it refused {refused} of them",
            "they exist only on this card",
            "let the table connect; the desk's alerts say why facts are refused",
            must=bool(refused),
        )
    if (free := shutil.disk_usage(settings.folder).free) < LOW_SPACE:
        why = "a full card keeps a play in memory only"
        do = "make room on it, or change it after the session"
        yield Finding("disk_low", f"{free // 2**20} MiB are free on the card", why, do)


def _certificate(settings: KioskSettings) -> Iterator[Finding]:
    name = settings.config.broker.certificate_file
    if name is None:
        return
    try:
        ends = x509.load_pem_x509_certificate(settings.path_of(name).read_bytes()).not_valid_after_utc
    except (OSError, ValueError) as error:
        yield Finding("certificate_unread", f"{name}: {error}", "the broker refuses connections", "pair it again")
        return
    if ends - datetime.now(UTC) < EXPIRES_SOON:
        what = f"the device's certificate ends on {ends.date()}"
        yield Finding("certificate_ends", what, "after that, the broker refuses the device", "pair the device again")


def _broker(settings: KioskSettings) -> Iterator[Finding]:
    broker = settings.config.broker
    try:
        socket.create_connection((broker.host, broker.port), timeout=TIMEOUT_S).close()
    except OSError as error:
        yield Finding(
            "broker_unreached",
            f"{broker.host}, port {broker.port}: {error.strerror or error}",
            "the table plays on and keeps everything, but nobody sees its results",
            "is the scorer running, the cable in, and the address right?",
        )
