"""The power is cut at random times, often: what was on the disk remains, and confirmed facts are at the scorer."""

import random
import sqlite3
import threading
from contextlib import closing, suppress
from pathlib import Path

from broker.store import STORE
from tests.lab.machine import COMES_UP_S, MachineError, is_picture
from tests.lab.outside import TABLE
from tests.lab.report import Report
from tests.lab.table import HERE, LabTable

LONGEST_S = 25.0
"""Range of the time between a player's action and the power cut."""


def run(table: LabTable, report: Report, cuts: int, seed: int) -> None:
    """Run at a table in any state, while its players go on."""
    chance = random.Random(seed)
    for number in range(1, cuts + 1):
        with report.check(f"power cut {number} of {cuts}: it comes back, with all that was on the disk"):
            _cut_once(table, chance)
    with report.check("after all power cuts the scorer has every fact once, in order, and the table has none unsent"):
        table.outside.wait_for("nothing is unsent", lambda shown: not shown["unsent"] and not shown["gaps"])
        stored = _stored(table.outside.hall.folder / STORE)
        assert [seq for seq, _ in stored] == [*range(1, len(stored) + 1)], stored
        missing = table.record().safe - {id_ for _, id_ in stored}
        assert not missing, missing


def _stored(store: Path) -> list[tuple[int, str]]:
    """Return number and id of each of the table's facts at the scorer, in order of arrival."""
    with closing(sqlite3.connect(f"{store.absolute().as_uri()}?mode=ro", uri=True)) as journal:
        told = "SELECT seq, id FROM journal WHERE table_no = ? AND repairs IS NULL ORDER BY height"
        return journal.execute(told, (TABLE,)).fetchall()


def _cut_once(table: LabTable, chance: random.Random) -> None:
    """Let the players act, cut the power meanwhile, and check what comes back."""
    before = table.record()
    falling = threading.Timer(chance.uniform(0, LONGEST_S), table.machine.cut)
    falling.start()
    with suppress(MachineError, OSError, EOFError):  # the power was cut before they had finished
        table.act()
    falling.join()
    table.machine.start()
    table.machine.wait_until_up()
    table.set_clock()
    table.wait_for_kiosk()
    table.outside.wait_for("the table has come back", lambda shown: shown["lifecycle"] in HERE, COMES_UP_S)
    table.machine.wait_for("a picture", lambda: is_picture(table.machine.screen()))
    after = table.record()
    assert after.happened[: len(before.happened)] == before.happened, "what was on the disk is not"
    assert after.safe >= before.safe, f"confirmed facts are not: {before.safe - after.safe}"
