"""`homologue deal`: the organiser's work on deals and tile sets before and after an event."""

import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

import click
import msgspec

from broker.cli import draw, options
from broker.cli.people import note_faces_shown
from broker.cli.rules_input import error_answer
from broker.console import (
    EXISTING,
    EXISTING_FILE,
    FILE,
    FOLDER,
    json_lines,
    json_option,
    language_option,
    progress,
    say,
    working,
)
from broker.event import SETS, publish_file
from broker.event.deals import LAST_SET, Opener, commitment, make, read_commitment, tile_sets
from broker.export import revealed_deals
from broker.export.carrier_sheets import CarrierLayout, carrier_layouts, carrier_sheets_pdf, layout_csv, layout_json
from broker.files import make_folder
from broker.i18n import N_
from broker.protocol import SEATS, Seat
from broker.rules import Deal, RuleError
from broker.rules.commitment import Commitment
from broker.rules.riichi import CommonWall, common_wall, wall_of


@click.group(short_help="Make, commit to, reveal and print deals; register tile sets.")
def deal() -> None:
    """Make the deals of an event, commit to them, print sheets for the carriers, and reveal the deals afterwards.

    FOLDER is the event's folder. Existing files are never overwritten. See docs/deals.md.

    \b
    homologue deal new --event cup --deals 16 my-cup
    homologue deal export my-cup --output sheets
    homologue deal reveal my-cup --output revealed.json
    homologue deal verify revealed.json --commitment my-cup/commitment.json
    """


@deal.command("new", short_help="Make random deals and commit to them.")
@options.new_folder_argument
@options.event_option
@click.option("--deals", "count", type=click.IntRange(1, make.LAST_DEAL), required=True, help="Number of deals.")
@options.winds_option
@options.dealers_option
@options.sets_option
@options.red_fives_option
@json_lines
def deal_new(
    *,
    folder: Path,
    event: str | None,
    count: int,
    prevalent_winds: tuple[Seat, ...],
    dealers: tuple[Seat, ...],
    set_numbers: tuple[int, ...],
    red: bool,
) -> None:
    """Make deals 1 to N with a cryptographic random generator, and commit to them.

    Writes deals.json (secret), commitment.json (publish it before the event) and, if there is none, sets.json (secret:
    new tile sets, for which labels can then be printed).

    \b
    homologue deal new --event cup --deals 16 my-cup
    homologue deal new --event cup --deals 8 --prevalent-winds east --sets 1-4 my-cup
    """
    name = commitment.resolve_event_name(folder, event)
    make.refuse_existing_deals(folder)
    rng = secrets.SystemRandom()
    with working("Making deals"):
        deals = make.salt_deals(make.mix_deals(count, prevalent_winds, dealers, set_numbers, rng, red=red))
        make_folder(folder)
        tile_sets.ensure_sets(folder, {deal.set for deal in deals}, rng, red=red)
        root = make.save_deals(folder, name, deals)
    _report_deals(folder, root, count)


@deal.command(name="import", short_help="Import deals from a CSV or JSON list.")
@click.argument("file", type=EXISTING_FILE)
@options.new_folder_argument
@options.event_option
@json_lines
def deal_import(file: Path, folder: Path, event: str | None) -> None:
    """Import a list of deals into FOLDER and commit to them. Nothing is written if there is any mistake.

    CSV: one line per tray, with the columns deal, prevalent_wind, dealer, seat, 1, 2, ... 34, and optionally set. JSON
    (name ends in .json): a list as in deals.json. Both are described in docs/deals.md.

    \b
    homologue deal import deals.csv my-cup --event cup
    """
    name = commitment.resolve_event_name(folder, event)
    make.refuse_existing_deals(folder)
    deals = make.salt_deals(make.read_deal_list(file))
    make_folder(folder)
    _report_deals(folder, make.save_deals(folder, name, deals), len(deals))


