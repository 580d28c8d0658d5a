"""A slice of `make cuts`: a day at a table whose program is killed again and again, compared with one that never is."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def cut(*options: str) -> subprocess.CompletedProcess[str]:
    """Play days of one round with these cuts."""
    command = [sys.executable, "-m", "tests.kiosk.cuts", "--kills", "1", "--jobs", "1", "--cold", "0", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_program_killed_in_every_state_returns_to_the_same_screen_and_sends_nothing_twice() -> None:
    done = cut("--kind", "drawn", "--every", "7")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    kills = re.search(r"^(\d+) kills", done.stdout, re.MULTILINE)
    assert kills is not None
    assert int(kills[1]) > 15
    assert "differences: 0\n" in done.stdout


@pytest.mark.slow
def test_a_day_of_any_kind_continues_as_if_nothing_had_happened() -> None:
    done = cut("--every", "41")
    assert done.stderr == ""  # its status also says that so few cuts do not reach every state
    kills = re.findall(r"^\w+ 1: (\d+) kills, 0 differences$", done.stdout, re.MULTILINE)
    assert [int(count) > 0 for count in kills] == [True] * 9, done.stdout
