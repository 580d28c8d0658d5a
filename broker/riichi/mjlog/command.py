"""`homologue riichi check`: real records, counted again."""

import sys
from pathlib import Path
from typing import Final

import click

from broker.calculators.profiles import riichi as chosen
from broker.riichi.mjlog.check import Checked, checked
from broker.riichi.mjlog.tags import LONGEST
from broker.rules.errors import RuleError

RULES: Final = "riichi-tenhou"


@click.command("check", short_help="Count the wins of Tenhou's records again.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--rules", default=RULES, show_default=True, help="Rule profile by which to count.")
def check(files: tuple[Path, ...], rules: str) -> None:
    """Count the wins of records (mjlog: XML, also gzipped) again, and say where value or payments differ.

    Red fives and open tanyao are taken as each record says. The exit code is 1 if anything differs or cannot be read.

    \b
    homologue riichi check game.mjlog another.mjlog.gz
    """  # noqa: D301 - click reads the \b
    try:
        profile = chosen(rules)
    except RuleError as problem:
        raise click.ClickException(f"{problem.code}: {problem.text}") from None
    agree, wins, unread = 0, 0, 0
    for file in files:
        try:
            found = list(checked(_content(file), profile))
        except RuleError as problem:
            click.echo(f"{file.name}: {problem.code}: {problem.text}")
            unread += 1
            continue
        wins += len(found)
        agree += sum(not one.differences for one in found)
        for one in found:
            _tell(file, one)
    click.echo(f"{agree} of {wins} wins agree" + (f"; {unread} files not read" if unread else ""))
    sys.exit(0 if agree == wins and not unread else 1)


def _tell(file: Path, one: Checked) -> None:
    for difference in one.differences:
        click.echo(f"{file.name}: win {one.number}: {difference}")


def _content(file: Path) -> bytes:
    """Read a file, never more than is allowed. Raises RuleError `not_a_record`."""
    try:
        with file.open("rb") as source:
            return source.read(LONGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: a name that can be none
        raise RuleError("not_a_record", f"cannot be read: {error}") from None