@deal.command("commit", short_help="Commit to deals that have no commitment yet.")
@options.folder_argument
@options.event_option
@json_lines
def deal_commit(folder: Path, event: str | None) -> None:
    """Write commitment.json for the deals in FOLDER.

    Use this if `new` or `import` was interrupted, or if the deals come from elsewhere.

    \b
    homologue deal commit my-cup
    """
    root = commitment.commit_folder(folder, commitment.resolve_event_name(folder, event))
    say(f"Publish this before the event: {root}", root=root)


def _report_deals(folder: Path, root: str, count: int) -> None:
    secret = f"{count} deal{'s' * (count > 1)} in {folder / 'deals.json'}: secret."
    public = f"Publish {folder / commitment.COMMITMENT} before the event, or at least its root: {root}"
    say(f"{secret}\n{public}", deals=count, folder=folder, root=root)


@deal.command("reveal", short_help="Publish deals that have been played.")
@options.folder_argument
@options.deals_option
@click.option("--output", type=FILE, required=True, help="File to publish.")
@click.option("--early", is_flag=True, help="Include deals that have not been played at every table; this spoils them.")
@json_lines
def deal_reveal(folder: Path, numbers: tuple[int, ...], output: Path, *, early: bool) -> None:
    """Write a public file with the faces and salts of deals that have been played at every table.

    Anybody can then check them against the commitment with `homologue deal verify`.

    \b
    homologue deal reveal my-cup --output revealed.json
    homologue deal reveal my-cup --deal 1 --deal 2 --output after-round-1.json
    """
    content, which = revealed_deals.reveal_deals(folder, numbers, early=early), _deals_text(numbers)
    note_faces_shown(folder, which)
    publish_file(output, content)
    say(f"{output}: faces of {which}.", file=output, deals=sorted(set(numbers)) or "all")


@deal.command("verify", short_help="Check revealed deals against the commitment.")
@click.argument("published", metavar="REVEALED|FOLDER", type=EXISTING)
@click.option(
    "--commitment",
    "committed",
    type=EXISTING_FILE,
    help="The commitment that was published before the event [default: the one in FOLDER].",
)
@click.option(
    "--root", help="Root hash as it was announced before the event; otherwise the commitment file's own is trusted."
)
@click.option(
    "--draw", "drawn", metavar="HASH", help="Announcement of the draw, as published before anybody said their words."
)
@json_option("Print one JSON line per deal.")
def deal_verify(*, published: Path, committed: Path | None, root: str | None, drawn: str | None, as_json: bool) -> None:
    """Check each revealed deal against the commitment from before the event; drawn deals against the draw too.

    FOLDER: an event's folder, or one with the published files revealed.json, commitment.json and draws.json. No face is
    shown.

    The exit code is 0 if all revealed deals match, otherwise 1; it is also 1 if all drawn deals are revealed but the
    words of their draw are not. Deals that are not revealed are listed.

    \b
    homologue deal verify revealed.json --commitment commitment.json --root 5f0c...
    homologue deal verify my-cup
    """
    if committed is None and not published.is_dir():
        raise click.UsageError("Missing option '--commitment'.")
    result = revealed_deals.verify_folder(published) if committed is None else None
    commitment = result.commitment if result else read_commitment(committed or published)
    if root is not None and root.strip().lower() != commitment.root:
        raise RuleError("root_differs", f"the commitment has the root {commitment.root}")
    if drawn is not None and (commitment.draw is None or drawn.strip().lower() != commitment.draw.announcement):
        raise RuleError("draw_differs", N_("this is not the draw that the commitment names"))
    result = result or revealed_deals.verify_file(published, commitment)
    for verdict in result.deals:
        line = {"deal": verdict.deal, "as_committed": not verdict.refusal}
        click.echo(_json(line, verdict.refusal) if as_json else _verdict_text(verdict))
    if drawing := result.draw:
        line = {"draw": drawing.draw, "words_revealed": drawing.words is not None, "as_announced": not drawing.refusal}
        click.echo(_json(line, drawing.refusal) if as_json else _draw_text(drawing))
    if not as_json:
        click.echo(_summary(result.deals, commitment))
    if any(verdict.refusal for verdict in result.deals) or (result.draw and result.draw.refusal):
        raise click.exceptions.Exit(1)


