"""A small version of the world event that `make bench-scale` measures."""

import re
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_every_result_of_halls_and_tables_reaches_the_centres_standings() -> None:
    words = ["--tables", "24", "--halls", "3", "--deals", "2", "--rounds", "2", "--seconds", "2", "--minutes", "0.1"]
    command = [sys.executable, "-m", "tests.benchmarks.scorer.world", *words]
    run = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert run.returncode == 0, run.stdout
    stages = re.findall(r"^\| (world|100 times) \| (\d+) results", run.stdout, re.MULTILINE)
    assert stages == [("world", "8"), ("100 times", "24")], run.stdout
    assert "| the centre's store | 48 results, " in run.stdout, run.stdout
