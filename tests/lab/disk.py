"""The card becomes full, then read-only: no play ends, nothing is lost, and it is reported."""

from tests.lab.report import Report
from tests.lab.table import STATE, LabTable

FILL = "fallocate -l $(($(stat -f -c '%a*%S' /var))) /var/full; cat /dev/zero >/var/fuller; df /var"
ROOM = "rm -f /var/full /var/fuller"
READ_ONLY = "echo u >/proc/sysrq-trigger; for try in $(seq 60); do touch /x || exit 0; sleep 1; done; exit 1"
"""Remount it read-only at once, even with files open for writing, as the kernel does when a card fails."""


def run(table: LabTable, report: Report) -> None:
    """Run at a table in the middle of a play."""
    with report.check("a full card is named on the desk, and a press counts all the same"):
        table.machine.must(FILL)
        table.declare("west")
        table.in_state("declared")
        table.outside.wait_for_health("disk", well=False)
    with report.check("with room again the journal is on the card, whole"):
        table.machine.must(ROOM)
        table.outside.wait_for_health("disk", well=True)
        assert table.machine.run(f"find {STATE} -name table.sqlite -size +0").output
    with report.check("a card that turns read-only is named, and the result comes to the scorer all the same"):
        table.machine.must(READ_ONLY)
        table.machine.type([*"10", "enter", "s"])
        table.answer("accepting", "recorded")
        table.outside.wait_for_health("disk", well=False)
        assert table.outside.results()[-1]["round"] == 3
    with report.check("writable again, it has the whole journal, also when it is read again"):
        table.machine.must("mount -o remount,rw /")
        table.outside.wait_for_health("disk", well=True)
        safe = table.record().safe
        table.restart_program()
        table.in_state("recorded")
        assert table.record().safe >= safe
