"""`homologue riichi`: what a riichi hand is worth and pays, and the points table."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import click

from broker.cli.mjlog.check import riichi_check
from broker.cli.profile import load_riichi_rules as chosen
from broker.cli.riichi_answers import (
    RiichiHandQuestion,
    RiichiMeldQuestion,
    hand_answer,
    hand_sentences,
    parse_tiles,
    payments_sentences,
    points_answer,
    question_hand,
    question_situation,
    question_win,
    read_riichi_question,
    worth_sentence,
)
from broker.cli.stream import answer_each
from broker.console import FILE, json_option, said_as_json, say
from broker.export.points_table import points_table_pdf, points_table_text
from broker.files import write_whole
from broker.rules import DEFAULT_RIICHI, load_riichi
from broker.rules.riichi import LANGUAGES, Language, PaidWin, RiichiProfile, refuse_impossible_win, riichi_payments
from broker.rules.riichi.value import value_and_payments

rules_option: Final = click.option(
    "--rules",
    default=DEFAULT_RIICHI,
    show_default=True,
    help="Rule profile, by id (`tenhou` for riichi-tenhou) or as a file.",
)
language_option: Final = click.option(
    "--language", type=click.Choice(LANGUAGES), default="ja", show_default=True, help="Language of names."
)


@click.group(invoke_without_command=True, short_help="Value a riichi hand and what it pays; print the points table.")
@json_option("Read JSON lines from standard input and print one answer per line.")
@rules_option
@language_option
@click.pass_context
def riichi_group(context: click.Context, as_json: bool, rules: str, language: Language) -> None:  # noqa: FBT001 - click's way
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
    also, false unless said: "open_riichi", "ippatsu", "rinshan", "chankan", "haitei", "houtei", "after_eight_counters",
     "first_turn" (before any call and before the winner's first discard)
    also, none unless said: "dora_indicators", "ura_indicators" (not the dora), "honba", "riichi_sticks", "rules"
    """
    if context.invoked_subcommand is not None:
        return
    if not as_json:
        raise click.UsageError("--json, or one of the commands: hand, points, table, check")
    of_option = cache(lambda: chosen(rules))
    answer_each(dict[str, Any], lambda asked: _json_answer(asked, of_option, language))


def _json_answer(asked: dict[str, Any], of_option: Callable[[], RiichiProfile], language: Language) -> dict[str, Any]:
    question = read_riichi_question(asked)
    profile = of_option() if question.rules is None else load_riichi(question.rules)
    if isinstance(question, RiichiHandQuestion):
        found = value_and_payments(
            question_hand(question), question_situation(question), profile, question.honba, question.riichi_sticks
        )
        return hand_answer(*found, language)
    win = question_win(question)
    refuse_impossible_win(win, profile.fu)
    paid = riichi_payments(win, profile.points)
    return points_answer(question.han, question.fu, question.yakuman, paid)


WINDS: Final = click.Choice(["east", "south", "west", "north"])

honba_option: Final = click.option(
    "--honba", type=click.IntRange(0, 999), default=0, help="Number of counters (honba)."
)
sticks_option: Final = click.option(
    "--riichi-sticks", type=click.IntRange(0, 999), default=0, help="Number of deposits that the winner takes."
)


