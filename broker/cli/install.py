"""`homologue install`: sets up what a machine needs around the program. The Debian packages run it as well.

That is users, units, udev rules, limits and an initial configuration. Each step knows whether it is done, so running
the command again changes nothing. Steps can be shown without being taken. `--root` applies them to a folder that will
be a machine's root, such as the image of a card, or a test's.
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
from broker.console import EXISTING_FOLDER, FOLDER, CommandError, json_lines, say
from broker.errors import reason
from broker.files import write_file

Role = Literal["table", "scorer"]

INSTANCE: Final = "homologue-kiosk@table.service"
"""The unit of a table that is paired at the desk: its file is /etc/homologue/table.toml."""

LIMITS: Final = "homologue-limits.service"
"""The unit that keeps one address from occupying all connections of the broker."""

CONSOLES: Final = ("ctrl-alt-del.target", "getty@.service", "autovt@.service", "serial-getty@.service")
"""Units that are masked on a table that may be left unattended."""

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
"""Destinations of the files in `systemd/`."""

LOCKED: Final = {
    "homologue-sysctl.conf": "etc/sysctl.d/90-homologue.conf",
    "homologue-logind.conf": "etc/systemd/logind.conf.d/homologue.conf",
    "homologue-manager.conf": "etc/systemd/system.conf.d/homologue.conf",
    "70-homologue-usb-storage.rules": "etc/udev/rules.d/70-homologue-usb-storage.rules",
}
"""As FILES, for a table that may be left unattended."""

TIME: Final = "etc/chrony/conf.d/homologue.conf"
LIGHTS: Final = "dtparam=act_led_trigger=none"
"""Switches off the light on a Pi's board: it flickers at each write to the card, and so would reveal presses."""

DATA: Final = "homologue-data"
"""Label of the writable partition of a machine whose root is read-only."""

HOSTNAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class InstallStep:
    """One step of an installation: what it does, whether it is done, and how to do it."""

    what: str
    done: Callable[[], bool]
    do: Callable[[], object]


@dataclass(frozen=True, slots=True)
class InstallOptions:
    """The options of `install` beside the role."""

    hostname: str | None = None
    scorer: str | None = None
    locked: bool = False
    read_only: bool = False


