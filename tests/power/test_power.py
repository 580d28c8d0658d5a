"""A part of `make power`: everything that writes, cut at some two hundred places."""

import re
import subprocess
import sys

import pytest

from tests.power.recorder import ROOT


@pytest.mark.slow
def test_nothing_promised_is_lost_wherever_the_power_is_cut() -> None:
    command = [sys.executable, "-m", "tests.power", "--cuts", "210", "--seed", "1", "--jobs", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert re.search(r"^power: 210 states of the disk, 0 of them wrong$", done.stdout, re.MULTILINE)