@click.command("hand", short_help="Value one hand.")
@click.argument("concealed")
@click.argument("winning_tile")
@click.option("--tsumo", "self_drawn", is_flag=True, help="The hand won by tsumo.")
@click.option("--seat", "seat_wind", type=WINDS, default="south", show_default=True, help="The winner's seat wind.")
@click.option("--round", "round_wind", type=WINDS, default="east", show_default=True, help="The round wind.")
@click.option("--chii", multiple=True, help="An open chii, such as 234m; may be repeated.")
@click.option("--pon", multiple=True, help="An open pon, such as 555z; may be repeated.")
@click.option("--kan", multiple=True, help="An open kan, such as 1111m; may be repeated.")
@click.option("--closed-kan", multiple=True, help="A closed kan; may be repeated.")
@click.option("--riichi", "declared", is_flag=True, help="Riichi was declared.")
@click.option("--double-riichi", is_flag=True, help="Riichi was declared on the first turn.")
@click.option("--open-riichi", is_flag=True, help="Riichi was declared with the hand shown.")
@click.option("--ippatsu", is_flag=True)
@click.option("--rinshan", is_flag=True)
@click.option("--chankan", is_flag=True)
@click.option("--haitei", is_flag=True)
@click.option("--houtei", is_flag=True)
@click.option("--first-turn", is_flag=True, help="Tenhou, chiihou, renhou, shiisanputa.")
@click.option("--after-eight-counters", is_flag=True, help="Paarenchan.")
@click.option("--dora", "dora_indicators", default="", help="Dora indicators, such as 1m4p.")
@click.option("--ura", "ura_indicators", default="", help="Ura dora indicators.")
@honba_option
@sticks_option
@rules_option
@language_option
@said_as_json
def one_hand(  # noqa: PLR0913 - one parameter an option
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
    **said: Any,  # noqa: ANN401 - the options that the question takes as they are
) -> None:
    """Show what one hand is worth, with its fu item by item. CONCEALED excludes the WINNING_TILE.

    \b
    homologue riichi hand 2233m456p678s 3m --pon 777z --tsumo --seat east --language fr
    """
    called = [("chii", chii, True), ("pon", pon, True), ("kan", kan, True), ("kan", closed_kan, False)]
    melds = tuple(
        RiichiMeldQuestion(kind, parse_tiles(text), is_open) for kind, many, is_open in called for text in many
    )
    question = RiichiHandQuestion(
        concealed=parse_tiles(concealed),
        winning_tile=winning_tile,
        melds=melds,
        riichi=2 if double_riichi else int(declared),
        dora_indicators=parse_tiles(dora_indicators),
        ura_indicators=parse_tiles(ura_indicators),
        **said,
    )
    found = value_and_payments(
        question_hand(question), question_situation(question), chosen(rules), question.honba, question.riichi_sticks
    )
    say("\n".join(hand_sentences(*found, language)), **hand_answer(*found, language))


@click.command("points", short_help="Show what han and fu pay.")
@click.argument("han", type=int)
@click.argument("fu", type=int, default=0)
@click.option("--yakuman", type=click.IntRange(0, 99), default=0, help="Number of yakuman; han are ignored.")
@click.option("--dealer", is_flag=True, help="The winner is the dealer.")
@click.option("--tsumo", "self_drawn", is_flag=True, help="The hand won by tsumo.")
@honba_option
@sticks_option
@rules_option
@language_option
@said_as_json
def han_and_fu(  # noqa: PLR0913 - one parameter an option
    *,
    han: int,
    fu: int,
    yakuman: int,
    dealer: bool,
    self_drawn: bool,
    honba: int,
    riichi_sticks: int,
    rules: str,
    language: Language,
) -> None:
    """Show what HAN and FU pay. FU may be omitted from 5 han.

    \b
    homologue riichi points 3 50 --tsumo
    """
    win = PaidWin(han, fu, dealer, self_drawn, yakuman, honba, riichi_sticks)
    profile = chosen(rules)
    refuse_impossible_win(win, profile.fu)
    paid = riichi_payments(win, profile.points)
    say(
        "\n".join(payments_sentences(worth_sentence(han, fu, yakuman, language), paid, language)),
        **points_answer(han, fu, yakuman, paid),
    )


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
    profile = chosen(rules)
    if output is None:
        click.echo(points_table_text(profile, language))
        return
    write_whole(output, points_table_pdf(profile, language))
    click.echo(f"{output}")


for _command in (one_hand, han_and_fu, riichi_table, riichi_check):
    riichi_group.add_command(_command)
