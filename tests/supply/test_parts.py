"""The bill of materials leaves nothing out."""

import subprocess
import tomllib
from pathlib import Path
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.supply.parts import LOCK, ROOT, needed, pins, shipped_files

OURS: Final = {".py", ".toml", ".html", ".conf", ".po", ".pot", ".md", ".csv", ".txt", ".yaml", ".json"}
"""Ends of names of what our own Python reads: source, templates, data of the rules, catalogues, documents."""


def test_every_package_of_the_lock_is_listed_with_its_hashes() -> None:
    text = LOCK.read_text(encoding="utf-8")
    listed = [*pins(text)]
    assert len(listed) == text.count("==") - text.count(" == '")
    assert all(version and hashes for _, version, _, hashes in listed)
    assert sum(len(hashes) for *_, hashes in listed) == text.count("--hash=sha256:")


def test_a_line_that_pins_nothing_is_no_package() -> None:
    with pytest.raises(ValueError, match="this line pins nothing"):
        list(pins("somewhere @ https://example.org/x.whl"))


def test_whatever_the_program_asks_for_is_needed_and_what_developers_need_is_not() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = {canonicalize_name(Requirement(one).name) for one in project["project"]["dependencies"]}
    assert asked <= needed()
    assert needed().isdisjoint({"pytest", "ruff", "mypy", "hypothesis"})


def test_every_file_that_is_shipped_and_no_python_of_ours_is_listed() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "broker", "kiosk", "vision", "firmware"], cwd=ROOT, capture_output=True, check=True
    )
    names = [Path(name) for name in tracked.stdout.decode().split("\0") if name]
    foreign = {name for name in names if name.suffix not in OURS and "training" not in name.parts}
    assert foreign <= {path.relative_to(ROOT) for path in shipped_files()}
