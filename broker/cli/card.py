"""A card that installs itself: adds the packages and a service for the first start to what Raspberry Pi Imager wrote.

Raspberry Pi OS (Debian 13, since October 2025) runs cloud-init, which reads its seed from the card's boot partition.
Imager's choices (user, network, keyboard) are in `user-data`. Ours are beside it in `vendor-data`, so that neither
changes the other. They install a service that tries until it has succeeded once: if power or network fail on the way,
it tries again, and the card need not be written again. A script per boot would be shorter, but in vendor data
cloud-init never runs one (25.1). Source: cloud-init, "NoCloud" and "User data formats" (cloud boothook).
"""

import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from broker.console import CommandError
from broker.files import make_folder, sync, write_file

SEED: Final = ("meta-data", "user-data")
"""Files by which cloud-init recognises the boot partition."""

HOOK: Final = "vendor-data"
PACKAGES: Final = "homologue"
"""The folder on the boot partition that contains the packages."""

ARCHITECTURE: Final = "arm64"
RELEASE: Final = "deb13"
"""Packages are built for one release of Debian; cards of Debian 12 do not run cloud-init."""

SPARE_BYTES: Final = 32 << 20
"""Bytes to leave free on the boot partition, which also receives new kernels."""

GENERATED_MARK: Final = "# Written by `homologue install --card`; it may be written again."

DONE_FILE: Final = "/var/lib/homologue-card-installed"
"""File that exists once the machine has installed itself."""

_HOOK: Final = f"""\
#cloud-boothook
#!/bin/sh
{GENERATED_MARK}
# Runs early at every start, before there is a network; a service that waits for the network does the slow work.
unit=/etc/systemd/system/homologue-card.service
[ -e "$unit" ] || {{
    cp /boot/firmware/{PACKAGES}/homologue-card.service "$unit" && systemctl daemon-reload
    systemctl enable homologue-card.service
    systemctl start --no-block homologue-card.service
}}
"""

_SERVICE: Final = f"""\
{GENERATED_MARK}
[Unit]
Description=Install Homologue from this card
Wants=network-online.target
After=network-online.target
ConditionPathExists=!{DONE_FILE}

[Service]
Type=oneshot
ExecStart=/bin/sh /boot/firmware/{PACKAGES}/install
Restart=on-failure
RestartSec=30
StandardOutput=journal+console
StandardError=journal+console

[Install]
WantedBy=multi-user.target
"""

_INSTALL: Final = """\
#!/bin/sh
{mark}
export DEBIAN_FRONTEND=noninteractive
echo "Installing this {role}. This takes several minutes; leave the machine on."
if dpkg --configure -a && apt-get update && apt-get install -y /boot/firmware/{packages}/*.deb && {install}; then
    touch {done} && sync
    echo "Installed; the machine restarts now."
    systemctl reboot
else
    echo "Not installed yet: is there a network? The next try is in 30 seconds (journalctl -u homologue-card)."
    exit 1
fi
"""


def prepare_card(
    boot: Path,
    role: str,
    packages: Path,
    options: Sequence[str],
    *,
    dry_run: bool = False,
    architecture: str = ARCHITECTURE,
) -> list[Path]:
    """Copy the packages and the service for the first start to a card's boot partition, and return the packages.

    `options` are those of `homologue install` on the machine. A second run replaces what the first one wrote. Raises
    CommandError, and OSError if the card cannot be written.
    """
    if missing := [name for name in SEED if not (boot / name).is_file()]:
        raise CommandError(
            "card_unknown",
            f"{boot} has no {' and no '.join(missing)}: write Raspberry Pi OS of October 2025 or later (64-bit) "
            "to the card with Raspberry Pi Imager, and name the partition that it calls bootfs",
        )
    hook = boot / HOOK
    if hook.exists() and GENERATED_MARK.encode() not in hook.read_bytes():
        raise CommandError("card_taken", f"{hook} was not written by Homologue: remove it, or write the card again")
    chosen = _packages_for(packages, role, architecture)
    folder = boot / PACKAGES
    before = sum(file.stat().st_size for file in folder.glob("*")) if folder.is_dir() else 0
    needed = sum(file.stat().st_size for file in chosen) + SPARE_BYTES - before
    if (free := shutil.disk_usage(boot).free) < needed:
        raise CommandError("card_full", f"{boot} has {free >> 20} MB free, and {needed >> 20} MB are needed")
    if dry_run:
        return chosen
    if folder.is_dir():
        shutil.rmtree(folder)
    make_folder(folder)
    for file in chosen:
        sync(Path(shutil.copyfile(file, folder / file.name)))
    install = shlex.join(["homologue", "install", role, *options])
    script = _INSTALL.format(mark=GENERATED_MARK, role=role, packages=PACKAGES, install=install, done=DONE_FILE)
    for place, text in (
        (folder / "install", script),
        (folder / "homologue-card.service", _SERVICE),
        (boot / HOOK, _HOOK),  # written last, since the others do nothing without it
    ):
        write_file(place, text.encode())
    return chosen


def _packages_for(folder: Path, role: str, architecture: str) -> list[Path]:
    """Return all packages for the card: ours of the newest build, and all others in the folder. Raises CommandError."""
    ours = f"homologue-{role}_*+{RELEASE}_{architecture}.deb"
    built = sorted(folder.glob(ours), key=lambda file: file.stat().st_mtime)
    if not built:
        raise CommandError("packages_missing", f"{folder} has no {ours}: make deb DIST=trixie DEB_ARCH={architecture}")
    version = built[-1].name.split("_")[1]
    common = folder / f"homologue-common_{version}_{architecture}.deb"
    if not common.is_file():
        raise CommandError("packages_missing", f"{folder} has no {common.name}, which {built[-1].name} needs")
    others = [
        file
        for ending in (architecture, "all")
        for file in sorted(folder.glob(f"*_{ending}.deb"))
        if not file.name.startswith("homologue-")
    ]
    return [common, built[-1], *others]
