"""`make demo ONCE=1` as anybody runs it."""

import subprocess
from pathlib import Path

import pytest

from broker.sim.processes import COMMAND


@pytest.mark.slow
def test_the_demo_plays_a_whole_event_and_finds_nothing_off(tmp_path: Path) -> None:
    command: list[str | Path] = [COMMAND, "demo", "--once", "--folder", str(tmp_path / "event")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    said = ended.stdout.splitlines()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"Standings: {tmp_path / 'event' / 'standings.csv'}" in said
    assert said[-1] == "All points and IMPs of 16 plays recomputed from the journal: they agree."
    assert checked(tmp_path / "event") == ["all right"] * 16


def checked(event: Path) -> list[str]:
    """Put the event's plays on record, play them again through the referee, and give what is said of each."""
    records = event.parent / "event.pmn"
    subprocess.run([COMMAND, "export", "pmn", event, "--output", records], check=True)
    ended = subprocess.run([COMMAND, "record", "check", records], capture_output=True, text=True, check=False)
    return [line.rpartition(": ")[2] for line in ended.stdout.splitlines()]