def _json(line: dict[str, int], refusal: RuleError | None) -> str:
    return msgspec.json.encode(line | (error_answer(refusal) if refusal else {})).decode()


def _draw_text(verdict: revealed_deals.DrawVerdict) -> str:
    if verdict.refusal:
        return f"draw {verdict.draw}: NOT AS ANNOUNCED: {verdict.refusal.code}: {verdict.refusal.text}"
    if not verdict.words:
        return f"draw {verdict.draw}: its words are not revealed yet"
    beacon, value = verdict.words.announcement.beacon, verdict.words.words.beacon
    public = f", and from {value}, if that is {beacon.source} {beacon.round}" if beacon else ""
    return f"draw {verdict.draw}: the deals come from the words that were committed to{public}"


def _deals_text(numbers: tuple[int, ...]) -> str:
    return f"deal {_list(numbers)}" if numbers else "all deals"


def _verdict_text(verdict: revealed_deals.DealVerdict) -> str:
    if verdict.refusal is None:
        return f"deal {verdict.deal}: as committed"
    return f"deal {verdict.deal}: NOT AS COMMITTED: {verdict.refusal.code}: {verdict.refusal.text}"


def _summary(verdicts: list[revealed_deals.DealVerdict], commitment: Commitment) -> str:
    matching = sum(verdict.refusal is None for verdict in verdicts)
    unrevealed = sorted(set(commitment.hashes) - {verdict.deal for verdict in verdicts})
    rest = f" Not revealed: {_list(unrevealed)}." if unrevealed else ""
    return f"{matching} of {len(verdicts)} revealed deals match the commitment, root {commitment.root}.{rest}"


def _list(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(set(numbers))))


FORMATS: Final[Mapping[str, Callable[[CarrierLayout, str], bytes]]] = {
    "pdf": lambda layout, language: carrier_sheets_pdf([layout], language),
    "json": lambda layout, _: layout_json(layout),
    "csv": lambda layout, _: layout_csv(layout),
}


@deal.command("export", short_help="Write the carrier sheets: serials, never faces.")
@options.folder_argument
@options.deals_option
@options.event_option
@language_option("the sheet")
@click.option(
    "--format", "formats", type=click.Choice(list(FORMATS)), multiple=True, default=["pdf"], show_default=True,
    help="pdf: carrier sheet; json, csv: layout for programs. May be repeated.",
)  # fmt: skip
@click.option("--output", type=FOLDER, required=True, help="Folder for the files, one per deal: deal-0007.pdf.")
@json_lines
def deal_export(
    *,
    folder: Path,
    numbers: tuple[int, ...],
    event: str | None,
    language: str,
    formats: tuple[str, ...],
    output: Path,
) -> None:
    """Write the sheet that goes into each deal's carrier: an A4 page with the serial of every place.

    It shows no faces, which staff and players must not learn. Files that already have the same content are left alone.

    \b
    homologue deal export my-cup --language fr --output fiches
    homologue deal export my-cup --deal 3 --format pdf --format json --output sheet-3
    """
    layouts = carrier_layouts(folder, numbers, event)
    output.mkdir(parents=True, exist_ok=True)
    for layout in progress(layouts, "Sheets"):
        for kind in formats:
            publish_file(output / f"deal-{layout.deal:04}.{kind}", FORMATS[kind](layout, language))
    say(
        f"{output}: {', '.join(formats)} of {len(layouts)} deal{'s' * (len(layouts) != 1)}.",
        folder=output,
        formats=formats,
        deals=len(layouts),
    )


@deal.group(name="set", short_help="Register tile sets: which serial is on which face.")
def deal_set() -> None:
    """Register tile sets in sets.json: which serial is on the back of which face. Keep it secret.

    \b
    homologue deal set new my-cup --set 5
    homologue deal set import old-tiles.csv my-cup --set 6
    homologue deal set check my-cup
    """


TILES_PER_LINE: Final = 21
"""Number of tiles in the wall of one tray."""


