"""`homologue rules profile`: list, show and check rule profiles."""

import json
import sys
from pathlib import Path

import click
import msgspec

from broker.cli.rules_input import load_either_profile, parse_profile, read_profile_text
from broker.console import EXISTING_FILE, json_option, said_as_json, say
from broker.rules import (
    DEFAULT_MCR,
    Profile,
    ProfileMistake,
    RiichiProfile,
    RuleError,
    examine_profile,
    is_riichi_text,
    load_mcr,
    parse_own_rules,
    profile_settings,
    profiles,
    read_profile,
    setting_text,
    shipped_mcr,
)
from broker.scoring import examples


@click.group(short_help="List, show and check rule profiles.")
def profile() -> None:
    """List, show and check rule profiles."""


@profile.command("list")
@said_as_json
def profile_list() -> None:
    """List the included profiles."""
    ours: list[Profile | RiichiProfile] = [
        *map(load_mcr, shipped_mcr()),
        *map(profiles.load_riichi, profiles.shipped_riichi()),
    ]
    for one in ours:
        mark = "  (default)" if one.id == DEFAULT_MCR else ""
        say(f"{one.id:16} version {one.version}  {one.title}{mark}", id=one.id, version=one.version, title=one.title)


@profile.command("show")
@click.argument("profile_id", metavar="ID|FILE", default=DEFAULT_MCR)
@click.option("--toml", "as_toml", is_flag=True, help="Print the profile's TOML file, as a start for your own.")
@said_as_json
def profile_show(profile_id: str, as_toml: bool) -> None:  # noqa: FBT001 - click's way
    """Show every setting of a profile with its value and source.

    \b
    homologue rules profile show mcr --toml > our-club.toml
    """
    one = load_either_profile(profile_id)
    if as_toml:
        text = (
            profiles.riichi_profile_text(profile_id)
            if profile_id in profiles.shipped_riichi()
            else read_profile_text(profile_id)
        )
        click.echo(text, nl=False)
        return
    settings = profile_settings(one)
    lines = [f"{name} = {setting_text(stated.value)}\n    {stated.source}" for name, stated in settings]
    values = {name: msgspec.to_builtins(stated) for name, stated in settings}
    text = "\n".join((f"{one.id}, version {one.version}: {one.title}\n", *lines))
    say(text, id=one.id, version=one.version, title=one.title, settings=values)


@profile.command("check")
@click.argument("file", type=EXISTING_FILE)
@click.option("--examples", "worked", type=EXISTING_FILE, help="Worked examples to check the profile against (TOML).")
@json_option()
def profile_check(file: Path, worked: Path | None, as_json: bool) -> None:  # noqa: FBT001 - click's way
    """Check a profile that you have written. The exit code is 1 if there is a problem.

    \b
    homologue rules profile check our-club.toml --examples our-examples.toml
    """
    try:
        problems = _problems(file, worked)
    except RuleError as problem:
        problems = [ProfileMistake("", None, f"{problem.code}: {problem.text}")]
    if as_json:
        click.echo(json.dumps({"ok": not problems, "problems": [msgspec.to_builtins(one) for one in problems]}))
    elif problems:
        click.echo("\n".join(f"{file.name}: {one}" for one in problems))
    else:
        click.echo(f"{file.name}: all right")
    sys.exit(1 if problems else 0)


def _problems(file: Path, worked: Path | None) -> list[ProfileMistake]:
    text = parse_profile(file)
    one, problems = read_profile(RiichiProfile, text) if is_riichi_text(text) else examine_profile(text)
    if one is None:
        return list(problems)
    try:
        parse_own_rules(text)
    except RuleError as taken:
        return [ProfileMistake("id", None, taken.text)]
    if isinstance(one, RiichiProfile):
        return [ProfileMistake("", None, "worked examples are of the other rule book")] if worked else []
    expected = examples.read_examples(parse_profile(worked)) if worked else examples.Examples()
    return [ProfileMistake("", None, failure) for failure in examples.failed_examples(expected, one)]
