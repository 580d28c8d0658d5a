"""The command `homologue`: finds the rooms' commands and imports a room only when one of its commands is called."""

from importlib.metadata import EntryPoint, entry_points

import click

from broker.version import version_and_commit

GROUP = "homologue.commands"


class EntryPointGroup(click.Group):
    """A group whose commands are entry points, so that no room needs to import another for the command line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, without importing them."""
        return sorted(point.name for point in entry_points(group=GROUP)) + super().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        found: tuple[EntryPoint, ...] = tuple(entry_points(group=GROUP, name=cmd_name))
        if not found:
            return super().get_command(ctx, cmd_name)
        command = found[0].load()
        if not isinstance(command, click.Command):
            raise TypeError(f"{found[0].value} is no command")
        return command


@click.group(cls=EntryPointGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(version_and_commit(), prog_name="homologue", message="%(prog)s %(version)s")
def homologue() -> None:
    """Table arbiter for duplicate mahjong: walls verified, hu in silence, IMPs at once."""
