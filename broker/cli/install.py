"""`homologue install`: what a machine needs around the program; run by the Debian packages as well.

Users, units, udev rules, limits, the configuration to begin with. Each step knows whether it is done, so that running
it again changes nothing, and can be shown without being taken. `--root` does it in a folder that is to become a
machine's root: a card's image, or a test's.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal

import click

from broker.cli.card import prepare_card
from broker.console import EXISTING_FOLDER, FOLDER, CommandError, said_as_json, say
from broker.errors import reason
from broker.files import write_file

Role = Literal["table", "scorer"]

INSTANCE: Final = "homologue-kiosk@table.service"
"""The unit of a table that is paired at the desk: its file is /etc/homologue/table.toml."""

LIMITS: Final = "homologue-limits.service"
"""Keeps one address from holding all connections of the broker."""

CONSOLES: Final = ("ctrl-alt-del.target", "getty@.service", "autovt@.service", "serial-getty@.service")
"""What a table that anybody may be alone with has masked."""

FILES: Final[dict[Role, dict[str, str]]] = {
    "table": {
        "homologue-table.sysusers": "etc/sysusers.d/homologue-table.conf",
        "homologue-kiosk@.service": "etc/systemd/system/homologue-kiosk@.service",
        "homologue-failed@.service": "etc/systemd/system/homologue-failed@.service",
        "homologue-journald.conf": "etc/systemd/journald.conf.d/homologue.conf",
        "homologue-watchdog.conf": "etc/systemd/system.conf.d/homologue-watchdog.conf",
        "homologue-usb-serial.conf": "etc/modules-load.d/homologue-usb-serial.conf",
        "70-homologue-usb-serial.rules": "etc/udev/rules.d/70-homologue-usb-serial.rules",
        "70-homologue-backlight.rules": "etc/udev/rules.d/70-homologue-backlight.rules",
        "70-homologue-gpio.rules": "etc/udev/rules.d/70-homologue-gpio.rules",
    },
    "scorer": {
        "homologue-scorer.sysusers": "etc/sysusers.d/homologue-scorer.conf",
        "homologue-scorer@.service": "etc/systemd/system/homologue-scorer@.service",
        "homologue-publish@.service": "etc/systemd/system/homologue-publish@.service",
        "homologue-mosquitto.service": "etc/systemd/system/homologue-mosquitto.service",
        "homologue-mosquitto-certificates.service": "etc/systemd/system/homologue-mosquitto-certificates.service",
        LIMITS: f"etc/systemd/system/{LIMITS}",
        "homologue-limits.nft": "etc/nftables.d/homologue.nft",
        "homologue-failed@.service": "etc/systemd/system/homologue-failed@.service",
        "homologue-journald.conf": "etc/systemd/journald.conf.d/homologue.conf",
        "homologue-watchdog.conf": "etc/systemd/system.conf.d/homologue-watchdog.conf",
    },
}
"""Where the files of `systemd/` go."""

LOCKED: Final = {
    "homologue-sysctl.conf": "etc/sysctl.d/90-homologue.conf",
    "homologue-logind.conf": "etc/systemd/logind.conf.d/homologue.conf",
    "homologue-manager.conf": "etc/systemd/system.conf.d/homologue.conf",
    "70-homologue-usb-storage.rules": "etc/udev/rules.d/70-homologue-usb-storage.rules",
}
"""As above, for a table that anybody may be alone with."""

TIME: Final = "etc/chrony/conf.d/homologue.conf"
LIGHTS: Final = "dtparam=act_led_trigger=none"
"""The light on a Pi's board flickers with each write to its card, presses among them."""

DATA: Final = "homologue-data"
"""The label of the partition that takes writes, where the root takes none."""

HOSTNAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class InstallStep:
    """One thing that has to hold."""

    what: str
    done: Callable[[], bool]
    do: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for beside the role."""

    hostname: str | None = None
    scorer: str | None = None
    locked: bool = False
    read_only: bool = False


def options(command: Callable[..., None]) -> Callable[..., None]:
    """Add what `install` and `uninstall` share."""
    command = click.option("--root", type=FOLDER, default="/", help="Root folder of the machine.")(command)
    command = click.option("--dry-run", is_flag=True, help="Show what would be done, without doing it.")(command)
    return click.argument("role", type=click.Choice(["table", "scorer"]))(command)


@click.command(short_help="Set this machine up as a table or as the scorer.")
@options
@click.option("--hostname", help="Name of this machine in the network: table-3.")
@click.option("--scorer", help="Table: name or address of the scorer, from which it takes the time.")
@click.option("--locked", is_flag=True, help="Table: disable console, keyboard shortcuts and USB sticks.")
@click.option("--read-only", is_flag=True, help=f"Table: mount the card read-only, except for a partition {DATA}.")
@click.option(
    "--card",
    type=EXISTING_FOLDER,
    help="Not this machine: the boot partition of a card, which installs itself when it is first started.",
)
@click.option(
    "--packages",
    type=EXISTING_FOLDER,
    help="With --card: the folder with the packages for it.  [default: build/deb]",
)
@said_as_json
def install(
    role: Role, root: Path, card: Path | None, packages: Path | None, *, dry_run: bool, **wishes: str | bool | None
) -> None:
    """Set this machine up as a table or as the scorer. The Debian packages do this themselves.

    What exists already is left as it is, so the command can be run again, also with other options. Nothing in
    /etc/homologue is ever overwritten.

    With --card, prepare the card of another machine: write Raspberry Pi OS to it with Raspberry Pi Imager, put it back
    into the reader, and name its boot partition. At its first start, with a network, it installs the packages, and a
    table then asks for its pairing code.
    """
    asked = Wishes(**wishes)  # type: ignore[arg-type]  # click gives each its type
    if asked.hostname is not None and not HOSTNAME.fullmatch(asked.hostname):
        raise click.UsageError("--hostname: lower-case letters, digits and -")
    if role == "scorer" and (asked.scorer or asked.locked or asked.read_only):
        raise click.UsageError("--scorer, --locked and --read-only are for tables")
    if card is not None:
        _prepare(card, role, packages or Path("build/deb"), asked, dry_run=dry_run)
        return
    if packages is not None:
        raise click.UsageError("--packages goes with --card")
    _take([*steps(role, root, asked)], root, dry_run=dry_run)


@click.command(short_help="Remove what `install` set up; data is kept.")
@options
@said_as_json
def uninstall(role: Role, root: Path, *, dry_run: bool) -> None:
    """Remove what `homologue install` has set up for this role.

    Journals, events, keys and /etc/homologue stay, as do the users who own them.
    """
    _take([*removals(role, root)], root, dry_run=dry_run)


def _prepare(card: Path, role: Role, packages: Path, asked: Wishes, *, dry_run: bool) -> None:
    """Prepare the card of another machine, and say what is on it."""
    if asked.read_only:
        raise click.UsageError("--read-only needs a partition of its own: do it on the machine, once it is installed")
    named = (("--hostname", asked.hostname), ("--scorer", asked.scorer))
    options = [word for option, value in named if value for word in (option, value)]
    try:
        chosen = prepare_card(
            card, role, packages, [*options, *(["--locked"] if asked.locked else [])], dry_run=dry_run
        )
    except OSError as error:
        raise CommandError("card_unwritten", f"{error.filename or card}: {reason(error)}") from error
    for file in chosen:
        say(f"put {file.name} on the card", package=file.name)
    if not dry_run:
        say("Ready: the machine installs itself when it is first started from this card.", card=str(card))


def _take(found: list[InstallStep], root: Path, *, dry_run: bool) -> None:
    """Take the steps that are not done yet, and say which."""
    changed = False
    for step in found:
        if step.done():
            continue
        changed = True
        say(step.what, step=step.what)
        if dry_run:
            continue
        try:
            step.do()
        except (OSError, subprocess.CalledProcessError) as error:
            raise CommandError("install_failed", f"{step.what}: {reason(error)}") from error
    if not changed:
        say("Nothing to do.", step=None)
    elif not dry_run and _is_running(root):
        for command in (["systemctl", "daemon-reload"], ["udevadm", "control", "--reload"]):
            subprocess.run(command, check=False)


def _is_running(root: Path) -> bool:
    """Return whether the root is that of the machine on which this runs, by systemd."""
    return root == Path("/") and Path("/run/systemd/system").is_dir()


# ---- what has to hold ---------------------------------------------------------------------------


def steps(role: Role, root: Path, asked: Wishes) -> Iterator[InstallStep]:
    """Return what has to hold on such a machine, in the order in which it is done."""
    for name, place in FILES[role].items():
        yield _file(root / place, material(name))
    user = "homologue-kiosk" if role == "table" else "homologue-scorer"
    yield InstallStep(
        f"make the user {user}", lambda: _has_user(root, user), lambda: _run("systemd-sysusers", f"--root={root}")
    )
    if role == "table":
        config = root / "etc/homologue/table.toml"
        yield InstallStep(f"write {config}", config.exists, lambda: _write(config, material("table.toml")))
        yield from _enabled(root, INSTANCE)
        yield from _lights(root)
        if asked.locked:
            yield from _lock(root)
        if asked.read_only:
            yield from _protect_card(root)
    else:
        folder = root / "etc/homologue"
        yield InstallStep(f"make {folder}", folder.is_dir, lambda: folder.mkdir(parents=True))
        yield from _enabled(root, LIMITS)
        yield _file(root / TIME, "# Tables take their time from here, in a hall without a network of its own as well.\n"
                    "allow\nlocal stratum 10\n")  # fmt: skip
    if asked.scorer:
        yield _file(root / TIME, f"server {asked.scorer} iburst prefer\n")
    if asked.hostname:
        yield from _named(root, asked.hostname)


def removals(role: Role, root: Path) -> Iterator[InstallStep]:
    """Return what has to go; what the other role has as well stays while that is installed."""
    other: Role = "scorer" if role == "table" else "table"
    kept = {*FILES[other].values(), TIME} if (root / next(iter(FILES[other].values()))).exists() else set()
    own = INSTANCE if role == "table" else LIMITS
    wanted = root / "etc/systemd/system/multi-user.target.wants" / own
    yield InstallStep(f"disable {own}", lambda: not wanted.is_symlink(), lambda: _systemctl(root, "disable", own))
    if role == "table":
        for unit in CONSOLES:
            yield _unmasked(root, unit)
    places = [*FILES[role].values(), *(LOCKED.values() if role == "table" else ()), TIME]
    for place in places:
        if place not in kept:
            yield _removed(root / place)


def _removed(path: Path) -> InstallStep:
    return InstallStep(f"remove {path}", lambda: not path.exists(), path.unlink)


def material(name: str) -> str:
    """Return a file of `systemd/`, for the command as it is installed here."""
    beside = Path(sys.prefix) / "share" / "homologue" / "systemd"
    folder = beside if beside.is_dir() else Path(__file__).parents[2] / "systemd"
    text = (folder / name).read_text(encoding="utf-8")
    packaged = Path("/usr/bin/homologue").resolve().is_relative_to(sys.prefix)
    if packaged:
        return text
    return re.sub(r"/usr/(?:lib/homologue/)?bin/(homologue|python3)\b", rf"{sys.prefix}/bin/\1", text)


def _file(place: Path, content: str) -> InstallStep:
    return InstallStep(f"write {place}", lambda: _read(place) == content, lambda: _write(place, content))


def _read(place: Path) -> str | None:
    return place.read_text(encoding="utf-8") if place.is_file() else None


def _write(place: Path, content: str) -> None:
    """Write a file that everybody may read, whole or not at all."""
    place.parent.mkdir(parents=True, exist_ok=True)
    write_file(place, content.encode(), 0o644, exactly=True)


def _has_user(root: Path, user: str) -> bool:
    return f"\n{user}:" in "\n" + (_read(root / "etc/passwd") or "")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"LC_ALL": "C.UTF-8"})


def _systemctl(root: Path, *words: str) -> None:
    """Ask systemctl, which does without a running systemd where the root is another."""
    _run("systemctl", "--quiet", *(() if _is_running(root) else (f"--root={root}",)), *words)


def _enabled(root: Path, unit: str) -> Iterator[InstallStep]:
    wanted = root / "etc/systemd/system/multi-user.target.wants" / unit
    yield InstallStep(f"enable {unit}", wanted.is_symlink, lambda: _systemctl(root, "enable", unit))


def _lights(root: Path) -> Iterator[InstallStep]:
    """Keep the light on a Pi's board dark, where there is one."""
    for config in (root / "boot/firmware/config.txt", root / "boot/config.txt"):
        if (text := _read(config)) is not None and not config.is_symlink():
            yield _dark(config, text)
            return


