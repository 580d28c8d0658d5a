"""`homologue rules profile`: list, show and check rule profiles."""

import json
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import click
import msgspec
from msgspec import Meta, Struct, field

from broker.cli.rules_input import load_either_profile, parse_profile, read_profile_text
from broker.console import EXISTING_FILE, json_lines, json_option, say
from broker.errors import reason
from broker.protocol import HandValue, Points, Seat, WinKind
from broker.rules import (
    DEFAULT_MCR,
    Outcome,
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
    seat_points,
    setting_text,
    shipped_mcr,
    to_imp,
)

Exact = Annotated[str, Meta(pattern=r"^-?[0-9]{1,9}(\.[0-9]{1,9}|/[1-9][0-9]{0,8})?$(?!\n)")]


class PointsExample(Struct, frozen=True, forbid_unknown_fields=True):
    """The outcome of a play, and the points that each seat should get."""

    source: str
    win: WinKind
    points: dict[Seat, Points]
    winners: dict[Seat, HandValue] = field(default_factory=dict)
    discarder: Seat | None = None


class ImpExample(Struct, frozen=True, forbid_unknown_fields=True):
    """Points and datum of one seat, and the IMPs that it should get."""

    source: str
    points: Points
    datum: Exact
    imp: int


class Examples(Struct, frozen=True, forbid_unknown_fields=True):
    """All examples of one profile."""

    points: tuple[PointsExample, ...] = ()
    imps: tuple[ImpExample, ...] = ()


def read_examples(text: str) -> Examples:
    """Read examples from TOML. Raises RuleError `bad_examples`."""
    try:
        return msgspec.toml.decode(text, type=Examples)
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors too
        raise RuleError("bad_examples", reason(error)) from None


def failed_examples(examples: Examples, profile: Profile) -> Iterator[str]:
    """Return a sentence for each example that fails, with the expected and the actual result."""
    for one in examples.points:
        try:
            found: object = seat_points(Outcome(one.win, one.winners, one.discarder), profile.payments)
        except RuleError as refusal:
            found = f"{refusal.code}: {refusal.text}"
        if found != one.points:
            yield f"{one.source}: should be {one.points}, is {found}"
    for worked in examples.imps:
        size = to_imp(worked.points - Fraction(worked.datum), profile.imp)
        if size != worked.imp:
            yield f"{worked.source}: should be {worked.imp} IMP, is {size}"


@click.group(short_help="List, show and check rule profiles.")
def profile() -> None:
    """List, show and check rule profiles."""


@profile.command("list")
@json_lines
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
@click.option("--toml", "as_toml", is_flag=True, help="Print the profile's TOML file, to begin your own from.")
@json_lines
def profile_show(*, profile_id: str, as_toml: bool) -> None:
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
def profile_check(*, file: Path, worked: Path | None, as_json: bool) -> None:
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
        return [ProfileMistake("", None, "worked examples are only possible for MCR profiles")] if worked else []
    expected = read_examples(parse_profile(worked)) if worked else Examples()
    return [ProfileMistake("", None, failure) for failure in failed_examples(expected, one)]
