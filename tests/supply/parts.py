"""The parts of the program: pinned packages, those that it needs, and shipped files other than Python."""

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).parents[2]
LOCK: Final = ROOT / "requirements.lock"
PIN: Final = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(?P<version>[^ ;\\]+)(?: ; (?P<marker>[^\\]+?))? ?\\?$"
)
HASH: Final = re.compile(r"--hash=sha256:([0-9a-f]{64})")

FILES: Final = ("vision/models/*.onnx", "broker/web/**/static/*", "firmware/pico/*", "broker/upgrade/release.keys")
"""Shipped files that something other than our own Python reads or runs."""


def shipped_files() -> list[Path]:
    """Return the files that match `FILES`."""
    return sorted(path for pattern in FILES for path in ROOT.glob(pattern) if path.is_file() and path.suffix != ".md")


def pins(lock: str) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield the packages of a lock file: name, version, environment marker, and the SHA-256 of each archive."""
    for block in re.split(r"\n(?=\S)", lock.strip()):
        match = PIN.match(block.splitlines()[0])
        if match is None:
            raise ValueError(f"this line pins nothing: {block.splitlines()[0]}")
        yield match["name"], match["version"], match["marker"] or "", HASH.findall(block)


def needed(name: str = "homologue") -> set[str]:
    """Return the normalised names of the packages that the program depends on, directly or indirectly."""
    found, asked = set[str](), [name]
    while asked:
        one = asked.pop()
        try:
            wanted = [Requirement(text) for text in requires(one) or ()]
        except PackageNotFoundError:
            continue  # its marker is for another machine or version of Python
        names = {canonicalize_name(each.name) for each in wanted if "extra ==" not in str(each.marker) or one == name}
        names |= {canonicalize_name(f"{each.name}-{extra}") for each in wanted for extra in each.extras}
        asked += names - found
        found |= names
    return found
