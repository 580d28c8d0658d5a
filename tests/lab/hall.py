"""A hall of tables, each on its own machine, with one scorer: they are paired, play two rounds, and lose power."""

import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from broker.protocol import SEATS, Seat
from tests.lab.first_boot import LIKE, difference, pairing_screen
from tests.lab.machine import COMES_UP_S
from tests.lab.outside import LabHall
from tests.lab.report import Report
from tests.lab.table import HERE, LabTable, new_table
from vision.geometry import Picture

IN_THE_DARK: Final = 2
"""Tables whose power is cut in the middle of a play."""


def run(hall: LabHall, folder: Path, disk: Path, debian: Path, count: int, report: Report, seed: int) -> None:
    """From new cards to the results of two rounds at every table."""
    chance, asking = random.Random(seed), pairing_screen()
    with ExitStack() as machines, ThreadPoolExecutor(count) as people:

        def everywhere(do: Callable[[LabTable], None], tables: Iterable[LabTable]) -> None:
            for _ in people.map(do, tables):
                pass

        with report.check(f"{count} machines that were never on before come up and ask to be paired"):
            tables = [machines.enter_context(new_table(folder, disk, debian, hall, n + 1)) for n in range(count)]
            everywhere(lambda table: _comes_up(table, asking), tables)
        if report.broken:
            return
        with report.check("each is paired at its own screen, and the desk shows them all"):
            everywhere(LabTable.pair, tables)
        with report.check("each restores its own deal, plays it, and its own result is at the scorer"):
            everywhere(lambda table: _play(table, 1), tables)
        with report.check("all begin the next round"):
            everywhere(_begin_next, tables)
        dark = chance.sample(tables, min(IN_THE_DARK, count))
        with report.check(f"the plug is pulled at {len(dark)} of them: they come back in the middle of the play"):
            everywhere(_pull_the_plug, dark)
        with report.check("the second round ends everywhere, and each result is at the scorer once"):
            everywhere(lambda table: _win(table, 2), tables)
            _each_once(tables)


def _comes_up(table: LabTable, asking: Picture) -> None:
    """Wait until a machine has started and its screen asks for the desk's address."""
    table.machine.wait_until_up()
    table.set_clock()
    table.wait_for_kiosk()
    table.machine.wait_for("the pairing screen", lambda: difference(table.machine.screen(), asking) < LIKE)


def _play(table: LabTable, number: int) -> None:
    """Restore a round's deal with the scanner, sit down, and play it."""
    table.begin(number)
    _win(table, number)


def _begin_next(table: LabTable) -> None:
    """Leave the result, and begin the second round."""
    table.go_on()
    table.begin(2)


def _pull_the_plug(table: LabTable) -> None:
    """Cut a machine's power in the middle of a play, and start it again."""
    table.machine.cut()
    table.outside.wait_for("the table is away", lambda shown: shown["silent"] or shown["lifecycle"] == "lost")
    table.machine.start()
    table.machine.wait_until_up()
    table.set_clock()
    table.wait_for_kiosk()
    table.outside.wait_for("the table has come back", lambda shown: shown["lifecycle"] in HERE, COMES_UP_S)
    table.in_state("playing")


def _win(table: LabTable, number: int) -> None:
    """End a play with a result that no other table has in this round."""
    winner, value = ending(table.outside.number, number)
    result = table.win(winner, SEATS[(SEATS.index(winner) + 1) % 4], value)
    assert (result["round"], result["seats"][winner]["hand_value"]) == (number, value), result


def ending(table: int, number: int) -> tuple[Seat, int]:
    """Return the winner of a table's play of a round and the hand value, different for each table and round."""
    return SEATS[(table + number) % 4], 8 + 2 * table + number % 2


def _each_once(tables: Sequence[LabTable]) -> None:
    """Check each table's results at the desk: one per round, with its own value."""
    for table in tables:
        shown = [
            (one["round"], one["seats"][ending(table.outside.number, one["round"])[0]]["hand_value"])
            for one in table.outside.results()
        ]
        assert shown == [(number, ending(table.outside.number, number)[1]) for number in (1, 2)], shown
