"""`homologue riichi check`: real records, counted again."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from broker.calculators.profiles import riichi as chosen
from broker.riichi.mjlog.check import Checked
from broker.riichi.mjlog.record import checked
from broker.riichi.mjlog.tags import LONGEST
from broker.rules.errors import RuleError

RULES: Final = "riichi-tenhou"


@click.command("check", short_help="Count and settle Tenhou's records again.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--rules", default=RULES, show_default=True, help="Rule profile by which to count.")
def check(files: tuple[Path, ...], rules: str) -> None:
    """Count and settle records (mjlog: XML, also gzipped) again, and say what differs.

    Of each win its value and payments; of each hand what it pays, who deals next, with how many counters and deposits,
    and when the session ends. Red fives, open tanyao and the number of rounds are taken as each record says. The exit
    code is 1 if anything differs or cannot be read.

    \b
    homologue riichi check game.mjlog another.mjlog.gz
    """  # noqa: D301 - click reads the \b
    try:
        profile = chosen(rules)
    except RuleError as problem:
        raise click.ClickException(f"{problem.code}: {problem.text}") from None
    wins, hands, unread = Tally("win"), Tally("hand"), 0
    for file in files:
        try:
            record = checked(_content(file), profile)
        except RuleError as problem:
            click.echo(f"{file.name}: {problem.code}: {problem.text}")
            unread += 1
            continue
        wins.count(file, record.wins)
        hands.count(file, record.hands)
    told = f"{wins.agree} of {wins.all} wins agree; {hands.agree} of {hands.all} hands pay and go on as in the record"
    click.echo(told + (f"; {unread} files not read" if unread else ""))
    sys.exit(0 if (wins.agree, hands.agree, unread) == (wins.all, hands.all, 0) else 1)


@dataclass
class Tally:
    """How many wins, or hands, there are and how many of them agree; the others are told as they come."""

    what: str
    all: int = 0
    agree: int = 0

    def count(self, file: Path, found: Iterable[Checked]) -> None:
        """Count those of a file."""
        for one in found:
            self.all += 1
            self.agree += not one.differences
            for difference in one.differences:
                click.echo(f"{file.name}: {self.what} {one.number}: {difference}")


def _content(file: Path) -> bytes:
    """Read a file, never more than is allowed. Raises RuleError `not_a_record`."""
    try:
        with file.open("rb") as source:
            return source.read(LONGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: a name that can be none
        raise RuleError("not_a_record", f"cannot be read: {error}") from None
