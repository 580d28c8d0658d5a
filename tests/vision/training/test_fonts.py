"""No network is trained with a font that is used to calibrate or test it."""

import ast
from functools import cache
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from vision.training.backs import draw_style
from vision.training.fonts import families, families_kept_back, family_name, is_kept_back, kept_back

ROOT = Path(__file__).parents[3]
PARTS = [(part, look) for part, looks in kept_back().items() for look in looks]


@pytest.mark.parametrize(
    ("family", "kept"),
    [
        ("Inter", True),
        ("Inter Display", True),
        ("Go Mono", True),
        ("Gothic", False),
        ("Internal", False),
        ("DejaVu Sans", False),
        ("PT Sans Narrow", True),
    ],
)
def test_a_reserved_family_includes_all_that_begin_with_its_name(family: str, *, kept: bool) -> None:
    assert is_kept_back(family) == kept


def test_no_family_is_named_twice() -> None:
    names = [name for part, look in PARTS for name in kept_back()[part][look]]
    assert [
        pair for pair in combinations(names, 2) if pair[0] == pair[1] or f"{pair[0]} ".startswith(f"{pair[1]} ")
    ] == []


def test_training_uses_no_reserved_file() -> None:
    training = {path for family in families() for path in family}
    kept = {path for part, look in PARTS for family in families_kept_back(part, look) for path in family}
    assert training & kept == set()
    assert [path for path in training if is_kept_back(family_name(path))] == []


def test_calibration_and_test_share_no_file() -> None:
    looks = list(kept_back()["test"])
    sides = [
        {path for look in looks for family in families_kept_back(part, look) for path in family} for part in kept_back()
    ]
    assert sides[0] & sides[1] == set()


@cache
def _imports(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module)


def test_held_out_pictures_share_no_drawing_code_with_training() -> None:
    folder = ROOT / "tests" / "benchmarks" / "vision" / "held_out"
    painters = {f"vision.training.{path.stem}" for path in (ROOT / "vision" / "training").glob("*.py")} - {
        "vision.training.fonts"
    }
    used = {(path.name, module) for path, module in product(folder.glob("*.py"), painters) if module in _imports(path)}
    assert used == set()
    training = (ROOT / "vision").rglob("*.py")
    assert [path.name for path in training if any(name.startswith("tests") for name in _imports(path))] == []


def test_fonts_with_the_finest_strokes_are_only_for_training() -> None:
    judging = {path.name for part in kept_back() for family in families_kept_back(part, "print") for path in family}
    assert [name for name in judging if "thin" in name.lower() or "extralight" in name.lower()] == []


def test_a_third_of_the_styles_is_narrow_and_some_have_fine_strokes() -> None:
    """Most padded numbers that were not read were in a narrow, light font, which no training picture contained."""
    chance = np.random.default_rng(8)
    styles = [draw_style(chance) for _ in range(600)]
    narrow = [style for style in styles if style.stretch < 0.8]
    assert 0.25 < len(narrow) / len(styles) < 0.5
    assert min(style.stretch for style in narrow) < 0.6
    assert 0.1 < sum(style.stroke < 0 for style in narrow) / len(narrow) < 0.5
