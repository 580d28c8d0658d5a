"""`homologue fan`, `points` and `imp`: the value of a hand, the points of a play, the IMPs for a difference."""

import re
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from functools import cache
from typing import Any

import click
from msgspec import Raw, Struct, field

from broker.cli.rules_input import (
    answer_each,
    error_answer,
    json_lines_option,
    load_either_profile,
    load_profile_once,
    profile_option,
    read_line,
)
from broker.protocol import HandValue, Seat, WinKind
from broker.rules import Outcome, Profile, RuleError, allowed_outcome, load_mcr, seat_points, to_imp
from broker.rules.mcr import (
    LANGUAGES,
    RULESETS,
    FanCount,
    Language,
    McrHand,
    McrMeld,
    McrSituation,
    Ruleset,
    check_minimum,
    count_fan,
    fan_name,
)


class FanMeld(Struct, forbid_unknown_fields=True):
    """A meld of the hand."""

    kind: str
    tiles: tuple[str, ...]
    concealed: bool = False


class FanQuestion(Struct, forbid_unknown_fields=True):
    """A hand and how it won. `concealed` excludes the winning tile. Winds have no default, which would be a guess."""

    concealed: tuple[str, ...]
    winning_tile: str
    seat_wind: str
    prevalent_wind: str
    melds: tuple[FanMeld, ...] = ()
    self_drawn: bool = False
    last_of_kind: bool = False
    last_tile: bool = False
    kong: bool = False


def _count(question: FanQuestion, ruleset: Ruleset) -> FanCount:
    melds = tuple(McrMeld(meld.kind, meld.tiles, meld.concealed) for meld in question.melds)
    hand = McrHand(question.concealed, question.winning_tile, melds)
    situation = McrSituation(**{one.name: getattr(question, one.name) for one in fields(McrSituation)})
    return count_fan(hand, situation, ruleset)


def _fan_answer(counted: FanCount, minimum: int, language: Language) -> dict[str, Any]:
    elements = [{"name": fan_name(element.id, language), "fan": element.fan} for element in counted.elements]
    answer = {"fan": counted.fan, "elements": elements}
    try:
        check_minimum(minimum, counted)
    except RuleError as problem:
        # The error includes the count: at a false hu the arbiter has to explain it.
        return {"error": error_answer(problem)["error"] | answer}
    return answer


@click.command(short_help="Value a winning hand, fan by fan.")
@click.option(
    "--ruleset",
    type=click.Choice(RULESETS),
    default="green-book",
    show_default=True,
    help="Count by the Green Book of 2006 or the Chinese text of 1998.",
)
@click.option("--language", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of names.")
@profile_option("Rule profile that sets the minimum.")
@click.option("--minimum", type=click.IntRange(0, 999), help="Minimum instead of the profile's; 0 accepts all hands.")
@json_lines_option
def fan(ruleset: Ruleset, language: Language, profile: str, minimum: int | None) -> None:
    """Value a winning MCR hand, fan by fan.

    Tiles: 1m..9m characters, 1p..9p dots, 1s..9s bamboo, 1z..7z east south west north white green red. `concealed`
    excludes the winning tile. See docs/rules.md.

    \b
    {"concealed": ["2m", "2m", "3m", "3m", "5p", "5p", "7p", "7p", "2s", "2s", "9s", "9s", "4z"],
     "winning_tile": "4z", "self_drawn": true, "seat_wind": "east", "prevalent_wind": "east"}
    melds, if any: [{"kind": "chow|pung|kong", "tiles": ["1m", "2m", "3m"], "concealed": false}]
    optional, false by default: "last_of_kind", "last_tile", "kong" (a replacement tile, or a kong robbed)
    """
    rules = load_profile_once(profile)

    def answer(question: FanQuestion) -> dict[str, Any]:
        needed = rules().payments.minimum.value if minimum is None else minimum
        return _fan_answer(_count(question, ruleset), needed, language)

    answer_each(FanQuestion, answer)


class PointsQuestion(Struct, forbid_unknown_fields=True):
    """One play's outcome."""

    win: WinKind
    winners: dict[Seat, HandValue] = field(default_factory=dict)
    discarder: Seat | None = None
    profile: str | None = None


def _points_answer(question: PointsQuestion, otherwise: Callable[[], Profile]) -> dict[str, dict[Seat, int]]:
    payments = (otherwise() if question.profile is None else load_mcr(question.profile)).payments
    declared = Outcome(question.win, question.winners, question.discarder)
    return {"points": seat_points(allowed_outcome(declared, payments), payments)}


@click.command(short_help="Compute the points of the four seats for an outcome.")
@profile_option("Rule profile for lines that name none, by id or as a .toml file.")
@json_lines_option
def points_command(profile: str) -> None:
    """Compute the points of the four seats for the outcome of a play.

    \b
    echo '{"win": "discard", "winners": {"east": 18}, "discarder": "north"}' | homologue points --json
    {"win": "self_drawn", "winners": {"east": 18}}      {"win": "draw"}
    """
    otherwise = load_profile_once(profile)
    answer_each(PointsQuestion, lambda question: _points_answer(question, otherwise))


NUMBER = re.compile(r"[+-]?[0-9]{1,400}(\.[0-9]{1,400}|/[0-9]{1,400})?([eE][+-]?[0-9]{1,2})?", re.ASCII)


class ImpQuestion(Struct, forbid_unknown_fields=True):
    """A difference (points minus datum), kept as it is written because a float would round it."""

    difference: Raw


def read_exact(written: str) -> Fraction:
    """Parse a decimal ("8.6", 8.6) or a fraction ("43/5") in JSON without rounding it.

    Raises RuleError `malformed` or `not_a_number`.
    """
    text = read_line(written, str) if written.startswith('"') else written
    text = text.strip().replace("\N{MINUS SIGN}", "-")
    if not NUMBER.fullmatch(text):
        raise RuleError("not_a_number", f"{text[:40]!r} is neither a decimal nor a fraction")
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise RuleError("not_a_number", f"{text[:40]!r} divides by zero") from None


@click.command(short_help="Convert a difference to IMPs.")
@profile_option("Rule profile whose IMP scale is used, by id or as a .toml file.")
@json_lines_option
def imp_command(profile: str) -> None:
    """Convert a difference between points and datum to IMPs.

    \b
    echo '{"difference": "8.6"}' | homologue imp --json
    """
    rules = cache(lambda: load_either_profile(profile))
    answer_each(
        ImpQuestion, lambda question: {"imp": to_imp(read_exact(bytes(question.difference).decode()), rules().imp)}
    )
