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
from broker.export.points_table import points_table_pdf, points_table_text
from broker.output import write_whole
from broker.rules import DEFAULT_RIICHI, RuleError, load_riichi
from broker.rules.riichi import LANGUAGES, Language, PaidWin, RiichiProfile, riichi_payments
from broker.rules.riichi.value import value_and_payments

rules_option: Final = click.option(
    "--rules",
    default=DEFAULT_RIICHI,
    show_default=True,
    help="Rule profile: its id, in short too (`tenhou`), or a file.",
)
language_option: Final = click.option(
    "--language", type=click.Choice(LANGUAGES), default="ja", show_default=True, help="Of the names."
)


@click.group(invoke_without_command=True, short_help="Value of a riichi hand and what it pays; the points table.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines on standard input, one answer a line.")
@rules_option
@language_option
@click.pass_context
def riichi_group(context: click.Context, as_json: bool, rules: str, language: Language) -> None:  # noqa: FBT001 - click's way
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
    answer_each(dict[str, Any], lambda asked: _json_answer(asked, of_option, language))


def _json_answer(asked: dict[str, Any], of_option: Callable[[], RiichiProfile], language: Language) -> dict[str, Any]:
    question = read_riichi_question(asked)
    profile = of_option() if question.rules is None else load_riichi(question.rules)
    if isinstance(question, RiichiHandQuestion):
        found = value_and_payments(
            question_hand(question), question_situation(question), profile, question.honba, question.riichi_sticks
        )
        return hand_answer(*found, language)
    paid = riichi_payments(question_win(question), profile.points)
    return points_answer(question.han, question.fu, question.yakuman, paid)


WINDS: Final = click.Choice(["east", "south", "west", "north"])

honba_option: Final = click.option("--honba", type=click.IntRange(0, 999), default=0, help="Counters on the table.")
sticks_option: Final = click.option(
    "--riichi-sticks", type=click.IntRange(0, 999), default=0, help="Deposits that the winner takes."
)


@click.command("hand", short_help="Value of one hand, for people.")
@click.argument("concealed")
@click.argument("winning_tile")
@click.option("--tsumo", "self_drawn", is_flag=True, help="Won on a drawn tile.")
@click.option("--seat", "seat_wind", type=WINDS, default="south", show_default=True, help="The winner's wind.")
@click.option("--round", "round_wind", type=WINDS, default="east", show_default=True, help="The wind of the round.")
@click.option("--chii", multiple=True, help="A called chii: 234m. As often as there are.")
@click.option("--pon", multiple=True, help="A called pon: 555z.")
@click.option("--kan", multiple=True, help="An open kan: 1111m.")
@click.option("--closed-kan", multiple=True, help="A closed kan.")
@click.option("--riichi", "declared", is_flag=True, help="Riichi was declared.")
@click.option("--double-riichi", is_flag=True, help="On the first turn.")
@click.option("--open-riichi", is_flag=True, help="With the hand shown.")
@click.option("--ippatsu", is_flag=True)
@click.option("--rinshan", is_flag=True)
@click.option("--chankan", is_flag=True)
@click.option("--haitei", is_flag=True)
@click.option("--houtei", is_flag=True)
@click.option("--first-turn", is_flag=True, help="Tenhou, chiihou, renhou, shiisanputa.")
@click.option("--after-eight-counters", is_flag=True, help="Paarenchan.")
@click.option("--dora", "dora_indicators", default="", help="Indicators: 1m4p.")
@click.option("--ura", "ura_indicators", default="", help="Indicators below them.")
@honba_option
@sticks_option
@rules_option
@language_option
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
    """Tell what one hand is worth, with its fu item by item. CONCEALED is without the WINNING_TILE.

    \b
    homologue riichi hand 2233m456p678s 3m --pon 777z --tsumo --seat east --language fr
    """  # noqa: D301 - click reads the \b
    called = [("chii", chii, True), ("pon", pon, True), ("kan", kan, True), ("kan", closed_kan, False)]
    try:
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
    except RuleError as problem:
        raise click.ClickException(f"{problem.code}: {problem.text}") from None
    click.echo("\n".join(hand_sentences(*found, language)))


@click.command("points", short_help="What han and fu pay.")
@click.argument("han", type=int)
@click.argument("fu", type=int, default=0)
@click.option("--yakuman", type=click.IntRange(0, 99), default=0, help="Yakuman, whatever the han are.")
@click.option("--dealer", is_flag=True, help="The dealer has won.")
@click.option("--tsumo", "self_drawn", is_flag=True, help="Won on a drawn tile.")
@honba_option
@sticks_option
@rules_option
@language_option
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
    """Tell what HAN and FU pay; FU may be left out from 5 han on.

    \b
    homologue riichi points 3 50 --tsumo
    """  # noqa: D301 - click reads the \b
    try:
        win = PaidWin(han, fu, dealer, self_drawn, yakuman, honba, riichi_sticks)
        paid = riichi_payments(win, chosen(rules).points)
    except RuleError as problem:
        raise click.ClickException(f"{problem.code}: {problem.text}") from None
    click.echo("\n".join(payments_sentences(worth_sentence(han, fu, yakuman, language), paid, language)))


@click.command("table", short_help="The points table, on the screen or as PDF.")
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="A PDF to write, one page A4, for the table."
)
@rules_option
@language_option
def riichi_table(output: Path | None, rules: str, language: Language) -> None:
    """Show all that han and fu pay: on a discard, and in brackets self-drawn (each other, and the dealer).

    \b
    homologue riichi table --output points.pdf --language fr
    """  # noqa: D301 - click reads the \b
    try:
        profile = chosen(rules)
    except RuleError as problem:
        raise click.ClickException(f"{problem.code}: {problem.text}") from None
    if output is None:
        click.echo(points_table_text(profile, language))
        return
    try:
        write_whole(output, points_table_pdf(profile, language))
    except OSError as error:
        raise click.ClickException(f"cannot write {output}: {error.strerror}") from None
    click.echo(f"{output}")


for _command in (one_hand, han_and_fu, riichi_table, riichi_check):
    riichi_group.add_command(_command)
