"""Small packages, built with dpkg-deb like the real ones; their program prints its version and arguments."""

import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from broker.protocol import SigningKey
from broker.upgrade.bundle import BundleManifest, make_bundle, own_formats
from broker.upgrade.slots import own_target

KEY: Final = SigningKey.from_bytes(b"r" * 32)
FORMATS: Final = '[{name}]\nopens = {opens}\nwrites = "{writes}"\n'

PROGRAM: Final = """import os, sys
print("{version}", *sys.argv[1:], os.path.basename(sys.prefix))
"""


def formats(**other: tuple[list[str], str]) -> str:
    """Return the formats of this program as TOML, with some replaced."""
    told = {name: (list(one.opens), one.writes) for name, one in zip(("journal", "store"), own_formats(), strict=True)}
    return "".join(
        FORMATS.format(name=name, opens=str(opens).replace("'", '"'), writes=writes)
        for name, (opens, writes) in (told | other).items()
    )


def make_deb(
    folder: Path, package: str, version: str, files: dict[str, str], target: str | None = None, xz: str = "-Zxz"
) -> Path:
    """Build a package with these files below /usr/lib/homologue."""
    release, _, arch = (target or own_target()).partition("-")
    stage = folder / f"{package}-{version}-{arch}"
    (stage / "DEBIAN").mkdir(parents=True)
    (stage / "DEBIAN/control").write_text(
        f"Package: {package}\nVersion: {version}+{release}\nArchitecture: {arch}\nMaintainer: A <a@localhost>\n"
        "Installed-Size: 12\nDescription: small\n"
    )
    for name, content in files.items():
        path = stage / "usr/lib/homologue" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (stage / "usr/share").mkdir(parents=True)
    (stage / "usr/share/note").write_text("apt's alone")
    deb = folder / f"{package}_{version}_{arch}.deb"
    subprocess.run(["dpkg-deb", xz, "--root-owner-group", "--build", stage, deb], check=True, stdout=subprocess.DEVNULL)
    return deb


def make_debs(
    folder: Path, version: str = "0.3.0", target: str | None = None, formats_told: str | None = None
) -> list[Path]:
    site = "lib/python3.13/site-packages"
    common = {
        "pyvenv.cfg": "home = /usr/bin\ninclude-system-site-packages = false\n",
        "bin/homologue": PROGRAM.format(version=version),
        f"{site}/broker/commit.txt": "g0123456789ab",
        f"{site}/broker/upgrade/formats.toml": formats() if formats_told is None else formats_told,
        f"{site}/homologue-{version}.dist-info/METADATA": f"Name: homologue\nVersion: {version}\n",
    }
    return [
        make_deb(folder, "homologue-common", version, common, target),
        make_deb(folder, "homologue-table", version, {f"{site}/pins.py": "pins = 28\n" * 500}, target),
    ]


def bundle_of(folder: Path, version: str = "0.3.0", formats_told: str | None = None) -> tuple[Path, BundleManifest]:
    folder.mkdir(exist_ok=True)
    bundle = folder / f"homologue-{version}.upgrade"
    content, manifest = _made(version, formats_told)
    bundle.write_bytes(content)
    return bundle, manifest


@cache
def _made(version: str, formats_told: str | None) -> tuple[bytes, BundleManifest]:
    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder) / "bundle"
        manifest = make_bundle(make_debs(Path(folder), version, formats_told=formats_told), KEY, bundle)
        return bundle.read_bytes(), manifest
