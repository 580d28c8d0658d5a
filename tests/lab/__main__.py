"""`python -m tests.lab` (`make lab`): tables without hardware, unattended. Ends with `lab: N checks, N held`."""

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import click

from tests.lab import cables, card, container, disk, faults, first_boot, image, power, upgrade
from tests.lab import hall as many
from tests.lab.outside import TABLE, LabHall
from tests.lab.report import Report
from tests.lab.table import LabTable, new_table

THEMES: Final[dict[str, Callable[[LabTable, Report], None]]] = {
    "faults": faults.run,
    "cables": cables.run,
    "disk": disk.run,
}
"""Themes at one machine, in order: each continues at the table as the previous one has left it."""

ORDER: Final = ("card", "upgrade", "first_boot", *THEMES, "power")
"""Themes that need no kernel of their own, and so run in containers."""


@click.command()
@click.option("--cuts", default=10, show_default=True, help="How often the plug is pulled.")
@click.option("--seed", default=1, show_default=True, help="When.")
@click.option("--until", type=click.Choice(ORDER), default=ORDER[-1], help="The last theme.")
@click.option("--only", type=click.Choice(ORDER), help="This theme alone, after `first_boot` where it needs it.")
@click.option("--tables", default=1, show_default=True, help="Play two rounds at so many tables instead, 2 GB each.")
@click.option("--keep", type=click.Path(path_type=Path), help="Keep disks, consoles and the event in this new folder.")
def main(cuts: int, seed: int, until: str, only: str | None, tables: int, keep: Path | None) -> None:
    """Install the packages of build/deb on a machine, and check what a table does when things go wrong."""
    begun = time.monotonic()
    asked = (only,) if only else ORDER[: ORDER.index(until) + 1]
    themes = asked if tables == 1 else ("first_boot",)
    report = Report(click.echo)
    with tempfile.TemporaryDirectory(prefix="homologue-lab-") as temporary:
        folder = keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if "card" in themes:
            click.echo("card")
            card.run(report)
        if "upgrade" in themes and not report.broken:
            click.echo("upgrade")
            with LabHall(folder / "contained" / "event", seen=container.LOOPBACK) as hall:
                hall.start()
                with container.contained_table(folder, hall, report) as table:
                    if not report.broken:
                        upgrade.run(table, report)
        if not {*themes} <= {"card", "upgrade"} and not report.broken:
            _at_machines(folder, themes, report, tables=tables, cuts=cuts, seed=seed)
    click.echo(f"lab: {(time.monotonic() - begun) / 60:.0f} minutes")
    click.echo(report.last_line)
    sys.exit(bool(report.broken))


def _at_machines(folder: Path, themes: Sequence[str], report: Report, *, tables: int, cuts: int, seed: int) -> None:
    """Run the themes that need a kernel, on one machine or on several tables."""
    debian, made = image.base(), image.disk(image.newest_debs())
    click.echo(f"lab: {(made / 'megabytes').read_text().strip()} MB on the card")
    with LabHall(folder / "event", max(TABLE, tables)) as scorer:
        scorer.start()
        if tables > 1:
            many.run(scorer, folder, made, debian, tables, report, seed)
        else:
            with new_table(folder, made, debian, scorer) as table:
                _run(table, report, themes, cuts, seed)


def _run(table: LabTable, report: Report, themes: Sequence[str], cuts: int, seed: int) -> None:
    """Run some themes after the first boot, until one fails; the power theme runs in any case."""
    click.echo("first_boot")
    first_boot.run(table, report)
    if report.broken:
        return
    for name in themes:
        if name == "power":
            click.echo(name)
            power.run(table, report, cuts, seed)
        elif name in THEMES and not report.broken:
            click.echo(name)
            THEMES[name](table, report)


if __name__ == "__main__":
    main()
