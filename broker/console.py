"""How every command speaks: one form of error, JSON where it is asked for, progress where somebody watches.

Commands raise what is wrong, and the command `homologue` reports it: nothing else prints an error.
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
"""Where a command's context keeps that its output is for a program."""


class CommandError(Exception):
    """What only a command can find wrong. `code` is stable and listed in docs/codes.md."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class Failed(click.ClickException):
    """A command's refusals as they are reported: `homologue: <sentence> [code]`, or a JSON object; exit code 1."""

    def __init__(self, problems: Sequence[tuple[str, str]], *, as_json: bool = False) -> None:
        super().__init__("; ".join(text for _, text in problems))
        self._problems, self._as_json = problems, as_json

    def show(self, file: IO[Any] | None = None) -> None:
        """Report each: to programs on standard output, to people on standard error."""
        for code, text in self._problems:
            if self._as_json:
                click.echo(json.dumps({"error": {"code": code, "message": text}}, ensure_ascii=False))
            else:
                start = click.style("homologue:", fg="red", bold=True)
                click.echo(f"{start} {text} [{code}]", file=file, err=True, color=color())


class MissingOption(Failed):
    """An option without a value, as click has it: exit code 2."""

    exit_code = 2


def problems_of(error: BaseException) -> list[tuple[str, str]]:
    """Return code and sentence of each refusal in an error; none where it is no refusal but a fault of ours."""
    if isinstance(error, BaseExceptionGroup):
        found = [problems_of(one) for one in error.exceptions]
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
    """Report an error that does not end the command, with what it is about, as the one that ends it is reported."""
    Failed([(code, f"{about}: {text}") for code, text in problems_of(error)], as_json=wants_json()).show()


def color() -> bool | None:
    """Return False where colours are not wanted (https://no-color.org); None: where there is a terminal."""
    return False if os.environ.get("NO_COLOR") else None


def set_up_output(encoding: str | None = None) -> None:
    """Let names be printed for which the locale has no letters, as standard error does; else a command ends at one."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")


def _note_json(ctx: click.Context, _param: click.Parameter, value: bool) -> bool:  # noqa: FBT001 - click's way
    if value:
        set_up_output("utf-8")  # JSON has it, whatever the locale
    ctx.meta[JSON] = ctx.meta.get(JSON, False) or value
    return value


def json_option(about: str = "Print one JSON object.", *, given: bool = True) -> Callable[[C], C]:
    """Add --json to a command. One that chooses its words itself is `given` it as `as_json`."""
    return click.option(
        "--json", "as_json", is_flag=True, is_eager=True, expose_value=given, callback=_note_json, help=about
    )


def language_option(of: str) -> Callable[[C], C]:
    """Return the option of the language of what is written, said as `of`."""
    choice = click.Choice(languages())
    return click.option("--language", type=choice, default="en", show_default=True, help=f"Language of {of}.")


said_as_json: Final = json_option("Print JSON lines.", given=False)
"""Add --json to a command that only uses `say`."""


said_as_object: Final = json_option(given=False)
"""The same for a command that uses it once."""


def wants_json() -> bool:
    """Return whether the output of the command that runs is for a program."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(JSON))


def say(text: str, /, **values: object) -> None:
    """Say what was done: a sentence to people, the values to programs."""
    click.echo(json.dumps(values, ensure_ascii=False, default=str) if wants_json() else text)


def amount(count: int, thing: str) -> str:
    """Return how many there are of what has a regular plural."""
    return f"{count} {thing}{'s' * (count != 1)}"


def watched() -> bool:
    """Return whether somebody watches progress: standard error is a terminal, and people read the output."""
    return sys.stderr.isatty() and not wants_json()


class AskedOption(click.Option):
    """An option with a `prompt`. Where nobody answers it has its default; without one, the error names the option."""

    def prompt_for_value(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's way
        """Ask for the value. Raises MissingOption."""
        try:
            return super().prompt_for_value(ctx)
        except click.Abort as aborted:
            if not isinstance(aborted.__context__, EOFError):  # somebody has pressed Ctrl-C
                raise
            click.echo(err=True)  # the question stands on this line
            if isinstance(default := self.get_default(ctx), str):  # click has an object of its own for none
                return default
            missing = CommandError("option_missing", f"{self.opts[0]} is missing, and nobody answers")
            raise MissingOption(problems_of(missing), as_json=wants_json()) from None


class PathType(click.Path):
    """A file or folder; `-` is standard input where that is allowed.

    What is wrong with it is refused as everything else is: it is no mistake on the command line.
    """

    def __init__(
        self, *, exists: bool = False, file_okay: bool = True, dir_okay: bool = True, allow_dash: bool = False
    ) -> None:
        super().__init__(exists, file_okay, dir_okay, allow_dash=allow_dash, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:  # noqa: ANN401, ARG002 - click's way
        """Return the path. Raises CommandError `file_missing` or `file_failed`, and PermissionError."""
        path = Path(os.fsdecode(value))
        if self.allow_dash and str(path) == "-":
            return path
        if not path.exists():
            if self.exists:
                raise CommandError("file_missing", f"{path}: there is no such {'file' if self.file_okay else 'folder'}")
        elif not (self.dir_okay if path.is_dir() else self.file_okay):
            is_there, wanted = ("file", "folder") if self.dir_okay else ("folder", "file")
            raise CommandError("file_failed", f"{path} is a {is_there}, not a {wanted}")
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
    """Return the items one by one, and show how far it is where somebody watches. `count`: how many, of an iterator."""
    if not watched():
        yield from items
        return
    from rich.console import Console  # noqa: PLC0415 - only where somebody watches
    from rich.progress import track  # noqa: PLC0415 - as above

    yield from track(items, label, total=count, console=Console(stderr=True), transient=True)


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show that something goes on, where somebody watches and how long it takes is not known."""
    if not watched():
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - only where somebody watches

    with Console(stderr=True).status(label):
        yield
