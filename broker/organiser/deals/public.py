"""`homologue deal reveal`, `verify` and `export`: what leaves the organiser's folder."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from broker.organiser.deals import options, revealed
from broker.organiser.deals.carriers import layouts_of
from broker.organiser.deals.committed import read_commitment
from broker.organiser.deals.files import publish
from broker.organiser.deals.layout import Layout, as_csv, as_json
from broker.organiser.deals.sheet import LANGUAGES, Language, sheet
from broker.rules.commitment import Commitment
from broker.rules.errors import RuleError


@click.command(short_help="Write the public file of deals that are played.")
@options.folder
@options.deals
@click.option("--output", type=options.FILE, required=True, help="The public file.")
@click.option("--early", is_flag=True, help="Also deals that a table has still to play: they are spoilt by it.")
def reveal(folder: Path, numbers: tuple[int, ...], output: Path, *, early: bool) -> None:
    """Write faces and salts for everybody, of deals that have been played at every table.

    Anybody can then check them against the commitment: homologue deal verify.

    \b
    homologue deal reveal my-cup --output revealed.json
    homologue deal reveal my-cup --deal 1 --deal 2 --output after-round-1.json
    """  # noqa: D301 - click reads the \b
    publish(output, revealed.reveal(folder, numbers, early=early))
    which = f"deal {_list(numbers)}" if numbers else "all deals"
    click.echo(f"{output}: faces of {which}.")


@click.command(short_help="Are revealed deals what was committed to?")
@click.argument("file", metavar="REVEALED", type=options.FILE)
@click.option("--commitment", "committed", type=options.FILE, required=True, help="What was published before.")
@click.option("--root", help="Root as it was printed or announced before; without it the commitment's own is believed.")
@click.option("--json", "as_lines", is_flag=True, help="One JSON line a deal.")
def verify(file: Path, committed: Path, root: str | None, *, as_lines: bool) -> None:
    """Say for each revealed deal whether it is what was committed to before the event.

    Exit code 0 if every revealed deal is, else 1. Deals that are not revealed (yet) are named.

    \b
    homologue deal verify revealed.json --commitment commitment.json --root 5f0c...
    """  # noqa: D301 - click reads the \b
    commitment = read_commitment(committed)
    if root is not None and root.strip().lower() != commitment.root:
        raise RuleError("root_differs", f"{committed.name} has the root {commitment.root}")
    verdicts = revealed.verify(file, commitment)
    for verdict in verdicts:
        click.echo(_as_json(verdict) if as_lines else _as_text(verdict))
    if not as_lines:
        click.echo(_summary(verdicts, commitment))
    if any(verdict.refusal for verdict in verdicts):
        raise click.exceptions.Exit(1)


def _as_json(verdict: revealed.Verdict) -> str:
    line: dict[str, Any] = {"deal": verdict.deal, "as_committed": verdict.refusal is None}
    if verdict.refusal:
        line["error"] = {"code": verdict.refusal.code, "message": verdict.refusal.text}
    return msgspec.json.encode(line).decode()


def _as_text(verdict: revealed.Verdict) -> str:
    if verdict.refusal is None:
        return f"deal {verdict.deal}: as committed"
    return f"deal {verdict.deal}: NOT AS COMMITTED: {verdict.refusal.code}: {verdict.refusal.text}"


def _summary(verdicts: list[revealed.Verdict], commitment: Commitment) -> str:
    right = sum(verdict.refusal is None for verdict in verdicts)
    hidden = sorted(set(commitment.hashes) - {verdict.deal for verdict in verdicts})
    rest = f" Not revealed: {_list(hidden)}." if hidden else ""
    return f"{right} of {len(verdicts)} revealed deals are what was committed to, root {commitment.root}.{rest}"


def _list(numbers: tuple[int, ...] | list[int]) -> str:
    return ", ".join(map(str, sorted(set(numbers))))


FORMATS: Final[Mapping[str, Callable[[Layout, Language], bytes]]] = {
    "pdf": sheet,
    "json": lambda layout, _: as_json(layout),
    "csv": lambda layout, _: as_csv(layout),
}


@click.command(short_help="Print what lies in the carriers: serials, never faces.")
@options.folder
@options.deals
@options.event
@click.option("--language", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Of the sheet.")
@click.option(
    "--format", "formats", type=click.Choice(list(FORMATS)), multiple=True, default=["pdf"], show_default=True,
    help="pdf: the carrier sheet; json, csv: the layout for programs. May be said several times.",
)  # fmt: skip
@click.option(
    "--output", type=options.FOLDER, required=True, help="A folder; it gets a file a deal, such as deal-0007.pdf."
)
def export(
    *,
    folder: Path,
    numbers: tuple[int, ...],
    event: str | None,
    language: Language,
    formats: tuple[str, ...],
    output: Path,
) -> None:
    """Write for each deal the sheet that lies in its carrier: an A4 page with the serial of every place.

    No face is on it: staff and players must not learn one. What is there already and says the same stays.

    \b
    homologue deal export my-cup --language fr --output fiches
    homologue deal export my-cup --deal 3 --format pdf --format json --output sheet-3
    """  # noqa: D301 - click reads the \b
    layouts = layouts_of(folder, numbers, event)
    output.mkdir(parents=True, exist_ok=True)
    with click.progressbar(layouts, label="Sheets", file=sys.stderr, hidden=not sys.stderr.isatty()) as progress:
        for layout in progress:
            for kind in formats:
                publish(output / f"deal-{layout.deal:04}.{kind}", FORMATS[kind](layout, language))
    click.echo(f"{output}: {', '.join(formats)} of {len(layouts)} deal{'s' * (len(layouts) != 1)}.")
