"""A container of the laboratory: what it is told, where it runs, and what is said of one that ends."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.lab.container import AS_ROOT, SIMULATED, Container
from tests.lab.machine import CONSOLE_TAIL, Answer, MachineError
from tests.supply.parts import ROOT

NAMESPACES: Final = ("unshare", "--mount", "--uts", "--ipc", "--pid", "--cgroup", "--fork", "--mount-proc")
"""What systemd-nspawn gives a machine of its own, but for its files."""


def test_a_table_as_it_is_installed_becomes_one_without_a_screen_and_hardware() -> None:
    shipped = (ROOT / "systemd" / "table.toml").read_text(encoding="utf-8")
    made = subprocess.run(["sed", SIMULATED], input=shipped, capture_output=True, text=True, check=True).stdout
    changed = {line.partition(" = ")[0]: line for line in set(made.splitlines()) - set(shipped.splitlines())}
    assert changed == {"buttons": 'buttons = "sim://buttons"', "camera": 'camera = "sim://tray"'}
    gone = {line.partition(" = ")[0] for line in set(shipped.splitlines()) - set(made.splitlines())}
    assert gone == {"buttons", "camera", "driver", "fullscreen", "backlight"}


def test_a_container_that_ends_is_told_at_once_with_the_end_of_its_console(tmp_path: Path) -> None:
    console = tmp_path / "console.log"
    lines = f"seq {CONSOLE_TAIL + 5}; echo no such root; exit 7"
    with (
        console.open("w") as said,
        subprocess.Popen(["sh", "-c", lines], stdout=said, text=True) as running,
        pytest.raises(MachineError) as failed,
    ):
        Container(running, console).wait_until_up()
    told = str(failed.value).splitlines()
    assert (told[0], told[-1], len(told)) == ("the container ended (7)", "no such root", CONSOLE_TAIL + 2)


@pytest.fixture
def container(tmp_path: Path) -> Iterator[Container]:
    """A process that is the first of its own namespaces, as a container's systemd is."""
    begins = "hostname inside; echo begun; exec cat"  # which ends when nobody can write to it any more
    command = [*AS_ROOT, *NAMESPACES, "sh", "-c", begins]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        yield Container(running, tmp_path / "console.log")
        running.stdin.close()


@pytest.mark.slow
def test_a_command_runs_inside_as_root_with_what_it_is_given_and_nothing_of_ours(container: Container) -> None:
    assert container.run("hostname; id -u; cat; exit 3", b"given") == Answer(3, "inside\n0\ngiven")
    assert container.run("echo $VIRTUAL_ENV; cat /proc/1/comm").output == "\ncat\n"
    assert container.run("echo out; echo wrong >&2") == Answer(0, "out\nwrong\n")


@pytest.mark.slow
def test_what_must_succeed_is_told_when_it_does_not(container: Container, tmp_path: Path) -> None:
    (tmp_path / "console.log").write_text("its console")
    with pytest.raises(MachineError, match=r"(?s)no such thing.*its console"):
        container.must("echo no such thing; false")
    place = tmp_path / "new" / "file"
    container.put(str(place), b"\x00 put")
    assert place.read_bytes() == b"\x00 put"
