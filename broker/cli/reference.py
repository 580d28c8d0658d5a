"""Writes the pages of commands, profiles and topics from the code itself: `python -m broker.cli.reference commands`."""

import json
import sys
from collections.abc import Callable, Iterator
from typing import Final

import click
import msgspec

from broker.cli.main import homologue
from broker.protocol import TOPICS
from broker.rules import Profile, load_mcr, load_riichi, profile_settings, shipped_mcr, shipped_riichi
from broker.rules.riichi import RiichiProfile

COMMANDS_HEAD: Final = """# Commands and their options

Generated from the commands' help texts by `make docs`; a test fails when it is stale.
`homologue COMMAND --help` says the same.
"""

TOPICS_HEAD: Final = """# Topics

Generated from `broker/protocol/topics.py` by `make docs`; a test fails when it is stale. The messages are described in
[asyncapi.json](asyncapi.json). All topics use QoS 1; the broker enforces who may write and read.

| topic | written by | read by | retained | max. bytes | what |
|---|---|---|---|---|---|
"""


def commands() -> str:
    """Return the page of commands."""
    parent = click.Context(homologue, info_name="homologue", **homologue.context_settings)
    return COMMANDS_HEAD + "".join(_commands_of(homologue, parent))


def _commands_of(group: click.Group, parent: click.Context) -> Iterator[str]:
    """Return each command of a group, and those of the groups in it."""
    for name in group.list_commands(parent):
        command = group.get_command(parent, name)
        if command is None:
            raise LookupError(name)
        context = click.Context(command, info_name=name, parent=parent, terminal_width=110, max_content_width=110)
        yield f"\n## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
        if isinstance(command, click.Group):
            yield from _commands_of(command, context)


def topics() -> str:
    """Return the page of topics."""
    return TOPICS_HEAD + "".join(_topics())


def _topics() -> Iterator[str]:
    for topic in TOPICS:
        retained = "yes" if topic.retain else "no"
        cells = (f"`{topic.pattern}`", topic.writer, ", ".join(topic.readers), retained, str(topic.limit), topic.about)
        yield f"| {' | '.join(cells)} |\n"


PROFILES_HEAD: Final = """# Rule profiles

Generated from `broker/rules/profiles/` and `broker/rules/riichi/profiles/` by `make docs`; a test fails when this page
is stale. The settings are explained in [rules.md](rules.md), [riichi.md](riichi.md) and
[riichi-session.md](riichi-session.md); [organiser.md](organiser.md) says how to write your own profile. A source that
begins with `assumption:` is our own interpretation.
"""


def profiles() -> str:
    """Return the page of the profiles that ship, each setting with where it is from."""
    ours: list[Profile | RiichiProfile] = [*map(load_mcr, shipped_mcr()), *map(load_riichi, shipped_riichi())]
    return PROFILES_HEAD + "".join(map(_profile, ours))


def _profile(profile: Profile | RiichiProfile) -> str:
    rows = (f"| `{name}` | `{_toml(stated.value)}` | {stated.source} |\n" for name, stated in profile_settings(profile))
    title = f"\n## {profile.id}\n\n{profile.title}, version {profile.version}.\n\n"
    return title + "| setting | value | source |\n|---|---|---|\n" + "".join(rows)


def _toml(value: object) -> str:
    return json.dumps(msgspec.to_builtins(value))


PAGES: Final[dict[str, Callable[[], str]]] = {"commands": commands, "profiles": profiles, "topics": topics}

if __name__ == "__main__":
    sys.stdout.write(PAGES[sys.argv[1]]())
