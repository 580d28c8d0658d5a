"""docs/security.md names an existing test for every claim."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = (ROOT / "docs/security.md").read_text(encoding="utf-8")
NAMED: Final = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
ROW: Final = re.compile(
    r"^\| (?!-|attempt \|)(?P<attempt>[^|]+) \| (?P<stops>[^|]+) \| (?P<tests>[^|]+) \|$", re.MULTILINE
)


@cache
def names_in(path: Path) -> set[str]:
    """Return the names of a file's tests."""
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


def test_every_test_named_in_the_page_exists() -> None:
    named = NAMED.findall(PAGE)
    assert named
    assert [(path, test) for path, test in named if test not in names_in(ROOT / path)] == []


def test_every_claim_names_a_test() -> None:
    claims = [*ROW.finditer(PAGE)]
    assert len(claims) == PAGE.count("\n| ") - PAGE.count("\n| attempt |")
    assert [row["attempt"] for row in claims if not NAMED.search(row["tests"])] == []
