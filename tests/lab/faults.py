"""The table's program is killed and frozen, its kernel hangs, and the network fails: the table recovers its state."""

from tests.lab.report import Report
from tests.lab.table import UNIT, LabTable, TableRecord

BACK_S = 1800.0


def run(table: LabTable, report: Report) -> None:
    """Run at a table in the middle of a play."""
    with report.check("a play begins after the result was left"):
        table.go_on()
        table.begin(2)
    with report.check("killed with SIGKILL in the middle of a play, it is there again in the same state"):
        _goes_on_after(table, f"systemctl kill -s KILL --kill-whom=main {UNIT}")
    with report.check("frozen with SIGSTOP, the watchdog ends it, and it is there again in the same state"):
        _goes_on_after(table, f"systemctl kill -s STOP --kill-whom=main {UNIT}")
    with report.check(
        "with its kernel standing still, the machine is restarted by its watchdog, and is there in the same state"
    ):
        _goes_on_after_hanging(table)
    with report.check("without the network the play goes on, and its result is at the scorer when the network is back"):
        table.machine.monitor.execute("set_link", name="net0", up=False)
        table.outside.wait_for("the table is away", lambda shown: shown["silent"] or shown["lifecycle"] == "lost")
        table.declare("north")
        table.machine.wait_for("the press in the journal", lambda: _has(table, "claim_window_elapsed"))
        table.machine.monitor.execute("set_link", name="net0", up=True)
        table.in_state("declared")
        table.machine.type([*"8", "enter", "d"])
        table.answer("accepting", "recorded")
        result = table.outside.results()[-1]
        assert (result["round"], result["win"], result["seats"]["north"]["hand_value"]) == (2, "self_drawn", 8), result


def _goes_on_after(table: LabTable, fault: str) -> None:
    """End the program in a given way; its journal must not become shorter, and the desk must show the same state."""
    before, pid, state = table.record(), table.main_pid(), table.outside.table()["state"]
    table.machine.must(fault)
    table.machine.wait_for("another process", lambda: table.main_pid() not in (0, pid), BACK_S)
    table.in_state(state)
    _nothing_is_lost(before, table.record())


def _goes_on_after_hanging(table: LabTable) -> None:
    """Hang the whole machine; its journal must not become shorter, and the desk must show the same state."""
    before, state = table.record(), table.outside.table()["state"]
    table.machine.hang()
    table.set_clock()
    table.wait_for_kiosk()
    table.in_state(state)
    _nothing_is_lost(before, table.record())


def _nothing_is_lost(before: TableRecord, after: TableRecord) -> None:
    assert after.happened[: len(before.happened)] == before.happened
    assert after.safe >= before.safe


def _has(table: LabTable, event: str) -> bool:
    """Whether this event has happened since the last deal was called."""
    kinds = [one["type"] for one in table.record().happened]
    called = len(kinds) - kinds[::-1].index("next_deal_called") if "next_deal_called" in kinds else 0
    return event in kinds[called:]
