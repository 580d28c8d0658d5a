"""A slice of `make cuts`: a whole day at a table whose program is killed again and again, beside one that never was."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_who_is_killed_in_every_state_comes_back_to_the_same_screen_and_tells_nothing_twice() -> None:
    command = [
        sys.executable,
        "-m",
        "tests.kiosk.cuts",
        "--kind",
        "drawn",
        "--kills",
        "1",
        "--every",
        "7",
        "--jobs",
        "1",
    ]
    done = subprocess.run([*command, "--cold", "0"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    kills = re.search(r"^(\d+) kills", done.stdout, re.MULTILINE)
    assert kills is not None
    assert int(kills[1]) > 15
    assert "differences: 0\n" in done.stdout
