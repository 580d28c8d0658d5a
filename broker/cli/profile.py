"""`homologue rules profile`: list, show and check rule profiles; the profile that other commands are asked to use."""

import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import click
import msgspec

from broker.coded_error import reason
from broker.console import EXISTING_FILE, json_option, said_as_json, say
from broker.i18n import N_
from broker.protocol import LONGEST_PROFILE
from broker.rules import (
    DEFAULT_MCR,
    Profile,
    RuleError,
    Rules,
    is_riichi_text,
    load_mcr,
    load_riichi,
    mcr_folder,
    parse_own_mcr,
    parse_riichi,
    profile_settings,
    profiles,
)
from broker.rules import load_rules as either
from broker.rules import parse_own_rules as either_own
from broker.rules import shipped_mcr as shipped_profiles
from broker.rules.profile_check import ProfileMistake, examine_profile, read_profile
from broker.rules.riichi import RiichiProfile
from broker.scoring import examples

FILE: Final = ".toml"
"""How a name ends that is a file."""


def load_profile_once(written: str) -> Callable[[], Profile]:
    """Return `chosen` for a command that answers many lines: a profile is read with the first line that needs it."""
    return cache(lambda: load_profile(written))


def load_profile(written: str) -> Profile:
    """Return a shipped profile by its id, or read the file. Raises RuleError `unknown_profile`, `bad_profile`."""
    return parse_own_mcr(parse_profile(Path(written))) if written.endswith(FILE) else load_mcr(written)


def load_either_profile(written: str) -> Rules:
    """Return a profile of either rule book, for who only compares plays. Raises as `chosen`."""
    return either_own(parse_profile(Path(written))) if written.endswith(FILE) else either(written)


def load_riichi_rules(written: str) -> RiichiProfile:
    """Return riichi rules by the id of a profile that ships (in short too: `tenhou`), or a file. Raises as `chosen`."""
    if not written.endswith(FILE):
        return load_riichi(written)
    text = parse_profile(Path(written))
    either_own(text)  # refuses the id of one that ships, and says what is wrong
    return parse_riichi(text)


def riichi_rules_of_line(given: Callable[[], RiichiProfile], rules: str) -> RiichiProfile:
    """Return the riichi rules that a line names: what the command was given, by its id, or one that ships."""
    own = given()
    return own if rules == own.id else load_riichi(rules)


def read_profile_text(written: str) -> str:
    """Return the text of a profile that `chosen` takes. Raises RuleError `bad_profile`."""
    return (
        parse_profile(Path(written))
        if written.endswith(FILE)
        else (mcr_folder() / f"{written}.toml").read_text(encoding="utf-8")
    )


def parse_profile(path: Path) -> str:
    """Read a profile's text. Raises RuleError `bad_profile`."""
    try:
        if path.stat().st_size > 4 * LONGEST_PROFILE:
            raise RuleError(
                "bad_profile",
                f"{path.name}: found {path.stat().st_size} bytes; allowed: at most {LONGEST_PROFILE} characters",
            )
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a name that can be none
        raise RuleError("bad_profile", N_("{where}: {problem}", where=path.name, problem=reason(error))) from None


@click.group(short_help="List, show and check rule profiles.")
def profile() -> None:
    """List, show and check rule profiles."""


@profile.command("list")
@said_as_json
def profile_list() -> None:
    """List the included profiles."""
    ours: list[Profile | RiichiProfile] = [
        *map(load_mcr, shipped_profiles()),
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
    lines = [f"{name} = {_toml_value(stated.value)}\n    {stated.source}" for name, stated in settings]
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
        either_own(text)
    except RuleError as taken:
        return [ProfileMistake("id", None, taken.text)]
    if isinstance(one, RiichiProfile):
        return [ProfileMistake("", None, "worked examples are of the other rule book")] if worked else []
    expected = examples.read_examples(parse_profile(worked)) if worked else examples.Examples()
    return [ProfileMistake("", None, failure) for failure in examples.failed_examples(expected, one)]


def _toml_value(value: object) -> str:
    """Write a value as it would stand in the file."""
    return json.dumps(msgspec.to_builtins(value))
