"""Names, help and parameters of all commands in `commands.json`, so that help and shell completion import no command.

`make docs` writes the file; a test fails when it is stale.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import click

FILE: Final = Path(__file__).with_name("commands.json")

Described = dict[str, Any]


def described(command: click.Command, path: str = "") -> Iterator[tuple[str, Described]]:
    """Return a description of a command and of each subcommand, with its path, such as `event people`."""
    context = click.Context(command)
    if path:
        params = [_described_param(one.to_info_dict()) for one in command.params]
        yield path, {"short_help": command.get_short_help_str(), "params": params}
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if found := command.get_command(context, name):
                yield from described(found, f"{path} {name}".strip())


def _described_param(info: Described) -> Described:
    """Return a description from which `_param` makes a parameter that completes like this one."""
    kind = info["type"]
    about = {
        "param_decls": [*info["opts"], *info["secondary_opts"]],
        "nargs": info["nargs"] if info["nargs"] != 1 else None,
        "choices": [*map(str, kind.get("choices", ()))],
        "path": ("file" if kind["file_okay"] else "folder") if "file_okay" in kind else None,
        **{name: info.get(name) for name in ("multiple", "is_flag", "count", "hidden", "help")},
    }
    return {name: value for name, value in about.items() if value}


def text(command: click.Command) -> str:
    """Return the contents of `commands.json` for a command: one line for each command below it."""
    lines = (f"{json.dumps(path)}: {json.dumps(about)}" for path, about in described(command))
    return "{\n" + ",\n".join(lines) + "\n}\n"


@cache
def _all() -> dict[str, Described]:
    """Return the descriptions in `commands.json`, by path."""
    read: dict[str, Described] = json.loads(FILE.read_text(encoding="utf-8"))
    return read


def command_at(path: str) -> click.Command | None:
    """Return a stub of a command, which can be listed and completed but not run; None if there is no such command."""
    if path not in _all():
        return None
    about, name = _all()[path], path.rpartition(" ")[2]
    params = [_param(one) for one in about["params"]]
    within = [command for one in _all() if one.rpartition(" ")[0] == path and (command := command_at(one))]
    if within:
        return click.Group(name, within, params=params, short_help=about["short_help"])
    return click.Command(name, params=params, short_help=about["short_help"])


def _param(about: Described) -> click.Parameter:
    fields = {**about}
    choices, path = fields.pop("choices", ()), fields.pop("path", "")
    kind = click.Choice(choices) if choices else click.Path(file_okay=path == "file") if path else None
    param_class = click.Option if about["param_decls"][0].startswith("-") else click.Argument
    return param_class(type=kind, **fields)
