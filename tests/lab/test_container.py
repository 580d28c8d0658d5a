"""A laboratory container: its commands, its environment, and the error if it exits."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.lab.container import AS_ROOT, SIMULATED, Container
from tests.lab.machine import CONSOLE_TAIL, Answer, MachineError
from tests.supply.parts import ROOT

NAMESPACES: Final = ("unshare", "--mount", "--uts", "--ipc", "--pid", "--cgroup", "--fork", "--mount-proc")
"""What systemd-nspawn isolates, except for the files."""


def test_an_installed_table_runs_without_screen_and_hardware() -> None:
    shipped = (ROOT / "systemd" / "table.toml").read_text(encoding="utf-8")
    made = subprocess.run(["sed", SIMULATED], input=shipped, capture_output=True, text=True, check=True).stdout
    changed = {line.partition(" = ")[0]: line for line in set(made.splitlines()) - set(shipped.splitlines())}
    assert changed == {"buttons": 'buttons = "sim://buttons"', "camera": 'camera = "sim://tray"'}
    gone = {line.partition(" = ")[0] for line in set(shipped.splitlines()) - set(made.splitlines())}
    assert gone == {"buttons", "camera", "driver", "fullscreen", "backlight"}


def test_a_container_that_exits_is_reported_with_its_console(tmp_path: Path) -> None:
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
    begins = "hostname inside; echo begun; exec cat"  # exits when its standard input is closed
    command = [*AS_ROOT, *NAMESPACES, "sh", "-c", begins]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        yield Container(running, tmp_path / "console.log")
        running.stdin.close()


@pytest.mark.slow
def test_commands_run_as_root_with_only_the_given_environment(container: Container) -> None:
    assert container.run("hostname; id -u; cat; exit 3", b"given") == Answer(3, "inside\n0\ngiven")
    assert container.run("echo $VIRTUAL_ENV; cat /proc/1/comm").output == "\ncat\n"
    assert container.run("echo out; echo wrong >&2") == Answer(0, "out\nwrong\n")


@pytest.mark.slow
def test_a_failing_command_raises_an_error(container: Container, tmp_path: Path) -> None:
    (tmp_path / "console.log").write_text("its console")
    with pytest.raises(MachineError, match=r"(?s)no such thing.*its console"):
        container.must("echo no such thing; false")
    place = tmp_path / "new" / "file"
    container.put(str(place), b"\x00 put")
    assert place.read_bytes() == b"\x00 put"
