"""Arguments that several commands have, and how refusals are told."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NoReturn

import click

from broker.contract.words import SEATS, Seat
from broker.organiser.deals.files import flat
from broker.organiser.deals.listed import LAST_DEAL, LAST_SET
from broker.rules.errors import RuleError
from broker.scorer.errors import ScorerError
from broker.store.errors import StoreError

FOLDER: Final = click.Path(file_okay=False, path_type=Path)
FILE: Final = click.Path(dir_okay=False, path_type=Path)

folder = click.argument("folder", type=FOLDER)
event = click.option("--event", metavar="NAME", help="Name of the event [default: as FOLDER says].")
deals = click.option(
    "--deal",
    "numbers",
    type=click.IntRange(1, LAST_DEAL),
    multiple=True,
    help="Only this deal; may be said several times.",
)


red = click.option("--red-fives", "red", is_flag=True, help="One five of each suit is a red one (riichi).")


def winds(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[Seat, ...]:
    """Read words of the four winds (or seats), with commas between. Raises BadParameter."""
    words = [word.strip().lower() for word in value.split(",")]
    found = tuple(seat for word in words for seat in SEATS if seat == word)
    if len(found) < len(words):
        raise click.BadParameter(f"{value!r}: words of {', '.join(SEATS)}, with commas between")
    return found


def set_numbers(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[int, ...]:
    """Read numbers and ranges of sets, with commas between; nothing where nothing is said. Raises BadParameter."""
    try:
        numbers = tuple(number for part in value.split(",") for number in _span(part)) if value is not None else ()
    except ValueError:
        numbers = (0,)
    if not all(1 <= number <= LAST_SET for number in numbers) or (value is not None and not numbers):
        raise click.BadParameter(f"{value!r}: numbers from 1 to {LAST_SET}, such as 1-8,12")
    return numbers


def _span(part: str) -> Iterable[int]:
    first, _, last = part.partition("-")
    if len(part) > len("99 - 99"):
        raise ValueError(part)
    return range(int(first), int(last or first) + 1)


class Refusing(click.Group):
    """A group whose refusals are told by code and sentence, all at once; exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's way
        """Run the command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # click ends quietly when the reader has gone
        except (RuleError, ScorerError, StoreError) as refusal:
            _tell(ctx, [refusal])
        except OSError as failure:
            where = f"{failure.filename}: " if failure.filename else ""
            _tell(ctx, [RuleError("file_failed", f"{where}{failure.strerror}")])
        except ExceptionGroup as several:
            if several.split(RuleError)[1]:
                raise
            _tell(ctx, flat(several))


def _tell(ctx: click.Context, refusals: Iterable[RuleError | ScorerError | StoreError]) -> NoReturn:
    for refusal in refusals:
        click.echo(f"{ctx.command_path}: {refusal.code}: {refusal}", err=True)
    ctx.exit(1)
