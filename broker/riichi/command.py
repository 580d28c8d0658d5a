"""`homologue riichi`: what a riichi hand is worth and pays."""

from collections.abc import Callable
from functools import cache
from typing import Any

import click

from broker.calculators.profiles import riichi as chosen
from broker.calculators.stream import answer_each
from broker.riichi.by_hand import han_and_fu, one_hand
from broker.riichi.mjlog.command import check
from broker.riichi.options import language_option, rules_option
from broker.riichi.question import HandQuestion, hand_of, read, situation_of, win_of
from broker.riichi.table_command import table
from broker.riichi.told import hand_answer, points_answer
from broker.rules.riichi.names import Language
from broker.rules.riichi.points import payments
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.profile_files import load
from broker.rules.riichi.value import value_and_payments


@click.group(invoke_without_command=True, short_help="Value of a riichi hand and what it pays; the points table.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines on standard input, one answer a line.")
@rules_option
@language_option
@click.pass_context
def riichi(context: click.Context, as_json: bool, rules: str, language: Language) -> None:  # noqa: FBT001 - click's way
    """Value of a riichi hand: yaku, han, fu item by item, and what it pays.

    1m..9m characters, 1p..9p dots, 1s..9s bamboo, 0m 0p 0s red fives, 1z..7z east south west north white green red.
    `concealed` is without the winning tile. A line may be a hand, or han and fu alone. See docs/riichi.md.

    \b
    homologue riichi hand 234m678p23455s 6s --riichi --dora 1m
    homologue riichi points 3 30 --dealer
    homologue riichi --json <hands.jsonl
    {"concealed": ["2m", "3m", "4m", "6p", "7p", "8p", "2s", "3s", "4s", "5s", "5s", "7s", "8s"], "winning_tile": "6s",
     "self_drawn": false, "round_wind": "east", "seat_wind": "south", "riichi": 1, "dora_indicators": ["1m"]}
    {"han": 3, "fu": 30, "dealer": true, "self_drawn": false, "honba": 1}
    """  # noqa: D301 - click reads the \b
    if context.invoked_subcommand is not None:
        return
    if not as_json:
        raise click.UsageError("--json, or one of the commands: hand, points, table, check")
    of_option = cache(lambda: chosen(rules))
    answer_each(dict[str, Any], lambda asked: _answer(asked, of_option, language))


def _answer(asked: dict[str, Any], of_option: Callable[[], RiichiProfile], language: Language) -> dict[str, Any]:
    question = read(asked)
    profile = of_option() if question.rules is None else load(question.rules)
    if isinstance(question, HandQuestion):
        found = value_and_payments(
            hand_of(question), situation_of(question), profile, question.honba, question.riichi_sticks
        )
        return hand_answer(*found, language)
    paid = payments(win_of(question), profile.points)
    return points_answer(question.han, question.fu, question.yakuman, paid)


for _command in (one_hand, han_and_fu, table, check):
    riichi.add_command(_command)
