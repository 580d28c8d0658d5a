"""Writes the pages that list commands and topics, from the code itself: `python -m broker.reference commands`."""

import sys
from collections.abc import Callable, Iterator
from typing import Final

import click

from broker.command import homologue
from broker.contract.topics import TOPICS

COMMANDS_HEAD: Final = """# Commands and their options

Made from the commands' own help by `make docs`; a test fails when it is stale.
`homologue COMMAND --help` says the same.
"""

TOPICS_HEAD: Final = """# Topics

Made from `broker/contract/topics.py` by `make docs`; a test fails when it is stale. The messages themselves are in
[asyncapi.json](asyncapi.json). Everything is QoS 1; who may write and read is enforced by the broker.

| topic | written by | read by | retained | bytes at most | what |
|---|---|---|---|---|---|
"""


def commands() -> str:
    """Give the page of commands."""
    parent = click.Context(homologue, info_name="homologue", **homologue.context_settings)
    return COMMANDS_HEAD + "".join(_command(parent, name) for name in homologue.list_commands(parent))


def _command(parent: click.Context, name: str) -> str:
    command = homologue.get_command(parent, name)
    if command is None:
        raise LookupError(name)
    return _help(parent, name, command)


def _help(parent: click.Context, name: str, command: click.Command) -> str:
    """Give a command's help, and after it that of the commands in it."""
    context = click.Context(command, info_name=name, parent=parent, terminal_width=110, max_content_width=110)
    inner = sorted(command.commands.items()) if isinstance(command, click.Group) else []
    page = f"\n## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    return page + "".join(_help(context, within, one) for within, one in inner)


def topics() -> str:
    """Give the page of topics."""
    return TOPICS_HEAD + "".join(_topics())


def _topics() -> Iterator[str]:
    for topic in TOPICS:
        retained = "yes" if topic.retain else "no"
        cells = (f"`{topic.pattern}`", topic.writer, ", ".join(topic.readers), retained, str(topic.limit), topic.about)
        yield f"| {' | '.join(cells)} |\n"


PAGES: Final[dict[str, Callable[[], str]]] = {"commands": commands, "topics": topics}

if __name__ == "__main__":
    sys.stdout.write(PAGES[sys.argv[1]]())
