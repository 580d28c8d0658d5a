"""A standby on a second machine, while the first is killed, frozen and cut off: real processes and tables."""

import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.sim.processes import COMMAND
from tests.e2e.two_machines import TwoMachines

pytestmark = pytest.mark.slow

PLAYS = 12


@pytest.fixture
def two(tmp_path: Path) -> Iterator[TwoMachines]:
    with TwoMachines(tmp_path, PLAYS) as machines:
        machines.start()
        machines.wait_for_plays(machines.first, 1)
        yield machines


def take_over(folder: Path) -> None:
    """Make the standby in a folder take over, as an organiser would."""
    subprocess.run([COMMAND, "take-over", folder], check=True, capture_output=True)


def test_a_killed_scorer_is_replaced_and_takes_the_event_back_as_a_standby(two: TwoMachines) -> None:
    two.first.kill()
    two.second.take_over_soon()
    two.second.wait_for(r"^Standby: taking over")
    two.second.wait_for(r"^Desk: ")
    before = len(two.log)
    two.first.start("embedded")
    two.first.wait_for(r"^Standby: the other machine, .*, has taken over")
    two.first.wait_for(r"^Standby: up to date")
    assert not any(re.search(r"first: Desk", line) for line in two.log[before:])
    take_over(two.first.folder)
    two.first.wait_for(r"^Standby: taking over \(handed_over\)")
    two.first.wait_for(r"^Desk: ")
    two.second.wait_for(r"\[scorer_replaced\]")
    two.wait_for_plays(two.first, PLAYS)
    assert two.problems(two.first) == []


def test_a_cut_link_changes_nothing_and_a_replaced_frozen_scorer_ends_on_waking(two: TwoMachines) -> None:
    two.first.cut_from(two.second)
    two.second.cut_from(two.first)
    two.second.wait_for(r"^Standby: .* no longer answers")
    two.wait_for_plays(two.first, 4)
    two.first.cut_from(None)
    two.second.cut_from(None)
    two.second.wait_for(r"^Standby: .* answers again")
    assert not any("taking over" in line for line in two.log)
    two.first.signal(signal.SIGSTOP)
    two.second.take_over_soon()
    two.second.wait_for(r"^Standby: taking over \(no_answer\)")
    two.second.wait_for(r"^Desk: ")
    two.wait_for_plays(two.second, 8)
    two.first.signal(signal.SIGCONT)
    two.first.wait_for(r"\[scorer_replaced\]")
    two.wait_for_plays(two.second, PLAYS)
    assert two.problems(two.second) == []


def test_a_standby_reserves_its_ports(two: TwoMachines) -> None:
    """Otherwise it could take over an event that it cannot serve, after the first scorer has ended."""
    second = two.second
    for port in (second.broker, second.desk):
        with pytest.raises(OSError, match="in use"):
            socket.create_server(("127.0.0.1", port))
    second.kill()
    for port, code in ((second.broker, "broker_port_taken"), (second.desk, "desk_port_taken")):
        with socket.create_server(("127.0.0.1", port)):
            second.start("embedded")
            second.wait_for(rf"^Standby: {code}: 127.0.0.1 port {port}: ")
        second.wait_for(r"^Standby: up to date")
        second.kill()
    second.start("embedded")
    second.wait_for(r"^Standby: up to date")
    take_over(second.folder)
    second.wait_for(r"^Desk: ")
    two.wait_for_plays(second, PLAYS)
    assert two.problems(second) == []
