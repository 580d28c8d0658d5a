"""`homologue fan`: what a winning hand is worth."""

from typing import Any

import click
from msgspec import Struct

from broker.calculators.profiles import once
from broker.calculators.stream import answer_each, error_of
from broker.rules.errors import RuleError
from broker.rules.fan.catalogue import LANGUAGES, RULESETS, Language, Ruleset, name
from broker.rules.fan.count import Count, at_least, count
from broker.rules.fan.hand import Hand, Meld, Situation
from broker.rules.profile_files import DEFAULT


class MeldQuestion(Struct, forbid_unknown_fields=True):
    """A set laid down."""

    kind: str
    tiles: tuple[str, ...]
    concealed: bool = False


class Question(Struct, forbid_unknown_fields=True):
    """A hand and how it won; `concealed` is without the winning tile. A wind that is left out would be a guess."""

    concealed: tuple[str, ...]
    winning_tile: str
    seat_wind: str
    prevalent_wind: str
    melds: tuple[MeldQuestion, ...] = ()
    self_drawn: bool = False
    last_of_kind: bool = False
    last_tile: bool = False
    kong: bool = False


def _count(question: Question, ruleset: Ruleset) -> Count:
    melds = tuple(Meld(meld.kind, meld.tiles, meld.concealed) for meld in question.melds)
    hand = Hand(question.concealed, question.winning_tile, melds)
    situation = Situation(
        self_drawn=question.self_drawn,
        seat_wind=question.seat_wind,
        prevalent_wind=question.prevalent_wind,
        last_of_kind=question.last_of_kind,
        last_tile=question.last_tile,
        kong=question.kong,
    )
    return count(hand, situation, ruleset)


def _told(counted: Count, minimum: int, language: Language) -> dict[str, Any]:
    elements = [{"name": name(element.id, language), "fan": element.fan} for element in counted.elements]
    told = {"fan": counted.fan, "elements": elements}
    try:
        at_least(minimum, counted)
    except RuleError as problem:
        # What was counted goes with the refusal: at a false hu the arbiter has to explain it.
        return {"error": error_of(problem)["error"] | told}
    return told


@click.command(short_help="Value of a winning hand, with its fan.")
@click.option(
    "--ruleset",
    type=click.Choice(RULESETS),
    default="green-book",
    show_default=True,
    help="The Green Book of 2006, or the Chinese text of 1998.",
)
@click.option("--language", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Of the names.")
@click.option("--profile", default=DEFAULT, show_default=True, help="Rule profile whose minimum a hand needs.")
@click.option("--minimum", type=click.IntRange(0, 999), help="Another minimum than the profile's; 0 counts every hand.")
@click.option(
    "--json", "as_json", is_flag=True, help="JSON lines on standard input, one answer a line (the only form)."
)
def fan(ruleset: Ruleset, language: Language, profile: str, minimum: int | None, as_json: bool) -> None:  # noqa: ARG001, FBT001 - the flag names the contract; there is no other form yet
    """Value of a winning MCR hand, with the fan that make it up.

    1m..9m characters, 1p..9p dots, 1s..9s bamboo, 1z..7z east south west north white green red. `concealed` is without
    the winning tile. See docs/fan.md.

    \b
    {"concealed": ["2m", "2m", "3m", "3m", "5p", "5p", "7p", "7p", "2s", "2s", "9s", "9s", "4z"],
     "winning_tile": "4z", "self_drawn": true, "seat_wind": "east", "prevalent_wind": "east"}
    melds, if any: [{"kind": "chow|pung|kong", "tiles": ["1m", "2m", "3m"], "concealed": false}]
    also, false unless said: "last_of_kind", "last_tile", "kong" (a replacement tile, or a kong robbed)
    """  # noqa: D301 - click reads the \b
    rules = once(profile)

    def answer(question: Question) -> dict[str, Any]:
        needed = rules().payments.minimum.value if minimum is None else minimum
        return _told(_count(question, ruleset), needed, language)

    answer_each(Question, answer)
