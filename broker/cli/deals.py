"""`homologue deal`: what the organiser does with deals and tile sets before and after an event."""

import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from broker.cli import options
from broker.event import SETS
from broker.event.deals import LAST_SET, commitment, make, read_commitment, tile_sets
from broker.event.file_io import publish
from broker.export import revealed_deals
from broker.export.carrier_sheets import CarrierLayout, carrier_layouts, carrier_sheet_pdf, layout_csv, layout_json
from broker.export.revealed_deals import select_deals
from broker.i18n import languages
from broker.protocol import SEATS, Seat
from broker.rules import Deal, RuleError
from broker.rules.commitment import Commitment
from broker.rules.riichi import CommonWall, common_wall, wall_of


@click.group(cls=options.ReportingGroup, short_help="Make, commit to, reveal and print deals; register tile sets.")
def deal() -> None:
    """Make the deals of an event, commit to them, print what lies in the carriers, and reveal them afterwards.

    FOLDER is the event's folder. What is there is never written over. docs/deals.md tells the whole way.

    \b
    homologue deal new --event cup --deals 16 my-cup
    homologue deal export my-cup --output sheets
    homologue deal reveal my-cup --output revealed.json
    homologue deal verify revealed.json --commitment my-cup/commitment.json
    """  # noqa: D301 - click reads the \b


@deal.command("new", short_help="Mix new deals and commit to them.")
@options.folder_argument
@options.event_option
@click.option("--deals", "count", type=click.IntRange(1, make.LAST_DEAL), required=True, help="How many.")
@click.option(
    "--prevalent-winds",
    metavar="WINDS",
    callback=options.parse_winds,
    default=",".join(make.DEFAULT_WINDS),
    help="Taken in turn [default: four deals in east, four in south, west, north, and again].",
)
@click.option(
    "--dealers",
    metavar="WINDS",
    callback=options.parse_winds,
    default=",".join(SEATS),
    show_default=True,
    help="Seats, taken in turn.",
)
@click.option(
    "--sets",
    "wished",
    metavar="NUMBERS",
    callback=options.parse_set_numbers,
    help="Tile sets in the carriers, taken in turn, such as 1-16 [default: deal 7 lies in set 7].",
)
@options.red_fives_option
def deal_new(
    *,
    folder: Path,
    event: str | None,
    count: int,
    prevalent_winds: tuple[Seat, ...],
    dealers: tuple[Seat, ...],
    wished: tuple[int, ...],
    red: bool,
) -> None:
    """Mix deals 1 to N by a cryptographic generator, and commit to them.

    Writes deals.json (secret), commitment.json (to be published before the event) and, if there is none,
    sets.json (secret: new tile sets, whose labels have yet to be printed).

    \b
    homologue deal new --event cup --deals 16 my-cup
    homologue deal new --event cup --deals 8 --prevalent-winds east --sets 1-4 my-cup
    """  # noqa: D301 - click reads the \b
    name = commitment.resolve_event_name(folder, event)
    make.refuse_existing_deals(folder)
    chance = secrets.SystemRandom()
    deals = make.salt_deals(make.mix_deals(count, prevalent_winds, dealers, wished, chance, red=red))
    folder.mkdir(parents=True, exist_ok=True)
    tile_sets.ensure_sets(folder, {deal.set for deal in deals}, chance, red=red)
    _report_deals(folder, make.save_deals(folder, name, deals), count)


@deal.command(name="import", short_help="Take deals from a list, CSV or JSON.")
@click.argument("file", type=options.FILE)
@options.folder_argument
@options.event_option
def deal_import(file: Path, folder: Path, event: str | None) -> None:
    """Take the deals of a list into FOLDER, and commit to them; nothing is written unless all of it is right.

    CSV: a line a tray, with the columns deal, prevalent_wind, dealer, seat, 1, 2, ... 34, and set if need be.
    JSON (the name ends in .json): a list as in deals.json. docs/deals.md describes both.

    \b
    homologue deal import deals.csv my-cup --event cup
    """  # noqa: D301 - click reads the \b
    name = commitment.resolve_event_name(folder, event)
    make.refuse_existing_deals(folder)
    deals = make.salt_deals(make.read_deal_list(file))
    folder.mkdir(parents=True, exist_ok=True)
    _report_deals(folder, make.save_deals(folder, name, deals), len(deals))


@deal.command("commit", short_help="Commit to deals that have no commitment yet.")
@options.folder_argument
@options.event_option
def deal_commit(folder: Path, event: str | None) -> None:
    """Write commitment.json for the deals of FOLDER, where `new` or `import` was cut short or somebody else made them.

    \b
    homologue deal commit my-cup
    """  # noqa: D301 - click reads the \b
    root = commitment.commit_folder(folder, commitment.resolve_event_name(folder, event))
    click.echo(f"Publish this before the event: {root}")


def _report_deals(folder: Path, root: str, count: int) -> None:
    click.echo(f"{count} deal{'s' * (count > 1)} in {folder / 'deals.json'}: secret.")
    click.echo(f"Publish {folder / commitment.COMMITMENT} before the event, or at least its root: {root}")


