"""A card that was prepared is started for the first time: Debian's own systemd and cloud-init, in a container.

The packages are stand-ins that write down how they were called; the laboratory (`make lab`) installs the real ones.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Final

import pytest

from broker.cli.card import DONE, prepare_card
from tests.lab.image import SUITE

pytestmark = pytest.mark.slow

AS_ROOT: Final = [] if os.geteuid() == 0 else ["sudo", "-n"]
BOOT: Final = "boot/firmware"
OPTIONS: Final = ("--hostname", "table-3", "--scorer", "scorer.local")

SEED: Final = "datasource_list: [NoCloud]\ndatasource:\n  NoCloud:\n    seedfrom: file:///boot/firmware\n"
"""Where the cloud-init of Raspberry Pi OS looks."""

FAILS_ONCE: Final = "#!/bin/sh\n[ -e /var/tried ] || { touch /var/tried; exit 1; }\n"
WRITES_DOWN: Final = '#!/bin/sh\necho "$@" >>/var/asked\n'


def stand_in(folder: Path, name: str, **files: str) -> None:
    """Build a package of that name which has these scripts; `postinst` is the package's own."""
    inside = folder / name
    (inside / "DEBIAN").mkdir(parents=True)
    control = f"Package: {name}\nVersion: 1.0\nArchitecture: arm64\nMaintainer: none\nDescription: a stand-in\n"
    (inside / "DEBIAN" / "control").write_text(control, encoding="utf-8")
    for script, text in files.items():
        path = inside / ("DEBIAN" if script == "postinst" else "usr/bin") / script
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    built = folder / f"{name}_1.0_arm64.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", inside, built], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(inside)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Path]:
    """Return the root of a machine that was never on, with its card's boot partition in place."""
    root = tmp_path / "root"
    debian = ["mmdebstrap", "--mode=root", "--variant=minbase", "--include=cloud-init,systemd-sysv"]
    whose = f"{os.getuid()}:{os.getgid()}"
    setup = ["dpkg --add-architecture arm64", f"mkdir -p {BOOT}", f"chown {whose} {BOOT} etc/cloud/cloud.cfg.d"]
    hooks = [f"--customize-hook=chroot $1 {command}" for command in setup]
    subprocess.run([*AS_ROOT, *debian, *hooks, SUITE, str(root)], check=True, capture_output=True)
    (root / "etc/cloud/cloud.cfg.d/99_seed.cfg").write_text(SEED, encoding="utf-8")
    (root / BOOT / "meta-data").write_text("instance_id: rpios-image\n", encoding="utf-8")
    (root / BOOT / "user-data").write_text("#cloud-config\nhostname: as-imager-said\n", encoding="utf-8")
    try:
        yield root
    finally:
        subprocess.run([*AS_ROOT, "rm", "-rf", "--one-file-system", str(root)], check=True)


@contextmanager
def started(root: Path) -> Iterator[Iterator[str]]:
    """Start the machine, and return the lines that its console says; it is off when the block ends."""
    command = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", f"--directory={root}", "--boot"]
    modern = {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}
    with subprocess.Popen(
        [*AS_ROOT, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **modern}
    ) as running:
        assert running.stdout
        try:
            yield iter(running.stdout)
        finally:
            running.terminate()
            running.stdout.read()


def test_a_card_installs_its_packages_and_tries_again_where_the_first_try_fails(machine: Path, tmp_path: Path) -> None:
    stand_in(tmp_path, "homologue-common", homologue=WRITES_DOWN)
    stand_in(tmp_path, "homologue-table", postinst=FAILS_ONCE)
    prepare_card(machine / BOOT, "table", tmp_path, OPTIONS)
    with started(machine) as lines:
        said = list(takewhile(lambda line: "System Reboot" not in line, lines))
    assert (machine / DONE.lstrip("/")).exists(), "".join(said[-40:])
    assert (machine / "var/asked").read_text(encoding="utf-8") == f"install table {' '.join(OPTIONS)}\n"
    assert (machine / "var/tried").exists()
    assert any("Not installed yet" in line for line in said)
    assert (machine / "etc/hostname").read_text(encoding="utf-8") == "as-imager-said\n"