def _dark(config: Path, text: str) -> InstallStep:
    dark = f"{text.rstrip()}\n\n[all]\n{LIGHTS}\n"
    return InstallStep(f"add {LIGHTS} to {config}", lambda: LIGHTS in text.splitlines(), lambda: _write(config, dark))


def _lock(root: Path) -> Iterator[InstallStep]:
    for name, place in LOCKED.items():
        yield _file(root / place, material(name))
    for unit in CONSOLES:
        masked = root / "etc/systemd/system" / unit
        yield InstallStep(f"mask {unit}", masked.is_symlink, partial(_systemctl, root, "mask", unit))


def _unmasked(root: Path, unit: str) -> InstallStep:
    masked = root / "etc/systemd/system" / unit
    return InstallStep(f"unmask {unit}", lambda: not masked.is_symlink(), lambda: _systemctl(root, "unmask", unit))


def _protect_card(root: Path) -> Iterator[InstallStep]:
    """Write nothing to the card but the table's own folder, by Debian's overlayroot and a partition for the journal."""
    if not (root / "etc/overlayroot.conf").exists():
        raise CommandError("part_missing", "--read-only needs Debian's overlayroot (apt install overlayroot)")
    if root == Path("/") and not Path("/dev/disk/by-label", DATA).exists():
        raise CommandError("part_missing", f"--read-only needs a partition with the label {DATA} (mkfs.ext4 -L)")
    table, mount = root / "etc/fstab", f"LABEL={DATA} /var/lib/homologue-kiosk ext4 defaults,noatime 0 2"
    text = _read(table) or ""
    yield InstallStep(
        f"mount the partition {DATA} in {table}",
        lambda: mount in text.splitlines(),
        lambda: _write(table, f"{text}{mount}\n"),
    )
    yield _file(root / "etc/overlayroot.local.conf", 'overlayroot="tmpfs:recurse=0"\n')


def _named(root: Path, name: str) -> Iterator[InstallStep]:
    """Set the machine's name, also in its own table of hosts."""
    yield _file(root / "etc/hostname", f"{name}\n")
    hosts = root / "etc/hosts"
    kept = [
        line for line in (_read(hosts) or "127.0.0.1\tlocalhost\n").splitlines() if not line.startswith("127.0.1.1")
    ]
    yield _file(hosts, "\n".join([*kept, f"127.0.1.1\t{name}", ""]))
    if _is_running(root) and shutil.which("hostnamectl"):
        yield InstallStep(
            f"name this machine {name}",
            lambda: os.uname().nodename == name,
            lambda: _run("hostnamectl", "hostname", name),
        )