@click.command("reveal", short_help="Write the public file of deals that are played.")
@options.folder_argument
@options.deals_option
@click.option("--output", type=options.FILE, required=True, help="The public file.")
@click.option("--early", is_flag=True, help="Also deals that a table has still to play: they are spoilt by it.")
def deal_reveal(folder: Path, numbers: tuple[int, ...], output: Path, *, early: bool) -> None:
    """Write faces and salts for everybody, of deals that have been played at every table.

    Anybody can then check them against the commitment: homologue deal verify.

    \b
    homologue deal reveal my-cup --output revealed.json
    homologue deal reveal my-cup --deal 1 --deal 2 --output after-round-1.json
    """  # noqa: D301 - click reads the \b
    publish(output, revealed_deals.reveal_deals(folder, numbers, early=early))
    which = f"deal {_list(numbers)}" if numbers else "all deals"
    click.echo(f"{output}: faces of {which}.")


@click.command("verify", short_help="Are revealed deals what was committed to?")
@click.argument("file", metavar="REVEALED", type=options.FILE)
@click.option("--commitment", "committed", type=options.FILE, required=True, help="What was published before.")
@click.option("--root", help="Root as it was printed or announced before; without it the commitment's own is believed.")
@click.option("--json", "as_lines", is_flag=True, help="One JSON line a deal.")
def deal_verify(file: Path, committed: Path, root: str | None, *, as_lines: bool) -> None:
    """Say for each revealed deal whether it is what was committed to before the event.

    Exit code 0 if every revealed deal is, else 1. Deals that are not revealed (yet) are named.

    \b
    homologue deal verify revealed.json --commitment commitment.json --root 5f0c...
    """  # noqa: D301 - click reads the \b
    commitment = read_commitment(committed)
    if root is not None and root.strip().lower() != commitment.root:
        raise RuleError("root_differs", f"{committed.name} has the root {commitment.root}")
    verdicts = revealed_deals.verify_deals(file, commitment)
    for verdict in verdicts:
        click.echo(_verdict_json(verdict) if as_lines else _verdict_text(verdict))
    if not as_lines:
        click.echo(_summary(verdicts, commitment))
    if any(verdict.refusal for verdict in verdicts):
        raise click.exceptions.Exit(1)


def _verdict_json(verdict: revealed_deals.DealVerdict) -> str:
    line: dict[str, Any] = {"deal": verdict.deal, "as_committed": verdict.refusal is None}
    if verdict.refusal:
        line["error"] = {"code": verdict.refusal.code, "message": str(verdict.refusal.text)}
    return msgspec.json.encode(line).decode()


def _verdict_text(verdict: revealed_deals.DealVerdict) -> str:
    if verdict.refusal is None:
        return f"deal {verdict.deal}: as committed"
    return f"deal {verdict.deal}: NOT AS COMMITTED: {verdict.refusal.code}: {verdict.refusal.text}"


def _summary(verdicts: list[revealed_deals.DealVerdict], commitment: Commitment) -> str:
    right = sum(verdict.refusal is None for verdict in verdicts)
    hidden = sorted(set(commitment.hashes) - {verdict.deal for verdict in verdicts})
    rest = f" Not revealed: {_list(hidden)}." if hidden else ""
    return f"{right} of {len(verdicts)} revealed deals are what was committed to, root {commitment.root}.{rest}"


def _list(numbers: tuple[int, ...] | list[int]) -> str:
    return ", ".join(map(str, sorted(set(numbers))))


FORMATS: Final[Mapping[str, Callable[[CarrierLayout, str], bytes]]] = {
    "pdf": carrier_sheet_pdf,
    "json": lambda layout, _: layout_json(layout),
    "csv": lambda layout, _: layout_csv(layout),
}


@click.command("export", short_help="Print what lies in the carriers: serials, never faces.")
@options.folder_argument
@options.deals_option
@options.event_option
@click.option("--language", type=click.Choice(languages()), default="en", show_default=True, help="Of the sheet.")
@click.option(
    "--format", "formats", type=click.Choice(list(FORMATS)), multiple=True, default=["pdf"], show_default=True,
    help="pdf: the carrier sheet; json, csv: the layout for programs. May be said several times.",
)  # fmt: skip
@click.option(
    "--output", type=options.FOLDER, required=True, help="A folder; it gets a file a deal, such as deal-0007.pdf."
)
def deal_export(
    *,
    folder: Path,
    numbers: tuple[int, ...],
    event: str | None,
    language: str,
    formats: tuple[str, ...],
    output: Path,
) -> None:
    """Write for each deal the sheet that lies in its carrier: an A4 page with the serial of every place.

    No face is on it: staff and players must not learn one. What is there already and says the same stays.

    \b
    homologue deal export my-cup --language fr --output fiches
    homologue deal export my-cup --deal 3 --format pdf --format json --output sheet-3
    """  # noqa: D301 - click reads the \b
    layouts = carrier_layouts(folder, numbers, event)
    output.mkdir(parents=True, exist_ok=True)
    with click.progressbar(layouts, label="Sheets", file=sys.stderr, hidden=not sys.stderr.isatty()) as progress:
        for layout in progress:
            for kind in formats:
                publish(output / f"deal-{layout.deal:04}.{kind}", FORMATS[kind](layout, language))
    click.echo(f"{output}: {', '.join(formats)} of {len(layouts)} deal{'s' * (len(layouts) != 1)}.")


