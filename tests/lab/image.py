"""The disk of the laboratory's machines: Debian, a kernel with simulated pins and cameras, and the built packages.

Slow steps are cached under build/lab, by a hash of their inputs. Needs root, for mmdebstrap and chroot.
"""

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import click

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent.parent
CACHE: Final = ROOT / "build" / "lab"
DEBS: Final = ROOT / "build" / "deb"
SUITE: Final = "trixie"
RELEASE: Final = "deb13"
"""End of the names of packages for the image's Debian."""

DISK: Final = "3G"
MODULES: Final = ("gpio-sim-oot.ko", "v4l2loopback.ko")


def digest_of(*parts: bytes) -> str:
    """Return the cache key for these inputs."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()[:16]


def kept(name: str, key: str, keep: Path = CACHE) -> tuple[Path, bool]:
    """Return the folder of a cache entry, and whether it exists; older entries of that name are removed."""
    folder = keep / f"{name}-{key}"
    for older in keep.glob(f"{name}-*"):
        if older.is_dir() and older != folder:
            shutil.rmtree(older)
    return folder, folder.exists()


def newest_debs(debs: Path = DEBS) -> list[Path]:
    """Return the latest packages of a table for the machines' Debian. Raises FileNotFoundError."""
    tables = sorted(debs.glob(f"homologue-table_*+{RELEASE}_amd64.deb"), key=lambda one: one.stat().st_mtime)
    if not tables:
        raise FileNotFoundError(f"no package of a table for {RELEASE} in {debs}: run `make deb` first")
    table = tables[-1]
    return [table.with_name(table.name.replace("homologue-table", "homologue-common")), table]


def base() -> Path:
    """Return the folder with Debian (`root.tar`), its kernel and the simulated devices' modules, built if absent."""
    packages = (HERE / "packages.txt").read_bytes()
    folder, there = kept("base", digest_of(packages, (HERE / "build-base").read_bytes()))
    if not there:
        click.echo("lab: Debian and its kernel: some five minutes, once")
        _made(folder, [str(HERE / "build-base"), SUITE, str(HERE / "packages.txt")])
    return folder


def disk(debs: Iterable[Path]) -> Path:
    """Return the folder with the disk of a machine with the packages installed, building it if absent."""
    debian, debs = base(), list(debs)
    inside = sorted((HERE / "inside").rglob("*"))
    contents = [file.read_bytes() for file in (*debs, *inside, HERE / "build-disk") if file.is_file()]
    folder, there = kept("disk", digest_of(debian.name.encode(), *contents))
    if not there:
        click.echo("lab: a disk with the packages: a minute")
        _made(folder, [str(HERE / "build-disk"), str(debian), DISK, str(HERE / "inside"), *map(str, debs)])
    return folder


def _made(folder: Path, command: list[str]) -> None:
    """Run the program that fills a folder in an empty one, and rename it once it is complete."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="being-made-") as made:
        log = folder.with_suffix(".log")
        with log.open("wb") as said:
            done = subprocess.run(
                ["nice", "-n", "10", *command], cwd=made, stdout=said, stderr=subprocess.STDOUT, check=False
            )
        if done.returncode:
            raise SystemExit(f"lab: {command[0]} failed:\n{log.read_text(errors='replace')[-3000:]}")
        (Path(made) / "whole").rename(folder)
        log.unlink()
