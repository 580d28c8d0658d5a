"""`homologue record`: check and show records of plays."""

import json
import sys
from pathlib import Path

import click

from broker.calculators.profiles import chosen
from broker.records.judges import HOWS, How, judged
from broker.records.shown import shown
from broker.records.verdicts import judged_verdicts, read_verdicts
from broker.records.writing import write_one
from broker.rules.errors import RuleError

FILES = click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True)
)


@click.group(short_help="Records of plays (PMN): check, show.")
def record() -> None:
    """Records of plays in Portable Majiang Notation; docs/records.md has the form."""


@record.command()
@FILES
@click.option("--profile", help="Rule profile instead of the records' own: an id, or a file that ends in .toml.")
@click.option(
    "--hands",
    type=click.Choice(HOWS),
    default="green-book",
    show_default=True,
    help="Who says what a hand is worth: one of two books, or the record itself.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON line a record instead of sentences.")
def check(files: tuple[Path, ...], profile: str | None, hands: How, *, as_json: bool) -> None:
    """Play each record again, and say what is wrong with it; the exit code is 1 if anything is.

    Every action is judged by the referee, every hand counted, and points and fines held against the rule profile.
    FILE may be - for standard input.

    \b
    homologue record check friday.pmn saturday.pmn
    homologue record check --hands declared --json old.pmn
    """  # noqa: D301 - click reads the \b
    try:
        rules = chosen(profile) if profile else None
    except RuleError as problem:
        raise click.ClickException(f"{problem.code}: {problem.text}") from None
    wrong = False
    for file in files:
        for verdict in judged_verdicts(file, judged(hands), rules):
            wrong = wrong or verdict.problem is not None
            click.echo(json.dumps(verdict.row()) if as_json else verdict.sentence())
    sys.exit(wrong)


@record.command()
@FILES
@click.option("--pmn", is_flag=True, help="As PMN, in the one way in which we write it.")
def show(files: tuple[Path, ...], *, pmn: bool) -> None:
    """Show records in words, step by step; they are read, not judged.

    \b
    homologue record show friday.pmn
    """  # noqa: D301 - click reads the \b
    wrong, between = False, ""
    for verdict in (verdict for file in files for verdict in read_verdicts(file)):
        if verdict.record is None:
            wrong = True
            click.echo(verdict.sentence(), err=True)
        else:
            click.echo(between + (write_one if pmn else shown)(verdict.record), nl=False)
            between = "\n"
    sys.exit(wrong)
