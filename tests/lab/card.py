"""A card as Raspberry Pi Imager writes it, started in a container with Debian's own systemd and cloud-init."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Final

from broker.cli.card import DONE_FILE, prepare_card
from broker.cli.install import Role
from tests.lab.container import AS_ROOT, started
from tests.lab.image import DEBS, SUITE
from tests.lab.report import Report

BOOT: Final = "boot/firmware"

SEED: Final = "datasource_list: [NoCloud]\ndatasource:\n  NoCloud:\n    seedfrom: file:///boot/firmware\n"
"""The folder in which Raspberry Pi OS's cloud-init looks."""

OPTIONS: Final[dict[Role, tuple[str, ...]]] = {
    "table": ("--hostname", "table-3", "--scorer", "scorer.local"),
    "scorer": ("--hostname", "scorer"),
}


@contextmanager
def new_card(folder: Path, architecture: str | None = None) -> Iterator[Path]:
    """Yield the root of a machine that was never started, with its card's boot partition in place.

    `architecture`: of additional packages for another architecture.
    """
    root = folder / "root"
    debian = ["mmdebstrap", "--mode=root", "--variant=minbase", "--include=cloud-init,systemd-sysv"]
    whose = f"{os.getuid()}:{os.getgid()}"
    setup = [f"mkdir -p {BOOT}", f"chown {whose} {BOOT} etc/cloud/cloud.cfg.d"]
    if architecture is not None:
        setup.append(f"dpkg --add-architecture {architecture}")
    hooks = [f"--customize-hook=chroot $1 {command}" for command in setup]
    subprocess.run([*AS_ROOT, *debian, *hooks, SUITE, str(root)], check=True, capture_output=True)
    (root / "etc/cloud/cloud.cfg.d/99_seed.cfg").write_text(SEED, encoding="utf-8")
    (root / BOOT / "meta-data").write_text("instance_id: rpios-image\n", encoding="utf-8")
    (root / BOOT / "user-data").write_text("#cloud-config\nhostname: as-imager-said\n", encoding="utf-8")
    try:
        yield root
    finally:
        subprocess.run([*AS_ROOT, "rm", "-rf", "--one-file-system", str(root)], check=True)


def installed(root: Path) -> list[str]:
    """Start a prepared card for the first time; return the console's output up to its restart."""
    with started(root) as running:
        assert running.stdout
        said = list(takewhile(lambda line: "System Reboot" not in line, running.stdout))
    assert (root / DONE_FILE.lstrip("/")).exists(), "".join(said[-40:])
    return said


def run(report: Report, debs: Path = DEBS) -> None:
    """Prepare a card for a table and one for a scorer with the built packages, and start each."""
    for role, options in OPTIONS.items():
        with (
            report.check(f"a card that was prepared for a {role} installs itself at its first start"),
            tempfile.TemporaryDirectory(prefix="homologue-card-") as folder,
            new_card(Path(folder)) as root,
        ):
            prepare_card(root / BOOT, role, debs, options, architecture="amd64")
            installed(root)
            again = [*AS_ROOT, "chroot", str(root), "homologue", "install", role, *options, "--dry-run"]
            left = subprocess.run(again, check=True, capture_output=True, text=True).stdout
            assert left == "Nothing to do.\n", left
