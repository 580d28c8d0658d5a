"""Generates reference pages from the code: `python -m broker.cli.reference commands` (or profiles, topics).

`man FOLDER` writes a man page for each command. `index` prints `commands.json`, from which help and completion are
served (`broker/cli/index.py`).
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, get_type_hints

import click
import msgspec

from broker.cli import index
from broker.cli.main import homologue
from broker.protocol import TOPICS
from broker.rules import (
    FALSE_HU,
    Profile,
    RiichiProfile,
    appeal_minutes,
    infractions_of,
    load_mcr,
    load_riichi,
    profile_settings,
    setting_text,
    shipped_mcr,
    shipped_riichi,
)
from broker.version import program_version

COMMANDS_HEAD: Final = """# Commands and their options

Generated from the commands' help texts by `make docs`; a test fails when it is stale.
`homologue COMMAND --help` says the same, and so do the man pages in the packages (`make man` writes them into
`build/man`).

**All commands.** An error is one line on standard error, `homologue: <sentence> [code]`, and exit code 1;
[codes.md](codes.md) explains the codes. A usage error ends with exit code 2. With `--json`
output is JSON, and an error is `{"error": {"code": ..., "message": ...}}` on standard output. `homologue -v COMMAND`
says more on standard error. Colours and progress are shown in a terminal only; `NO_COLOR=1` switches colours off.

**Lists.** Players, movements, plays on paper, deals and sets may be CSV in UTF-8, UTF-16, GB 18030 or Windows-1252,
with commas, semicolons or tabs, or an Excel workbook (`.xlsx`), of which the first sheet is read; column names may be
English, French or Chinese (`Nom;Pays;Club`). An output file whose name ends in `.xlsx` is written as a workbook;
`--excel` writes CSV with semicolons and decimal commas.

**Completion** comes with the packages. Elsewhere: `homologue completion bash >
~/.local/share/bash-completion/completions/homologue` (also `zsh` and `fish`).

**Old names.** Since 0.1, `cards`, `hardware`, `people`, `profile`, `sheet` and `what-if` are in groups
(`homologue event people`); the old names work for one more release. The calculators' short names (`homologue fan`)
stay.
"""

TOPICS_HEAD: Final = """# Topics

Generated from `broker/protocol/topics.py` by `make docs`; a test fails when it is stale. The messages are described in
[asyncapi.json](asyncapi.json). All topics use QoS 1; the broker enforces who may write and read,
and a table only has those of its own number.

| topic | written by | read by | retained | max. bytes | what |
|---|---|---|---|---|---|
"""


def commands() -> str:
    """Return the page of commands."""
    contexts = command_contexts(click.Context(homologue, info_name="homologue", **homologue.context_settings))
    pages = (f"\n## {one.command_path}\n\n```text\n{one.command.get_help(one)}\n```\n" for one in contexts)
    return COMMANDS_HEAD + "".join(pages)


def command_contexts(parent: click.Context) -> Iterator[click.Context]:
    """Return a click context for each command of a group and, recursively, of its subgroups."""
    group = parent.command
    assert isinstance(group, click.Group)  # noqa: S101 - for mypy
    for name in group.list_commands(parent):
        command = group.get_command(parent, name)
        if command is None:
            raise LookupError(name)
        context = click.Context(command, info_name=name, parent=parent, terminal_width=110, max_content_width=110)
        yield context
        if isinstance(command, click.Group):
            yield from command_contexts(context)


def write_man_pages(folder: Path) -> None:
    """Write man pages for `homologue` and for each of its commands."""
    folder.mkdir(parents=True, exist_ok=True)
    root = click.Context(homologue, info_name="homologue", **homologue.context_settings)
    for context in (root, *command_contexts(root)):
        (folder / f"{context.command_path.replace(' ', '-')}.1").write_text(man_page(context), encoding="utf-8")


def man_page(context: click.Context) -> str:
    """Return a command's man page (man(7))."""
    command, name = context.command, context.command_path.replace(" ", "-")
    pieces = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH "{name.upper()}" "1" "" "homologue {program_version()}" "Homologue"',
        f".SH NAME\n{_roff(name)} \\- {_roff(command.get_short_help_str(200))}",
        f".SH SYNOPSIS\n.B {_roff(context.command_path)}\n{_roff(pieces)}",
        ".SH DESCRIPTION",
        *_paragraphs(inspect.cleandoc(command.help or "")),
        ".SH OPTIONS",
    ]
    for names, about in (one.get_help_record(context) or ("", "") for one in command.get_params(context)):
        lines += [f".TP\n.B {_roff(names)}\n{_roff(about)}"] * bool(about)
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for sub in command.list_commands(context):
            found = command.get_command(context, sub)
            about = found.get_short_help_str(200) if found else ""
            lines.append(f".TP\n.BR {_roff(f'{name}-{sub}')} (1)\n{_roff(about)}")
    return "\n".join([*lines, ".SH EXIT STATUS", EXIT_STATUS, ""])


