"""The demo, as `make demo ONCE=1` runs it."""

import subprocess
from pathlib import Path

import pytest

from broker.sim.processes import COMMAND


@pytest.mark.slow
def test_the_demo_plays_a_whole_event_without_problems(tmp_path: Path) -> None:
    command: list[str | Path] = [COMMAND, "demo", "--once", "--folder", str(tmp_path / "event")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    said = ended.stdout.splitlines()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"Standings: {tmp_path / 'event' / 'standings.csv'}" in said
    assert said[-1] == "All points and IMPs of 16 plays recomputed from the journal: they agree."
    assert checked(tmp_path / "event") == ["all right"] * 16


def checked(event: Path) -> list[str]:
    """Record the event's plays, replay them through the referee, and return the results."""
    records = event.parent / "event.pmn"
    subprocess.run([COMMAND, "export", "pmn", event, "--output", records], check=True)
    ended = subprocess.run([COMMAND, "record", "check", records], capture_output=True, text=True, check=False)
    return [line.rpartition(": ")[2] for line in ended.stdout.splitlines()]


@pytest.mark.slow
def test_a_rehearsal_runs_to_its_end_and_does_not_change_the_event(tmp_path: Path) -> None:
    listed = tmp_path / "list.csv"
    listed.write_text("name\n" + "".join(f"Player {number}\n" for number in range(1, 13)), encoding="utf-8")
    said = ["--name", "cup", "--title", "Club cup", "--profile", "oedmc-2020", "--players", str(listed)]
    size = ["--rounds", "2", "--deals-per-round", "1", "--copies", "3"]
    event, copy = tmp_path / "cup", tmp_path / "copy"
    subprocess.run([COMMAND, "event", "new", event, *said, *size], check=True, capture_output=True)
    before = {path: path.read_bytes() for path in event.rglob("*") if path.is_file()}
    rehearse: list[str | Path] = [COMMAND, "rehearse", event, "--copy", copy, "--once", "--speed", "20", "--seed", "3"]
    with subprocess.Popen(rehearse, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as rehearsal:
        assert rehearsal.stdout is not None
        said = [next(line for line in rehearsal.stdout if " of 6 plays in" in line)]
        # The rehearsal continues although the copy's desk has an account of the organiser.
        account: list[str | Path] = [
            COMMAND,
            "event",
            "people",
            "add",
            copy,
            "anne",
            "--full",
            "Anne Roy",
            "--role",
            "head_arbiter",
        ]
        subprocess.run([*account, "--password-stdin"], input="four winds and a dragon\n", text=True, check=True)
        said += rehearsal.stdout
    assert rehearsal.returncode == 0, said
    assert "all 6 plays are in: the rehearsal is over" in said[-1]
    assert any("table 3 loses power and starts again" in line for line in said)
    assert 'title = "REHEARSAL · Club cup"' in (copy / "event.toml").read_text(encoding="utf-8")
    assert {path: path.read_bytes() for path in event.rglob("*") if path.is_file()} == before
