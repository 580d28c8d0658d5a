"""The command `homologue`: finds the rooms' commands and imports a room only when one of its commands is called."""

from importlib.metadata import EntryPoint, entry_points

import click

from broker.version import version_and_commit

GROUP = "homologue.commands"

ROOMS = ("broker", "firmware", "kiosk", "vision")


class EntryPointGroup(click.Group):
    """A group whose commands are entry points, so that no room needs to import another for the command line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, without importing them."""
        return sorted(point.name for point in entry_points(group=GROUP)) + super().list_commands(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands that this machine can run: a table need not have a scorer's."""
        rows = [(name, command) for name in self.list_commands(ctx) if (command := self._able(ctx, name))]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(formatter.width)) for name, command in rows])

    def _able(self, ctx: click.Context, name: str) -> click.Command | None:
        try:
            return self.get_command(ctx, name)
        except click.ClickException:
            return None

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        found: tuple[EntryPoint, ...] = tuple(entry_points(group=GROUP, name=cmd_name))
        if not found:
            return super().get_command(ctx, cmd_name)
        try:
            command = found[0].load()
        except ModuleNotFoundError as error:
            raise _part_missing(found[0], error) from error
        if not isinstance(command, click.Command):
            raise TypeError(f"{found[0].value} is no command")
        return command


def _part_missing(point: EntryPoint, error: ModuleNotFoundError) -> Exception:
    """Return what to say where a command's library is not installed: the part of Homologue that brings it."""
    parts = " and ".join(f"homologue-{extra}" for extra in point.extras)
    pip = ",".join(point.extras)
    if not parts or (error.name or "").partition(".")[0] in ROOMS:
        return error
    return click.ClickException(
        f"part_missing: `homologue {point.name}` needs {parts}, which is not installed on this machine "
        f"({error}; apt install {parts.replace(' and', '')}, or pip install 'homologue[{pip}]')"
    )


@click.group(cls=EntryPointGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(version_and_commit(), prog_name="homologue", message="%(prog)s %(version)s")
def homologue() -> None:
    """Table arbiter for duplicate mahjong: walls verified, hu in silence, IMPs at once."""
