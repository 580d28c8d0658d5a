"""Options that the commands of `homologue riichi` have in common."""

from typing import Final

import click

from broker.rules.riichi.names import LANGUAGES
from broker.rules.riichi.profile_files import DEFAULT

WINDS: Final = click.Choice(["east", "south", "west", "north"])

rules_option: Final = click.option(
    "--rules", default=DEFAULT, show_default=True, help="Rule profile: its id, in short too (`tenhou`), or a file."
)
language_option: Final = click.option(
    "--language", type=click.Choice(LANGUAGES), default="ja", show_default=True, help="Of the names."
)
honba_option: Final = click.option("--honba", type=click.IntRange(0, 999), default=0, help="Counters on the table.")
sticks_option: Final = click.option(
    "--riichi-sticks", type=click.IntRange(0, 999), default=0, help="Deposits that the winner takes."
)
