"""Arguments and options that several commands share."""

from collections.abc import Callable, Iterable
from pathlib import Path

import click

from broker.console import EXISTING_FOLDER, FOLDER, C
from broker.event.deals import DEFAULT_WINDS, LAST_DEAL, LAST_SET
from broker.files import refuse_no_event
from broker.protocol import SEATS, Seat


def _require_event(_ctx: click.Context, _param: click.Parameter, folder: Path) -> Path:
    refuse_no_event(folder)
    return folder


folder_argument = click.argument("folder", type=EXISTING_FOLDER)
event_folder_argument = click.argument("folder", type=EXISTING_FOLDER, callback=_require_event)
"""An event's folder, for commands that create files in it: in a folder named by mistake nothing is created."""

new_folder_argument = click.argument("folder", type=FOLDER)
event_option = click.option("--event", metavar="NAME", help="Name of the event [default: the one in FOLDER].")
deals_option = click.option(
    "--deal",
    "numbers",
    type=click.IntRange(1, LAST_DEAL),
    multiple=True,
    help="Only this deal; may be repeated.",
)


excel_option = click.option(
    "--excel",
    is_flag=True,
    help="Write CSV for Excel where decimals have a comma, with semicolons. A file named .xlsx is always a workbook.",
)
force_option = click.option("--force", is_flag=True, help="Overwrite an existing file.")
red_fives_option = click.option("--red-fives", "red", is_flag=True, help="Make one five of each suit red (riichi).")


def broker_option(about: str) -> Callable[[C], C]:
    """Add --broker to a command, with this help."""
    choice = click.Choice(["embedded", "mosquitto"])
    return click.option("--broker", type=choice, default="embedded", show_default=True, help=about)


def parse_winds(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[Seat, ...]:
    """Parse a comma-separated list of winds (or seats). Raises BadParameter."""
    words = [word.strip().lower() for word in value.split(",")]
    found = tuple(seat for word in words for seat in SEATS if seat == word)
    if len(found) < len(words):
        raise click.BadParameter(f"{value!r}: give one or more of {', '.join(SEATS)}, separated by commas")
    return found


def parse_set_numbers(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[int, ...]:
    """Parse a comma-separated list of tile set numbers and ranges; None gives (). Raises BadParameter."""
    try:
        numbers = tuple(number for part in value.split(",") for number in _span(part)) if value is not None else ()
    except ValueError:
        numbers = (0,)
    if not all(1 <= number <= LAST_SET for number in numbers) or (value is not None and not numbers):
        raise click.BadParameter(f"{value!r}: give numbers from 1 to {LAST_SET}, such as 1-8,12")
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
    "set_numbers",
    metavar="NUMBERS",
    callback=parse_set_numbers,
    help="Tile sets, used in turn, such as 1-16 [default: deal 7 uses set 7].",
)
