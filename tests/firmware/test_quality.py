"""Each rule in quality.yaml points to an existing test or page."""

import ast
import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
TEXT: Final = (ROOT / "firmware" / "quality.yaml").read_text(encoding="utf-8")
RULE: Final = re.compile(
    r"(?P<name>[a-z0-9-]+):\n"
    r"  status: (?P<status>\w+)\n"
    r"  where: (?P<path>[\w./-]+)(?:::(?P<test>\w+))?\n"
    r"  comment: (?P<comment>[A-Za-z](?:(?!: | #).)+\.)"
)
"""A subset of YAML that needs no library: plain values without quotes."""


def rules() -> list[re.Match[str]]:
    """Return all rules; every block of the file must be one."""
    _, *blocks = TEXT.rstrip("\n").split("\n\n")
    found = [RULE.fullmatch(block) for block in blocks]
    assert [block for block, rule in zip(blocks, found, strict=True) if rule is None] == []
    return [rule for rule in found if rule is not None]


def names_of_tests(path: Path) -> set[str]:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef)}


def test_every_rule_has_a_valid_status_and_a_unique_name() -> None:
    names = [rule["name"] for rule in rules()]
    assert sorted(set(names)) == sorted(names)
    assert {rule["status"] for rule in rules()} <= {"done", "todo", "exempt"}


def test_every_rule_points_to_an_existing_file_and_test() -> None:
    assert [rule["name"] for rule in rules() if not (ROOT / rule["path"]).is_file()] == []
    named = [rule for rule in rules() if rule["test"]]
    assert [rule["test"] for rule in named if rule["test"] not in names_of_tests(ROOT / rule["path"])] == []


def test_every_done_rule_about_behaviour_names_its_test() -> None:
    done = [rule for rule in rules() if rule["status"] == "done" and rule["path"].startswith("tests/")]
    assert [rule["name"] for rule in done if not rule["test"]] == []
    assert len(done) > len(rules()) / 2
