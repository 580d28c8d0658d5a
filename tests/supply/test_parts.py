"""The bill of materials is complete."""

import subprocess
import tomllib
from pathlib import Path
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.supply.parts import LOCK, ROOT, needed, pins, shipped_files

OURS: Final = {".py", ".toml", ".html", ".conf", ".po", ".pot", ".md", ".csv", ".txt", ".yaml", ".json"}
"""Suffixes of files that our own Python reads: source, templates, rules, catalogues, documents."""


def test_every_package_of_the_lock_is_listed_with_its_hashes() -> None:
    text = LOCK.read_text(encoding="utf-8")
    listed = [*pins(text)]
    assert len(listed) == text.count("==") - text.count(" == '")
    assert all(version and hashes for _, version, _, hashes in listed)
    assert sum(len(hashes) for *_, hashes in listed) == text.count("--hash=sha256:")


def test_a_line_that_pins_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="this line pins nothing"):
        list(pins("somewhere @ https://example.org/x.whl"))


def test_the_programs_dependencies_are_needed_and_development_tools_are_not() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = {canonicalize_name(Requirement(one).name) for one in project["project"]["dependencies"]}
    assert asked <= needed()
    assert needed().isdisjoint({"pytest", "ruff", "mypy", "hypothesis"})


def test_every_shipped_file_that_is_not_ours_is_listed() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "broker", "kiosk", "vision", "firmware"], cwd=ROOT, capture_output=True, check=True
    )
    names = [Path(name) for name in tracked.stdout.decode().split("\0") if name]
    foreign = {name for name in names if name.suffix not in OURS and "training" not in name.parts}
    assert foreign <= {path.relative_to(ROOT) for path in shipped_files()}