@click.group(name="set", short_help="Register tile sets: which serial is on which face.")
def deal_set() -> None:
    """Register tile sets in sets.json: which serial is on the back of which face. It is secret.

    \b
    homologue deal set new my-cup --set 5
    homologue deal set import old-tiles.csv my-cup --set 6
    homologue deal set check my-cup
    """  # noqa: D301 - click reads the \b


A_LINE: Final = 21
"""Tiles of one tray's wall."""


@click.command("wall", short_help="A deal's common wall as riichi plays it: faces, secret.")
@options.folder_argument
@options.deals_option
@click.option("--json", "as_lines", is_flag=True, help="One JSON line a deal.")
def deal_wall(folder: Path, numbers: tuple[int, ...], *, as_lines: bool) -> None:
    """Tell hands, live wall, replacement tiles and indicators of deals that are played under riichi rules.

    It shows faces: whoever sees it knows the deal, so an arbiter looks only at what has been played.

    \b
    homologue deal wall my-cup --deal 3
    """  # noqa: D301 - click reads the \b
    for record in select_deals(folder, numbers):
        deal = record.deal()
        found = common_wall(deal)
        if as_lines:
            click.echo(msgspec.json.encode({"deal": deal.number, "dealer": deal.dealer, **asdict(found)}).decode())
        else:
            click.echo("\n".join(_lines(deal, found)))


def _lines(deal: Deal, found: CommonWall) -> Iterator[str]:
    yield f"deal {deal.number}, prevalent wind {deal.prevalent_wind}, dealer {deal.dealer}"
    for seat in SEATS:
        yield _line(f"hand {seat}", found.hands[seat])
    for at, seat in enumerate(wall_of(deal.dealer)):
        tiles = found.live[at * A_LINE : (at + 1) * A_LINE]
        yield _line(f"{at * A_LINE + 1}-{at * A_LINE + len(tiles)} {seat}", tiles)
    yield _line("replacements", found.replacements)
    yield _line("indicators", found.indicators)
    yield _line("under them", found.under)


def _line(name: str, tiles: tuple[str, ...]) -> str:
    return f"  {name:<13}  {' '.join(tiles)}"


for command in (deal_reveal, deal_verify, deal_export, deal_set, deal_wall):
    deal.add_command(command)


@deal_set.command("new", short_help="A new set: serials at random.")
@options.folder_argument
@click.option(
    "--set",
    "numbers",
    metavar="NUMBERS",
    callback=options.parse_set_numbers,
    required=True,
    help="Its number, or several: 1-8,12.",
)
@options.red_fives_option
def set_new(folder: Path, numbers: tuple[int, ...], *, red: bool) -> None:
    """Give the 136 tiles of a new set their serials, at random; its labels are then printed from sets.json.

    \b
    homologue deal set new my-cup --set 1-16
    """  # noqa: D301 - click reads the \b
    folder.mkdir(parents=True, exist_ok=True)
    tile_sets.add_sets(folder, tile_sets.mix_sets(numbers, secrets.SystemRandom(), red=red))
    _report_sets(folder, len(set(numbers)))


@deal_set.command(name="import", short_help="A set whose tiles have numbers already.")
@click.argument("file", type=options.FILE)
@options.folder_argument
@click.option(
    "--set", "number", type=click.IntRange(1, LAST_SET), help="The set's number, unless the file has a column set."
)
def set_import(file: Path, folder: Path, number: int | None) -> None:
    """Take a CSV with the columns serial and face (1m..9m, 1p..9p, 1s..9s, 1z..7z), 136 lines a set.

    Of a set with red fives these are 0m, 0p, 0s, one of each.

    Nothing is written unless all of it is right.

    \b
    homologue deal set import old-tiles.csv my-cup --set 6
    """  # noqa: D301 - click reads the \b
    made = tile_sets.read_sets(file, number)
    folder.mkdir(parents=True, exist_ok=True)
    tile_sets.add_sets(folder, made)
    _report_sets(folder, len(made))


@deal_set.command("check", short_help="Is every set whole, and there for every deal?")
@options.folder_argument
def set_check(folder: Path) -> None:
    """Name everything that is wrong with the sets of FOLDER; exit code 1 if anything is.

    \b
    homologue deal set check my-cup
    """  # noqa: D301 - click reads the \b
    registry = tile_sets.check_sets(folder)
    click.echo(f"{len(registry)} sets, each whole: {', '.join(map(str, sorted(registry)))}.")


def _report_sets(folder: Path, count: int) -> None:
    click.echo(f"{count} set{'s' * (count > 1)} in {folder / SETS}: secret.")
