"""Output of all commands: errors in one form, JSON on request, and progress in a terminal.

Commands raise errors that end them, and the top-level command `homologue` reports them: nothing else does.
"""

import errno
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, Final, TypeVar

import click

from broker.errors import reason
from broker.i18n import languages

T = TypeVar("T")
C = TypeVar("C", bound=Callable[..., Any] | click.Command)

ROOMS: Final = ("broker", "kiosk", "vision", "firmware")

JSON: Final = "homologue.json"
"""Key in the `meta` of a click context: whether the command was given --json."""


class CommandError(Exception):
    """An error that only commands raise. `code` is stable and listed in docs/codes.md."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class Failed(click.ClickException):
    """A command's errors, each reported as `homologue: <sentence> [code]` or as a JSON object; exit code 1."""

    def __init__(self, problems: Sequence[tuple[str, str]], *, as_json: bool = False) -> None:
        super().__init__("; ".join(text for _, text in problems))
        self._problems, self._as_json = problems, as_json

    def show(self, file: IO[Any] | None = None) -> None:
        """Print each error: JSON to standard output, text to standard error."""
        for code, text in self._problems:
            if self._as_json:
                click.echo(json.dumps({"error": {"code": code, "message": text}}, ensure_ascii=False))
            else:
                start = click.style("homologue:", fg="red", bold=True)
                click.echo(f"{start} {text} [{code}]", file=file, err=True, color=color())


class MissingOption(Failed):
    """A required option has no value. The exit code is 2, as for click's usage errors."""

    exit_code = 2


def problems_of(error: BaseException) -> list[tuple[str, str]]:
    """Return the code and sentence of each problem in an exception; nothing if it is a bug rather than a problem."""
    if isinstance(error, BaseExceptionGroup):
        found = [problems_of(inner) for inner in error.exceptions]
        return [problem for several in found for problem in several] if all(found) else []
    code = getattr(error, "code", None)
    if isinstance(code, str) and type(error).__module__.partition(".")[0] in ROOMS:
        text = getattr(error, "text", "") or (isinstance(error, OSError) and error.strerror) or str(error)
        return [(code, text)]
    if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
        where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes | os.PathLike) else ""
        text = f"{where}{reason(error)}"
        missing = isinstance(error, FileNotFoundError)
        return problems_of(CommandError("file_missing", text) if missing else CommandError("file_failed", text))
    return []


def report(error: Exception, about: object) -> None:
    """Report an error that does not end the command, in the form of one that does, preceded by its subject."""
    Failed([(code, f"{about}: {text}") for code, text in problems_of(error)], as_json=wants_json()).show()


def color() -> bool | None:
    """Return False if colours are switched off (https://no-color.org), else None: click uses them in terminals."""
    return False if os.environ.get("NO_COLOR") else None


def set_up_output(encoding: str | None = None) -> None:
    """Escape characters that the locale cannot encode, as standard error does; otherwise printing one would fail."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")


def _note_json(ctx: click.Context, _param: click.Parameter, value: bool) -> bool:  # noqa: FBT001 - click's signature
    if value:
        set_up_output("utf-8")  # JSON is UTF-8 in every locale
    ctx.meta[JSON] = ctx.meta.get(JSON, False) or value
    return value


def json_option(about: str = "Print one JSON object.", *, expose_value: bool = True) -> Callable[[C], C]:
    """Add --json to a command. If `expose_value`, the command receives it as the argument `as_json`."""
    return click.option(
        "--json", "as_json", is_flag=True, is_eager=True, expose_value=expose_value, callback=_note_json, help=about
    )


def language_option(of: str) -> Callable[[C], C]:
    """Add --language to a command. `of` names what is written in that language, for the help."""
    choice = click.Choice(languages())
    return click.option("--language", type=choice, default="en", show_default=True, help=f"Language of {of}.")


json_lines: Final = json_option("Print JSON lines.", expose_value=False)
"""Add --json to a command that only uses `say`."""


json_object: Final = json_option(expose_value=False)
"""As `json_lines`, for a command that calls `say` once."""


def wants_json() -> bool:
    """Return whether the running command was given --json."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(JSON))


def say(text: str, /, **values: object) -> None:
    """Print what was done: the sentence, or with --json the values as one JSON object."""
    click.echo(json.dumps(values, ensure_ascii=False, default=str) if wants_json() else text)


def amount(count: int, thing: str) -> str:
    """Return a count with a noun that has a regular plural, such as `3 tables`."""
    return f"{count} {thing}{'s' * (count != 1)}"


def shows_progress() -> bool:
    """Return whether to show progress: standard error is a terminal, and --json was not given."""
    return sys.stderr.isatty() and not wants_json()


class PromptedOption(click.Option):
    """An option with a `prompt`. At the end of input it takes its default or, without one, names itself in an error."""

    def prompt_for_value(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's signature
        """Ask for the value. Raises MissingOption."""
        try:
            return super().prompt_for_value(ctx)
        except click.Abort as aborted:
            if not isinstance(aborted.__context__, EOFError):  # Ctrl-C was pressed
                raise
            click.echo(err=True)  # end the line of the prompt
            if isinstance(default := self.get_default(ctx), str):  # click has a sentinel for no default
                return default
            missing = CommandError("option_missing", f"{self.opts[0]} is missing, and nobody answers")
            raise MissingOption(problems_of(missing), as_json=wants_json()) from None


class PathType(click.Path):
    """A file or folder; `-` is standard input where that is allowed.

    An unusable path is reported like any other error, and not as a usage error.
    """

    def __init__(
        self, *, exists: bool = False, file_okay: bool = True, dir_okay: bool = True, allow_dash: bool = False
    ) -> None:
        super().__init__(exists, file_okay, dir_okay, allow_dash=allow_dash, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:  # noqa: ANN401, ARG002 - click's signature
        """Return the path. Raises CommandError `file_missing` or `file_failed`, and PermissionError."""
        path = Path(os.fsdecode(value))
        if self.allow_dash and str(path) == "-":
            return path
        if not path.exists():
            if self.exists:
                raise CommandError("file_missing", f"{path}: there is no such {'file' if self.file_okay else 'folder'}")
        elif not (self.dir_okay if path.is_dir() else self.file_okay):
            actual, expected = ("file", "folder") if self.dir_okay else ("folder", "file")
            raise CommandError("file_failed", f"{path} is a {actual}, not a {expected}")
        elif self.exists and not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return path


ANY: Final = PathType()
FILE: Final = PathType(dir_okay=False)
FOLDER: Final = PathType(file_okay=False)
EXISTING: Final = PathType(exists=True)
EXISTING_FILE: Final = PathType(exists=True, dir_okay=False)
EXISTING_FOLDER: Final = PathType(exists=True, file_okay=False)


def progress(items: Iterable[T], label: str, count: int | None = None) -> Iterator[T]:
    """Return the items one by one, with a progress bar if `shows_progress`. `count`: the length of an iterator."""
    if not shows_progress():
        yield from items
        return
    from rich.console import Console  # noqa: PLC0415 - only where somebody watches
    from rich.progress import track  # noqa: PLC0415 - only where somebody watches

    yield from track(items, label, total=count, console=Console(stderr=True), transient=True)


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show a spinner, if `shows_progress`, during work whose duration is not known."""
    if not shows_progress():
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - only where somebody watches

    with Console(stderr=True).status(label):
        yield
