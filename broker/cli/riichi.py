"""`homologue riichi`: the value and payments of a riichi hand, and the points table."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

import click
import msgspec
from msgspec import Meta, Struct

from broker.cli.mjlog.check import riichi_check
from broker.cli.rules_input import RiichiMeldLine, answer_each, load_riichi_rules, riichi_rules_option
from broker.console import FILE, json_lines, json_option, say
from broker.errors import reason
from broker.export.points_table import pad_left, points_table_pdf, points_table_text, translator
from broker.files import write_if_same_kind
from broker.i18n import N_, Message
from broker.protocol import SEATS
from broker.rules import RuleError, load_riichi
from broker.rules.riichi import (
    LANGUAGES,
    Language,
    PaidWin,
    RiichiPayments,
    RiichiProfile,
    refuse_impossible_win,
    riichi_name,
    riichi_payments,
)
from broker.rules.riichi.fu import Fu
from broker.rules.riichi.hand import RiichiHand, RiichiSituation
from broker.rules.riichi.value import RiichiHandValue, value_and_payments

SEVERAL: Final = re.compile(r"([0-9]+)([a-z])")

Number = Annotated[int, Meta(ge=-999, le=999)]
"""Wide enough for negative numbers, which get an error code of their own."""


class _Question(Struct, forbid_unknown_fields=True):
    """Fields of both kinds of questions."""

    self_drawn: bool = False
    honba: Number = 0
    riichi_sticks: Number = 0
    discarder: str | None = None
    rules: str | None = None


class RiichiHandQuestion(_Question, kw_only=True, forbid_unknown_fields=True):
    """A hand and how it won. `concealed` excludes the winning tile. Winds have no default, which would be a guess."""

    concealed: tuple[str, ...]
    winning_tile: str
    round_wind: str
    seat_wind: str
    melds: tuple[RiichiMeldLine, ...] = ()
    riichi: Annotated[int, Meta(ge=0, le=2)] = 0
    open_riichi: bool = False
    ippatsu: bool = False
    rinshan: bool = False
    chankan: bool = False
    haitei: bool = False
    houtei: bool = False
    first_turn: bool = False
    after_eight_counters: bool = False
    dora_indicators: tuple[str, ...] = ()
    ura_indicators: tuple[str, ...] = ()


class RiichiPointsQuestion(_Question, kw_only=True, forbid_unknown_fields=True):
    """A hand whose value is already counted, in han and fu or in yakuman."""

    dealer: bool
    han: Number = 0
    fu: Number = 0
    yakuman: Number = 0


def read_riichi_question(content: dict[str, Any]) -> RiichiHandQuestion | RiichiPointsQuestion:
    """Read a question: about tiles, or about han and fu. Raises RuleError `malformed`."""
    try:
        if "concealed" in content or "winning_tile" in content:
            return msgspec.convert(content, RiichiHandQuestion)
        return msgspec.convert(content, RiichiPointsQuestion)
    except msgspec.ValidationError as error:
        raise RuleError("malformed", reason(error)) from None


def value_hand(question: RiichiHandQuestion, profile: RiichiProfile) -> tuple[RiichiHandValue, RiichiPayments]:
    """Return the value of a hand, and what it pays.

    Raises RuleError with the codes of `RiichiHandMeld`, `RiichiHand`, `RiichiSituation` and `riichi_value`, and those
    for an impossible discarder.
    """
    hand = RiichiHand(question.concealed, question.winning_tile, tuple(meld.laid() for meld in question.melds))
    _check_discarder(question, question.seat_wind)
    situation = RiichiSituation(**{one.name: getattr(question, one.name) for one in fields(RiichiSituation)})
    return value_and_payments(hand, situation, profile, question.honba, question.riichi_sticks)


def pay_points(question: RiichiPointsQuestion, profile: RiichiProfile) -> RiichiPayments:
    """Return what han and fu pay.

    Raises RuleError with the codes of `PaidWin`, `impossible_value`, and those for an impossible discarder.
    """
    _check_discarder(question, "east" if question.dealer else None)
    counted = question.han, question.fu, question.dealer, question.self_drawn, question.yakuman, question.honba
    win = PaidWin(*counted, deposits=question.riichi_sticks)
    refuse_impossible_win(win, profile.fu)
    return riichi_payments(win, profile.points)


def _check_discarder(question: RiichiHandQuestion | RiichiPointsQuestion, winner: str | None) -> None:
    """Raise RuleError `unknown_wind`, `discarder_not_asked` or `discarder_wins`. `winner` is a seat wind."""
    if question.discarder is None:
        return
    if question.discarder not in SEATS:
        raise RuleError("unknown_wind", f"{question.discarder[:20]!r} is not a seat wind: {', '.join(SEATS)}")
    if question.self_drawn:
        raise RuleError("discarder_not_asked", "a self-drawn win has no discarder")
    if question.discarder == winner:
        raise RuleError("discarder_wins", f"{winner} wins on their own discard")


def parse_tiles(text: str) -> tuple[str, ...]:
    """Return the tiles of `234m0p55z`. Raises RuleError `unknown_tile`."""
    if SEVERAL.sub("", text).strip():
        raise RuleError("unknown_tile", f"{text[:40]!r}: digits and then m, p, s or z, as in 234m055p77z")
    return tuple(f"{rank}{suit}" for ranks, suit in SEVERAL.findall(text) for rank in ranks)


SENTENCES: Final[Mapping[str, Message]] = {
    "discarder_pays": N_("the discarder pays {points}"),
    "each_other_pays": N_("every other player pays {points}"),
    "dealer_pays": N_("the dealer pays {points}"),
    "each_non_dealer_pays": N_("each of the other players pays {points}"),
    "winner_gain": N_("the winner gains {points}"),
}
"""Sentences are in English unless the language is French or Chinese: with `ja`, only the terms are Japanese."""


def _payments_answer(paid: RiichiPayments) -> dict[str, int]:
    """Return who pays what, without those who pay nothing."""
    return {way: points for way in SENTENCES if (points := getattr(paid, way)) is not None}


def points_answer(question: RiichiPointsQuestion, paid: RiichiPayments) -> dict[str, Any]:
    """Return the answer to a question about han and fu."""
    return {"yaku": [], "han": question.han, "fu": question.fu, "yakuman": question.yakuman} | _paid(paid)


def hand_answer(value: RiichiHandValue, paid: RiichiPayments, language: Language) -> dict[str, Any]:
    """Return the answer to a question about tiles."""
    yaku = [{"id": one.id, "name": riichi_name("yaku", one.id, language), "han": one.han} for one in value.yaku]
    answer = {"yaku": yaku, "han": value.han, "fu": value.rounded_fu, "yakuman": value.yakuman}
    return answer | _paid(paid) | ({"fu_items": _items(value.fu, language)} if value.fu else {})


def _paid(paid: RiichiPayments) -> dict[str, Any]:
    return {"payments": _payments_answer(paid), "winner_gain": paid.winner_gain, "limit": paid.limit}


def _items(fu: Fu, language: Language) -> list[dict[str, Any]]:
    return [
        {"id": item.id, "name": riichi_name("fu", item.id, language), "fu": item.fu}
        | ({"tiles": item.tiles} if item.tiles else {})
        for item in fu.items
    ]


def hand_sentences(value: RiichiHandValue, paid: RiichiPayments, language: Language) -> Iterator[str]:
    """Return a hand's value in sentences: yaku, fu item by item, and payments."""
    _ = translator(language)
    for one in value.yaku:
        worth = _("{count} yakuman", count=one.yakuman) if one.yakuman else _("{han} han", han=one.han)
        yield f"{pad_left(worth, 10)}  {riichi_name('yaku', one.id, language)}"
    if value.fu and not value.yakuman:
        yield ""
        for item in value.fu.items:
            worth = _("{fu} fu", fu=item.fu)
            line = f"{pad_left(worth, 10)}  {riichi_name('fu', item.id, language)}"
            yield f"{line}  {' '.join(item.tiles)}" if item.tiles else line
        if value.fu.sum != value.fu.rounded:
            yield 12 * " " + _("{fu} fu, rounded up to {rounded}", fu=value.fu.sum, rounded=value.fu.rounded)
    yield ""
    worth = "" if value.yakuman else worth_sentence(value.han, value.rounded_fu, 0, language)
    yield payments_sentence(worth, paid, language)


