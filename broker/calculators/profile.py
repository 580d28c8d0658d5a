"""`homologue profile`: list, show and check rule profiles."""

import json
import sys
from pathlib import Path

import click
import msgspec

from broker.calculators.profiles import compared_by, read, text_of
from broker.rules.errors import RuleError
from broker.rules.profile import settings
from broker.rules.profile_check import Mistake, examined, read_as
from broker.rules.profile_files import DEFAULT, load
from broker.rules.profile_files import shipped as shipped_profiles
from broker.rules.riichi import profile_files as riichi
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.rule_books import is_riichi, own
from broker.scoring import examples


@click.group(short_help="Rule profiles: list, show, check.")
def profile() -> None:
    """Rule profiles: what sources leave open or settle differently, as data with its provenance."""


@profile.command("list")
def list_() -> None:
    """List the profiles that come with the product."""
    for profile_id in shipped_profiles():
        one = load(profile_id)
        mark = "  (default)" if profile_id == DEFAULT else ""
        click.echo(f"{profile_id:16} version {one.version}  {one.title}{mark}")
    for profile_id in riichi.shipped():
        one_of_riichi = riichi.load(profile_id)
        click.echo(f"{profile_id:16} version {one_of_riichi.version}  {one_of_riichi.title}")


@profile.command()
@click.argument("profile_id", metavar="ID|FILE", default=DEFAULT)
@click.option("--toml", "as_toml", is_flag=True, help="The file itself, to begin an own profile with.")
def show(profile_id: str, as_toml: bool) -> None:  # noqa: FBT001 - click's way
    """Show every setting of a profile, with its value and where it is from.

    \b
    homologue profile show mcr --toml > our-club.toml
    """  # noqa: D301 - click reads the \b
    try:
        one = compared_by(profile_id)
    except RuleError as problem:
        raise click.ClickException(f"{problem.code}: {problem.text}") from None
    if as_toml:
        text = riichi.text_of(profile_id) if profile_id in riichi.shipped() else text_of(profile_id)
        click.echo(text, nl=False)
        return
    click.echo(f"{one.id}, version {one.version}: {one.title}\n")
    for name, stated in settings(one):
        click.echo(f"{name} = {shown(stated.value)}\n    {stated.source}")


@profile.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--examples", "worked", type=click.Path(path_type=Path), help="Worked examples that must come out (TOML)."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of sentences.")
def check(file: Path, worked: Path | None, as_json: bool) -> None:  # noqa: FBT001 - click's way
    """Say what is wrong with a profile that you have written; the exit code is 1 if anything is.

    \b
    homologue profile check our-club.toml --examples our-examples.toml
    """  # noqa: D301 - click reads the \b
    try:
        problems = _problems(file, worked)
    except RuleError as problem:
        problems = [Mistake("", None, f"{problem.code}: {problem.text}")]
    if as_json:
        click.echo(json.dumps({"ok": not problems, "problems": [msgspec.to_builtins(one) for one in problems]}))
    elif problems:
        click.echo("\n".join(f"{file.name}: {one}" for one in problems))
    else:
        click.echo(f"{file.name}: all right")
    sys.exit(1 if problems else 0)


def _problems(file: Path, worked: Path | None) -> list[Mistake]:
    text = read(file)
    one, problems = read_as(RiichiProfile, text) if is_riichi(text) else examined(text)
    if one is None:
        return list(problems)
    try:
        own(text)
    except RuleError as taken:
        return [Mistake("id", None, taken.text)]
    if isinstance(one, RiichiProfile):
        return [Mistake("", None, "worked examples are of the other rule book")] if worked else []
    expected = examples.read(read(worked)) if worked else examples.Examples()
    return [Mistake("", None, failure) for failure in examples.failures(expected, one)]


def shown(value: object) -> str:
    """Write a value as it would stand in the file."""
    return json.dumps(msgspec.to_builtins(value))