@deal.command("wall", short_help="Show a deal as riichi plays it (secret faces).")
@options.folder_argument
@options.deals_option
@json_option("Print one JSON line per deal.")
def deal_wall(folder: Path, numbers: tuple[int, ...], *, as_json: bool) -> None:
    """Show hands, live wall, replacement tiles and indicators of deals that are played under riichi rules.

    This shows faces: an arbiter should look only at deals that have been played.

    \b
    homologue deal wall my-cup --deal 3
    """
    records = revealed_deals.select_deals(folder, numbers)
    note_faces_shown(folder, _deals_text(numbers))
    opener = Opener(folder)
    for record in records:
        deal = opener.deal(record).deal()
        found = common_wall(deal)
        if as_json:
            click.echo(msgspec.json.encode({"deal": deal.number, "dealer": deal.dealer, **asdict(found)}).decode())
        else:
            click.echo(_wall_text(deal, found))


def _wall_text(deal: Deal, found: CommonWall) -> str:
    rows = {f"hand {seat}": found.hands[seat] for seat in SEATS}
    for at, seat in enumerate(wall_of(deal.dealer)):
        tiles = found.live[at * TILES_PER_LINE : (at + 1) * TILES_PER_LINE]
        rows[f"{at * TILES_PER_LINE + 1}-{at * TILES_PER_LINE + len(tiles)} {seat}"] = tiles
    rows |= {"replacements": found.replacements, "indicators": found.indicators, "under them": found.under}
    lines = (f"  {name:<13}  {' '.join(tiles)}" for name, tiles in rows.items())
    return "\n".join((f"deal {deal.number}, prevalent wind {deal.prevalent_wind}, dealer {deal.dealer}", *lines))


for command in draw.COMMANDS:
    deal.add_command(command)
deal_set.add_command(draw.set_open)


@deal_set.command("new", short_help="Register a new set with random serials.")
@options.new_folder_argument
@click.option(
    "--set",
    "numbers",
    metavar="NUMBERS",
    callback=options.parse_set_numbers,
    required=True,
    help="Number of the set, or several: 1-8,12.",
)
@options.red_fives_option
@json_lines
def set_new(folder: Path, numbers: tuple[int, ...], *, red: bool) -> None:
    """Assign serials to the 136 tiles of a new set at random. Its labels are then printed from sets.json.

    \b
    homologue deal set new my-cup --set 1-16
    """
    make_folder(folder)
    tile_sets.add_sets(folder, tile_sets.mix_sets(numbers, secrets.SystemRandom(), red=red))
    _report_sets(folder, len(set(numbers)))


@deal_set.command(name="import", short_help="Import a set whose tiles are already numbered.")
@click.argument("file", type=EXISTING_FILE)
@options.new_folder_argument
@click.option(
    "--set", "number", type=click.IntRange(1, LAST_SET), help="Number of the set, unless the file has a column `set`."
)
@json_lines
def set_import(file: Path, folder: Path, number: int | None) -> None:
    """Import a CSV file with the columns serial and face (1m..9m, 1p..9p, 1s..9s, 1z..7z), 136 lines per set.

    Red fives are 0m, 0p and 0s, one of each.

    Nothing is written if there is any mistake.

    \b
    homologue deal set import old-tiles.csv my-cup --set 6
    """
    made = tile_sets.read_sets(file, number)
    make_folder(folder)
    tile_sets.add_sets(folder, made)
    _report_sets(folder, len(made))


@deal_set.command("check", short_help="Check that sets are complete and every deal has one.")
@options.folder_argument
@json_lines
def set_check(folder: Path) -> None:
    """List everything that is wrong with the sets in FOLDER. The exit code is 1 if there is a problem.

    \b
    homologue deal set check my-cup
    """
    registry = tile_sets.check_sets(folder)
    say(f"Complete sets: {_list(registry)}.", sets=sorted(registry))


def _report_sets(folder: Path, count: int) -> None:
    say(f"{count} set{'s' * (count > 1)} in {folder / SETS}: secret.", sets=count, file=folder / SETS)
