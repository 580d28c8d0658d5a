"""Run `homologue deal` in this process, and make small lists of deals and sets."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Final

from click.testing import CliRunner, Result

from broker.cli.main import homologue
from broker.event import SetFaces, read_registry
from broker.event.deals import Opener
from broker.protocol import SEATS
from broker.rules import FULL_SET, Deal, new_deal
from tests import refusals

Rows = list[list[str]]
"""Lines of a CSV list, cell by cell."""

HEADING: Final = ["deal", "prevalent_wind", "dealer", "seat", *(str(place) for place in range(1, 35))]


def ask(*arguments: object) -> Result:
    """Run `homologue deal ARGUMENTS`."""
    return CliRunner().invoke(homologue, ["deal", *map(str, arguments)])


def done(*arguments: object) -> str:
    """Run a command that must succeed and write nothing to standard error; return its output."""
    result = ask(*arguments)
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return result.stdout


def refused(*arguments: object) -> list[str]:
    """Run a command that must be refused; return each error as "code: text"."""
    result = ask(*arguments)
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    sentences = [line.removeprefix("homologue: ").rpartition(" [")[0] for line in result.stderr.splitlines()]
    return [f"{code}: {text}" for code, text in zip(refusals.codes(result.stderr), sentences, strict=True)]


def codes(*arguments: object) -> list[str]:
    """Run a command that must be refused; return the codes."""
    return [line.partition(": ")[0] for line in refused(*arguments)]


def made(number: int) -> Deal:
    """Return the deal with this number, the same each time."""
    return new_deal(number, SEATS[number % 4], SEATS[-number % 4], Random(number))


def rows_of(*deals: Deal) -> Rows:
    """Return the lines of a CSV list, heading included."""
    return [
        HEADING,
        *(
            [str(deal.number), deal.prevalent_wind, deal.dealer, seat, *deal.faces[seat]]
            for deal in deals
            for seat in SEATS
        ),
    ]


def csv_file(path: Path, rows: Sequence[Sequence[str]], delimiter: str = ",") -> Path:
    """Write rows as CSV; return the path."""
    path.write_text("".join(delimiter.join(row) + "\r\n" for row in rows), encoding="utf-8")
    return path


def set_rows(seed: int = 1) -> Rows:
    """Return the lines of a set, heading included."""
    faces = Random(seed).sample(FULL_SET, 136)
    return [["serial", "face"], *([str(serial), face] for serial, face in enumerate(faces, 1))]


def sets_of(folder: Path) -> dict[int, SetFaces]:
    """Return the sets of a folder, decrypted."""
    return Opener(folder).plain(read_registry(folder))


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of each file in a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())} if folder.exists() else {}


def put(line: int, column: int, cell: str) -> Callable[[Rows], None]:
    """Return a change that writes a cell into a list; lines are counted from 1."""

    def change(rows: Rows) -> None:
        rows[line - 1][column] = cell

    return change
