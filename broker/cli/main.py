"""The `homologue` command: finds subcommands by name, imports them only when they are called, and reports errors."""

import gc
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import EntryPoint, distribution
from importlib.util import find_spec
from typing import Any, Final

import click
from click.shell_completion import get_completion_class

from broker.cli.index import command_at
from broker.console import JSON, ROOMS, CommandError, Failed, color, problems_of, set_up_output
from broker.version import version_and_commit

GROUP: Final = "homologue.commands"
"""Group of entry points. `event` is a command of `homologue`; `event.people` is a command of the group `event`."""

SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "An event": ("event", "deal", "movement", "rehearse", "scorer", "take-over", "certs", "hall", "centre"),
    "A table": ("kiosk", "table"),
    "Tiles and cameras": ("read", "camera", "lens", "labels", "set"),
    "Results and records": ("export", "publish", "record", "store"),
    "Rules and calculators": ("rules",),
    "This machine": (),
}
"""Sections of the help and their commands. Commands that are in none of them are listed in the last section."""

SHORT: Final = ("fan", "furiten", "imp", "points", "referee", "riichi", "score", "session")
"""Calculators that also work without `rules`, because scripts rely on these names. So does `par`, for `event par`."""

MOVED: Final[Mapping[str, str]] = {
    "cards": "event.cards",
    "hardware": "table.hardware",
    "people": "event.people",
    "profile": "rules.profile",
    "sheet": "rules.sheet",
    "what-if": "rules.what-if",
}
"""Command names until 0.1, and their current paths. The old names will be removed in the release after next."""


PART_LIBRARIES: Final[Mapping[str, str]] = {"table": "pygame", "scorer": "sqlalchemy"}
"""For each optional part of Homologue, a library that is installed only with that part."""


def path_of(name: str) -> str:
    """Return the path of a command's entry point, given its current, short or old name."""
    return "event.par" if name == "par" else MOVED.get(name) or (f"rules.{name}" if name in SHORT else name)


def load_command(path: str) -> click.Command | None:
    """Import one command by its path, such as `event.people`."""
    found = distribution("homologue").entry_points.select(group=GROUP, name=path)
    if not found:
        return None
    (point,) = found
    for part in point.extras:  # check now: a command may import its libraries only when it runs
        if not _is_installed(part):
            raise _part_missing(point, ModuleNotFoundError(f"No module named {PART_LIBRARIES[part]!r}"))
    collecting = gc.isenabled()
    gc.disable()  # imports leave no garbage, and looking for it took an eighth of a scorer's start-up time
    try:
        command = point.load()
    except ModuleNotFoundError as error:
        raise _part_missing(point, error) from error
    finally:
        if collecting:
            gc.enable()
    if not isinstance(command, click.Command):
        raise TypeError(f"{point.value} is not a command")
    return _with_other_rooms(path, command) if isinstance(command, click.Group) else command


def _part_missing(point: EntryPoint, error: ModuleNotFoundError) -> Exception:
    """Return an error that names the package to install, or `error` itself if no missing package explains it."""
    parts = " and ".join(f"homologue-{extra}" for extra in point.extras)
    pip = ",".join(point.extras)
    if not parts or (error.name or "").partition(".")[0] in ROOMS:
        return error
    return CommandError(
        "part_missing",
        f"`homologue {point.name.replace('.', ' ')}` needs {parts}, which is not installed on this machine "
        f"({error}; apt install {parts.replace(' and', '')}, or pip install 'homologue[{pip}]')",
    )


def listed(names: Iterable[str], path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Return the commands of a group that this machine can run, for its help: a table may lack the scorer's part."""
    for name in names:
        whole = f"{path}.{name}".strip(".")
        if all(map(_is_installed, _parts_of(whole))) and (command := command_at(whole.replace(".", " "))):
            yield name, command


def _parts_of(path: str) -> set[str]:
    """Return the optional parts of Homologue that a command and its groups need."""
    points = distribution("homologue").entry_points.select(group=GROUP)
    return {extra for one in points if f"{path}.".startswith(f"{one.name}.") for extra in one.extras}


@cache
def _is_installed(part: str) -> bool:
    """Return whether a part of Homologue is installed."""
    with suppress(ModuleNotFoundError):
        return find_spec(PART_LIBRARIES[part]) is not None
    return False


def _with_other_rooms(path: str, group: click.Group) -> click.Group:
    """Return a group extended with the commands that other packages register for it."""
    names = [name for name in _children(path) if name not in group.commands]
    return RoomGroup(path, group) if names else group


def _children(path: str) -> list[str]:
    points = distribution("homologue").entry_points.select(group=GROUP)
    start = f"{path}." if path else ""
    return sorted(
        name for one in points if one.name.startswith(start) and "." not in (name := one.name.removeprefix(start))
    )


class RoomGroup(click.Group):
    """A group whose commands are entry points, so that no package has to import another for its commands."""

    def __init__(self, path: str, group: click.Group) -> None:
        super().__init__(
            group.name, group.commands, callback=group.callback, params=group.params, help=group.help,
            epilog=group.epilog, short_help=group.short_help,
        )  # fmt: skip
        self._path = path

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, without importing them."""
        return sorted({*super().list_commands(ctx), *_children(self._path)})

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands that this machine can run."""
        found = [*listed(self.list_commands(ctx), self._path)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(formatter.width)) for name, command in found])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        return super().get_command(ctx, cmd_name) or load_command(f"{self._path}.{cmd_name}")


