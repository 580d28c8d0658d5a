"""`homologue referee`: which actions of a play are legal, told from the number of tiles in each wall."""

from collections.abc import Callable
from functools import cache
from typing import Any

import click
from msgspec import Raw, Struct

from broker.cli.riichi_referee import answer_riichi
from broker.cli.rules_input import (
    answer_each,
    json_lines_option,
    load_profile_once,
    load_riichi_rules,
    read_line,
    riichi_rules_of_line,
)
from broker.protocol import SEATS, Seat
from broker.rules import DEFAULT_MCR, DEFAULT_RIICHI, McrPaymentRules, RiichiProfile, RuleError
from broker.rules.mcr import Action, StartPhase, Turns, apply_turn, begin_turns, settle_claims


class PlayStart(Struct, forbid_unknown_fields=True):
    """The position from which the steps go on."""

    walls: dict[Seat, int]
    turn: Seat
    phase: StartPhase
    ltw: bool = False


class RefereeQuestion(Struct, forbid_unknown_fields=True):
    """A position, and what was done from there. A step is read by itself, so that a bad one spoils no other.

    With `rules` it is of riichi, and those are the id of its profile.
    """

    start: Raw
    steps: list[Raw]
    rules: str | None = None


def _answer(
    question: RefereeQuestion, payments: Callable[[], McrPaymentRules], own: Callable[[], RiichiProfile]
) -> dict[str, list[dict[str, Any]]]:
    start = bytes(question.start).decode()
    if question.rules is not None:
        return {"steps": answer_riichi(start, question.steps, riichi_rules_of_line(own, question.rules))}
    return {"steps": _judged(read_line(start, PlayStart), question.steps, payments())}


def _judged(start: PlayStart, steps: list[Raw], payments: McrPaymentRules) -> list[dict[str, Any]]:
    one_winner = payments.several_hu.value == "nearest"
    state = begin_turns(start.walls, start.turn, start.phase, ltw=start.ltw, one_winner=one_winner)
    rows = []
    for step in steps:
        try:
            state = apply_turn(state, _settled(state, read_line(bytes(step).decode(), Action)))
            rows.append(_row(state, None))
        except RuleError as problem:
            rows.append(_row(state, problem.code))
    return rows


def _settled(state: Turns, action: Action) -> Action:
    """Where the profile knows one winner, all may declare on a tile, and the nearest in turn order goes through."""
    seats = set(action.actors)
    fits = action.do == "hu_on_discard" and seats and len(seats) == len(action.actors) and state.turn not in seats
    return settle_claims(state, [action]) if fits and state.one_winner else action


def _row(state: Turns, reason: str | None) -> dict[str, Any]:
    """Return where the play stands after a step, or where it stays for a reason."""
    return {
        "legal": reason is None,
        "reason": reason,
        "ltw": state.ltw,
        "walls": dict(zip(SEATS, state.walls, strict=True)),
        "turn": state.turn,
        "over": state.over,
        "situation_fans": state.situation_fans if reason is None else (),
    }


@click.command(short_help="Check which actions of a play are legal.")
@click.option(
    "--profile", default=DEFAULT_MCR, show_default=True, help="Rule profile: sets how many players may win at once."
)
@click.option(
    "--rules",
    default=DEFAULT_RIICHI,
    show_default=True,
    help="Riichi: file of your own profile, which lines refer to by its id.",
)
@json_lines_option
def referee(profile: str, rules: str) -> None:
    """Check which actions of a play are legal, and when the last tile of the wall is reached.

    Each line is one question. An illegal step changes nothing, and the next one is checked. See docs/referee.md.

    \b
    {"start": {"walls": {"east": 1, "south": 1, "west": 2, "north": 2}, "turn": "east", "phase": "draw"},
     "steps": [{"do": "draw", "seat": "east"}, {"do": "discard", "seat": "east"}, {"do": "pung", "seat": "north"}]}
    {"do": "no_claim"}    {"do": "hu_on_discard", "seats": ["south", "west"]}
    riichi: {"rules": "montreal", "start": {"dealer": "east"}, "steps": [{"do": "draw", "seat": "east"}]}
    """
    chosen, own = load_profile_once(profile), cache(lambda: load_riichi_rules(rules))
    answer_each(RefereeQuestion, lambda question: _answer(question, lambda: chosen().payments, own))
