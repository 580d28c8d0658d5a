"""Exports: written to standard output or a file that is never overwritten unasked."""

import sys
from pathlib import Path
from typing import Final

from broker.files import PRIVATE, PUBLIC, write_file
from broker.i18n import N_
from broker.rules import RuleError

EVENT: Final = "event.toml"

MOVEMENT: Final = "movement.csv"

STANDINGS: Final = "standings.csv"

EXPORT_SUFFIXES: Final = (".csv", ".jsonl", ".pdf", ".pmn", ".txt", ".xlsx", ".zip")
"""Ends of names that may be written inside an event's folder; the others there are the event itself."""


def deliver(text: str | bytes, output: Path | None, *, source: Path | None, force: bool, secret: bool = False) -> None:
    """Write an export, text in UTF-8 whatever the locale. A secret one is readable by its owner alone.

    Raises RuleError `export_exists`, `not_an_export` or `unwritable`.
    """
    content = text.encode() if isinstance(text, str) else text
    try:
        if output is None:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:
            may_write(output, source=source, force=force)
            write_file(output, content, PRIVATE if secret else PUBLIC)
    except BrokenPipeError:
        raise  # click ends quietly when the reader has gone
    except OSError as error:
        raise RuleError(
            "unwritable", N_("{where}: {problem}", where=output or "standard output", problem=error.strerror)
        ) from None


def may_write(output: Path, *, source: Path | None, force: bool) -> None:
    """Say beforehand, where much work comes before the writing, what `deliver` would say of a file.

    Nothing is written over what the export is made from, over an event's own files, or unasked over any file.
    """
    if source is not None and output.exists() and source.exists() and output.samefile(source):
        raise RuleError("not_an_export", f"{output.name} is what the export is made from")
    if output.exists() and not output.is_file():
        raise RuleError("unwritable", f"{output} is no file")
    own = output.suffix.lower() not in EXPORT_SUFFIXES or output.name in {MOVEMENT, STANDINGS}
    if own and _is_inside(output, source):
        raise RuleError(
            "not_an_export",
            f"{output.name}: in an event's folder only {', '.join(EXPORT_SUFFIXES)} are exports,"
            f" and neither {MOVEMENT} nor {STANDINGS}",
        )
    if output.exists() and not force:
        raise RuleError("export_exists", f"{output} is there already; --force overwrites it")


def _is_inside(output: Path, source: Path | None) -> bool:
    """Return whether a file lies in the folder of an event, this one's or another's."""
    above = output.resolve().parents
    return (above[0] / EVENT).exists() or (source is not None and source.resolve() in above)