def role_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the argument and options that `install` and `uninstall` share."""
    command = click.option("--root", type=FOLDER, default="/", help="Root folder of the machine.")(command)
    command = click.option("--dry-run", is_flag=True, help="Show what would be done, without doing it.")(command)
    return click.argument("role", type=click.Choice(["table", "scorer"]))(command)


@click.command(short_help="Set this machine up as a table or as the scorer.")
@role_options
@click.option("--hostname", help="Name of this machine on the network, such as table-3.")
@click.option("--scorer", help="Table: name or address of the scorer, from which it takes the time.")
@click.option("--locked", is_flag=True, help="Table: disable console, keyboard shortcuts and USB sticks.")
@click.option("--read-only", is_flag=True, help=f"Table: mount the card read-only, except for a partition {DATA}.")
@click.option(
    "--card",
    type=EXISTING_FOLDER,
    help="Prepare this boot partition of a card instead, so that its machine installs itself at its first start.",
)
@click.option(
    "--packages",
    type=EXISTING_FOLDER,
    help="With --card: folder of the packages to install [default: build/deb].",
)
@json_lines
def install(
    role: Role, root: Path, card: Path | None, packages: Path | None, *, dry_run: bool, **values: str | bool | None
) -> None:
    """Set this machine up as a table or as the scorer. The Debian packages do this themselves.

    What exists already is left as it is, so the command can be run again, also with other options. Nothing in
    /etc/homologue is ever overwritten.

    With --card, prepare the card of another machine: write Raspberry Pi OS to it with Raspberry Pi Imager, put it back
    into the reader, and name its boot partition. At its first start, with a network, it installs the packages, and a
    table then asks for its pairing code.
    """
    options = InstallOptions(**values)  # type: ignore[arg-type]  # click has given each its type
    if options.hostname is not None and not HOSTNAME.fullmatch(options.hostname):
        raise click.UsageError("--hostname: lower-case letters, digits and -")
    if role == "scorer" and (options.scorer or options.locked or options.read_only):
        raise click.UsageError("--scorer, --locked and --read-only are for tables")
    if card is not None:
        _prepare(card, role, packages or Path("build/deb"), options, dry_run=dry_run)
        return
    if packages is not None:
        raise click.UsageError("--packages needs --card")
    _run_steps([*steps(role, root, options)], root, dry_run=dry_run)


@click.command(short_help="Remove what `install` set up; data is kept.")
@role_options
@json_lines
def uninstall(role: Role, root: Path, *, dry_run: bool) -> None:
    """Remove what `homologue install` has set up for this role.

    Journals, events, keys and /etc/homologue stay, as do the users who own them.
    """
    _run_steps([*removals(role, root)], root, dry_run=dry_run)


def _prepare(card: Path, role: Role, packages: Path, options: InstallOptions, *, dry_run: bool) -> None:
    """Prepare the card of another machine, and report what was put on it."""
    if options.read_only:
        raise click.UsageError("--read-only needs a partition of its own: use it on the machine, once it is installed")
    named = (("--hostname", options.hostname), ("--scorer", options.scorer))
    words = [word for option, value in named if value for word in (option, value)]
    try:
        prepared = prepare_card(
            card, role, packages, [*words, *(["--locked"] if options.locked else [])], dry_run=dry_run
        )
    except OSError as error:
        raise CommandError("card_unwritten", f"{error.filename or card}: {reason(error)}") from error
    for file in prepared:
        say(f"put {file.name} on the card", package=file.name)
    if not dry_run:
        say("Ready: the machine installs itself when it is first started from this card.", card=str(card))


def _run_steps(found: list[InstallStep], root: Path, *, dry_run: bool) -> None:
    """Take the steps that are not done yet, and report them."""
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
    """Return whether the root is that of the running machine, and systemd runs it."""
    return root == Path("/") and Path("/run/systemd/system").is_dir()


# ---- steps --------------------------------------------------------------------------------------


def steps(role: Role, root: Path, options: InstallOptions) -> Iterator[InstallStep]:
    """Return the steps that set up such a machine, in order."""
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
        if options.locked:
            yield from _lock(root)
        if options.read_only:
            yield from _protect_card(root)
    else:
        folder = root / "etc/homologue"
        yield InstallStep(f"make {folder}", folder.is_dir, lambda: folder.mkdir(parents=True))
        yield from _enabled(root, LIMITS)
        yield _file(root / TIME, "# Tables take their time from here, in a hall without a network of its own as well.\n"
                    "allow\nlocal stratum 10\n")  # fmt: skip
    if options.scorer:
        yield _file(root / TIME, f"server {options.scorer} iburst prefer\n")
    if options.hostname:
        yield from _name_machine(root, options.hostname)


def removals(role: Role, root: Path) -> Iterator[InstallStep]:
    """Return the steps that remove a role. Files shared with the other role stay while that is installed."""
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
    """Return a file of `systemd/`, adapted to where the command is installed here."""
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
    """Write a world-readable file atomically."""
    place.parent.mkdir(parents=True, exist_ok=True)
    write_file(place, content.encode(), 0o644, exactly=True)


def _has_user(root: Path, user: str) -> bool:
    return f"\n{user}:" in "\n" + (_read(root / "etc/passwd") or "")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"LC_ALL": "C.UTF-8"})


def _systemctl(root: Path, *words: str) -> None:
    """Run systemctl, with `--root` if the root is not that of the running machine."""
    _run("systemctl", "--quiet", *(() if _is_running(root) else (f"--root={root}",)), *words)


def _enabled(root: Path, unit: str) -> Iterator[InstallStep]:
    wanted = root / "etc/systemd/system/multi-user.target.wants" / unit
    yield InstallStep(f"enable {unit}", wanted.is_symlink, lambda: _systemctl(root, "enable", unit))


def _lights(root: Path) -> Iterator[InstallStep]:
    """Switch off the light on the board of a Pi."""
    for config in (root / "boot/firmware/config.txt", root / "boot/config.txt"):
        if (text := _read(config)) is not None and not config.is_symlink():
            yield _light_off(config, text)
            return


def _light_off(config: Path, text: str) -> InstallStep:
    content = f"{text.rstrip()}\n\n[all]\n{LIGHTS}\n"
    return InstallStep(
        f"add {LIGHTS} to {config}", lambda: LIGHTS in text.splitlines(), lambda: _write(config, content)
    )


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
    """Mount the card read-only with Debian's overlayroot, except for a partition with the table's own folder."""
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


def _name_machine(root: Path, name: str) -> Iterator[InstallStep]:
    """Set the machine's name, including the entry in /etc/hosts."""
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
