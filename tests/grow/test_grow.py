"""A small event in three halls in which everything between them fails, as `make grow` plays a larger one."""

import re
import subprocess
import sys

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(("store", "faults"), [("sqlite", 14), ("postgresql", 15)])
def test_whatever_fails_between_halls_and_centre_every_play_is_there_once_and_not_too_early(
    store: str, faults: int
) -> None:
    small = ["--tables", "2", "--rounds", "12", "--pace", "5", "--pause", "2", "--store", store]
    command = [sys.executable, "-m", "tests.grow", *small]
    run = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    last = run.stdout.splitlines()[-1]
    assert re.fullmatch(rf"grow: 3 halls, 72 plays, 0 lost, 0 doubled, 0 early, {faults} faults", last), run.stdout
    assert run.returncode == 0, run.stdout