def worth_sentence(han: int, fu: int, yakuman: int, language: Language) -> str:
    """Return what a hand is worth: its yakuman, or han and fu."""
    _ = translator(language)
    if yakuman:
        return _("{count} yakuman", count=yakuman)
    return " ".join(text for text, worth in ((_("{han} han", han=han), han), (_("{fu} fu", fu=fu), fu)) if worth)


def payments_sentence(worth: str, paid: RiichiPayments, language: Language) -> str:
    """Return a sentence with the value, the limit and who pays what."""
    _ = translator(language)
    limit = riichi_name("limit", paid.limit, language) if paid.limit else ""
    ways = ", ".join(_(SENTENCES[way], points=points) for way, points in _payments_answer(paid).items())
    return f"{', '.join(filter(None, (worth, limit)))}: {ways}"


rules_option: Final = riichi_rules_option("Rule profile, by id (`tenhou` for riichi-tenhou) or as a file.")
language_option: Final = click.option(
    "--language", type=click.Choice(LANGUAGES), default="ja", show_default=True, help="Language of names."
)


@click.group(invoke_without_command=True, short_help="Value a riichi hand and what it pays; print the points table.")
@json_option("Read JSON lines from standard input and print one answer per line.")
@rules_option
@language_option
@click.pass_context
def riichi_group(context: click.Context, *, as_json: bool, rules: str, language: Language) -> None:
    """Value a riichi hand: yaku, han, fu item by item, and what it pays.

    Tiles: 1m..9m characters, 1p..9p dots, 1s..9s bamboo, 0m 0p 0s red fives, 1z..7z east south west north white green
    red. `concealed` excludes the winning tile. A line is either a hand, or han and fu. See docs/riichi.md.

    \b
    homologue riichi hand 234m678p23455s 6s --riichi --dora 1m
    homologue riichi points 3 30 --dealer
    homologue riichi --json <hands.jsonl
    {"concealed": ["2m", "3m", "4m", "6p", "7p", "8p", "2s", "3s", "4s", "5s", "5s", "7s", "8s"], "winning_tile": "6s",
     "self_drawn": false, "round_wind": "east", "seat_wind": "south", "riichi": 1, "dora_indicators": ["1m"]}
    {"han": 3, "fu": 30, "dealer": true, "self_drawn": false, "honba": 1}
    melds, if any: [{"kind": "chii|pon|kan", "tiles": ["2m", "3m", "4m"], "open": true}]
    riichi: 0, 1, or 2 (double riichi)
    optional, false by default: "open_riichi", "ippatsu", "rinshan", "chankan", "haitei", "houtei",
     "after_eight_counters", "first_turn" (before any call and before the winner's first discard)
    optional, none by default: "dora_indicators", "ura_indicators" (not the dora), "honba", "riichi_sticks", "rules"
    """
    if context.invoked_subcommand is not None:
        return
    if not as_json:
        raise click.UsageError("give --json, or one of the commands hand, points, table and check")
    of_option = cache(lambda: load_riichi_rules(rules))
    answer_each(dict[str, Any], lambda content: _json_answer(content, of_option, language))


