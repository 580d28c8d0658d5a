"""Those parts of the laboratory that need no machine: cache keys, agent, keyboard, and the count of checks."""

import base64
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kiosk.pairing.form import PairingForm, new_pairing_form
from kiosk.screens import ScreenView
from kiosk.screens.views import PairingView, StatusLine
from tests.lab import image
from tests.lab.first_boot import LIKE, difference, drawn
from tests.lab.inside import agent
from tests.lab.machine import JsonLines, Machine, MachineError, Monitor, is_picture
from tests.lab.report import Report
from tests.lab.table import TableRecord

SOON_S = 60.0


class Listener:
    """A server at a UNIX socket that answers each line with a function."""

    def __init__(self, path: Path, greeting: bytes, answers: Iterator[bytes]) -> None:
        self.asked: list[dict[str, object]] = []
        self._greeting, self._answers = greeting, answers
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        line, _ = self._socket.accept()
        with line, line.makefile("rb") as asked:
            line.sendall(self._greeting)
            for one in asked:
                self.asked.append(json.loads(one))
                line.sendall(next(self._answers))

    def close(self) -> None:
        self._socket.close()
        self._thread.join(SOON_S)


def test_a_changed_input_replaces_the_cache_entry(tmp_path: Path) -> None:
    assert image.digest_of(b"ab", b"c") != image.digest_of(b"a", b"bc")
    first, there = image.kept("disk", "1", tmp_path)
    assert not there
    first.mkdir()
    (other := tmp_path / "base-1").mkdir()
    assert image.kept("disk", "1", tmp_path) == (first, True)
    assert image.kept("disk", "2", tmp_path)[1] is False
    assert (first.exists(), other.exists()) == (False, True)


def test_a_tables_packages_are_the_latest_for_the_machines_debian_with_one_version(
    tmp_path: Path,
) -> None:
    with pytest.raises(FileNotFoundError):
        image.newest_debs(tmp_path)
    ours = ["homologue-common_0.1.0+deb13_amd64.deb", "homologue-table_0.1.0+deb13_amd64.deb"]
    for name in (*ours, "homologue-table_9+deb13_arm64.deb", "homologue-table_9+deb12_amd64.deb"):
        (tmp_path / name).touch()
    assert [one.name for one in image.newest_debs(tmp_path)] == ours


def test_the_agent_returns_exit_status_and_output_and_passes_input() -> None:
    asked = {"id": 7, "command": "cat; echo err >&2; exit 3", "input": base64.b64encode(b"in\n").decode()}
    told = json.loads(agent.answer(json.dumps(asked).encode()))
    assert (told["id"], told["status"], base64.b64decode(told["output"])) == (7, 3, b"in\nerr\n")


def test_the_box_reports_presses_over_its_cable(tmp_path: Path) -> None:
    table, box = os.openpty()
    pipe = tmp_path / "fingers"
    command = [sys.executable, "-m", "tests.lab.inside.box", os.ttyname(box), str(pipe)]
    with subprocess.Popen(command, cwd=image.ROOT) as process:
        told = b""
        while b"!B " not in told:
            told += os.read(table, 4096)
        pipe.write_text("1 1\n", encoding="ascii")
        while (edge := re.search(rb"!E (\d+) 0 1 1 \d+ [0-9a-f]{8}\n", told)) is None:
            told += os.read(table, 4096)
        process.terminate()
    assert int(edge[1]) > 0
    os.close(table)
    os.close(box)


def test_the_monitor_skips_events_and_reports_refused_commands(tmp_path: Path) -> None:
    event, done = b'{"event": "RESET"}\n', b'{"return": {}}\n'
    refused = b'{"error": {"class": "GenericError", "desc": "no such device"}}\n'
    listener = Listener(tmp_path / "qmp", b'{"QMP": {}}\n', iter((done, event + done, refused)))
    monitor = Monitor(JsonLines(tmp_path / "qmp", SOON_S))
    monitor.execute("set_link", name="net0", up=False)
    with pytest.raises(MachineError, match="no such device"):
        monitor.execute("screendump")
    monitor.close()
    listener.close()
    assert listener.asked[1] == {"execute": "set_link", "arguments": {"name": "net0", "up": False}}


def test_black_and_single_coloured_screens_are_not_pictures() -> None:
    assert not is_picture(np.zeros((480, 800, 3), np.uint8))
    assert not is_picture(np.full((480, 800, 3), 200, np.uint8))


def test_the_expected_screen_differs_from_another() -> None:
    def asking(form: PairingForm) -> ScreenView:
        return ScreenView(0, PairingView(form), StatusLine(unpaired=True))

    expected = drawn(asking(new_pairing_form("")))
    later = drawn(ScreenView(0, PairingView(new_pairing_form("")), StatusLine(unpaired=True, clock="12:34")))
    assert is_picture(expected)
    assert difference(later, expected) < LIKE
    assert difference(expected[:, ::-1], expected) > LIKE
    assert difference(np.zeros_like(expected), expected) > LIKE


def fail(why: str) -> None:
    raise MachineError(why)


def test_the_last_line_counts_checks_and_those_that_held() -> None:
    said: list[str] = []
    report = Report(said.append, clock=lambda: 0.0)
    with report.check("one"):
        pass
    with report.check("two"):
        fail("the console said this")
    assert report.last_line == "lab: 2 checks, 1 held"
    assert report.broken == ["two"]
    assert "the console said this" in said[1]


def test_a_folder_without_a_journal_is_an_empty_record(tmp_path: Path) -> None:
    assert agent.journal(tmp_path) == {"happened": [], "outbox": []}
    assert TableRecord([], [(1, "a", "safe"), (2, "b", "open")]).safe == {"a"}


def test_a_request_to_a_machine_that_is_off_fails_with_its_console(tmp_path: Path) -> None:
    (tmp_path / "disk.qcow2").touch()
    (tmp_path / "console.log").write_text("Kernel panic\n", encoding="utf-8")
    with (
        Machine(tmp_path, tmp_path / "none", tmp_path / "none", tmp_path / "none") as machine,
        pytest.raises(MachineError, match=r"switched off(.|\n)*Kernel panic"),
    ):
        machine.run("true")