EXIT_STATUS: Final = "0: done. 1: refused, or a problem was found. 2: usage error."


def _paragraphs(text: str) -> Iterator[str]:
    """Return the paragraphs of a help text as roff. A paragraph that begins with \\b is preformatted."""
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("\b\n"):
            yield f".PP\n.nf\n{_roff(paragraph[2:])}\n.fi"
        else:
            yield f".PP\n{_roff(' '.join(paragraph.split()))}"


ROFF: Final = {"\\": "e", "-": "-", "`": "(ga", "~": "(ti", "^": "(ha"}
"""Characters that have a special meaning in roff, and their escapes."""


def _roff(text: str) -> str:
    """Escape text for roff, so that nothing in it is taken for a command."""
    plain = text.translate({ord(one): f"\\{escape}" for one, escape in ROFF.items()})
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in plain.split("\n"))


def topics() -> str:
    """Return the page of topics."""
    return TOPICS_HEAD + "".join(_topics())


def _topics() -> Iterator[str]:
    for topic in TOPICS:
        retained = "yes" if topic.retain else "no"
        cells = (f"`{topic.pattern}`", topic.writer, ", ".join(topic.readers), retained, str(topic.limit), topic.about)
        yield f"| {' | '.join(cells)} |\n"


PROFILES_HEAD: Final = """# Rule profiles

Generated from `broker/rules/profiles/`, `broker/rules/riichi/profiles/` and `broker/rules/infractions.toml` by
`make docs`; a test fails when this page is stale. [How to write your own profile](organiser.md#rules-of-your-own). A
source that begins with `assumption:` is our own interpretation.

## What the settings mean

| settings | meaning |
|---|---|
"""


def profiles() -> str:
    """Return the page of the shipped profiles, with the source of each setting."""
    ours: list[Profile | RiichiProfile] = [*map(load_mcr, shipped_mcr()), *map(load_riichi, shipped_riichi())]
    meanings = dict.fromkeys((*_meanings(Profile), *_meanings(RiichiProfile)))
    return PROFILES_HEAD + "".join((*meanings, *map(_profile, ours)))


def _meanings(part: type[msgspec.Struct], way: str = "") -> Iterator[str]:
    """Return a row for each innermost table of settings, with the docstring of its struct as the meaning."""
    for name, hint in get_type_hints(part).items():
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            inner = [*_meanings(hint, f"{way}{name}.")]
            yield from inner or [f"| `{way}{name}` | {' '.join((inspect.getdoc(hint) or '').split())} |\n"]


def _profile(profile: Profile | RiichiProfile) -> str:
    rows = (
        f"| `{name}` | `{setting_text(stated.value)}` | {stated.source} |\n"
        for name, stated in profile_settings(profile)
    )
    title = f"\n## {profile.id}\n\n{profile.title}, version {profile.version}.\n\n"
    return title + "| setting | value | source |\n|---|---|---|\n" + "".join((*rows, *_infractions(profile)))


def _infractions(profile: Profile | RiichiProfile) -> Iterator[str]:
    """Return rows for the penalties of infractions and for the time to appeal. False hu is a setting of its own."""
    for one in infractions_of(profile).values():
        if one.id != FALSE_HU:
            yield f"| `infractions.{one.id}` | `{setting_text(one.steps)}` | {one.source} |\n"
    minutes = appeal_minutes(profile)
    yield f"| `appeals.minutes` | `{minutes.value}` | {minutes.source} |\n"


PAGES: Final[dict[str, Callable[[], str]]] = {
    "index": lambda: index.text(homologue),
    "commands": commands,
    "profiles": profiles,
    "topics": topics,
}

if __name__ == "__main__":
    if sys.argv[1] == "man":
        write_man_pages(Path(sys.argv[2]))
    else:
        sys.stdout.writelines(PAGES[page]() for page in sys.argv[1:])