def _json_answer(content: dict[str, Any], of_option: Callable[[], RiichiProfile], language: Language) -> dict[str, Any]:
    question = read_riichi_question(content)
    profile = of_option() if question.rules is None else load_riichi(question.rules)
    if isinstance(question, RiichiHandQuestion):
        return hand_answer(*value_hand(question, profile), language)
    return points_answer(question, pay_points(question, profile))


WINDS: Final = click.Choice(SEATS)
honba_option: Final = click.option(
    "--honba", type=click.IntRange(0, 999), default=0, help="Number of counters (honba)."
)
sticks_option: Final = click.option(
    "--riichi-sticks", type=click.IntRange(0, 999), default=0, help="Number of deposits that the winner takes."
)


@click.command("hand", short_help="Value one hand.")
@click.argument("concealed")
@click.argument("winning_tile")
@click.option("--tsumo", "self_drawn", is_flag=True, help="Won by tsumo.")
@click.option("--seat", "seat_wind", type=WINDS, default="south", show_default=True, help="The winner's seat wind.")
@click.option("--round", "round_wind", type=WINDS, default="east", show_default=True, help="The round wind.")
@click.option("--chii", multiple=True, help="An open chii, such as 234m; may be repeated.")
@click.option("--pon", multiple=True, help="An open pon, such as 555z; may be repeated.")
@click.option("--kan", multiple=True, help="An open kan, such as 1111m; may be repeated.")
@click.option("--closed-kan", multiple=True, help="A closed kan; may be repeated.")
@click.option("--riichi", "declared", is_flag=True, help="Riichi was declared.")
@click.option("--double-riichi", is_flag=True, help="Riichi was declared on the first turn.")
@click.option("--open-riichi", is_flag=True, help="Riichi was declared with the hand shown.")
@click.option("--ippatsu", is_flag=True, help="Won in the uninterrupted turn after riichi.")
@click.option("--rinshan", is_flag=True, help="Won on a replacement tile.")
@click.option("--chankan", is_flag=True, help="Won by robbing a kan.")
@click.option("--haitei", is_flag=True, help="Won on the last tile of the wall.")
@click.option("--houtei", is_flag=True, help="Won on the last discard.")
@click.option("--first-turn", is_flag=True, help="Won in the first turn: tenhou, chiihou, renhou, shiisanputa.")
@click.option("--after-eight-counters", is_flag=True, help="Won by the dealer with eight counters: paarenchan.")
@click.option("--dora", "dora_indicators", default="", help="Dora indicators, such as 1m4p.")
@click.option("--ura", "ura_indicators", default="", help="Ura dora indicators.")
@honba_option
@sticks_option
@rules_option
@language_option
@json_lines
def one_hand(  # noqa: PLR0913 - one parameter per option
    *,
    concealed: str,
    winning_tile: str,
    chii: tuple[str, ...],
    pon: tuple[str, ...],
    kan: tuple[str, ...],
    closed_kan: tuple[str, ...],
    declared: bool,
    double_riichi: bool,
    dora_indicators: str,
    ura_indicators: str,
    rules: str,
    language: Language,
    **options: Any,  # noqa: ANN401 - the options that the question takes as they are
) -> None:
    """Show what one hand is worth, with its fu item by item. CONCEALED excludes the WINNING_TILE.

    \b
    homologue riichi hand 2233m456p678s 3m --pon 777z --tsumo --seat east --language fr
    """
    called = [("chii", chii, True), ("pon", pon, True), ("kan", kan, True), ("kan", closed_kan, False)]
    melds = tuple(RiichiMeldLine(kind, parse_tiles(text), is_open) for kind, many, is_open in called for text in many)
    question = RiichiHandQuestion(
        concealed=parse_tiles(concealed),
        winning_tile=winning_tile,
        melds=melds,
        riichi=2 if double_riichi else int(declared),
        dora_indicators=parse_tiles(dora_indicators),
        ura_indicators=parse_tiles(ura_indicators),
        **options,
    )
    found = value_hand(question, load_riichi_rules(rules))
    say("\n".join(hand_sentences(*found, language)), **hand_answer(*found, language))


