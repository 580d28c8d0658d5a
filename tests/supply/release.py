"""Make a release: `make release VERSION=0.2.0`, or `python -m tests.supply.release 0.2.0`.

The changelog's unreleased section is cut, committed and tagged. Wheel and source distribution are built from the tag's
tree, together with packages, bill of materials and checksums, which are signed if git has a signing key. If the tag
already exists at HEAD, the files are built again, byte for byte the same.
"""

import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from packaging.version import InvalidVersion, Version

from tests.supply.parts import ROOT

TARGETS: Final = (
    *(f"deb DIST={dist} DEB_ARCH={arch}" for dist in ("bookworm", "trixie") for arch in ("amd64", "arm64")),
    "sbom",
)
"""The targets of make: packages for both Debian releases and architectures, and the bill of materials."""

MADE: Final = ("build/deb/*.deb", "build/homologue.cdx.json")
"""The files that these targets build."""

UNRELEASED: Final = re.compile(r"^## \[Unreleased\]\n(?P<told>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
BUILD: Final = (
    "import sys; from setuptools import build_meta as b; to = sys.argv[1]; b.build_sdist(to); b.build_wheel(to)"
)


class NotReleased(Exception):
    """The release was refused, and nothing was changed."""


def cut(changelog: str, version: str, day: str) -> str:
    """Return the changelog with its unreleased section as this version's. Raises NotReleased if it is empty."""
    found = UNRELEASED.search(changelog)
    if found is None or not re.search(r"^- |^\* ", found["told"], re.MULTILINE):
        raise NotReleased("CHANGELOG.md says nothing under [Unreleased]")
    return (
        changelog[: found.start()] + f"## [Unreleased]\n\n## [{version}] - {day}\n" + changelog[found.start("told") :]
    )


def check(tree: Path, version: str) -> bool:
    """Return whether the tag of the release already exists at HEAD. Raises NotReleased."""
    try:
        asked = Version(version)
    except InvalidVersion:
        raise NotReleased(f"{version} is no version: 0.2.0, or 0.2.0rc1") from None
    if str(asked) != version:
        raise NotReleased(f"{version} is written {asked}")
    if changed := git(tree, "status", "--porcelain"):
        raise NotReleased(f"there are changes that are not committed:\n{changed}")
    if f"v{version}" in git(tree, "tag", "--points-at", "HEAD").split():
        return True
    tags = [Version(tag) for tag in git(tree, "tag", "--list", "v[0-9]*").split()]
    if not all(tag < asked for tag in tags):
        raise NotReleased(f"{version} is not after {max(tags)}")
    return False


def release(tree: Path, version: str, out: Path, targets: Sequence[str] = TARGETS) -> list[Path]:
    """Make a release from a tree; return its files. Raises NotReleased, CalledProcessError."""
    if not check(tree, version):
        changelog = tree / "CHANGELOG.md"
        day = datetime.now(UTC).date().isoformat()
        changelog.write_text(cut(changelog.read_text(encoding="utf-8"), version, day), encoding="utf-8")
        git(tree, "commit", "--quiet", "--message", f"Release {version}", "CHANGELOG.md")
        git(tree, "tag", "--sign" if key_of(tree) else "--annotate", "--message", f"Homologue {version}", f"v{version}")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    distributions(tree, f"v{version}", out)
    for old in (one for pattern in MADE for one in tree.glob(pattern)):
        old.unlink()
    for target in targets:
        subprocess.run(["make", "--no-print-directory", *target.split(), f"VERSION={version}"], cwd=tree, check=True)
    for file in (one for pattern in MADE for one in tree.glob(pattern)):
        shutil.copy2(file, out)
    made = sorted(out.iterdir())
    sums = out / "SHA256SUMS"
    sums.write_text("".join(f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {one.name}\n" for one in made))
    if key := key_of(tree):
        subprocess.run(["gpg", "--local-user", key, "--armor", "--detach-sign", str(sums)], check=True)
    return sorted(out.iterdir())


def distributions(tree: Path, tag: str, out: Path) -> None:
    """Build wheel and source distribution of a tag, reproducibly. Raises CalledProcessError."""
    source = out / "source"
    git(tree, "clone", "--quiet", "--branch", tag, "-c", "advice.detachedHead=false", str(tree), str(source))
    epoch = int(git(source, "log", "-1", "--format=%ct"))
    subprocess.run(
        [sys.executable, "-m", "broker.locale", "compile"], cwd=source, check=True, stdout=subprocess.DEVNULL
    )
    built = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch)}
    subprocess.run(
        [sys.executable, "-c", BUILD, str(out.resolve())], cwd=source, env=built, check=True, stdout=subprocess.DEVNULL
    )
    shutil.rmtree(source)
    for archive in out.glob("*.tar.gz"):
        settle(archive, epoch)


def settle(archive: Path, epoch: int) -> None:
    """Rewrite an archive in a fixed order with one timestamp and no owner, so that it is reproducible."""
    plain = io.BytesIO()
    with tarfile.open(archive) as old, tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda one: one.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
            member.pax_headers = {}
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    with archive.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=epoch) as packed:
        packed.write(plain.getvalue())


def git(tree: Path, *arguments: str) -> str:
    """Run git; return its output. Raises CalledProcessError."""
    asked = subprocess.run(["git", *arguments], cwd=tree, check=True, capture_output=True, text=True)
    return asked.stdout.strip()


def key_of(tree: Path) -> str:
    """Return the signing key that git is configured with; empty if there is none."""
    return subprocess.run(
        ["git", "config", "user.signingkey"], cwd=tree, check=False, capture_output=True, text=True
    ).stdout.strip()


if __name__ == "__main__":
    try:
        for path in release(ROOT, sys.argv[1], ROOT / "dist"):
            sys.stdout.write(f"{path.relative_to(ROOT)}\n")
    except (NotReleased, IndexError) as error:
        sys.exit(f"not released: {error if error.args and isinstance(error, NotReleased) else 'say VERSION=0.2.0'}")
