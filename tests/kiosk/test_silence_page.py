"""docs/silence.md names tests that exist, and every test of silence."""

import re
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
PAGE: Final = (HERE.parents[1] / "docs" / "silence.md").read_text(encoding="utf-8")
NAMED: Final = frozenset(re.findall(r"`(test_\w+)`", PAGE))

DEFINED: Final = re.compile(r"^def (test_\w+)", re.MULTILINE)


def written_in(*files: Path) -> frozenset[str]:
    return frozenset(name for file in files for name in DEFINED.findall(file.read_text(encoding="utf-8")))


def test_every_test_that_the_page_names_exists() -> None:
    hardware = HERE.parent / "firmware" / "hardware"
    assert sorted(NAMED - written_in(*HERE.rglob("test_*.py"), *hardware.glob("test_*.py"))) == []


def test_every_test_of_silence_is_named_on_the_page() -> None:
    of_the_tests_themselves = {"test_the_comparison_notices_what_is_shown"}
    assert sorted(written_in(HERE / "test_silence.py") - NAMED - of_the_tests_themselves) == []
