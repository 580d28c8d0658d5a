"""`homologue riichi hand` and `points`: one hand, or han and fu, told in sentences."""

from typing import Any

import click

from broker.calculators.profiles import riichi as chosen
from broker.riichi.options import WINDS, honba_option, language_option, rules_option, sticks_option
from broker.riichi.question import HandQuestion, MeldQuestion, hand_of, situation_of, typed
from broker.riichi.told import hand_sentences, payments_sentences, worth_told
from broker.rules.errors import RuleError
from broker.rules.riichi.names import Language
from broker.rules.riichi.points import Win, payments
from broker.rules.riichi.value import value_and_payments


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
        melds = tuple(MeldQuestion(kind, typed(text), is_open) for kind, many, is_open in called for text in many)
        question = HandQuestion(
            concealed=typed(concealed),
            winning_tile=winning_tile,
            melds=melds,
            riichi=2 if double_riichi else int(declared),
            dora_indicators=typed(dora_indicators),
            ura_indicators=typed(ura_indicators),
            **said,
        )
        found = value_and_payments(
            hand_of(question), situation_of(question), chosen(rules), question.honba, question.riichi_sticks
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
        win = Win(han, fu, dealer, self_drawn, yakuman, honba, riichi_sticks)
        paid = payments(win, chosen(rules).points)
    except RuleError as problem:
        raise click.ClickException(f"{problem.code}: {problem.text}") from None
    click.echo("\n".join(payments_sentences(worth_told(han, fu, yakuman, language), paid, language)))
