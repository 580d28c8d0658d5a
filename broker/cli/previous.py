"""`homologue event previous`: lets an event begin from the standings of an earlier one."""

from pathlib import Path

import click
from msgspec.structs import replace

from broker.cli import options
from broker.console import ANY, json_lines, say
from broker.event import ListedPlayer, Plan, read_standings, teams_of
from broker.event.setup import EarlierDraft, EarlierWish, draft_earlier, earlier_draft, take_earlier
from broker.export.results import next_event_lines
from broker.rules import RuleError
from broker.scorer import open_stored_event

FIRST = click.IntRange(1, 4000)


def earlier_wish(source: Path, title: str, part: str, first: int | None) -> EarlierWish:
    """Read the standings from which an event begins: from the folder of an earlier event, or a file.

    Raises RuleError `not_final`, `bad_previous`, ScorerError, StoreError.
    """
    if not source.is_dir():
        lines = read_standings(source)
        return EarlierWish(lines, title or ("" if lines and lines[0].event else source.stem), part, first or 0)
    stored = open_stored_event(source)
    if not stored.final:
        raise RuleError("not_final", f"{source}: the standings are not declared final")
    return EarlierWish(next_event_lines(source, stored), title, part, first or 0)


def begin_from(
    source: Path | None, plan: Plan, players: tuple[ListedPlayer, ...], part: str, first: int | None
) -> tuple[Plan, tuple[ListedPlayer, ...]]:
    """Return a plan that begins from earlier standings, if there are any, and its players, the best first."""
    if source is None:
        return plan, players
    draft = earlier_draft(plan, players, earlier_wish(source, "", part, first))
    _report(draft)
    listed = tuple(one.player for one in draft.players)
    return replace(plan, players=listed, teams=teams_of(draft.players), earlier=draft.earlier), draft.players


def _report(draft: EarlierDraft) -> None:
    """Report how many were found, and who was not."""
    found = draft.earlier.players or draft.earlier.teams
    if draft.unknown:
        names = ", ".join(draft.unknown)
        click.echo(f"in those standings, but not in this event's list of players: {names}", err=True)
    say(f"{len(found)} begin from {draft.earlier.title}", title=draft.earlier.title, found=len(found))


@click.command("previous", short_help="Let an event begin from the standings of an earlier one.")
@options.folder_argument
@click.argument("source", metavar="SOURCE", type=ANY)
@click.option(
    "--carry-over", default="", metavar="2/3", help="Part of the IMPs that counts [default: as the rules say]."
)
@click.option("--first", type=FIRST, help="Only this many of them, from the first place down [default: all].")
@click.option("--title", default="", help="Title to show for the earlier event [default: its own].")
@json_lines
def event_previous(folder: Path, source: Path, carry_over: str, first: int | None, title: str) -> None:
    """Let the event in FOLDER, which must not have started, begin from the standings of SOURCE.

    SOURCE is the folder of an earlier event, or a file: the list of `homologue export next-event` or of the desk, the
    JSON of `homologue score` or `homologue export json`, or your own CSV or Excel with place, player, name and imp (for
    teams place, team and imp). Players are found by name. An event that has no players gets those of the standings.
    As long as the event has no movement, its players are sorted by their places.

    \b
    homologue event previous my-final my-qualification --carry-over 2/3 --first 16
    homologue event previous my-final next-event.csv
    """
    draft = draft_earlier(folder, earlier_wish(source, title, carry_over, first))
    take_earlier(folder, draft)
    _report(draft)
