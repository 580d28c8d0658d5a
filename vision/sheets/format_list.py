"""The formats as a table for people: what to buy, and what comes out."""

from vision.sheets.faces import FACES, OF_EACH
from vision.sheets.formats import USUAL, Format, formats
from vision.sheets.placing import place
from vision.sheets.sheet import layout_on


def format_list() -> str:
    """Give the table, a line a format; the code is the usual one beside a small number."""
    rows: list[tuple[str, ...]] = [("format", "paper", "label mm", "grid", "sheets", "modules", "mm each", "sold as")]
    rows += [_row(sheet) for sheet in formats().values()]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _row(sheet: Format) -> tuple[str, ...]:
    groups = place([1 + OF_EACH] * len(FACES), sheet.columns, sheet.rows)
    modules, layout = layout_on(sheet, "small")
    usual = " (usual)" if sheet.name == USUAL else ""
    return (
        sheet.name,
        sheet.paper,
        f"{sheet.width:g} x {sheet.height:g}",
        f"{sheet.columns} x {sheet.rows}",
        str(groups[-1].sheet + 1),
        str(modules),
        f"{layout.module:.2f}",
        sheet.sold_as + usual,
    )
