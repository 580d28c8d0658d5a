"""Arguments that several commands have, and how refusals are told."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NoReturn

import click

from broker.errors import BrokerError, ScorerError, StoreError
from broker.event.deals import DEFAULT_WINDS, LAST_DEAL, LAST_SET
from broker.event.file_io import flatten_errors
from broker.protocol import SEATS, Seat
from broker.rules import RuleError

FOLDER: Final = click.Path(file_okay=False, path_type=Path)
FILE: Final = click.Path(dir_okay=False, path_type=Path)

folder_argument = click.argument("folder", type=FOLDER)
event_option = click.option("--event", metavar="NAME", help="Name of the event [default: the one in FOLDER].")
deals_option = click.option(
    "--deal",
    "numbers",
    type=click.IntRange(1, LAST_DEAL),
    multiple=True,
    help="Only this deal; may be repeated.",
)


red_fives_option = click.option("--red-fives", "red", is_flag=True, help="Make one five of each suit red (riichi).")


def parse_winds(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[Seat, ...]:
    """Read words of the four winds (or seats), with commas between. Raises BadParameter."""
    words = [word.strip().lower() for word in value.split(",")]
    found = tuple(seat for word in words for seat in SEATS if seat == word)
    if len(found) < len(words):
        raise click.BadParameter(f"{value!r}: words of {', '.join(SEATS)}, with commas between")
    return found


def parse_set_numbers(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[int, ...]:
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


winds_option = click.option(
    "--prevalent-winds",
    metavar="WINDS",
    callback=parse_winds,
    default=",".join(DEFAULT_WINDS),
    help="Prevalent winds, used in turn [default: four deals in east, then four each in south, west "
    "and north, and so on].",
)
dealers_option = click.option(
    "--dealers",
    metavar="WINDS",
    callback=parse_winds,
    default=",".join(SEATS),
    show_default=True,
    help="Dealers, used in turn.",
)
sets_option = click.option(
    "--sets",
    "wished",
    metavar="NUMBERS",
    callback=parse_set_numbers,
    help="Tile sets, used in turn, such as 1-16 [default: deal 7 uses set 7].",
)


class ReportingGroup(click.Group):
    """A group whose refusals are told by code and sentence, all at once; exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's way
        """Run the command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # click ends quietly when the reader has gone
        except (RuleError, BrokerError, ScorerError, StoreError) as refusal:
            _report(ctx, [refusal])
        except OSError as failure:
            where = f"{failure.filename}: " if failure.filename else ""
            _report(ctx, [RuleError("file_failed", f"{where}{failure.strerror}")])
        except ExceptionGroup as several:
            if several.split(RuleError)[1]:
                raise
            _report(ctx, flatten_errors(several))


def _report(ctx: click.Context, refusals: Iterable[RuleError | BrokerError | ScorerError | StoreError]) -> NoReturn:
    for refusal in refusals:
        click.echo(f"{ctx.command_path}: {refusal.code}: {refusal}", err=True)
    ctx.exit(1)
