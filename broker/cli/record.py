"""`homologue record`: check and show records of plays."""

import json
import sys
from pathlib import Path

import click

from broker.cli.rules_input import load_profile
from broker.console import PathType, json_option
from broker.export.pmn.check import JUDGE_NAMES, JudgeName, describe_record, judge_named, judged_verdicts, read_verdicts
from broker.export.pmn.notation import write_record

FILES = click.argument("files", metavar="FILE...", nargs=-1, required=True, type=PathType(exists=True, allow_dash=True))


@click.group(short_help="Check and show records of plays (PMN).")
def record() -> None:
    """Check and show records of plays in Portable Majiang Notation (PMN); see docs/records.md."""


@record.command("check")
@FILES
@click.option("--profile", help="Rule profile instead of the records' own, by id or as a .toml file.")
@click.option(
    "--hands",
    type=click.Choice(JUDGE_NAMES),
    default="green-book",
    show_default=True,
    help="Count hands by one of two rule books, or trust the declared value.",
)
@json_option("Print one JSON line per record.")
def record_check(files: tuple[Path, ...], profile: str | None, hands: JudgeName, *, as_json: bool) -> None:
    """Replay each record and report mistakes. The exit code is 1 if there are any.

    The referee checks every action, every hand is counted, and points and fines are compared with the rule profile.
    FILE may be - for standard input.

    \b
    homologue record check friday.pmn saturday.pmn
    homologue record check --hands declared --json old.pmn
    """
    rules = load_profile(profile) if profile else None
    wrong = False
    for file in files:
        for verdict in judged_verdicts(file, judge_named(hands), rules):
            wrong = wrong or verdict.problem is not None
            click.echo(json.dumps(verdict.row()) if as_json else verdict.sentence())
    sys.exit(wrong)


@record.command("show", short_help="Show records in words, step by step.")
@FILES
@click.option("--pmn", is_flag=True, help="Print the records as normalized PMN.")
def record_show(files: tuple[Path, ...], *, pmn: bool) -> None:
    """Show records in words, step by step, without checking them.

    \b
    homologue record show friday.pmn
    """
    wrong, between = False, ""
    for verdict in (verdict for file in files for verdict in read_verdicts(file)):
        if verdict.record is None:
            wrong = True
            click.echo(verdict.sentence(), err=True)
        else:
            click.echo(between + (write_record if pmn else describe_record)(verdict.record), nl=False)
            between = "\n"
    sys.exit(wrong)
