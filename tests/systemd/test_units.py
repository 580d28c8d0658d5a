"""The units are accepted by systemd, deny what they do not need, and start commands that exist."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final
from unittest.mock import patch

import click
import pytest

from broker.cli.publish import publish
from broker.cli.scorer import scorer
from broker.console import PathType
from broker.sim.demo_event import write_kiosk
from kiosk.config import memory_folder
from kiosk.maintenance import table
from tests.broker.scorer.folders import event_folder
from tests.demo_event import MakeEvent
from tests.patience import PATIENCE_S
from tests.systemd.units import (
    HERE,
    INSTALLED,
    ROOT,
    UNITS,
    allowed_calls,
    analyze,
    as_installed,
    command_line,
    unit,
    values,
)

KIOSK: Final = unit("homologue-kiosk@.service")
SCORER: Final = unit("homologue-scorer@.service")
PUBLISH: Final = unit("homologue-publish@.service")
MOSQUITTO: Final = unit("homologue-mosquitto.service")
CERTIFICATES: Final = unit("homologue-mosquitto-certificates.service")
FAILED: Final = unit("homologue-failed@.service")
LIMITS: Final = unit("homologue-limits.service")

EXPOSURE: Final = {KIOSK: 15, SCORER: 12, PUBLISH: 11, MOSQUITTO: 11, CERTIFICATES: 19, FAILED: 6, LIMITS: 14}
"""The highest exposure that `systemd-analyze security` may report, in tenths. It is higher for the kiosk, which has
devices, and for the unit that reads the scorer's files and writes Mosquitto's."""

FILTERED: Final = Path(__file__).with_name("filtered.py")

every_unit = pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)


def test_every_unit_is_tested_here() -> None:
    assert sorted(EXPOSURE) == UNITS


@every_unit
def test_systemd_accepts_each_unit(path: Path, tmp_path: Path) -> None:
    verified = analyze("verify", "--man=no", str(as_installed(path, tmp_path)))
    assert (verified.returncode, verified.stdout, verified.stderr) == (0, "", "")


@every_unit
@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("KeyringMode=private", "KeyringMode=sometimes", "Failed to parse keyring mode"),
        ("ProtectSystem=", "ProtectedSystem=", "Unknown key 'ProtectedSystem'"),
        ("ExecStart=/", "ExecStart=/nowhere/", "is not executable"),
    ],
)
def test_systemd_reports_a_broken_unit(path: Path, tmp_path: Path, old: str, new: str, complaint: str) -> None:
    verified = analyze("verify", "--man=no", str(as_installed(path, tmp_path, old, new)))
    assert complaint in verified.stderr


@every_unit
def test_exposure_is_within_its_limit(path: Path, tmp_path: Path) -> None:
    copy = as_installed(path, tmp_path)
    judged = analyze("security", "--offline=true", "--no-pager", f"--threshold={EXPOSURE[path]}", str(copy))
    assert judged.returncode == 0, judged.stdout


@every_unit
def test_a_more_exposed_unit_exceeds_its_limit(path: Path, tmp_path: Path) -> None:
    open_now = (
        "CapabilityBoundingSet=\n" if path == FAILED else "NoNewPrivileges=yes\n"
    )  # DynamicUser= implies NoNewPrivileges=
    copy = as_installed(path, tmp_path, open_now)
    judged = analyze("security", "--offline=true", "--no-pager", f"--threshold={EXPOSURE[path]}", str(copy))
    assert judged.returncode != 0


every_service = pytest.mark.parametrize("path", [KIOSK, SCORER, PUBLISH, MOSQUITTO], ids=lambda path: path.name)


@every_service
def test_a_service_restarts_whenever_it_ends(path: Path) -> None:
    asked = {key: values(path, key) for key in ("Restart", "WantedBy")}
    assert asked == {"Restart": ["always"], "WantedBy": ["multi-user.target"]}


@pytest.mark.parametrize("path", [KIOSK, SCORER], ids=lambda path: path.name)
def test_a_failing_service_shows_a_message_and_is_retried(path: Path) -> None:
    assert values(path, "OnFailure") == ["homologue-failed@%n.service"]
    (interval,), (pause,), (burst,) = (
        values(path, key) for key in ("StartLimitIntervalSec", "RestartSec", "StartLimitBurst")
    )
    assert int(pause) * int(burst) < int(interval), "a service that ends at once would never come to its limit"
    assert values(FAILED, "StandardOutput") == ["tty"]
    assert values(FAILED, "ExecStopPost") == [
        "+/bin/systemctl reset-failed %i",  # otherwise the limit could prevent another attempt
        "+/bin/systemctl --no-block start %i",
    ]


def test_the_journal_in_memory_survives_the_service() -> None:
    """If the card is not writable, it is in /dev/shm, where RemoveIPC= would delete all files of the user."""
    assert memory_folder(ROOT).is_relative_to("/dev/shm")
    assert values(KIOSK, "RemoveIPC") == ["no"]


def test_the_failure_message_is_printed_as_intended(tmp_path: Path) -> None:
    """Once systemd has parsed the line, the shell prints a message and the service's last log lines."""
    line = values(FAILED, "ExecStart")[0].replace("\\\\", "\\").replace("\\'", "'\\''").replace("exec sleep 60", "true")
    journal = tmp_path / "journalctl"
    journal.write_text('#!/bin/sh\necho asked: "$@"\n', encoding="utf-8")
    journal.chmod(0o755)
    said = subprocess.run(
        ["/bin/sh", "-c", line.replace("%i", "homologue-kiosk@table.service")],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "Homologue does not start." in said
    assert (
        said.splitlines()[-1] == "asked: --quiet --no-pager --output=cat --lines=6 --unit=homologue-kiosk@table.service"
    )


@every_service
def test_each_service_has_its_own_user_other_than_root(path: Path) -> None:
    users = [name for each in (KIOSK, SCORER, MOSQUITTO) for name in values(each, "User")]
    assert len(values(path, "User")) == 1
    assert len({*users} - {"root"}) == 3


def test_a_kiosk_does_not_wait_for_the_network() -> None:
    assert "network-online.target" not in " ".join(values(KIOSK, "After") + values(KIOSK, "Wants"))


def parsed(command: click.Command, words: list[str]) -> dict[str, object]:
    """Return the parameters that a command parses from its command line. Unknown options are errors."""
    program, name, *arguments = words
    assert program == f"{INSTALLED}homologue"
    assert name == command.name
    with patch.object(
        PathType, "convert", lambda _, value, *_where: Path(value)
    ):  # paths exist only on the installed machine
        return command.make_context(name, arguments).params


def test_the_kiosk_accepts_its_command_line() -> None:
    program, group, *words = command_line(KIOSK)
    assert group == "table"
    assert parsed(table.commands["run"], [program, *words])["config"] == Path("/etc/homologue/table-3.toml")


@pytest.mark.parametrize("options", ["", "--broker localhost:8883 --ca /etc/homologue/ca.crt --desk-name desk.local"])
def test_the_scorer_accepts_its_command_line(options: str) -> None:
    assert parsed(scorer, command_line(SCORER, options))["event"] == Path("/var/lib/homologue-scorer/table-3")


def test_the_scorers_options_on_the_installers_page_are_accepted() -> None:
    page = (ROOT / "docs" / "installer.md").read_text(encoding="utf-8")
    told = re.findall(r"^OPTIONS=(.+)$", page, re.MULTILINE)
    assert len(told) >= 2
    for options in told:
        parsed(scorer, command_line(SCORER, options))


def test_publish_accepts_its_command_line_and_reads_the_scorers_folder() -> None:
    asked = parsed(publish, command_line(PUBLISH))
    assert (asked["folder"], asked["watch"]) == (Path(command_line(SCORER)[-1]), True)
    assert [str(asked["target"])] == [
        f"/var/lib/{one.replace('%i', 'table-3')}" for one in values(PUBLISH, "StateDirectory")
    ]
    assert values(PUBLISH, "User") == values(SCORER, "User")


def test_the_state_directory_is_where_the_scorer_writes() -> None:
    assert command_line(SCORER)[-1] == f"/var/lib/{values(SCORER, 'StateDirectory')[0].replace('%i', 'table-3')}"


def under(path: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start `homologue` with only the system calls of a unit."""
    calls = ",".join(sorted(allowed_calls(path)))
    command = [sys.executable, str(FILTERED), calls, str(HERE / "homologue"), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def said(process: subprocess.Popen[str], wanted: str) -> list[str]:
    """Return the output lines, terminating the process once a line contains `wanted`."""
    lines = []
    for line in process.stdout or ():
        lines.append(line.rstrip())
        if wanted in line:
            process.terminate()
    process.wait(PATIENCE_S)
    if process.stdout:
        process.stdout.close()
    return lines


@pytest.mark.slow
def test_scorer_and_broker_work_with_the_units_system_calls(tmp_path: Path, demo_event: MakeEvent) -> None:
    demo_event(tmp_path, 1)
    everywhere = ("--host", "0.0.0.0")  # noqa: S104 - as in docs/installer.md for a club evening
    process = under(SCORER, "scorer", str(tmp_path), *everywhere, "--mqtt-port", "0", "--desk-port", "0")
    busy = "broker_unreachable"  # at the first attempt
    lines = [line for line in said(process, "No accounts yet: ") if busy not in line]
    assert [line.split(":")[0] for line in lines] == ["Broker", "Broker program", "Desk", "No accounts yet"]
    assert process.returncode == 0


@pytest.mark.slow
def test_publish_works_with_the_units_system_calls(tmp_path: Path) -> None:
    words = ("publish", str(event_folder(tmp_path / "cup")), "--to", str(tmp_path / "web"), "--watch", "--json")
    process = under(PUBLISH, *words)
    assert any('"written": 76' in line for line in said(process, '"written"'))
    assert process.returncode == 0


@pytest.mark.slow
def test_a_kiosk_works_with_the_units_system_calls(tmp_path: Path, demo_event: MakeEvent) -> None:
    demo_event(tmp_path, 1)
    process = under(KIOSK, "table", "run", str(write_kiosk(tmp_path, 1, 1)))
    assert any("state=waiting" in line for line in said(process, "state=waiting"))
    assert process.returncode == 0


@pytest.mark.slow
def test_a_filter_that_is_too_narrow_stops_the_broker(tmp_path: Path, demo_event: MakeEvent) -> None:
    narrow = tmp_path / SCORER.name
    narrow.write_text(SCORER.read_text(encoding="utf-8").replace("SystemCallFilter=capset\n", ""), encoding="utf-8")
    demo_event(tmp_path, 1)
    process = under(narrow, "scorer", str(tmp_path), "--mqtt-port", "0", "--desk-port", "0")
    assert "broker_start_failed" in "\n".join(said(process, "Desk: "))