class Homologue(click.Group):
    """The top-level command: help in sections, old command names, and all errors reported in one form."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands in the order of the help, without importing them."""
        return [name for names in sections().values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command by its current or old name."""
        if ctx.resilient_parsing:  # shell completion needs no imports
            return command_at(path_of(cmd_name).replace(".", " "))
        command = load_command(path_of(cmd_name)) if "." not in cmd_name else None
        if command and cmd_name in MOVED:
            now = MOVED[cmd_name].replace(".", " ")
            logging.getLogger("homologue").info("homologue %s is called homologue %s now", cmd_name, now)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in sections."""
        width = formatter.width - 6 - max(map(len, self.list_commands(ctx)))
        for title, names in sections().items():
            if found := [*listed(names)]:
                with formatter.section(title):
                    formatter.write_dl([(name, command.get_short_help_str(width)) for name, command in found])

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's signature
        """Run the command, and report errors that have a code. They are reported nowhere else."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            problems = problems_of(error)
            if not problems:
                raise
            raise Failed(problems, as_json=ctx.meta.get(JSON, False)) from error


def sections() -> dict[str, list[str]]:
    """Return the names of all commands, by section."""
    available, (*_, last) = _children(""), SECTIONS
    found = {title: [name for name in names if name in available] for title, names in SECTIONS.items()}
    found[last] += [name for name in available if not any(name in names for names in found.values())]
    return found


def _log_to_standard_error(_ctx: click.Context, _param: click.Parameter, verbose: int) -> None:
    if verbose:
        logging.basicConfig(level=logging.INFO if verbose == 1 else logging.DEBUG)


@click.group(cls=Homologue, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "-v",
    "--verbose",
    count=True,
    expose_value=False,
    callback=_log_to_standard_error,
    help="Log to standard error; give it twice to log everything.",
)
@click.version_option(version_and_commit(), prog_name="homologue", message="%(prog)s %(version)s")
@click.pass_context
def homologue(ctx: click.Context) -> None:
    """Table arbiter for duplicate mahjong: walls verified, hu in silence, IMPs at once.

    `homologue COMMAND --help` explains a command. An error is a line, `homologue: <sentence> [code]`, and exit code 1;
    docs/codes.md explains the codes. With --json errors are JSON too.
    """
    ctx.color = color()
    set_up_output()


@click.group(short_help="Value hands, count points and IMPs, check plays, and show rule profiles.")
def rules() -> None:
    """Value hands, count points and IMPs, check what is legal, and show rule profiles.

    With --json, calculators read JSON lines and write one JSON line for each, errors included. `homologue fan`,
    `furiten`, `imp`, `points`, `referee`, `riichi`, `score` and `session` work without `rules` too.
    """


@click.group(short_help="Find what is wrong, and what to do about it.")
def doctor() -> None:
    """Examine a table, a scorer or the hall, and report what is wrong, why it matters and what to do.

    The exit code is 1 if something must be done. Nothing is changed.

    \b
    homologue doctor scorer my-cup --backup /media/stick
    homologue doctor hall https://desk.example.org:8136 --token-file grafana.token
    homologue doctor table /etc/homologue/table-3.toml --bundle table-3.zip
    """


@click.command(short_help="Print a script for shell completion.")
@click.argument("shell", type=click.Choice(["bash", "fish", "zsh"]))
def completion(shell: str) -> None:
    """Print a script with which your shell completes commands, options and file names when you press Tab.

    \b
    homologue completion bash > ~/.local/share/bash-completion/completions/homologue
    homologue completion fish > ~/.config/fish/completions/homologue.fish
    homologue completion zsh > ~/.zfunc/_homologue    (a folder of your fpath)
    """
    made = get_completion_class(shell)
    if made is not None:
        program = made(homologue, {}, "homologue", "_HOMOLOGUE_COMPLETE").source()
        # An option's help may contain commas. Click's script for fish would cut the help off at the first one.
        click.echo(program.replace('string split "," $', 'string split --max 1 "," $'))
