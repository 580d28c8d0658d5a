"""The first start of a prepared card, with Debian's own systemd and cloud-init, in a container.

The packages are stand-ins that record how they were called; the laboratory (`make lab`) installs the real ones.
"""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from broker.cli.card import ARCHITECTURE, prepare_card
from tests.lab.card import BOOT, OPTIONS, installed, new_card

pytestmark = pytest.mark.slow

FAILS_ONCE: Final = "#!/bin/sh\n[ -e /var/tried ] || { touch /var/tried; exit 1; }\n"
WRITES_DOWN: Final = '#!/bin/sh\necho "$@" >>/var/asked\n'


def stand_in(folder: Path, name: str, **files: str) -> None:
    """Build a package of that name with these maintainer scripts; `postinst` is its own."""
    inside = folder / name
    (inside / "DEBIAN").mkdir(parents=True)
    control = f"Package: {name}\nVersion: 1.0\nArchitecture: arm64\nMaintainer: none\nDescription: a stand-in\n"
    (inside / "DEBIAN" / "control").write_text(control, encoding="utf-8")
    for script, text in files.items():
        path = inside / ("DEBIAN" if script == "postinst" else "usr/bin") / script
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    built = folder / f"{name}_1.0+deb13_arm64.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", inside, built], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(inside)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Path]:
    """Return the root of a machine that was never started, with packages for a Pi."""
    with new_card(tmp_path, ARCHITECTURE) as root:
        yield root


def test_a_card_installs_its_packages_and_retries_after_a_failure(machine: Path, tmp_path: Path) -> None:
    stand_in(tmp_path, "homologue-common", homologue=WRITES_DOWN)
    stand_in(tmp_path, "homologue-table", postinst=FAILS_ONCE)
    prepare_card(machine / BOOT, "table", tmp_path, OPTIONS["table"])
    said = installed(machine)
    assert (machine / "var/asked").read_text(encoding="utf-8") == f"install table {' '.join(OPTIONS['table'])}\n"
    assert (machine / "var/tried").exists()
    assert any("Not installed yet" in line for line in said)
    assert (machine / "etc/hostname").read_text(encoding="utf-8") == "as-imager-said\n"