@click.command("points", short_help="Show what han and fu pay.")
@click.argument("han", type=int)
@click.argument("fu", type=int, default=0)
@click.option("--yakuman", type=click.IntRange(0, 99), default=0, help="Number of yakuman; han are ignored.")
@click.option("--dealer", is_flag=True, help="The winner is the dealer.")
@click.option("--tsumo", "self_drawn", is_flag=True, help="Won by tsumo.")
@honba_option
@sticks_option
@rules_option
@language_option
@json_lines
def han_and_fu(
    *,
    rules: str,
    language: Language,
    **options: Any,  # noqa: ANN401 - the options that the question takes as they are
) -> None:
    """Show what HAN and FU pay. FU may be omitted from 5 han.

    \b
    homologue riichi points 3 50 --tsumo
    """
    question = RiichiPointsQuestion(**options)
    paid = pay_points(question, load_riichi_rules(rules))
    worth = worth_sentence(question.han, question.fu, question.yakuman, language)
    say(payments_sentence(worth, paid, language), **points_answer(question, paid))


@click.command("table", short_help="Show or print the points table.")
@click.option("--output", type=FILE, help="PDF file to write, one A4 page.")
@rules_option
@language_option
def riichi_table(output: Path | None, rules: str, language: Language) -> None:
    """Show what all han and fu pay.

    The first figure is for a win on a discard; in brackets, self-drawn: from each other player, and from the dealer.

    \b
    homologue riichi table --output points.pdf --language fr
    """
    profile = load_riichi_rules(rules)
    if output is None:
        click.echo(points_table_text(profile, language))
        return
    write_if_same_kind(output, points_table_pdf(profile, language))
    click.echo(f"{output}")


for _command in (one_hand, han_and_fu, riichi_table, riichi_check):
    riichi_group.add_command(_command)
