"""`homologue riichi table`: the points table."""

from pathlib import Path

import click

from broker.calculators.profiles import riichi as chosen
from broker.riichi.options import language_option, rules_option
from broker.riichi.sheet import written_table
from broker.riichi.table_text import table_text
from broker.rules.errors import RuleError
from broker.rules.riichi.names import Language
from broker.scorer.output import write_whole


@click.command("table", short_help="The points table, on the screen or as PDF.")
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="A PDF to write, one page A4, for the table."
)
@rules_option
@language_option
def table(output: Path | None, rules: str, language: Language) -> None:
    """Show all that han and fu pay: on a discard, and in brackets self-drawn (each other, and the dealer).

    \b
    homologue riichi table --output points.pdf --language fr
    """  # noqa: D301 - click reads the \b
    try:
        profile = chosen(rules)
    except RuleError as problem:
        raise click.ClickException(f"{problem.code}: {problem.text}") from None
    if output is None:
        click.echo(table_text(profile, language))
        return
    try:
        write_whole(output, written_table(profile, language))
    except OSError as error:
        raise click.ClickException(f"cannot write {output}: {error.strerror}") from None
    click.echo(f"{output}")
